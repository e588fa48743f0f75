/* The pod network of a cluster: its words, manifests, and changing it in a fake world, whole and
 * ended after every single step. */

#include <sys/stat.h>

#include "base/file.h"
#include "cluster/change-network.h"
#include "cluster/cluster.h"
#include "cni/manifests.h"
#include "cni/objects.h"
#include "fake-files.h"
#include "fake-world.h"
#include "payload/cache.h"
#include "record/cni.h"
#include "record/options.h"
#include "rounds.h"
#include "test.h"

#define CONFIGMAP "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: cni-test}\n"

TEST(a_network_of_one_family_is_refused_where_there_are_two)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_INT(cni_check_family("flannel", "dual", &why), -ENOTSUP);
	ASSERT(strstr(why.text, "--cni=flannel gives pods IPv4 addresses only"));
	ASSERT_INT(cni_check_family("bridge", "dual", NULL), -ENOTSUP);
	ASSERT_INT(cni_check_family("auto", "dual", NULL), 0);
	ASSERT_INT(cni_check_family(NULL, "dual", NULL), 0);
	ASSERT_INT(cni_check_family("none", "dual", NULL), 0);
	ASSERT_INT(cni_check_family("flannel", "ipv4", NULL), 0);
	ASSERT_INT(cni_check_family("bridge", NULL, NULL), 0);
}

TEST(a_word_is_a_name_of_ours_or_of_minikubes_or_a_place)
{
	static const char *const wrong[] = { "calico", "cilium", "nome", "ftp://x/y", "" };

	ASSERT_STR(cni_name("kindnet"), "auto");
	ASSERT_STR(cni_name("true"), "auto");
	ASSERT_STR(cni_name("false"), "none");
	ASSERT_STR(cni_name("bridge"), "bridge");
	ASSERT_INT(cni_kind(NULL), CNI_AUTO);
	ASSERT_INT(cni_kind("/srv/net.yaml"), CNI_MANIFESTS);
	ASSERT_OK(cni_check("kindnet", &err));
	ASSERT_OK(cni_check("./net.yaml", &err));
	ASSERT_OK(cni_check("https://example.net/net.yaml", &err));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		cleanup_with(error_clear) struct error err = ERROR_INIT;

		ASSERT_INT(cni_check(wrong[i], &err), -EINVAL);
		ASSERT(err.reason == &reason_usage);
	}
}

TEST(users_may_not_have_root_read_files_by_their_settings)
{
	ASSERT(!cni_is_beyond_user("flannel"));
	ASSERT(cni_is_beyond_user("/etc/shadow"));
	ASSERT(cni_is_beyond_user("https://example.net/net.yaml"));
}

TEST(manifests_have_several_documents_and_lists)
{
	static const char text[] = "# first\n---\napiVersion: v1\nkind: Namespace\n"
				   "metadata: {name: a}\n---\n---\n"
				   "apiVersion: v1\nkind: List\nitems:\n"
				   "- {apiVersion: x.y/v1, kind: Z, metadata: {name: b}}\n";
	json_auto_t *list = json_array();

	ASSERT_OK(objects_parse("f", text, strlen(text), list, &err));
	ASSERT_INT(json_array_size(list), 2);
}

TEST(what_is_no_manifest_is_refused_with_its_line)
{
	static const struct {
		const char *text;
		const char *error;
	} cases[] = {
		{ "a: b\n", "f:1:1: it has no valid 'apiVersion'" },
		{ "\n\n- a\n", "f:3:1: it is not a mapping" },
		{ "apiVersion: v1\nkind: A\nmetadata: {name: x}\n---\nb: [\n", "f:6:1: " },
		{ "apiVersion: v1\nkind: A\nmetadata: {name: ../x}\n", "'metadata.name'" },
		{ "apiVersion: ../v1\nkind: A\nmetadata: {name: x}\n", "'apiVersion'" },
		{ "apiVersion: v1\nkind: A\nmetadata: {name: x, namespace: a/b}\n", "namespace" },
		{ "\177ELF", "f:1:" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_with(error_clear) struct error err = ERROR_INIT;
		json_auto_t *list = json_array();

		ASSERT_INT(objects_parse("f", cases[i].text, strlen(cases[i].text), list, &err),
			   -EBADMSG);
		ASSERT(strstr(err.text, cases[i].error));
		ASSERT(err.reason == &reason_usage);
	}
}

static char *put_manifest(const char *name)
{
	cleanup_free char *text = xasprintf(CONFIGMAP, name);
	char *path = xasprintf("%s/%s.yaml", test_dir(), name);

	ASSERT_OK(file_put(path, text, strlen(text), 0644, &err));
	return path;
}

TEST(a_url_needs_a_network_and_a_file_must_exist)
{
	cleanup_with(cni_manifests_release) struct cni_manifests manifests = CNI_MANIFESTS_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_with(error_clear) struct error other = ERROR_INIT;

	ASSERT_INT(cni_manifests_read("https://example.net/x.yaml", true, &manifests, &err),
		   -ENOENT);
	ASSERT(err.reason == &reason_download);
	ASSERT_INT(cni_manifests_check("/nowhere/x.yaml", &other), -EINVAL);
}

static int start_with(struct cluster_options options)
{
	struct cluster_outcome outcome;

	options.wait = WAIT_API | WAIT_NODES;
	options.wait_seconds = 20;
	return cluster_start("test", &options, NULL, &outcome, NULL);
}

/* flannel is in the cache. */
static void put_flannel(void)
{
	static const char *const files[] = { "/bin/flanneld", "/image.tar", "/image.id" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_free char *path = NULL;
		cleanup_free char *dir = NULL;

		ASSERT_OK(cache_path("flannel-" FLANNEL_VERSION, files[i], &path, &err));
		dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));
		ASSERT_OK(file_make_dirs(dir, 0755, &err));
		ASSERT_OK(file_put(path, "x", 1, 0755, &err));
	}
}

