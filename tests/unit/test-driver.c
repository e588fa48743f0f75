/* The list of drivers, and the files of native nodes,
 * which their root may have made anything of. */

#include "driver/driver.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "describe/choices.h"
#include "driver/tree.h"
#include "plan/check.h"
#include "plan/plan.h"
#include "record/options.h"
#include "test.h"

TEST(a_driver_is_known_by_its_name_and_others_are_named)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_STR(node_driver_default()->name, NODE_DRIVER_DEFAULT);
	ASSERT(node_driver_find(NODE_DRIVER_DEFAULT) == node_driver_default());
	ASSERT_OK(node_driver_check(NODE_DRIVER_DEFAULT, &err));
	ASSERT_STR(node_driver_find("docker")->name, "docker");
	ASSERT_OK(node_driver_check("docker", &err));
	ASSERT_INT(node_driver_check("hyperkit", &why), -EINVAL);
	ASSERT(why.reason == &reason_usage);
	ASSERT(strstr(why.text,
		      "there is no driver 'hyperkit'; available drivers: " NODE_DRIVER_DEFAULT
		      ", docker, qemu") == why.text);
}

TEST(a_driver_is_understood_by_minikubes_name_for_it)
{
	static const struct {
		const char *name;
		const char *driver;
	} names[] = {
		{ "kvm2", "qemu" },
		{ "kvm", "qemu" },
		{ "qemu2", "qemu" },
		{ "podman", "docker" },
		{ "docker", "docker" },
		{ "native", "native" },
		{ "kvm kvm2", "kvm kvm2" },
		{ "hyperkit", "hyperkit" },
		{ "auto", NULL },
		{ "none", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *driver = node_driver_resolve(names[i].name);

		if (names[i].driver)
			ASSERT_STR(driver, names[i].driver);
		else
			ASSERT(!driver);
	}
}

TEST(only_a_vm_can_have_a_kernel_of_its_own)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct node node = { .name = (char *)"one", .driver = "native", .kernel = "/boot/linux" };
	struct node vm = { .name = (char *)"vm", .driver = "qemu", .kernel = "/boot/linux" };

	ASSERT_INT(check_own_kernel(&profile, &node, &why), -EINVAL);
	ASSERT(why.reason == &reason_usage);
	ASSERT(strstr(why.text, "node 'one' cannot have the kernel '/boot/linux'"));
	ASSERT_OK(check_own_kernel(&profile, &vm, &err));
	/* That of the cluster says nothing of nodes that are no VMs, if there are VMs. */
	profile.kernel = xstrdup("/boot/linux");
	ASSERT_INT(check_own_kernel(&profile, &node, &why), -EINVAL);
	setting_set_word(&profile_add_node(&profile, "vm")->driver, "qemu");
	ASSERT_OK(check_own_kernel(&profile, &node, &err));
	node.kernel = "/boot/other";
	ASSERT_INT(check_own_kernel(&profile, &node, &why), -EINVAL);
}

TEST(a_node_whose_user_no_engine_knows_is_refused_before_anything_is_made)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *where = xasprintf("%s/node-1", test_dir());
	struct node_spec far = { .cluster = "mk12345678",
				 .profile = "dev",
				 .name = "node-1",
				 .dir = where,
				 .slot = 224 };

	ASSERT_INT(node_driver_docker.create(&far, &why), -EINVAL);
	ASSERT(why.reason == &reason_usage);
	ASSERT(strstr(why.text, "number 224 of the cluster's network"));
	ASSERT(strstr(why.text, "at most 223"));
	ASSERT(!file_exists(where));
}

TEST(a_docker_node_stops_and_goes_without_an_engine_if_there_is_nothing_to_remove)
{
	cleanup_free char *where = xasprintf("%s/node-1", test_dir());
	struct node_spec gone = {
		.cluster = "mk12345678", .profile = "dev", .name = "node-1", .dir = where, .slot = 3
	};

	(void)setenv("DOCKER_HOST", "unix:///nonexistent/socket", 1);
	ASSERT_INT(node_driver_docker.query(&gone), NODE_ABSENT);
	ASSERT_OK(node_driver_docker.destroy_cluster("mk12345678", &err));
	ASSERT_INT(node_driver_docker.probe(false, NULL) < 0, true);
}

