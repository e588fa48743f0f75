/* What the programs of Kubernetes say to what they would be told; scripts stand for them. */

#include "kubeadm/arguments.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cluster/cluster.h"
#include "fake-world.h"
#include "plan/check.h"
#include "record/options.h"
#include "rounds.h"
#include "test.h"

/* As Kubernetes' programs complain, the kubelet in any case. */
static const char script[] =
	"#!/bin/sh\n"
	"fail() {\n"
	"	echo \"E1118 1 run.go:72] \\\"command failed\\\" err=\\\"$*\\\"\"\n"
	"	exit 1\n"
	"}\n"
	"[ \"$(id -u)\" != 0 ] || fail 'failed to parse kubelet flag: I am root'\n"
	"configuration=$(cat)\n"
	"case \"$* $configuration\" in\n"
	"*Nonsense*) fail 'failed to set feature gates from initial flags-based config:'"
	" 'unrecognized feature gate: Nonsense' ;;\n"
	"*--nonsense*) fail 'failed to parse kubelet flag: unknown flag: --nonsense' ;;\n"
	"*--exit-on-lock*) fail 'cannot exit on lock file contention: no lock file specified' ;;\n"
	"esac\n";

static struct payload payload;

static void put_program(const char *dir, const char *name)
{
	cleanup_free char *where = xasprintf("%s/%s", payload.dir, dir);
	cleanup_free char *path = xasprintf("%s/%s", where, name);

	ASSERT_OK(file_make_dirs(where, 0755, &err));
	ASSERT_OK(file_put(path, script, strlen(script), 0755, &err));
}

static void make_payload(void)
{
	if (geteuid() != 0)
		test_skip("needs root to give up rights");
	payload.dir = xasprintf("%s/payload", test_dir());
	put_program("bin", "kubelet");
	put_program("store/io.containerd.snapshotter.v1.overlayfs/snapshots/7/fs/usr/local/bin",
		    "kube-apiserver");
}

/* A new cluster of two nodes, with words for the cluster and for the second node. */
static void plan(const struct cluster_options *options, struct profile *ret)
{
	struct plan made = PLAN_INIT;

	free(begin_round(0));
	ASSERT_OK(cluster_plan("test", options, &made, &err));
	ASSERT(made.is_new);
	*ret = made.profile;
}

/* Check all nodes of a cluster with OPTIONS; returns the words of what is refused, for the caller
 * to free, "" if nothing is. */
static char *check_all(const struct cluster_options *options)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist checked = STRLIST_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	const struct node *node;
	int r = 0;

	plan(options, &profile);
	profile_for_each_node(node, &profile)
		if (r == 0)
			r = arguments_check(&profile, node, &payload, &checked, &why);
	ASSERT(r == 0 || (r == -EINVAL && why.reason == &reason_usage));
	return xstrdup(r < 0 ? why.text : "");
}

#define ASSERT_REFUSED(words, ...)                                             \
	do {                                                                   \
		struct cluster_options options_ = { .nodes = 2, __VA_ARGS__ }; \
		cleanup_free char *refused_ = check_all(&options_);            \
		ASSERT_STR(refused_, words);                                   \
	} while (0)

#define WORDS(...)                                               \
	{                                                        \
		.items = (char *[]){ __VA_ARGS__, NULL },        \
		.count = ARRAY_SIZE(((char *[]){ __VA_ARGS__ })) \
	}

TEST(a_feature_gate_that_there_is_not_is_refused_in_the_kubelets_own_words)
{
	make_payload();
	ASSERT_REFUSED("kubelet: unrecognized feature gate: Nonsense",
		       .feature_gates = WORDS((char[]){ "Nonsense=true" }));
	ASSERT_REFUSED("", .feature_gates = WORDS((char[]){ "Sense=true" }));
}

TEST(an_argument_that_there_is_not_is_refused_by_the_program_that_gets_it)
{
	make_payload();
	ASSERT_REFUSED("kubelet: unknown flag: --nonsense",
		       .extra_config = WORDS((char[]){ "kubelet.nonsense=1" }));
	ASSERT_REFUSED("kube-apiserver: unknown flag: --nonsense",
		       .extra_config = WORDS((char[]){ "apiserver.nonsense=1" }));
	/* There is no such program here to ask. */
	ASSERT_REFUSED("", .extra_config = WORDS((char[]){ "scheduler.nonsense=1" }));
}

TEST(a_node_of_its_own_kubelet_is_checked_with_that)
{
	const struct node_options nodes[] = {
		{ .name = "first" },
		{ .name = "second", .feature_gates = WORDS((char[]){ "Nonsense=true" }) },
	};

	make_payload();
	ASSERT_REFUSED("kubelet: unrecognized feature gate: Nonsense", .add = nodes,
		       .add_count = ARRAY_SIZE(nodes));
}

TEST(a_start_with_such_words_makes_nothing)
{
	struct cluster_options options = { .feature_gates = WORDS((char[]){ "Nonsense=true" }),
					   .kubernetes_version = "v1.36.3",
					   .wait_seconds = 20 };
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *dir = begin_round(0);
	struct cluster_outcome outcome;

	/* Where the payload of the fake world is. */
	make_payload();
	free(payload.dir);
	payload.dir = xasprintf("%s/.payload", dir);
	put_program("bin", "kubelet");
	ASSERT_INT(cluster_start("test", &options, NULL, &outcome, NULL), -EINVAL);
	fake_world_list(&all);
	ASSERT_INT(all.count, 0);
	ASSERT_INT(profile_load("test", &profile, NULL), -ENOENT);
}
