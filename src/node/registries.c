/* Where containerd on a node gets images from. */

#include "node/registries.h"

#include <dirent.h>
#include <string.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "node/node-files.h"
#include "record/spec.h"

/* How a file of ours begins; others are left alone. */
#define FOLDER     "etc/containerd/certs.d"
#define MOST_NAMES 1000
#define OURS       "# Written by manykube at every start.\n"

void registries_list(const struct profile *profile, struct strlist *ret_names)
{
	const char *word;

	strlist_for_each(word, &profile->insecure_registries)
		if (!strlist_has(ret_names, word))
			strlist_add(ret_names, word);
	strlist_for_each(word, &profile->registry_mirrors) {
		cleanup_with(spec_release_pair) struct pair_spec mirror = PAIR_SPEC_INIT;

		if (spec_parse_mirror(word, &mirror, NULL) == 0 &&
		    !strlist_has(ret_names, mirror.key))
			strlist_add(ret_names, mirror.key);
	}
}

/* Whether URL's host is one whose certificate need not be right.  Without TLS there is none, and
 * containerd would try TLS if anything were said about it. */
static bool is_insecure(const struct profile *profile, const char *url)
{
	const char *host = strstr(url, "://") + 3;
	cleanup_free char *name = xstrndup(host, strcspn(host, "/"));

	return strncmp(url, "https://", 8) == 0 && strlist_has(&profile->insecure_registries, name);
}

char *registries_text(const struct profile *profile, const char *name)
{
	/* Docker's own registry answers at another name than its images have. */
	bool is_docker = strcmp(name, "docker.io") == 0;
	struct strbuf out = STRBUF_INIT;
	const char *word;

	strbuf_addf(&out, OURS "server = \"https://%s\"\n",
		    is_docker ? "registry-1.docker.io" : name);
	strlist_for_each(word, &profile->registry_mirrors) {
		cleanup_with(spec_release_pair) struct pair_spec mirror = PAIR_SPEC_INIT;

		if (spec_parse_mirror(word, &mirror, NULL) < 0 || strcmp(mirror.key, name) != 0)
			continue;
		strbuf_addf(&out, "[host.\"%s\"]\n  capabilities = [\"pull\", \"resolve\"]\n",
			    mirror.value);
		if (is_insecure(profile, mirror.value))
			strbuf_add(&out, "  skip_verify = true\n");
	}
	/* As Docker does it: TLS with any certificate, else none at all. */
	if (strlist_has(&profile->insecure_registries, name))
		strbuf_addf(&out,
			    "[host.\"https://%s\"]\n  skip_verify = true\n[host.\"http://%s\"]\n",
			    name, name);
	return strbuf_take(&out);
}

/* Remove what an earlier start wrote about registries that PROFILE no longer names. */
static int remove_old(const char *folder, const struct strlist *names, struct error *err)
{
	cleanup_with(strlist_release) struct strlist there = STRLIST_INIT;
	const char *name;
	int r = 0;

	(void)below_list_most(folder, FOLDER, MOST_NAMES, &there, NULL);
	strlist_for_each(name, &there) {
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
		cleanup_free char *file = xasprintf(FOLDER "/%s/hosts.toml", name);
		cleanup_fd int fd = -1;
		const char *last;

		if (r < 0 || strlist_has(names, name) ||
		    below_read(folder, file, 65536, &text, NULL) < 0 ||
		    strncmp(text.text, OURS, strlen(OURS)) != 0)
			continue;
		/* Without it the folder says nothing. */
		r = below_open_parent(folder, file, &fd, &last, err);
		if (r == 0 && unlinkat(fd, last, 0) < 0)
			r = error_sys(err, "cannot remove '%s/%s'", folder, file);
	}
	return r;
}

int registries_write(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *tree = node_tree(profile, node);
	const char *name;
	int r;

	registries_list(profile, &names);
	r = remove_old(tree, &names, err);
	strlist_for_each(name, &names) {
		cleanup_free char *file = xasprintf(FOLDER "/%s/hosts.toml", name);
		cleanup_free char *text = registries_text(profile, name);

		if (r == 0)
			r = below_put(tree, file, text, 0644, err);
	}
	return r;
}
