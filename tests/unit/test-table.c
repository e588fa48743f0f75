#include <sched.h>
#include <sys/mount.h>

#include "base/advice.h"
#include "cli/node-table.h"
#include "cli/table.h"
#include "test.h"

static char *text;
static size_t len;

TEST(columns_are_aligned_by_characters)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	FILE *out = open_memstream(&text, &len);

	TABLE_ROW(&table, "NAME", "IP", "VERSION");
	TABLE_ROW(&table, "größe", "10.0.0.1", "v1");
	TABLE_ROW(&table, "x", NULL, "v1.36.3");
	table_print(&table, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT_STR(text, "NAME   IP        VERSION\n"
			 "größe  10.0.0.1  v1\n"
			 "x                v1.36.3\n");
	free(text);
}

TEST(a_box_has_its_heading_in_the_middle)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	FILE *out = open_memstream(&text, &len);

	TABLE_ROW(&table, "PROFILE", "RUNTIME", "IP");
	TABLE_ROW(&table, "ha-demo", "containerd", "192.168.49.254");
	TABLE_ROW(&table, "minikube", "docker", "192.168.58.2");
	table_print_box(&table, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT_STR(text, "┌──────────┬────────────┬────────────────┐\n"
			 "│ PROFILE  │  RUNTIME   │       IP       │\n"
			 "├──────────┼────────────┼────────────────┤\n"
			 "│ ha-demo  │ containerd │ 192.168.49.254 │\n"
			 "│ minikube │ docker     │ 192.168.58.2   │\n"
			 "└──────────┴────────────┴────────────────┘\n");
	free(text);
}

static const char *paint(size_t column, const char *cell)
{
	return column == 1 && strcmp(cell, "up") == 0 ? "<green>" : NULL;
}

/* What is printed of a small table in lines of WIDTH columns must be WANT. */
static void assert_within(unsigned width, const char *want)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	FILE *out = open_memstream(&text, &len);

	TABLE_ROW(&table, "NAME", "STATE", "IP");
	TABLE_ROW(&table, "x", "up", "10.0.0.1");
	table.paint = paint;
	table_print_within(&table, width, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT_STR(text, want);
	free(text);
}

TEST(a_table_that_is_too_wide_is_packed_then_split_and_nothing_is_left_out)
{
	assert_within(21, "NAME  STATE  IP\n"
			  "x     <green>up\033[0m     10.0.0.1\n");
	assert_within(19, "NAME STATE IP\n"
			  "x    <green>up\033[0m    10.0.0.1\n");
	assert_within(18, "NAME  STATE\n"
			  "x     <green>up\033[0m\n"
			  "\n"
			  "NAME  IP\n"
			  "x     10.0.0.1\n");
	assert_within(13, "NAME: x\nSTATE: up\nIP: 10.0.0.1\n");
}

TEST(what_is_too_wide_for_a_box_becomes_records)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	FILE *out = open_memstream(&text, &len);

	TABLE_ROW(&table, "PROFILE", "IP", "STATUS");
	TABLE_ROW(&table, "dev", "10.0.0.1", "OK");
	TABLE_ROW(&table, "bad", NULL, "Damaged");
	ASSERT_INT(table_box_width(&table), 1 + 10 + 11 + 10);
	table_print_records(&table, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT_STR(text, "PROFILE: dev\nIP: 10.0.0.1\nSTATUS: OK\n\n"
			 "PROFILE: bad\nSTATUS: Damaged\n");
	free(text);
}

static struct node master = { .name = (char *)"node-1",
			      .control_plane = true,
			      .primary = true,
			      .address = (char *)"10.0.0.2",
			      .cpus = 2,
			      .memory_bytes = 2ull << 30 };
static struct node helper = { .name = (char *)"node-2",
			      .address = (char *)"10.0.0.3",
			      .cpus = 1,
			      .memory_bytes = 512 << 20 };
