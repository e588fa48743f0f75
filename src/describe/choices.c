/* What a person chooses for a cluster with options of `start`: one table. */

#include "describe/choices.h"

#include <string.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "data/inet.h"
#include "driver/driver.h"
#include "driver/mount-owner.h"
#include "kubeadm/kubeadm-patch.h"
#include "node/base-image.h"
#include "node/own-images.h"
#include "record/labels.h"
#include "record/options.h"
#include "record/spec.h"

enum choice_type {
	CHOICE_STRING,
	CHOICE_NUMBER,
	CHOICE_BYTES,
	CHOICE_LIST,
};

/* The images of a control plane take 1.1 GiB of it; etcd, logs and pods come on top. */
#define MIN_DISK_BYTES (UINT64_C(2) << 30)

/* Of an ext4 file, which it may have to be. */
#define MAX_DISK_BYTES (UINT64_C(15) << 40)

struct choice {
	const char *option;
	enum choice_type type;
	bool any_time;                                     /* may change on an existing cluster */
	size_t wanted;                                     /* in struct cluster_options */
	size_t kept;                                       /* in struct profile */
	int (*check)(const char *word, struct error *err); /* each word of it; may be NULL */
	bool (*excludes)(const char *word, const char *other); /* a list has one of both; or NULL */
	const char *(*usual)(void); /* what a cluster has for which nothing is kept; or NULL */
};

static const char *usual_driver(void)
{
	return node_driver_default()->name;
}

static int check_port(const char *word, struct error *err)
{
	struct port_spec port;

	return spec_parse_port(word, &port, err);
}

/* A port of the host leads to one port of the nodes. */
static bool is_same_port(const char *word, const char *other)
{
	struct port_spec one;
	struct port_spec two;

	return spec_parse_port(word, &one, NULL) == 0 && spec_parse_port(other, &two, NULL) == 0 &&
	       one.address.s_addr == two.address.s_addr && one.host_port == two.host_port;
}

static int check_mount(const char *word, struct error *err)
{
	cleanup_with(spec_release_mount) struct node_mount mount = { NULL };
	int r = spec_parse_mount(word, &mount, err);

	if (r == 0 && !file_exists(mount.host))
		return error_because(err, &reason_usage, -EINVAL, "'%s': this host has no '%s'",
				     word, mount.host);
	return r < 0 || mount.read_only ? r : mount_owner_check(mount.host, err);
}

static int check_label(const char *word, struct error *err)
{
	cleanup_with(spec_release_pair) struct pair_spec label = PAIR_SPEC_INIT;

	return spec_parse_label(word, &label, err);
}

static int check_taint(const char *word, struct error *err)
{
	cleanup_with(spec_release_taint) struct taint_spec taint = TAINT_SPEC_INIT;

	return spec_parse_taint(word, &taint, err);
}

static int check_gate(const char *word, struct error *err)
{
	cleanup_with(spec_release_pair) struct pair_spec gate = PAIR_SPEC_INIT;

	return spec_parse_gate(word, &gate, err);
}

static int check_mirror(const char *word, struct error *err)
{
	cleanup_with(spec_release_pair) struct pair_spec mirror = PAIR_SPEC_INIT;

	return spec_parse_mirror(word, &mirror, err);
}

/* kubeadm's fields that are ours to fill in have options of their own, or are none of a person's
 * business. */
