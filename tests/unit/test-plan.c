/* What nodes of a cluster will be. */

#include "cluster/plan.h"
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

/* See that a node that is to be like OPTIONS is refused with CODE, and words that have PART. */
static void assert_refused(struct profile *profile, const struct node_options *options, int code,
			   const char *part)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	size_t before = profile->node_count;
	struct node *node;

	ASSERT_INT(plan_node(profile, options, &node, &why), code);
	ASSERT(why.reason == &reason_usage);
	if (!strstr(why.text, part))
		ASSERT_STR(why.text, part);
	ASSERT_INT(profile->node_count, before);
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
			       "can't name a node");
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
	struct node_options options = { .memory_bytes = UINT64_C(1) << 30 };
	cleanup_free char *labels = NULL;
	struct node *node;

	plan_first(&profile, "10.244.0.0/16");
	strlist_add(&options.labels, "tier=db");
	ASSERT_OK(plan_node(&profile, &options, &node, &err));
	strlist_release(&options.labels);
	labels = strlist_join(&node->labels, " ");
	ASSERT_STR(labels, "all=yes tier=db");
	ASSERT_INT(node->cpus, 2);
	ASSERT_INT(node->memory_bytes, UINT64_C(1) << 30);
	ASSERT(node->worker && !node->control_plane && !node->primary);
}