TEST(a_node_has_a_driver_of_its_own_or_the_clusters_or_the_default)
{
	cleanup_with(node_release) struct node first = { .name = NULL };
	cleanup_with(node_release) struct node second = { .name = NULL };
	cleanup_with(node_release) struct node third = { .name = NULL };
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	struct node_options options = { .name = NULL };

	plan_settings(&profile, &options, &first);
	ASSERT_STR(first.driver, NODE_DRIVER_DEFAULT);
	profile.driver = xstrdup("one");
	plan_settings(&profile, &options, &second);
	ASSERT_STR(second.driver, "one");
	options.driver = "other";
	plan_settings(&profile, &options, &third);
	ASSERT_STR(third.driver, "other");
}

TEST(a_cluster_that_exists_keeps_its_driver)
{
	cleanup_with(profile_release) struct profile profile = { .name = xstrdup("dev") };
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct cluster_options options = { .driver = NODE_DRIVER_DEFAULT };

	/* It was made without --driver, so it has the default one. */
	ASSERT_OK(choices_take(&options, &profile, &err));
	options.driver = "other";
	ASSERT_INT(choices_take(&options, &profile, &why), -EINVAL);
	ASSERT_STR(why.text, "cluster 'dev' exists with --driver=" NODE_DRIVER_DEFAULT
			     ", which cannot be changed to 'other'");
	choices_take_new(&options, &profile);
	ASSERT_STR(profile.driver, "other");
}

static char *dir;
static struct node_spec spec;
static const struct node_files *files;

static void prepare(void)
{
	dir = xasprintf("%s/node-1", test_dir());
	ASSERT_OK(node_tree_make(dir, &err));
	spec = (struct node_spec){ .name = "node-1", .dir = dir };
	files = node_driver_default()->files;
}

/* Where the host has PATH of the node. */
static char *on_host(const char *path)
{
	return xasprintf("%s/tree%s", dir, path);
}

static void link_to(const char *target, const char *path)
{
	cleanup_free char *full = on_host(path);

	ASSERT_INT(symlink(target, full), 0);
}

static int put(const char *path, const char *text)
{
	return files->put(&spec, path, text, strlen(text), 0600, NULL);
}

static void assert_reads(const char *path, const char *expected)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	ASSERT_OK(files->read(&spec, path, 0, 100, &text, &err));
	ASSERT_STR(text.text, expected);
}

static int read_code(const char *path, unsigned flags)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	return files->read(&spec, path, flags, 100, &text, NULL);
}

TEST(files_of_a_node_are_written_read_named_and_removed)
{
	struct node_file_info info;

	prepare();
	ASSERT_INT(put("/etc/a/b", "one"), 0);
	ASSERT_INT(put("/etc/a/b", "two"), 0);
	assert_reads("/etc/a/b", "two");
	ASSERT_OK(files->look(&spec, "/etc/a/b", &info, &err));
	ASSERT(!info.is_directory && info.size_bytes == 3);
	ASSERT_OK(files->look(&spec, "/etc/a", &info, &err));
	ASSERT(info.is_directory);
	ASSERT_OK(files->rename(&spec, "/etc/a/b", "/etc/c/d", &err));
	assert_reads("/etc/c/d", "two");
	ASSERT_INT(files->rename(&spec, "/etc/a/b", "/etc/c/d", NULL), -ENOENT);
	ASSERT_OK(files->remove(&spec, "/etc/a", &err));
	ASSERT_OK(files->remove(&spec, "/etc/a/b", &err));
	ASSERT_OK(files->remove(&spec, "/etc/c/d", &err));
	ASSERT_INT(files->look(&spec, "/etc/c/d", &info, NULL), -ENOENT);
	ASSERT_INT(files->look(&spec, "/etc/a", &info, NULL), -ENOENT);
	ASSERT_INT(read_code("/etc/c/d", 0), -ENOENT);
	free(dir);
}

