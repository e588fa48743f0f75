/* What nodes of a cluster will be. */

#include "node/cluster-node.h"
#include "plan/plan.h"
#include "record/options.h"
#include "record/skew.h"
#include "test.h"

/* A cluster with its first node, which has .2. */
static void plan_first(struct profile *profile, const char *pods)
{
	static const struct node_options usual;
	struct node *node;

	*profile = (struct profile){ .name = xstrdup("test"),
				     .kubernetes_version = xstrdup("v1.36.3"),
				     .subnet = xstrdup("192.168.39.0/24"),
				     .pod_subnet = xstrdup(pods),
				     .cpus = 2,
				     .memory_bytes = UINT64_C(2) << 30 };
	strlist_add(&profile->labels, "all=yes");
	ASSERT_OK(plan_node(profile, &usual, &node, &err));
	ASSERT_STR(node->name, "node-1");
	ASSERT(node->primary && node->control_plane);
}

/* See that a node that is to be like OPTIONS is refused with CODE for REASON, and words that have
 * PART. */
static void assert_refused_for(const struct reason *reason, struct profile *profile,
			       const struct node_options *options, int code, const char *part)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	size_t before = profile->node_count;
	struct node *node;

	ASSERT_INT(plan_node(profile, options, &node, &why), code);
	ASSERT(why.reason == reason);
	if (!strstr(why.text, part))
		ASSERT_STR(why.text, part);
	ASSERT_INT(profile->node_count, before);
}

static void assert_refused(struct profile *profile, const struct node_options *options, int code,
			   const char *part)
{
	assert_refused_for(&reason_usage, profile, options, code, part);
}

TEST(an_address_must_be_a_free_one_of_the_subnet)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	static const struct {
		const char *address;
		int code;
	} wrong[] = {
		{ "10.0.0.5", -ERANGE },         { "192.168.39.0", -ERANGE },
		{ "192.168.39.1", -ERANGE },     { "192.168.39.255", -ERANGE },
		{ "192.168.39.2", -EADDRINUSE }, { "192.168.39.256", -EINVAL },
		{ "banana", -EINVAL },           { "", -EINVAL },
	};

	plan_first(&profile, "10.244.0.0/16");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_refused(&profile, &(struct node_options){ .address = wrong[i].address },
			       wrong[i].code, "--static-ip");
}

TEST(a_chosen_address_has_its_pod_network_and_is_left_out_later)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	static const struct node_options chosen = { .address = "192.168.39.3" };
	static const struct node_options usual;
	struct node *node;

	plan_first(&profile, "10.244.0.0/16");
	ASSERT_OK(plan_node(&profile, &chosen, &node, &err));
	ASSERT_STR(node->address, "192.168.39.3");
	ASSERT_STR(node->pod_cidr, "10.244.1.0/24");
	ASSERT_OK(plan_node(&profile, &usual, &node, &err));
	ASSERT_STR(node->address, "192.168.39.4");
	ASSERT_STR(node->pod_cidr, "10.244.2.0/24");
}

TEST(a_node_of_both_families_has_the_same_number_in_both)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	static const struct node_options chosen = { .address = "192.168.39.20" };
	struct node *node;

	plan_first(&profile, "10.244.0.0/16");
	ASSERT(!profile.nodes[0].address6 && !profile.nodes[0].pod_cidr6);
	profile.ipv6_prefix = xstrdup("fd12:3456:789a::/48");
	ASSERT_OK(plan_node(&profile, &chosen, &node, &err));
	ASSERT_STR(node->pod_cidr, "10.244.18.0/24");
	ASSERT_STR(node->address6, "fd12:3456:789a::14");
	ASSERT_STR(node->pod_cidr6, "fd12:3456:789a:114::/64");
}

TEST(a_name_must_be_a_free_dns_label)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	static const char *const wrong[] = {
		"",
		"Node",
		"a_b",
		"-a",
		"a-",
		"a.b",
		"a/b",
		"..",

		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	};

	plan_first(&profile, "10.244.0.0/16");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_refused(&profile, &(struct node_options){ .name = wrong[i] }, -EINVAL,
			       "is not a valid node name");
	assert_refused(&profile, &(struct node_options){ .name = "node-1" }, -EEXIST,
		       "has a node 'node-1' already");
}