static const char *from;
static const char *to;

static int make_cluster(void)
{
	put_flannel();
	return start_with((struct cluster_options){ .nodes = 3, .cni = from });
}

static int change_to(const char *cni)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	int r = profile_load("test", &profile, NULL);

	return r < 0 ? r : cluster_change_network(&profile, cni, NULL, 5, NULL, NULL);
}

static int change(void)
{
	return MIN(change_to(to), 0);
}

static bool node_has_config(const char *node, const char *name)
{
	cleanup_free char *in_node = xasprintf("/etc/cni/net.d/%s", name);
	cleanup_free char *path = fake_files_path(node, in_node);

	return file_exists(path);
}

/* The cluster has the network TO as a whole, and nothing of another one. */
static void assert_network(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	enum cni_kind kind = cni_kind(to);
	const struct node *node;

	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT_STR(profile.cni, to);
	ASSERT(!profile.network_from);
	ASSERT_INT(profile.network_due.count, 0);
	fake_world_list(&all);
	ASSERT_INT(strlist_has(&all, "flannel"), kind == CNI_FLANNEL);
	ASSERT_INT(strlist_has(&all, "applied:one"), kind == CNI_MANIFESTS);
	profile_for_each_node(node, &profile) {
		ASSERT_INT(node_has_config(node->name, "10-manykube.conflist"),
			   kind == CNI_AUTO || kind == CNI_BRIDGE);
		ASSERT_INT(node_has_config(node->name, "10-flannel.conflist"), kind == CNI_FLANNEL);
	}
}

static void continue_and_check(void)
{
	cleanup_free char *history = NULL;

	ASSERT_OK(MIN(change_to(to), 0));
	assert_network();
	history = fake_world_history();
	ASSERT(strstr(history, "renew pods of node-1 "));
	ASSERT(strstr(history, "renew pods of node-2 "));
	ASSERT(strstr(history, "renew pods of node-3 "));
	/* Once more there is nothing to do. */
	ASSERT_INT(change_to(to), 0);
}

static void change_in_pieces(const char *one, const char *other)
{
	from = one;
	to = other;
	cut_short(make_cluster, change, continue_and_check, 4);
}

TEST(changing_between_networks_of_ours_can_be_interrupted_anywhere)
{
	change_in_pieces("auto", "bridge");
	change_in_pieces("bridge", "auto");
}

TEST(changing_to_and_from_flannel_can_be_interrupted_anywhere)
{
	change_in_pieces("auto", "flannel");
	change_in_pieces("flannel", "bridge");
}

TEST(changing_to_and_from_none_can_be_interrupted_anywhere)
{
	change_in_pieces("flannel", "none");
	change_in_pieces("none", "auto");
}

TEST(changing_to_and_from_manifests_can_be_interrupted_anywhere)
{
	cleanup_free char *one = put_manifest("one");

	change_in_pieces("auto", one);
	change_in_pieces(one, "flannel");
}

/* Another network than the one that was begun. */
static void change_mind(void)
{
	const char *wanted = to;

	to = "auto";
	continue_and_check();
	to = wanted;
}

TEST(an_interrupted_change_can_end_with_another_network)
{
	cleanup_free char *one = put_manifest("one");

	from = "flannel";
	to = one;
	cut_short(make_cluster, change, change_mind, 4);
}

TEST(a_new_cluster_gets_its_manifests_and_needs_the_original_no_longer)
{
	cleanup_free char *one = put_manifest("one");

	free(begin_round(0));
	from = to = one;
	ASSERT_INT(make_cluster(), 0);
	assert_network();
	ASSERT(unlink(one) == 0);
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 4 }), 0);
	ASSERT_INT(change_to("auto"), 1);
	to = "auto";
	assert_network();
}

TEST(nothing_is_made_of_a_manifest_that_is_none)
{
	cleanup_free char *path = xasprintf("%s/bad.yaml", test_dir());

	free(begin_round(0));
	ASSERT_OK(file_put(path, "a: [\n", 5, 0644, &err));
	ASSERT_INT(start_with((struct cluster_options){ .nodes = 1, .cni = path }), -EBADMSG);
	assert_world("");
}

TEST(start_does_not_change_the_network)
{
	free(begin_round(0));
	from = to = "auto";
	ASSERT_INT(make_cluster(), 0);
	ASSERT_INT(start_with((struct cluster_options){ .cni = "bridge" }), -EINVAL);
	assert_network();
}