TEST(links_of_a_node_do_not_lead_outside)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(tail_release) struct tail tail = TAIL_INIT;
	cleanup_free char *secret = xasprintf("%s/secret", test_dir());
	struct node_file_info info;

	prepare();
	ASSERT_OK(file_put(secret, "secret", 6, 0600, &err));
	link_to(secret, "/etc/file");
	link_to(test_dir(), "/etc/directory");
	ASSERT_INT(read_code("/etc/file", 0), -ELOOP);
	ASSERT_INT(read_code("/etc/directory/secret", 0), -ELOOP);
	ASSERT_INT(read_code("/etc/file", NODE_READ_LINKS), -ENOENT);
	ASSERT_INT(files->read_end(&spec, "/etc/file", 9, &tail, &text, NULL), -ELOOP);
	ASSERT_INT(files->look(&spec, "/etc/file", &info, NULL), -ELOOP);
	ASSERT_INT(files->list(&spec, "/etc/directory", 9, &names, NULL), -ELOOP);
	ASSERT_INT(put("/etc/directory/secret", "x"), -ENOTDIR);
	ASSERT_INT(files->make_directory(&spec, "/etc/directory/new", 0700, NULL), -ENOTDIR);
	ASSERT_INT(files->remove(&spec, "/etc/directory/secret", NULL), -ELOOP);
	ASSERT_INT(files->rename(&spec, "/etc/directory/secret", "/etc/x", NULL), -ELOOP);
	ASSERT_INT(put("/etc/../../escaped", "x"), -EXDEV);
	/* What has the name is replaced, not what it leads to. */
	ASSERT_INT(put("/etc/file", "mine"), 0);
	assert_reads("/etc/file", "mine");
	ASSERT_OK(file_read(secret, 100, &text, &err));
	ASSERT_STR(text.text, "secret");
	ASSERT_OK(files->link(&spec, "file", "/etc/inner", &err));
	ASSERT_INT(read_code("/etc/inner", NODE_READ_LINKS), 0);
	free(dir);
}

TEST(what_a_node_makes_neither_blocks_nor_fills_memory)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(tail_release) struct tail tail = TAIL_INIT;
	cleanup_free char *pipe = NULL;
	cleanup_free char *huge = NULL;

	prepare();
	pipe = on_host("/etc/pipe");
	huge = on_host("/etc/huge");
	ASSERT_INT(mkfifo(pipe, 0600), 0);
	ASSERT_INT(read_code("/etc/pipe", 0), -EINVAL);
	ASSERT_INT(read_code("/etc/pipe", NODE_READ_LINKS), -EINVAL);
	ASSERT_INT(files->read_end(&spec, "/etc/pipe", 9, &tail, &text, NULL), -EINVAL);
	ASSERT_INT(put("/etc/huge", ""), 0);
	ASSERT_INT(truncate(huge, INT64_C(1) << 40), 0);
	ASSERT_INT(read_code("/etc/huge", 0), -EFBIG);
	ASSERT_OK(files->read_end(&spec, "/etc/huge", 9, &tail, &text, &err));
	ASSERT_INT(text.len, 9);
	ASSERT_INT(files->list(&spec, "/etc", 1, &names, NULL), 1);
	ASSERT_INT(names.count, 1);
	free(dir);
}

/* Run the shell command SCRIPT of the host on the node's files, which are its working directory. */
static int run_on_files(const char *script, const char *output)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	cleanup_free char *command = xstrdup(script);
	struct process_options options = { .no_stdin = true, .output = output };

	/* The flag is that of env(1): the directory to change to. */
	ASSERT_OK(files->spawn(&spec, "-C", ARGV("env", "sh", "-c", command), &options, &process,
			       &err));
	return process_wait(&process, clock_now_ms() + 30000, NULL);
}

