#include <sched.h>

#include "base/file.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "probe/probe-checks.h"
#include "probe/probe.h"
#include "test.h"

TEST(ids_of_nodes_belong_to_nobody)
{
	static const struct {
		const char *text;
		const char *owner;
	} files[] = {
		{ "", NULL },
		{ "ann:100000:65536\nbob:165536:65536\n", NULL },
		{ "ann:100000:65536\nbob:268435456:1\n", "bob" },
		{ "bob:268435455:1\n", NULL },
		{ "1000:1000000:1000000000", "1000" },
		{ "root:1000000:1000000000\n0:268435456:65536\n", NULL },
		{ "ann:4000000000:65536\nnonsense\nbob:x:y\n:::\n", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_free char *owner = probe_owner_of_ids(files[i].text);

		ASSERT_STR(owner ? owner : "nobody", files[i].owner ? files[i].owner : "nobody");
	}
}

TEST(names_the_controllers_that_version_1_lacks)
{
	cleanup_free char *none = probe_missing_controllers(
		"5:devices:/\n4:memory:/x\n3:cpu,cpuacct:/\n2:cpuset:/\n1:pids:/\n0::/\n", NULL);
	cleanup_free char *some = probe_missing_controllers("3:cpu,cpuacct:/\n2:cpuset:/\n", NULL);
	cleanup_free char *all = probe_missing_controllers("garbage", NULL);

	ASSERT(!none);
	ASSERT_STR(some, "memory, pids, devices");
	ASSERT_STR(all, "cpu, cpuset, memory, pids, devices");
}

TEST(names_the_controllers_that_version_2_lacks)
{
	cleanup_free char *none = probe_missing_controllers(
		"0::/\n", "cpuset cpu io memory hugetlb pids rdma\n");
	cleanup_free char *some = probe_missing_controllers("0::/\n", "cpuset io memory\n");

	ASSERT(!none);
	ASSERT_STR(some, "cpu, pids");
}

TEST(knows_file_systems_by_their_whole_names)
{
	ASSERT(probe_has_filesystem("nodev\tproc\nnodev\toverlay\n\text4\n", "overlay"));
	ASSERT(probe_has_filesystem("nodev\tproc\n\text4", "ext4"));
	ASSERT(!probe_has_filesystem("nodev\toverlayfoo\nnodev\tmyoverlay\n", "overlay"));
	ASSERT(!probe_has_filesystem("", "overlay"));
}

TEST(reads_the_memory_that_is_available)
{
	ASSERT_INT(probe_available_memory("MemTotal: 9 kB\nMemAvailable:    2048 kB\n"), 2 << 20);
	ASSERT_INT(probe_available_memory("MemTotal: 9 kB\n"), 0);
	ASSERT_INT(probe_available_memory("MemAvailable: x"), 0);
}

TEST(one_error_names_all_that_is_missing)
{
	static const struct probe_result results[] = {
		{ .name = "mount",
		  .state = PROBE_MISSING,
		  .text = "there is no program 'mount'",
		  .package = "mount",
		  .reason = &reason_host_missing_tool },
		{ .name = "umount",
		  .state = PROBE_MISSING,
		  .text = "there is no program 'umount'",
		  .package = "mount",
		  .reason = &reason_host_missing_tool },
		{ .name = "nft",
		  .state = PROBE_MISSING,
		  .text = "there is no program 'nft'",
		  .package = "nftables",
		  .reason = &reason_host_missing_tool },
		{ .name = "inotify", .state = PROBE_WARNING, .text = "few", .remedy = "more" },
		{ .name = "overlayfs",
		  .state = PROBE_MISSING,
		  .text = "no overlay",
		  .remedy = "load it",
		  .reason = &reason_host_unsupported },
	};
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	ASSERT_INT(probe_judge(results, 4, &err), -ENOENT);
	ASSERT_STR(err.text, "this host cannot run nodes: there is no program 'mount'; "
			     "there is no program 'umount'; there is no program 'nft'");
	ASSERT_STR(err.hint, "apt install mount nftables");
	ASSERT(err.reason == &reason_host_missing_tool);
	error_clear(&err);

	/* The first thing that is missing says what kind of failure it is. */
	ASSERT_INT(probe_judge(results, 5, &err), -ENOENT);
	ASSERT_STR(err.hint, "load it; apt install mount nftables");
	ASSERT(err.reason == &reason_host_missing_tool);
	error_clear(&err);
	ASSERT_INT(probe_judge(results + 4, 1, &err), -ENOTSUP);
	ASSERT_STR(err.hint, "load it");
	ASSERT(err.reason == &reason_host_unsupported);
}

TEST(knows_which_kernels_are_new_enough)
{
	ASSERT(probe_kernel_is_new("5.19.0-2-amd64"));
	ASSERT(probe_kernel_is_new("5.20"));
	ASSERT(probe_kernel_is_new("6.1-rc1"));
	ASSERT(!probe_kernel_is_new("5.18.99"));
	ASSERT(!probe_kernel_is_new("4.19.0"));
	ASSERT(!probe_kernel_is_new("garbage"));
	ASSERT(!probe_kernel_is_new("6."));
	ASSERT(!probe_kernel_is_new(""));
}

TEST(reads_the_capabilities_in_effect)
{
	static const char status[] = "CapPrm:\t000001ffffffffff\nCapEff:\t0000000001000001\n";

	ASSERT(probe_has_capability(status, 24));
	ASSERT(probe_has_capability(status, 0));
	ASSERT(!probe_has_capability(status, 1));
	ASSERT(!probe_has_capability(status, 99));
	ASSERT(!probe_has_capability("", 0));
}

static void assert_judged(const char *chains, enum probe_state state, const char *words)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf without = STRBUF_INIT;

	ASSERT_INT(probe_judge_firewalls(chains, true, &text), state);
	ASSERT_STR(text.text, words);
	/* Without iptables its chains are like all others. */
	ASSERT_INT(probe_judge_firewalls(chains, false, &without),
		   strstr(chains, "policy drop") ? PROBE_WARNING : PROBE_OK);
}