static int check_kubeadm_key(const char *word, const char *key, struct error *err)
{
	static const struct {
		const char *key;
		const char *option;
	} ours[] = {
		{ "pod-network-cidr", "--pod-network-cidr" },
		{ "networking.podSubnet", "--pod-network-cidr" },
		{ "service-cidr", "--service-cluster-ip-range" },
		{ "networking.serviceSubnet", "--service-cluster-ip-range" },
		{ "service-dns-domain", "--dns-domain" },
		{ "networking.dnsDomain", "--dns-domain" },
		{ "image-repository", "--image-repository" },
		{ "imageRepository", "--image-repository" },
		{ "apiserver-cert-extra-sans", "--apiserver-names" },
		{ "kubernetes-version", "--kubernetes-version" },
		{ "kubernetesVersion", "--kubernetes-version" },
		{ "clusterName", "--profile" },
		{ "feature-gates", "--feature-gates" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (strcmp(ours[i].key, key) == 0)
			return error_because(err, &reason_usage, -EINVAL, "'%s': use %s instead",
					     word, ours[i].option);
	if (strcmp(key, "controlPlaneEndpoint") == 0 ||
	    (strchr(key, '-') && strcmp(key, "ignore-preflight-errors") != 0))
		return error_because(
			err, &reason_usage, -EINVAL,
			"'%s': kubeadm's '%s' can't be set; fields of its "
			"ClusterConfiguration can, such as kubeadm.encryptionAlgorithm, "
			"and kubeadm.ignore-preflight-errors",
			word, key);
	return 0;
}

static int check_extra(const char *word, struct error *err)
{
	cleanup_with(spec_release_extra) struct extra_spec extra = EXTRA_SPEC_INIT;
	int r = spec_parse_extra(word, &extra, err);

	if (r == 0 && strcmp(extra.component, "kubeadm") == 0)
		r = check_kubeadm_key(word, extra.key, err);
	/* Its image has no other program for it. */
	if (r == 0 && strcmp(extra.component, "proxy") == 0 && strcmp(extra.key, "mode") == 0 &&
	    strcmp(extra.value, "nftables") != 0)
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s': kube-proxy runs with nftables only", word);
	return r;
}

static int check_subnet(const char *word, unsigned least, unsigned most, struct error *err)
{
	struct subnet subnet;
	int r = inet_parse_subnet(word, &subnet, err);

	if (r < 0)
		return error_reason(err, r, &reason_usage);
	if (subnet.prefix < least || subnet.prefix > most)
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is too %s: use a prefix of /%u to /%u", word,
				     subnet.prefix < least ? "large" : "small", least, most);
	return 0;
}

/* The host has one address of it, and nodes have some. */
static int check_nodes(const char *word, struct error *err)
{
	return check_subnet(word, 8, 28, err);
}

/* The limits are Kubernetes' own: the API server's above, kubeadm's below. */
static int check_services(const char *word, struct error *err)
{
	return check_subnet(word, 12, 27, err);
}

/* Each node takes a /24 of it. */
static int check_pods(const char *word, struct error *err)
{
	return check_subnet(word, 8, 24, err);
}

static int check_program(const char *word, struct error *err)
{
	if (*word != '/' || access(word, X_OK) < 0)
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is not a program of this host that can be run", word);
	return 0;
}

static int check_repository(const char *word, struct error *err)
{
	cleanup_free char *registry = xstrndup(word, strcspn(word, "/"));

	if (spec_check_registry(registry, NULL) < 0 || strpbrk(word, " \t\n\"\\@"))
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is not a repository of images, for instance "
				     "registry.local:5000/kubernetes",
				     word);
	return 0;
}

/* clang-format off */
#define FIELDS(wanted_, kept_) \
	offsetof(struct cluster_options, wanted_), offsetof(struct profile, kept_)