static struct node_status statuses[] = {
	{ &master, "Running", "Running", "Running", "Configured", 812 << 20 },
	{ &helper, "Stopped", "Stopped", "Irrelevant", "Irrelevant", 0 },
};
static struct cluster_status cluster = { statuses, 2 };
static struct node_detail details[] = {
	{ "Ready", true, NULL, (char *)"v1.36.3", 7, -1 },
	{ "Stopped", false, (char *)"it is not running", (char *)"v1.36.3", -1, -1 },
};
static struct cluster_detail detail = { details, 2 };

TEST(nodes_are_shown_with_what_they_use)
{
	FILE *out = open_memstream(&text, &len);

	node_table_print(&cluster, &detail, &(struct node_table_look){ 0 }, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT_STR(
		text,
		"NODE    ROLE           STATE                     IP        VERSION  CPUS  MEMORY          PODS  AGE\n"
		"node-1  control-plane  Ready,SchedulingDisabled  10.0.0.2  v1.36.3  2     812Mi of 2.0Gi  7     -\n"
		"node-2  worker         Stopped                   10.0.0.3  v1.36.3  1     - of 512Mi      -     -\n");
	free(text);
}

TEST(disks_are_shown_where_nodes_have_some)
{
	FILE *out = open_memstream(&text, &len);

	helper.disk_bytes = 3ull << 30;
	statuses[1].disk_bytes = 1ull << 30;
	node_table_print(&cluster, &detail, &(struct node_table_look){ 0 }, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT(strstr(text, "MEMORY          DISK            PODS"));
	ASSERT(strstr(text, "812Mi of 2.0Gi  -               7"));
	ASSERT(strstr(text, "- of 512Mi      1.0Gi of 3.0Gi  -"));
	free(text);
}

TEST(a_disk_has_the_size_that_was_found)
{
	FILE *out = open_memstream(&text, &len);

	helper.disk_bytes = 3ull << 30;
	statuses[1].disk_bytes = 1ull << 30;
	statuses[1].disk_size_bytes = 2ull << 30;
	node_table_print(&cluster, &detail, &(struct node_table_look){ 0 }, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT(strstr(text, "- of 512Mi      1.0Gi of 2.0Gi  -"));
	free(text);
}

TEST(a_narrow_terminal_gets_every_column)
{
	static const char *const headings[] = { "NODE", "ROLE",   "STATE", "IP", "VERSION",
						"CPUS", "MEMORY", "PODS",  "AGE" };

	for (unsigned columns = 10; columns < 120; columns += 5) {
		struct node_table_look look = { .columns = columns };
		FILE *out = open_memstream(&text, &len);

		node_table_print(&cluster, &detail, &look, out);
		ASSERT_INT(fclose(out), 0);
		for (size_t i = 0; i < ARRAY_SIZE(headings); i++)
			ASSERT(strstr(text, headings[i]));
		/* Records may be longer than the terminal is wide. */
		for (const char *line = text; columns >= 40 && *line;
		     line += strcspn(line, "\n") + 1)
			ASSERT(strcspn(line, "\n") <= columns);
		free(text);
	}
}

TEST(at_80_columns_a_plain_cluster_is_one_table)
{
	struct node_table_look look = { .columns = 80 };
	FILE *out = open_memstream(&text, &len);

	details[0].cordoned = false;
	node_table_print(&cluster, &detail, &look, out);
	details[0].cordoned = true;
	ASSERT_INT(fclose(out), 0);
	ASSERT_STR(text,
		   "NODE   ROLE          STATE   IP       VERSION CPUS MEMORY         PODS AGE\n"
		   "node-1 control-plane Ready   10.0.0.2 v1.36.3 2    812Mi of 2.0Gi 7    -\n"
		   "node-2 worker        Stopped 10.0.0.3 v1.36.3 1    - of 512Mi     -    -\n");
	free(text);
}

TEST(only_states_have_colours)
{
	FILE *out = open_memstream(&text, &len);

	node_table_print(&cluster, &detail, &(struct node_table_look){ 0, true }, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT(strstr(text, "  \033[33mReady,SchedulingDisabled\033[0m  10.0.0.2"));
	ASSERT(strstr(text, "  \033[31mStopped\033[0m                   10.0.0.3"));
	ASSERT(!strstr(text, "\033[31mSTATE"));
	free(text);
}

TEST(problems_come_with_what_to_do)
{
	struct profile profile = { .name = (char *)"dev", .node_count = 2, .api_port = 16443 };
	struct activity quiet = ACTIVITY_INIT;
	struct activity busy = { .busy_with = (char *)"manykube start",
				 .step_detail = (char *)"Joining node-2" };
	struct node_table_look narrow = { .columns = 30 };
	struct cluster_status well = { statuses, 1 };
	FILE *out = open_memstream(&text, &len);

	advice_use_profile("dev");
	node_table_print_headline(&profile, HEALTH_DEGRADED, &narrow, out);
	node_table_print_problems(&profile, &well, &detail, &quiet, &narrow, out);
	node_table_print_problems(&profile, &cluster, &detail, &quiet, &narrow, out);
	node_table_print_problems(&profile, &cluster, &detail, &busy, &narrow, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT_STR(text, "dev: Degraded, 2 nodes, API\n"
			 "  https://127.0.0.1:16443\n"
			 "\n"
			 "node-2 is Stopped: it is not\n"
			 "  running\n"
			 "'manykube start -p dev'\n"
			 "repairs it\n"
			 "\n"
			 "node-2 is Stopped: it is not\n"
			 "  running\n"
			 "'manykube start' is working on\n"
			 "it: Joining node-2\n");
	free(text);
}

TEST(a_damaged_kubeconfig_is_named_and_not_promised_to_be_repaired)
{
	struct profile profile = { .name = (char *)"dev", .node_count = 1, .api_port = 16443 };
	struct activity quiet = ACTIVITY_INIT;
	struct cluster_status damaged = { statuses, 1, .kubeconfig_damage = (char *)"/k:1:2: odd" };
	struct node_table_look wide = { .columns = 0 };
	const char *before = statuses[0].kubeconfig;
	FILE *out = open_memstream(&text, &len);

	statuses[0].kubeconfig = "Misconfigured";
	node_table_print_problems(&profile, &damaged, &detail, &quiet, &wide, out);
	statuses[0].kubeconfig = before;
	ASSERT_INT(fclose(out), 0);
	ASSERT(strstr(text, "kubectl cannot use this cluster: /k:1:2: odd\n"));
	ASSERT(strstr(text, "correct or remove that kubeconfig"));
	ASSERT(!strstr(text, "repairs"));
	free(text);
}

/* The advice for a cluster of COUNT nodes with the directory DIR. */
static char *advice_of(struct node_status *nodes, size_t count, char *dir)
{
	struct profile profile = { .name = (char *)"dev", .node_count = count, .dir = dir };
	struct node_detail same[3] = { detail.nodes[0], detail.nodes[0], detail.nodes[0] };
	struct cluster_detail shown = { .nodes = same, .count = count };
	struct activity quiet = ACTIVITY_INIT;
	struct node_table_look wide = { .columns = 0 };
	char *advice = NULL;
	FILE *out = open_memstream(&advice, &len);

	advice_use_profile("dev");
	node_table_print_advice(&profile, &(struct cluster_status){ nodes, count }, &shown, &quiet,
				&wide, out);
	ASSERT_INT(fclose(out), 0);
	return advice;
}

TEST(the_memory_of_a_vm_is_its_own)
{
	struct node node = { .name = (char *)"vm", .driver = "native" };

	ASSERT(node_table_memory(&node) != 2ull << 30);
	node.driver = "qemu";
	ASSERT_INT(node_table_memory(&node), 2ull << 30);
	node.memory_bytes = 10 << 20;
	ASSERT_INT(node_table_memory(&node), 512 << 20);
	node.memory_bytes = 3ull << 30;
	ASSERT_INT(node_table_memory(&node), 3ull << 30);
}

TEST(a_half_deleted_cluster_is_only_said_to_be_one)
{
	struct profile profile = { .name = (char *)"dev", .node_count = 2, .deleting = true };
	struct activity failed = { .failure = (char *)"interrupted" };
	struct activity busy = { .busy_with = (char *)"manykube delete" };
	cleanup_with(strlist_release) struct strlist advice = STRLIST_INIT;
	struct node_table_look wide = { .columns = 0 };
	FILE *out = open_memstream(&text, &len);

	node_table_print_problems(&profile, &cluster, &detail, &failed, &wide, out);
	node_table_print_advice(&profile, &cluster, &detail, &failed, &wide, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT_STR(text, "");
	free(text);
	node_table_list_advice(&profile, &cluster, &detail, &failed, &advice);
	ASSERT_INT(advice.count, 0);
	node_table_list_advice(&profile, &cluster, &detail, &busy, &advice);
	ASSERT_INT(advice.count, 1);
}

TEST(a_start_is_not_said_to_repair_what_it_cannot)
{
	struct node plane = { .name = (char *)"a", .control_plane = true, .phase = NODE_JOINED };
	struct node_status all[] = { statuses[0], statuses[0], statuses[0] };
	cleanup_free char *only = NULL;
	cleanup_free char *most = NULL;
	cleanup_free char *one = NULL;
	cleanup_free char *full = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		all[i].node = &plane;
	all[0].host = all[0].apiserver = "Nonexistent";
	one = advice_of(all, 3, NULL);
	ASSERT_STR(one, "'manykube start -p dev' repairs it\n");
	only = advice_of(all, 1, (char *)"/gone");
	ASSERT(strstr(only, "the cluster's data in '/gone/nodes' is missing"));
	all[1].host = all[1].apiserver = "Nonexistent";
	most = advice_of(all, 3, NULL);
	ASSERT(strstr(most, "'manykube start -p dev' says what can be done"));
	all[0].host = all[1].host = "Running";
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	ASSERT_INT(mount("small", test_dir(), "tmpfs", 0, "size=1m"), 0);
	full = advice_of(all, 3, (char *)(uintptr_t)test_dir());
	ASSERT(strstr(full, "is full: free some space, then run 'manykube start -p dev'"));
	ASSERT_INT(umount(test_dir()), 0);
}

TEST(what_was_to_go_or_never_came_is_not_said_to_be_repaired)
{
	struct node leaving = { .name = (char *)"old", .phase = NODE_LEAVING };
	struct node registered = { .name = (char *)"new", .phase = NODE_PLANNED };
	struct node_status nodes[] = { statuses[0], statuses[0] };
	cleanup_free char *gone = NULL;
	cleanup_free char *never = NULL;

	nodes[1].node = &leaving;
	nodes[1].host = nodes[1].kubelet = "Stopped";
	gone = advice_of(nodes, 2, NULL);
	ASSERT_STR(gone, "the deletion of node 'old' was interrupted: delete it again to finish\n");
	nodes[1].node = &registered;
	nodes[1].host = nodes[1].kubelet = "Nonexistent";
	never = advice_of(nodes, 2, NULL);
	ASSERT_STR(never, "'manykube start -p dev' also starts what is only registered\n");
}

TEST(a_kubeconfig_for_another_cluster_is_named_with_what_corrects_it)
{
	struct profile profile = { .name = (char *)"dev", .node_count = 1, .api_port = 16443 };
	struct activity quiet = ACTIVITY_INIT;
	struct cluster_status misled = { statuses, 1 };
	struct node_table_look wide = { .columns = 0 };
	const char *before = statuses[0].kubeconfig;
	FILE *out = open_memstream(&text, &len);

	advice_use_profile("dev");
	statuses[0].kubeconfig = "Misconfigured";
	node_table_print_advice(&profile, &misled, &detail, &quiet, &wide, out);
	statuses[0].kubeconfig = before;
	ASSERT_INT(fclose(out), 0);
	ASSERT_STR(text, "your kubeconfig does not point kubectl at this cluster; 'manykube "
			 "update-context -p dev' corrects that\n");
	free(text);
}

TEST(pressure_comes_with_what_relieves_each_node)
{
	struct profile profile = { .name = (char *)"dev", .dir = (char *)"/home/dev" };
	struct activity quiet = ACTIVITY_INIT;
	struct node_status short_of[] = { statuses[0], statuses[0] };
	struct node_detail why[] = {
		{ "Ready", false, (char *)"DiskPressure: it is full", NULL, -1, -1 },
		{ "Ready", false, (char *)"MemoryPressure: it is full", NULL, -1, -1 },
	};
	struct cluster_status both = { short_of, 2 };
	struct cluster_detail known = { why, 2 };
	struct node_table_look wide = { .columns = 0 };
	FILE *out = open_memstream(&text, &len);

	short_of[0].pressure = (char *)"DiskPressure";
	short_of[1].pressure = (char *)"MemoryPressure";
	short_of[1].node = &helper;
	advice_use_profile("dev");
	node_table_print_problems(&profile, &both, &known, &quiet, &wide, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT(strstr(text, "node-1: DiskPressure: it is full\n"));
	ASSERT(strstr(text, "node-1: free space on the file system of '/home/dev'"));
	ASSERT(strstr(text, "'manykube node set -p dev node-2 --memory=SIZE'"));
	ASSERT(!strstr(text, "hangs"));
	free(text);
}

TEST(a_node_that_we_have_cordoned_is_named)
{
	struct profile profile = { .name = (char *)"dev", .node_count = 1 };
	struct activity quiet = ACTIVITY_INIT;
	struct node_detail known = { "Ready", true, NULL, NULL, -1, -1 };
	struct cluster_status one = { statuses, 1 };
	struct cluster_detail details_of_one = { &known, 1 };
	struct node_table_look wide = { .columns = 0 };
	FILE *out = open_memstream(&text, &len);

	/* Not one that the user has cordoned. */
	node_table_print_problems(&profile, &one, &details_of_one, &quiet, &wide, out);
	ASSERT_INT(fflush(out), 0);
	ASSERT_STR(text, "");
	strlist_add(&profile.drained, "node-1");
	node_table_print_problems(&profile, &one, &details_of_one, &quiet, &wide, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT(strstr(text, "node-1 gets no new pods"));
	strlist_release(&profile.drained);
	free(text);
}

TEST(what_several_control_planes_share_is_said_once)
{
	struct profile profile = { .name = (char *)"dev", .node_count = 2 };
	struct activity quiet = ACTIVITY_INIT;
	struct node_status pair[] = { statuses[0], statuses[0] };
	struct node_detail known[] = { { "Ready", false, NULL, NULL, -1, -1 },
				       { "Ready", false, NULL, NULL, -1, -1 } };
	struct cluster_status both = { pair, 2 };
	struct cluster_detail two = { known, 2 };
	struct node_table_look wide = { .columns = 0 };
	FILE *out = open_memstream(&text, &len);
	const char *first;

	pair[0].kubeconfig = "Misconfigured";
	pair[1].kubeconfig = "Misconfigured";
	node_table_print_problems(&profile, &both, &two, &quiet, &wide, out);
	ASSERT_INT(fclose(out), 0);
	first = strstr(text, "kubectl is not set to use this cluster");
	ASSERT(first);
	ASSERT(!strstr(first + 1, "kubectl is not set"));
	free(text);
}

TEST(sizes_and_ages_are_short)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} sizes[] = { { 812ull << 20, "812Mi" },
		      { 1ull << 30, "1.0Gi" },
		      { 3ull << 29, "1.5Gi" },
		      { 23ull << 30, "23Gi" } };
	static const struct {
		int64_t seconds;
		const char *text;
	} ages[] = { { -5, "0s" },           { 119, "119s" },       { 120, "2m" },
		     { 121, "2m1s" },        { 3600, "60m" },       { 5 * 3600 + 60, "5h1m" },
		     { 30 * 3600, "30h" },   { 49 * 3600, "2d1h" }, { 72 * 3600, "3d" },
		     { 400 * 86400, "400d" } };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		cleanup_free char *got = node_table_bytes(sizes[i].bytes);

		ASSERT_STR(got, sizes[i].text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(ages); i++) {
		cleanup_free char *got = node_table_age(ages[i].seconds);

		ASSERT_STR(got, ages[i].text);
	}
}