TEST(names_the_firewalls_that_drop_what_they_do_not_know)
{
	static const char chains[] =
		"table ip filter {\n"
		"\tchain INPUT {\n\t\ttype filter hook input priority filter; policy drop;\n\t}\n"
		"\tchain FORWARD {\n"
		"\t\ttype filter hook forward priority filter; policy drop;\n\t}\n}\n"
		"table ip6 filter {\n\tchain FORWARD {\n"
		"\t\ttype filter hook forward priority filter; policy drop;\n\t}\n}\n"
		"table inet mk12345678 {\n\tchain forward {\n"
		"\t\ttype filter hook forward priority filter; policy accept;\n\t}\n}\n"
		"table inet strict {\n\tchain a {\n"
		"\t\ttype filter hook forward priority 10; policy drop;\n\t}\n}\n";
	static const char docker[] =
		"table ip filter {\n\tchain FORWARD {\n"
		"\t\ttype filter hook forward priority 0; policy drop;\n\t}\n}\n";

	assert_judged(chains, PROBE_WARNING,
		      "nftables table 'inet strict' drops traffic by default, so nodes may not "
		      "reach this host or the outside");
	assert_judged(docker, PROBE_OK, "clusters add their own iptables rules");
	assert_judged("table inet firewalld {\n}\n", PROBE_OK,
		      "firewalld puts clusters' bridges into the zone 'manykube'");
	assert_judged("table ip nat {\n}\n", PROBE_OK, "no firewall drops traffic by default");
}

static void take_loopback(struct strbuf *text, enum probe_state want)
{
	strbuf_reset(text);
	ASSERT_INT(probe_check_loopback(NULL, text), want);
}

TEST(a_loopback_that_is_down_is_found)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	take_loopback(&text, PROBE_MISSING);
	ASSERT(strstr(text.text, "127.0.0.1"));
	ASSERT_INT(process_run(ARGV("ip", "link", "set", "lo", "up"), NULL, NULL), 0);
	take_loopback(&text, PROBE_OK);
}

TEST(refuses_what_there_is_no_room_for)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_INT(setenv("MANYKUBE_HOME", test_dir(), 1), 0);
	ASSERT_OK(probe_room(1, 1, &err));
	ASSERT_OK(probe_room(0, 0, &err));
	ASSERT_INT(probe_room(UINT64_MAX, 0, &why), -ENOMEM);
	ASSERT(why.reason == &reason_resources);
	ASSERT(strstr(why.hint, "--force"));
	error_clear(&why);
	ASSERT_INT(probe_room(0, UINT64_MAX, &why), -ENOSPC);
	ASSERT(why.reason == &reason_storage);
	ASSERT_INT(why.reason->exit_status, 26);
	/* An existing cluster would vanish with another home. */
	ASSERT(strstr(why.hint, test_dir()) && !strstr(why.hint, "MANYKUBE_HOME"));
	ASSERT(!strstr(reason_storage.advice, "MANYKUBE_HOME"));
	ASSERT(strstr(why.text, test_dir()));
}

TEST(warnings_do_not_stop_anybody)
{
	static const struct probe_result warning = {
		.name = "inotify", .state = PROBE_WARNING, .text = "few", .remedy = "more"
	};

	ASSERT_OK(probe_judge(&warning, 1, &err));
	ASSERT_OK(probe_judge(NULL, 0, &err));
}

TEST(raises_a_number_only_if_it_is_lower)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/number", test_dir());
	cleanup_free char *missing = xasprintf("%s/missing", test_dir());

	ASSERT_OK(file_put(path, "128\n", 4, 0600, &err));
	ASSERT_INT(probe_raise_number(path, 8192, NULL), 1);
	ASSERT_INT(probe_raise_number(path, 8192, NULL), 0);
	ASSERT_INT(probe_raise_number(path, 100, NULL), 0);
	ASSERT_OK(file_read(path, 100, &text, &err));
	ASSERT_STR(text.text, "8192\n");
	ASSERT_INT(probe_raise_number(missing, 1, NULL), -ENOENT);
	ASSERT_OK(file_put(path, "many\n", 5, 0600, &err));
	ASSERT_INT(probe_raise_number(path, 1, NULL), -EINVAL);
}

static int count(const struct probe_result *result, void *data)
{
	int *seen = data;

	printf("# %s: %s: %s\n", result->name, probe_state_word(result->state), result->text);
	ASSERT(*result->name && *result->purpose && *result->text);
	ASSERT((result->state == PROBE_OK) == !result->remedy);
	(*seen)++;
	return *seen == 100 ? -ECANCELED : 0;
}

TEST(every_result_explains_itself)
{
	int seen = 0;

	ASSERT_INT(probe_each(count, &seen), 0);
	ASSERT(seen >= 10);
	seen = 99;
	ASSERT_INT(probe_each(count, &seen), -ECANCELED);
}