#define SAME(field_) FIELDS(field_, field_)
static const struct choice choices[] = {
	{ "--subnet",                   CHOICE_STRING, false, SAME(subnet), check_nodes },
	{ "--kubernetes-version",       CHOICE_STRING, false, SAME(kubernetes_version), NULL },
	{ "--cni",                      CHOICE_STRING, false, SAME(cni), NULL },
	{ "--service-cluster-ip-range", CHOICE_STRING, false, SAME(service_subnet), check_services },
	{ "--pod-network-cidr",         CHOICE_STRING, false, SAME(pod_subnet), check_pods },
	{ "--dns-domain",               CHOICE_STRING, false, SAME(dns_domain), spec_check_dns_name },
	{ "--host-access",              CHOICE_STRING, true,  SAME(host_access), spec_check_host_access },
	{ "--image-repository",         CHOICE_STRING, false, SAME(image_repository), check_repository },
	{ "--cert-expiration",          CHOICE_NUMBER, false, SAME(cert_seconds), NULL },
	{ "--apiserver-port",           CHOICE_NUMBER, true,  SAME(api_port), NULL },
	{ "--apiserver-names",          CHOICE_LIST,   false, SAME(api_names), spec_check_dns_name },
	{ "--apiserver-ips",            CHOICE_LIST,   false, SAME(api_ips), spec_check_address },
	{ "--extra-config",             CHOICE_LIST,   false, SAME(extra_config), check_extra },
	{ "--feature-gates",            CHOICE_LIST,   false, SAME(feature_gates), check_gate },
	{ "kubeadmPatches",             CHOICE_LIST,   false, SAME(kubeadm_patches), kubeadm_patch_check },
	{ "--ports",                    CHOICE_LIST,   true,  SAME(ports), check_port, is_same_port },
	{ "--insecure-registry",        CHOICE_LIST,   true,  SAME(insecure_registries), spec_check_registry },
	{ "--registry-mirror",          CHOICE_LIST,   true,  SAME(registry_mirrors), check_mirror },
	{ "--load-images",              CHOICE_LIST,   true,  SAME(images), own_images_check },
	{ "--label",                    CHOICE_LIST,   false, SAME(labels), check_label },
	{ "--taint",                    CHOICE_LIST,   false, SAME(taints), check_taint },
	{ "--mount",                    CHOICE_LIST,   false, SAME(mounts), check_mount },
	{ "--env",                      CHOICE_LIST,   false, SAME(env), spec_check_variable },
	{ "--max-pods",                 CHOICE_NUMBER, false, SAME(max_pods), NULL },
	{ "--kubelet-binary",           CHOICE_STRING, false, SAME(kubelet_binary), check_program },
	{ "--base-image",               CHOICE_STRING, false, SAME(base_image), base_check },
	{ "--driver",                   CHOICE_STRING, false, SAME(driver), node_driver_check, .usual = usual_driver },
	{ "--disk-size",                CHOICE_BYTES,  false, SAME(disk_bytes), NULL },
};
/* clang-format on */

static const void *wanted_of(const struct choice *choice, const struct cluster_options *options)
{
	return (const char *)options + choice->wanted;
}

static void *kept_of(const struct choice *choice, const struct profile *profile)
{
	return (char *)(uintptr_t)profile + choice->kept;
}

/* What was chosen as text, for the caller to free; NULL if nothing was. */
static char *as_text(const struct choice *choice, const void *value)
{
	const struct strlist *list = value;

	switch (choice->type) {
	case CHOICE_STRING:
		return *(char *const *)value ? xstrdup(*(char *const *)value) : NULL;
	case CHOICE_NUMBER:
		return *(const unsigned *)value ? xasprintf("%u", *(const unsigned *)value) : NULL;
	case CHOICE_BYTES:
		return *(const uint64_t *)value
			       ? xasprintf("%llum", *(const unsigned long long *)value >> 20)
			       : NULL;
	case CHOICE_LIST:
		return list->count ? strlist_join(list, ",") : NULL;
	}
	return NULL;
}

static int check_one(const struct choice *choice, const struct cluster_options *options,
		     struct error *err)
{
	const void *value = wanted_of(choice, options);
	const struct strlist *list = value;
	const char *word;
	int r = 0;

	if (!choice->check)
		return 0;
	if (choice->type == CHOICE_STRING) {
		word = *(char *const *)value;
		r = word ? choice->check(word, err) : 0;
	} else {
		strlist_for_each(word, list)
			if (r == 0)
				r = choice->check(word, err);
	}
	return r < 0 ? error_prefix(err, r, "%s", choice->option) : 0;
}

int choices_check_disk(uint64_t bytes, struct error *err)
{
	if (bytes > MAX_DISK_BYTES)
		return error_because(err, &reason_usage, -ERANGE,
				     "--disk-size: a disk has at most 15 TiB");
	if (!bytes || bytes >= MIN_DISK_BYTES)
		return 0;
	(void)error_because(
		err, &reason_resources, -ERANGE,
		"--disk-size: a node needs at least 2 GiB, for Kubernetes alone takes 1.1");
	return error_hint(err, -ERANGE, "give more; a number without a unit is MiB");
}