TEST(a_program_of_the_host_works_on_a_nodes_files_and_no_others)
{
	cleanup_free char *outside = xasprintf("%s/outside", test_dir());
	struct stat st;

	if (geteuid() != 0)
		test_skip("needs root");
	prepare();
	ASSERT_INT(run_on_files("echo hello >etc/told && touch ../../outside", "/dev/null"), 1);
	assert_reads("/etc/told", "hello\n");
	ASSERT(!file_exists(outside));
	/* What it creates belongs to the node's root, which is root on disk. */
	free(dir);
	dir = xasprintf("%s/node-1/tree/etc/told", test_dir());
	ASSERT_INT(stat(dir, &st), 0);
	ASSERT_INT(st.st_uid, 0);
	free(dir);
}

TEST(a_program_of_the_host_on_a_nodes_files_has_only_the_nodes_rights)
{
	cleanup_free char *secret = xasprintf("%s/secret", test_dir());
	cleanup_free char *log = xasprintf("%s/log", test_dir());
	cleanup_free char *huge = NULL;
	struct stat st;

	if (geteuid() != 0)
		test_skip("needs root");
	prepare();
	ASSERT_INT(setenv("MANYKUBE_SECRET", "hush", 1), 0);
	ASSERT_OK(file_put(secret, "text\n", 5, 0600, &err));
	ASSERT_INT(run_on_files("grep -q '^ *0  *268435456 ' /proc/self/uid_map", "/dev/null"), 0);
	ASSERT_INT(run_on_files("! cat ../../secret", "/dev/null"), 0);
	ASSERT_INT(run_on_files("grep -q '^CapEff:.*000000004000b$' /proc/self/status &&"
				" grep -q '^NoNewPrivs:.*1$' /proc/self/status &&"
				" grep -q '^Seccomp:.*2$' /proc/self/status",
				"/dev/null"),
		   0);
	ASSERT_INT(
		run_on_files("test $(grep -c : /proc/net/dev) = 1 && test -z \"$MANYKUBE_SECRET\"",
			     "/dev/null"),
		0);
	/* Neither memory nor files nor its log are without a limit. */
	ASSERT(run_on_files("head -c 1G /dev/zero | tail -n 1 | wc -c | grep 1073741824",
			    "/dev/null") > 0);
	ASSERT(run_on_files("head -c 20M /dev/zero >etc/huge", "/dev/null") > 0);
	huge = on_host("/etc/huge");
	ASSERT_INT(stat(huge, &st), 0);
	ASSERT(st.st_size <= 16 << 20);
	ASSERT_OK(file_put(log, "line\n", 5, 0600, &err));
	ASSERT(run_on_files("head -c 20M /dev/zero", log) > 0);
	ASSERT_INT(stat(log, &st), 0);
	ASSERT_INT(st.st_size, 5 + (16 << 20));
	free(dir);
}

TEST(a_vm_can_have_no_memory_that_this_host_lacks)
{
	struct node node = { .name = (char *)"vm", .driver = "qemu" };
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_OK(check_own_memory(&node, 0, false, &err));
	ASSERT_OK(check_own_memory(&node, 512 << 20, false, &err));
	ASSERT_INT(check_own_memory(&node, 1ull << 50, false, &why), -ERANGE);
	ASSERT(why.reason == &reason_resources);
	ASSERT(strstr(why.text, "node 'vm' is a VM with 1073741824 MiB of memory"));
	ASSERT(strstr(why.hint, "'manykube node set vm --memory=SIZE'"));
	ASSERT_OK(check_own_memory(&node, 1ull << 50, true, &err));
	/* Not even by force does a kernel start in that. */
	ASSERT_INT(check_own_memory(&node, 10 << 20, true, &why), -ERANGE);
	/* Others only promise it. */
	node.driver = "native";
	ASSERT_OK(check_own_memory(&node, 1ull << 50, false, &err));
	ASSERT_OK(check_own_memory(&node, 10 << 20, false, &err));
}