TEST(a_free_name_fills_the_gap)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	static const struct node_options third = { .name = "node-3" };
	static const struct node_options usual;
	struct node *node;

	plan_first(&profile, "10.244.0.0/16");
	ASSERT_OK(plan_node(&profile, &third, &node, &err));
	ASSERT_OK(plan_node(&profile, &usual, &node, &err));
	ASSERT_STR(node->name, "node-2");
	ASSERT_OK(plan_node(&profile, &usual, &node, &err));
	ASSERT_STR(node->name, "node-4");
}

TEST(a_full_pod_network_takes_no_more_nodes)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	static const struct node_options usual;
	static const struct node_options far = { .address = "192.168.39.200" };
	struct node *node;

	plan_first(&profile, "10.244.0.0/23");
	assert_refused(&profile, &far, -ERANGE, "no room for another node");
	ASSERT_OK(plan_node(&profile, &usual, &node, &err));
	assert_refused(&profile, &usual, -ERANGE, "no room for another node");
}

TEST(a_node_has_what_all_have_unless_it_has_its_own)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	struct node_options options = { .memory_bytes = UINT64_C(1) << 30,
					.base_image = "/srv/other" };
	cleanup_free char *labels = NULL;
	struct node *node;

	plan_first(&profile, "10.244.0.0/16");
	profile.disk_bytes = UINT64_C(20) << 30;
	profile.base_image = xstrdup("/srv/base");
	strlist_add(&options.labels, "tier=db");
	ASSERT_OK(plan_node(&profile, &options, &node, &err));
	strlist_release(&options.labels);
	labels = strlist_join(&node->labels, " ");
	ASSERT_STR(labels, "all=yes tier=db");
	ASSERT_INT(node->cpus, 2);
	ASSERT_INT(node->memory_bytes, UINT64_C(1) << 30);
	ASSERT_INT(node->disk_bytes, UINT64_C(20) << 30);
	ASSERT_STR(node->base_image, "/srv/other");
	options = (struct node_options){ .disk_bytes = UINT64_C(30) << 30 };
	ASSERT_OK(plan_node(&profile, &options, &node, &err));
	ASSERT_INT(node->disk_bytes, UINT64_C(30) << 30);
	ASSERT_STR(node->base_image, "/srv/base");
	ASSERT(node->worker && !node->control_plane && !node->primary);
}

#define SKEW "a kubelet may be up to three minor versions older than the API server, never newer"