/* What a node of its own is given is checked as what all are given. */
static int check_added(const struct node_options *node, struct error *err)
{
	struct cluster_options same = { .mounts = node->mounts,
					.extra_config = node->extra_config,
					.feature_gates = node->feature_gates,
					.kubeadm_patches = node->kubeadm_patches,
					.env = node->env,
					.kubelet_binary = node->kubelet_binary,
					.base_image = node->base_image,
					.driver = node->driver };
	cleanup_with(strlist_release) struct strlist labels = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist taints = STRLIST_INIT;
	const char *word;
	int r = labels_change(&labels, &node->labels, err);

	if (r == 0)
		r = labels_change_taints(&taints, &node->taints, err);
	if (r < 0)
		return r;
	strlist_for_each(word, &node->extra_config)
		if (r == 0)
			r = spec_check_kubelet_argument(word, err);
	if (r < 0)
		return error_prefix(err, r, "--extra-config");

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(choices); i++)
		r = check_one(&choices[i], &same, err);
	return r < 0 ? r : choices_check_disk(node->disk_bytes, err);
}

int choices_check(const struct cluster_options *options, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < options->add_count; i++)
		r = check_added(&options->add[i], err);
	if (r == 0)
		r = choices_check_disk(options->disk_bytes, err);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(choices); i++)
		r = check_one(&choices[i], options, err);
	if (r == 0 && options->api_port > 65535)
		return error_because(err, &reason_usage, -EINVAL,
				     "--apiserver-port: %u is not a port between 1 and 65535",
				     options->api_port);
	return r;
}

static const struct choice *find_choice(const char *option)
{
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++)
		if (strcmp(choices[i].option + strspn(choices[i].option, "-"), option) == 0)
			return &choices[i];
	return NULL;
}

int choices_check_word(const char *option, const char *word, struct error *err)
{
	const struct choice *choice = find_choice(option);

	return choice && choice->check ? choice->check(word, err) : 0;
}

bool choices_may_change(const char *option)
{
	const struct choice *choice = find_choice(option);

	return choice && choice->any_time;
}

static void copy(const struct choice *choice, const void *from, void *to)
{
	const struct strlist *list = from;

	switch (choice->type) {
	case CHOICE_STRING:
		free(*(char **)to);
		*(char **)to = xstrdup(*(char *const *)from);
		break;
	case CHOICE_NUMBER:
		*(unsigned *)to = *(const unsigned *)from;
		break;
	case CHOICE_BYTES:
		*(uint64_t *)to = *(const uint64_t *)from;
		break;
	case CHOICE_LIST:
		strlist_release(to);
		if (list->count)
			strlist_add_all(to, list->items);
		break;
	}
}

static int hint_refusal(const struct choice *choice, struct error *err)
{
	if (strcmp(choice->option, "--kubernetes-version") == 0)
		return error_hint(
			err, -EINVAL,
			"leave the option out to bring the cluster up as it is; 'manykube "
			"upgrade' is for newer versions");
	return error_hint(err, -EINVAL,
			  "leave the option out to bring the cluster up as it is, or use another "
			  "profile (-p) for another cluster");
}

static int refuse(const struct choice *choice, const struct profile *profile, const char *has,
		  const char *wanted, struct error *err)
{
	if (!has)
		(void)error_because(err, &reason_usage, -EINVAL,
				    "cluster '%s' exists without %s, which can't be set to '%s' "
				    "any more",
				    profile->name, choice->option, wanted);
	else if (choice->type == CHOICE_LIST)
		(void)error_because(err, &reason_usage, -EINVAL,
				    "cluster '%s' exists with %s=%s, to which '%s' can't be added",
				    profile->name, choice->option, has, wanted);
	else
		(void)error_because(
			err, &reason_usage, -EINVAL,
			"cluster '%s' exists with %s=%s, which can't be changed to '%s'",
			profile->name, choice->option, has, wanted);
	return hint_refusal(choice, err);
}

/* The words of WANTED that HAS lacks. */
static void subtract_words(const struct strlist *wanted, const struct strlist *has,
			   struct strlist *ret)
{
	const char *word;

	strlist_for_each(word, wanted)
		if (!strlist_has(has, word))
			strlist_add(ret, word);
}

