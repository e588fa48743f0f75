/* The choice of a pod network. */

#include "record/cni.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/suggest.h"

static const struct {
	const char *word;
	const char *name;
	enum cni_kind kind;
} names[] = {
	{ "auto", "auto", CNI_AUTO },
	{ "bridge", "bridge", CNI_BRIDGE },
	{ "flannel", "flannel", CNI_FLANNEL },
	{ "none", "none", CNI_NONE },
	/* Of minikube.  Its kindnet is what auto is, in a pod. */
	{ "true", "auto", CNI_AUTO },
	{ "kindnet", "auto", CNI_AUTO },
	{ "false", "none", CNI_NONE },
};

/* Networks that the user has to install. */
static const struct {
	const char *word;
	const char *more;
} known[] = {
	{ "calico", "" },
	{ "cilium", "; Cilium loads eBPF programs, which nodes with a kernel of their own can "
		    "(--driver=qemu)" },
	{ "weave", "" },
	{ "canal", "" },
	{ "antrea", "" },
	{ "kube-router", "" },
};

enum cni_kind cni_kind(const char *cni)
{
	for (size_t i = 0; cni && i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i].word, cni) == 0)
			return names[i].kind;
	return cni ? CNI_MANIFESTS : CNI_AUTO;
}

bool cni_is_ours(const char *cni)
{
	enum cni_kind kind = cni_kind(cni);

	return kind == CNI_AUTO || kind == CNI_BRIDGE || kind == CNI_FLANNEL;
}

bool cni_has_our_routes(const char *cni)
{
	enum cni_kind kind = cni_kind(cni);

	return kind == CNI_AUTO || kind == CNI_BRIDGE;
}

bool cni_is_url(const char *word)
{
	return strncmp(word, "https://", 8) == 0 || strncmp(word, "http://", 7) == 0;
}

bool cni_is_place(const char *word)
{
	return strpbrk(word, "/.") != NULL;
}

const char *cni_name(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i].word, word) == 0)
			return names[i].name;
	return word;
}

static int refuse_known(const char *word, const char *more, struct error *err)
{
	(void)error_because(err, &reason_usage, -EINVAL, "manykube has no pod network '%s'", word);
	return error_hint(err, -EINVAL,
			  "give the URL or the file of its manifest as --cni=URL or --cni=FILE, or "
			  "use --cni=none and install it yourself%s",
			  more);
}

int cni_check(const char *word, struct error *err)
{
	struct suggest suggest = SUGGEST_INIT(word);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i].word, word) == 0)
			return 0;
		suggest_offer(&suggest, names[i].word);
	}
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(known[i].word, word) == 0)
			return refuse_known(word, known[i].more, err);
	if (strstr(word, "://") && !cni_is_url(word))
		return error_because(err, &reason_usage, -EINVAL, "'%s' is not an https:// URL",
				     word);
	if (cni_is_place(word))
		return 0;
	(void)error_because(
		err, &reason_usage, -EINVAL,
		"'%s' is no pod network: use auto, bridge, flannel or none, or the path "
		"or URL of a manifest",
		word);
	if (suggest.nearest)
		return error_hint(err, -EINVAL, "did you mean '%s'?", suggest.nearest);
	return error_hint(err, -EINVAL, "a file in this directory is given as ./%s", word);
}

bool cni_is_beyond_user(const char *word)
{
	return cni_is_place(word);
}

int cni_check_family(const char *cni, const char *ip_family, struct error *err)
{
	enum cni_kind kind = cni_kind(cni);

	/* Pods of one bridge reach each other through their node, which answers ARP for them, but
	 * no neighbour discovery. */
	if (!ip_family || strcmp(ip_family, "dual") != 0 ||
	    (kind != CNI_BRIDGE && kind != CNI_FLANNEL))
		return 0;
	(void)error_because(err, &reason_usage, -ENOTSUP,
			    "--cni=%s gives pods IPv4 addresses only, and the cluster has both "
			    "families",
			    cni);
	return error_hint(err, -ENOTSUP, "use --cni=auto, or --cni=none and install another");
}