TEST(a_kubelet_may_be_older_within_limits_but_not_newer)
{
	static const struct {
		const char *cluster;
		const char *node;
		bool allowed;
	} pairs[] = {
		{ "v1.36.3", "v1.36.3", true },   { "v1.36.3", "v1.36.2", true },
		{ "v1.36.3", "v1.35.4", true },   { "v1.36.3", "v1.33.0", true },
		{ "v1.36.3", "v1.32.9", false },  { "v1.36.3", "v1.36.4", false },
		{ "v1.35.4", "v1.36.3", false },  { "v1.100.0", "v1.99.9", true },
		{ "v1.99.9", "v1.100.0", false }, { "v1.100.0", "v1.96.1", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		bool same = strcmp(pairs[i].cluster, pairs[i].node) == 0;

		ASSERT_INT(skew_check(pairs[i].cluster, pairs[i].node, false, &why),
			   pairs[i].allowed ? 0 : -EINVAL);
		if (!pairs[i].allowed) {
			ASSERT(why.reason == &reason_version_unsupported);
			ASSERT(strstr(why.text, SKEW));
			ASSERT(strstr(why.hint, pairs[i].cluster));
		}
		ASSERT_INT(skew_check(pairs[i].cluster, pairs[i].node, true, NULL),
			   same ? 0 : -EINVAL);
	}
}

TEST(a_cluster_goes_to_the_next_minor_version_at_most_and_never_back)
{
	static const struct {
		const char *from;
		const char *to;
		const char *rule;
		const char *hint;
	} pairs[] = {
		{ "v1.36.3", "v1.36.3", NULL, NULL },
		{ "v1.36.3", "v1.36.10", NULL, NULL },
		{ "v1.35.4", "v1.36.3", NULL, NULL },
		{ "v1.35.9", "v1.36.0", NULL, NULL },
		{ "v1.99.0", "v1.100.1", NULL, NULL },
		{ "v1.36.10", "v1.36.9", "cannot be downgraded", "--kubernetes-version=v1.36.9" },
		{ "v1.36.3", "v1.35.4", "cannot be downgraded", "start -p NAME" },
		{ "v1.34.0", "v1.36.3", "no minor version may be skipped", "=v1.35.4' first" },
		{ "v1.35.4", "v1.37.0", "no minor version may be skipped", "=v1.36.3' first" },
		{ "v1.90.0", "v1.92.0", "no minor version may be skipped", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		ASSERT_INT(skew_check_upgrade(pairs[i].from, pairs[i].to, &why),
			   pairs[i].rule ? -EINVAL : 0);
		ASSERT(!pairs[i].rule || why.reason == &reason_version_unsupported);
		ASSERT(!pairs[i].rule || strstr(why.text, pairs[i].rule));
		ASSERT(pairs[i].hint ? why.hint && strstr(why.hint, pairs[i].hint) : !why.hint);
	}
}

TEST(a_node_has_the_clusters_version_or_an_older_one)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	static const struct node_options usual;
	static const struct node_options older = { .kubernetes_version = "1.35" };
	static const struct node_options unknown = { .kubernetes_version = "v1.2.3" };
	static const struct node_options newer = { .kubernetes_version = "stable" };
	struct node *node;

	plan_first(&profile, "10.244.0.0/16");
	ASSERT_STR(profile.nodes[0].kubernetes_version, "v1.36.3");
	ASSERT_OK(plan_node(&profile, &older, &node, &err));
	ASSERT_STR(node->kubernetes_version, "v1.35.4");
	ASSERT(cluster_node_differs(&profile, node));
	ASSERT_OK(plan_node(&profile, &usual, &node, &err));
	ASSERT_STR(node->kubernetes_version, "v1.36.3");
	ASSERT(!cluster_node_differs(&profile, node));
	assert_refused_for(&reason_version_unsupported, &profile, &unknown, -EINVAL,
			   "supported: v1.36.3, v1.35.4");
	setting_set_word(&profile.kubernetes_version, "v1.35.4");
	assert_refused_for(&reason_version_unsupported, &profile, &newer, -EINVAL, SKEW);
	ASSERT_OK(plan_node(&profile, &usual, &node, &err));
	ASSERT_STR(node->kubernetes_version, "v1.35.4");
}

TEST(the_first_node_has_the_clusters_version)
{
	cleanup_with(profile_release) struct profile profile = {
		.kubernetes_version = xstrdup("v1.36.3"),
		.subnet = xstrdup("192.168.39.0/24"),
		.pod_subnet = xstrdup("10.244.0.0/16")
	};
	static const struct node_options older = { .kubernetes_version = "v1.35.4" };

	assert_refused_for(&reason_version_unsupported, &profile, &older, -EINVAL,
			   "a control plane node must have the cluster's version");
}

TEST(a_kubelet_of_ones_own_has_no_version_to_choose)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	static const struct node_options both = { .kubernetes_version = "v1.35.4",
						  .kubelet_binary = "/bin/true" };
	static const struct node_options older = { .kubernetes_version = "v1.35.4" };
	static const struct node_options usual;
	struct node *node;

	plan_first(&profile, "10.244.0.0/16");
	assert_refused(&profile, &both, -EINVAL, "--kubelet-binary");
	/* The node's own version comes before what all nodes have. */
	profile.kubelet_binary = xstrdup("/bin/true");
	ASSERT_OK(plan_node(&profile, &older, &node, &err));
	ASSERT(!node->kubelet_binary);
	ASSERT(cluster_node_differs(&profile, node));
	ASSERT_OK(plan_node(&profile, &usual, &node, &err));
	ASSERT_STR(node->kubelet_binary, "/bin/true");
	ASSERT(!cluster_node_differs(&profile, node));
}