/* Whether WORDS have one that WORD can't be beside. */
static bool is_excluded(const struct choice *choice, const char *word, const struct strlist *words)
{
	const char *other;

	if (choice->excludes)
		strlist_for_each(other, words)
			if (choice->excludes(word, other))
				return true;
	return false;
}

/* Add WORDS to the list KEPT, from which only goes what can't be beside one of them. */
static void add_words(const struct choice *choice, const struct strlist *words,
		      struct strlist *kept)
{
	struct strlist all = STRLIST_INIT;
	const char *word;

	strlist_for_each(word, kept)
		if (!is_excluded(choice, word, words))
			strlist_add(&all, word);
	strlist_for_each(word, words)
		strlist_add(&all, word);
	strlist_release(kept);
	*kept = all;
}

/* Take what is wanted of a cluster that exists: other values, but only further words of lists. */
static int take_change(const struct choice *choice, const struct cluster_options *options,
		       struct profile *profile, struct error *err)
{
	cleanup_with(strlist_release) struct strlist further = STRLIST_INIT;
	cleanup_free char *wanted = as_text(choice, wanted_of(choice, options));
	cleanup_free char *has = as_text(choice, kept_of(choice, profile));

	if (!has && choice->usual)
		has = xstrdup(choice->usual());
	if (!wanted || (has && strcmp(has, wanted) == 0))
		return 0;
	if (choice->type == CHOICE_LIST) {
		subtract_words(wanted_of(choice, options), kept_of(choice, profile), &further);
		if (further.count == 0)
			return 0;
		free(wanted);
		wanted = strlist_join(&further, ",");
	}
	if (!choice->any_time)
		return refuse(choice, profile, has, wanted, err);
	if (choice->type == CHOICE_LIST)
		add_words(choice, &further, kept_of(choice, profile));
	else
		copy(choice, wanted_of(choice, options), kept_of(choice, profile));
	return 0;
}

int choices_take(const struct cluster_options *options, struct profile *profile, bool is_new,
		 struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		const struct choice *choice = &choices[i];
		cleanup_free char *wanted = as_text(choice, wanted_of(choice, options));
		int r = 0;

		if (!is_new)
			r = take_change(choice, options, profile, err);
		else if (wanted)
			copy(choice, wanted_of(choice, options), kept_of(choice, profile));
		if (r < 0)
			return r;
	}
	return 0;
}

/* What becomes of a list, in a sentence for the caller to free; NULL if nothing does. */
static char *describe_list(const struct choice *choice, const struct strlist *before,
			   const struct strlist *after)
{
	cleanup_with(strlist_release) struct strlist gained = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist lost = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist stays = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *added = NULL;
	cleanup_free char *removed = NULL;
	cleanup_free char *kept = NULL;

	subtract_words(after, before, &gained);
	subtract_words(before, after, &lost);
	subtract_words(before, &lost, &stays);
	if (gained.count + lost.count == 0)
		return NULL;
	added = strlist_join(&gained, ", ");
	removed = strlist_join(&lost, ", ");
	kept = strlist_join(&stays, ", ");
	strbuf_addf(&text, "Adding to %s: %s", choice->option, added);
	if (lost.count)
		strbuf_addf(&text, "; it replaces %s", removed);
	if (stays.count)
		strbuf_addf(&text, "; %s %s; 'manykube apply' removes what its file does not have",
			    kept, stays.count == 1 ? "stays" : "stay");
	return advice_complete(text.text);
}

void choices_describe(const struct profile *before, const struct profile *after,
		      struct strlist *ret_sentences)
{
	for (size_t i = 0; i < ARRAY_SIZE(choices); i++) {
		const struct choice *choice = &choices[i];
		cleanup_free char *had = as_text(choice, kept_of(choice, before));
		cleanup_free char *has = as_text(choice, kept_of(choice, after));
		cleanup_free char *sentence = NULL;

		if (choice->type == CHOICE_LIST) {
			sentence = describe_list(choice, kept_of(choice, before),
						 kept_of(choice, after));
			if (sentence)
				strlist_add(ret_sentences, sentence);
		} else if (has && (!had || strcmp(had, has) != 0)) {
			strlist_addf(ret_sentences, "Changing %s%s%s to %s", choice->option,
				     had ? " from " : "", had ? had : "", has);
		}
	}
}
