#include <limits.h>

#include "base/strbuf.h"
#include "base/suggest.h"
#include "cli/opt.h"
#include "cli/text.h"
#include "test.h"

static struct {
	bool force;
	bool wait;
	bool help;
	int verbosity;
	const char *name;
	const char *output;
	unsigned nodes;
	unsigned cpus;
	uint64_t memory_bytes;
	unsigned timeout_seconds;
	unsigned watch_seconds;
	struct strlist labels;
	struct strlist names;
	const char *cni;
	bool name_given;
	bool wait_given;
} arg = {
	.wait = true,
	.output = "text",
	.timeout_seconds = 360,
};

static int refuse_bad(const char *value, struct error *err)
{
	return strcmp(value, "bad") == 0 ? error_set(err, -EINVAL, "it is bad") : 0;
}

static const struct opt options[] = {
	OPT_FLAG('f', "force", &arg.force, "do it anyway", .once = true),
	OPT_FLAG(0, "wait", &arg.wait, "wait for the nodes", .given = &arg.wait_given),
	OPT_STRING(0, "node-name", &arg.name, "NAME", "what to call it", .given = &arg.name_given,
		   .check = refuse_bad),
	OPT_CHOICE('o', "output", &arg.output, "text|json", "how to print it"),
	OPT_COUNT('n', "nodes", &arg.nodes, "how many nodes"),
	OPT_POSITIVE(0, "cpus", &arg.cpus, "CPUs of a node", .may_be_all = true),
	OPT_SIZE('m', "memory", &arg.memory_bytes, "memory of a node", .may_be_all = true),
	OPT_SECONDS('t', "wait-timeout", &arg.timeout_seconds, "how long to wait"),
	OPT_SECONDS_MAYBE('w', "watch", &arg.watch_seconds, "go on"),
	OPT_LIST('l', "label", &arg.labels, "KEY=VALUE", "labels of the node"),
	OPT_WORDS(0, "names", &arg.names, "NAME", "more names", .check = refuse_bad),
	OPT_END,
};

static const struct opt absent_options[] = {
	OPT_ABSENT('d', "driver", "NAME", "there is only one", .harmless = "native|auto"),
	OPT_ABSENT(0, "vm", NULL, "there are none", .harmless = "false"),
	OPT_NEEDLESS(0, "preload", NULL, "it always is"),
	OPT_NEEDLESS(0, "iso", "URL", "there is no ISO"),
	OPT_END,
};

static const struct opt global_options[] = {
	OPT_CHOICE(0, "cni", &arg.cni, "auto|none", "pods' network", .instead = "use none"),
	OPT_REPEAT('v', "verbose", &arg.verbosity, "say more"),
	OPT_HELP(&arg.help),
	OPT_END,
};

static const struct opt *const tables[] = { options, global_options, absent_options, NULL };
static struct strlist operands;
static struct strlist given;
static struct error why;

#define PARSE(...) opt_parse(tables, 0, (char *[]){ __VA_ARGS__, NULL }, &operands, &given, &why)

TEST(a_duration_may_be_left_out_where_that_is_said)
{
	ASSERT_INT(PARSE("--watch", "operand"), 0);
	ASSERT_INT(arg.watch_seconds, 1);
	ASSERT_INT((int)operands.count, 1);
	ASSERT_INT(PARSE("--watch=1m5s"), 0);
	ASSERT_INT(arg.watch_seconds, 65);
	ASSERT_INT(PARSE("-w7s"), 0);
	ASSERT_INT(arg.watch_seconds, 7);
	ASSERT_INT(PARSE("-wf"), 0);
	ASSERT_INT(arg.watch_seconds, 1);
	ASSERT(arg.force);
	ASSERT_INT(PARSE("-w=2"), 0);
	ASSERT_INT(arg.watch_seconds, 2);
	for (const struct opt *opt = options; opt->type != OPT_TYPE_END; opt++)
		if (opt->letter == 'w')
			ASSERT(!opt_takes_value(opt));
	ASSERT_INT(PARSE("--watch=soon"), -EINVAL);
	error_clear(&why);
	strlist_release(&operands);
}

TEST(reads_every_way_to_write_a_value)
{
	ASSERT_INT(PARSE("--nodes=3", "--node-name", "a", "-m2g", "-t", "1m30s", "-o=json"), 0);
	ASSERT_INT(arg.nodes, 3);
	ASSERT_STR(arg.name, "a");
	ASSERT_INT(arg.memory_bytes, 2ll << 30);
	ASSERT_INT(arg.timeout_seconds, 90);
	ASSERT_STR(arg.output, "json");
	ASSERT_INT(PARSE("--node-name="), 0);
	ASSERT_STR(arg.name, "");
	ASSERT_INT(PARSE("--node-name", "--force"), 0);
	ASSERT_STR(arg.name, "--force");
	ASSERT(!arg.force);
}

TEST(reads_flags_and_their_opposite)
{
	ASSERT_INT(PARSE("-fvv", "--no-wait"), 0);
	ASSERT(arg.force);
	ASSERT(!arg.wait);
	ASSERT_INT(arg.verbosity, 2);
	ASSERT_INT(PARSE("--force=false", "--wait=TRUE", "-v7", "-h"), 0);
	ASSERT(!arg.force);
	ASSERT(arg.wait);
	ASSERT(arg.help);
	ASSERT_INT(arg.verbosity, 7);
	ASSERT_INT(PARSE("--force=maybe"), -EINVAL);
	ASSERT_STR(why.text, "--force: 'maybe' is neither true nor false");
}

TEST(refuses_none_where_at_least_one_is_needed)
{
	ASSERT_INT(PARSE("--nodes=0", "--cpus=1"), 0);
	ASSERT_INT(arg.cpus, 1);
	ASSERT_INT(PARSE("--cpus=0"), -EINVAL);
	ASSERT_STR(why.text, "--cpus: must be at least 1, not 0");
	ASSERT_INT(PARSE("--cpus=4294967296"), -EINVAL);
	ASSERT_STR(why.text, "--cpus: must be at most 2147483647, not 4294967296");
}

TEST(takes_all_there_is_where_that_can_be)
{
	ASSERT_INT(PARSE("--cpus=max", "-m", "no-limit"), 0);
	ASSERT(arg.cpus == UINT_MAX && arg.memory_bytes == UINT64_MAX);
	ASSERT_INT(PARSE("--cpus=maximum"), -EINVAL);
	ASSERT_INT(PARSE("--nodes=max"), -EINVAL);
	ASSERT_STR(why.text, "--nodes: 'max' is not a whole number");
}

TEST(tells_whether_an_option_was_given)
{
	ASSERT_INT(PARSE("--force"), 0);
	ASSERT(!arg.wait_given && !arg.name_given);
	ASSERT_INT(PARSE("--wait=true", "--node-name", "a"), 0);
	ASSERT(arg.wait_given && arg.name_given);
	arg.wait_given = false;
	ASSERT_INT(PARSE("--no-wait"), 0);
	ASSERT(arg.wait_given && !arg.wait);
	arg.wait_given = false;
	ASSERT_INT(PARSE("--wait"), 0);
	ASSERT(arg.wait_given && arg.wait);
	arg.name_given = false;
	strlist_release(&given);
	ASSERT_INT(setenv("MANYKUBE_NODE_NAME", "b", 1), 0);
	ASSERT_OK(opt_take_environment(options, false, &given, &err));
	ASSERT(arg.name_given);
}

TEST(an_option_may_check_its_value)
{
	ASSERT_INT(PARSE("--node-name=bad"), -EINVAL);
	ASSERT_STR(why.text, "--node-name: it is bad");
	ASSERT(!arg.name);
	ASSERT_INT(PARSE("--names=a,bad"), -EINVAL);
	ASSERT_STR(why.text, "--names: it is bad");
}

static const char *look_up(const struct opt *opt, const void *data)
{
	const char *const *pair = data;

	for (; *pair; pair += 2)
		if (strcmp(*pair, opt->name) == 0)
			return pair[1];
	return NULL;
}

TEST(settings_are_weaker_than_the_environment_and_that_than_the_command_line)
{
	static const char *const settings[] = { "nodes",  "2",        "cpus",      "2",
						"names",  "a,b",      "label",     "x=1,y=2",
						"wait",   "false",    "force",     "true",
						"none",   "of our's", "node-name", "",
						"memory", "1g",       NULL };

	ASSERT_INT(setenv("MANYKUBE_CPUS", "3", 1), 0);
	ASSERT_INT(setenv("MANYKUBE_MEMORY", "2g", 1), 0);
	ASSERT_INT(setenv("MANYKUBE_LABEL", "z=1", 1), 0);
	ASSERT_OK(opt_take_environment(options, false, &given, &err));
	ASSERT_INT(PARSE("--memory=3g", "--names=c"), 0);
	ASSERT_OK(opt_take_settings(options, look_up, settings, &given, &err));
	ASSERT_OK(opt_take_settings(NULL, look_up, settings, &given, &err));
	ASSERT_INT(arg.nodes, 2);
	ASSERT_INT(arg.cpus, 3);
	ASSERT_INT(arg.memory_bytes, 3ll << 30);
	ASSERT(arg.wait_given && !arg.wait);
	ASSERT(!arg.force); /* no default can be kept for it */
	ASSERT(!arg.name_given);
	ASSERT_INT(arg.labels.count, 1);
	ASSERT_STR(arg.labels.items[0], "z=1");
	ASSERT_INT(arg.names.count, 1);
	ASSERT_STR(arg.names.items[0], "c");
}

TEST(a_bad_setting_is_named)
{
	static const char *const settings[] = { "memory", "banana", NULL };

	ASSERT_INT(opt_take_settings(options, look_up, settings, &given, &why), -EINVAL);
	ASSERT_STR(why.text, "memory: 'banana' is not a size; write for instance 2g or 512m");
	ASSERT(why.reason == &reason_host_config);
}

TEST(words_are_split_at_commas_and_lists_are_not)
{
	ASSERT_INT(PARSE("--names=a,b", "--names", "c", "--label=k=1,2"), 0);
	ASSERT_INT(arg.names.count, 3);
	ASSERT_STR(arg.names.items[2], "c");
	ASSERT_INT(arg.labels.count, 1);
	ASSERT_STR(arg.labels.items[0], "k=1,2");
}

TEST(operands_may_stand_anywhere)
{
	ASSERT_INT(PARSE("a", "-f", "-", "--", "-x", "--"), 0);
	ASSERT(arg.force);
	ASSERT_INT(operands.count, 4);
	ASSERT_STR(operands.items[1], "-");
	ASSERT_STR(operands.items[2], "-x");
	ASSERT_STR(operands.items[3], "--");
}

TEST(can_leave_what_follows_an_operand_alone)
{
	ASSERT_INT(opt_parse(tables, OPT_STOP_AT_OPERAND,
			     (char *[]){ "-f", "get", "--", "--x", NULL }, &operands, &given, &why),
		   0);
	ASSERT_INT(operands.count, 3);
	ASSERT_STR(operands.items[1], "--");
}

TEST(can_tell_operands_that_were_set_off)
{
	ASSERT_INT(opt_parse(tables, OPT_KEEP_DASHES, (char *[]){ "-f", "--", "-x", NULL },
			     &operands, &given, &why),
		   0);
	ASSERT_INT(operands.count, 2);
	ASSERT_STR(operands.items[0], "--");
	ASSERT_STR(operands.items[1], "-x");
}

TEST(lists_grow_and_replace_their_default)
{
	strlist_add(&arg.labels, "default=yes");
	ASSERT_INT(PARSE("-l", "a=1", "--label=b=2"), 0);
	ASSERT_INT(arg.labels.count, 2);
	ASSERT_STR(arg.labels.items[0], "a=1");
	ASSERT_STR(arg.labels.items[1], "b=2");
}

TEST(suggests_the_nearest_option)
{
	ASSERT_INT(PARSE("--noeds=3"), -EINVAL);
	ASSERT_STR(why.text, "unknown option '--noeds'; did you mean '--nodes'?");
	ASSERT(why.reason == &reason_usage);
	ASSERT_INT(PARSE("--colour"), -EINVAL);
	ASSERT_STR(why.text, "unknown option '--colour'");
	ASSERT_INT(PARSE("-fz"), -EINVAL);
	ASSERT_STR(why.text, "unknown option '-z' (in '-fz')");
	ASSERT_INT(PARSE("--no-nodes"), -EINVAL);
	ASSERT_INT(PARSE("--no-"), -EINVAL);
	ASSERT_INT(PARSE("--="), -EINVAL);
}

TEST(options_that_do_not_exist_are_refused_with_what_to_use_instead)
{
	ASSERT_INT(PARSE("--driver=docker"), -EINVAL);
	ASSERT_STR(why.text, "unknown option '--driver=docker'");
	ASSERT_STR(why.hint, "there is only one");
	ASSERT(why.reason == &reason_usage);
	ASSERT_INT(PARSE("-d", "docker"), -EINVAL);
	ASSERT_STR(why.text, "unknown option '--driver=docker'");
	ASSERT_INT(PARSE("--vm"), -EINVAL);
	ASSERT_STR(why.text, "unknown option '--vm'");
	/* Nor are they suggested. */
	ASSERT_INT(PARSE("--drivr=x"), -EINVAL);
	ASSERT_STR(why.text, "unknown option '--drivr'");
	ASSERT_INT(PARSE("--cni=flannel"), -EINVAL);
	ASSERT_STR(why.hint, "use none");
}

TEST(options_that_change_nothing_are_accepted)
{
	ASSERT_INT(PARSE("--driver=native", "-d", "auto", "--driver=", "--vm=false", "--preload",
			 "--preload=false", "--iso", "http://x", "operand"),
		   0);
	ASSERT_INT(operands.count, 1);
	ASSERT(strlist_has(&given, "driver"));
	ASSERT(strlist_has(&given, "iso"));
}

TEST(a_level_may_stand_apart)
{
	ASSERT_INT(PARSE("-v", "5", "x"), 0);
	ASSERT_INT(arg.verbosity, 5);
	ASSERT_INT(operands.count, 1);
	ASSERT_INT(PARSE("-v", "55"), 0);
	ASSERT_STR(operands.items[1], "55");
}

TEST(says_what_is_wrong_with_a_value)
{
	ASSERT_INT(PARSE("--nodes"), -EINVAL);
	ASSERT_STR(why.text, "'--nodes' needs a value (N)");
	ASSERT_INT(PARSE("-n", "many"), -EINVAL);
	ASSERT_STR(why.text, "-n: 'many' is not a whole number");
	ASSERT_INT(PARSE("-n", "-1"), -EINVAL);
	ASSERT_INT(PARSE("-oyaml"), -EINVAL);
	ASSERT_STR(why.text, "-o: must be one of text, json, not 'yaml'");
	ASSERT_INT(PARSE("--memory=2x"), -EINVAL);
	ASSERT(why.reason == &reason_usage);
}

TEST(the_environment_gives_defaults)
{
	ASSERT_INT(setenv("MANYKUBE_NODES", "5", 1), 0);
	ASSERT_INT(setenv("MANYKUBE_NODE_NAME", "b", 1), 0);
	ASSERT_INT(setenv("MANYKUBE_FORCE", "yes", 1), 0);
	ASSERT_INT(setenv("MANYKUBE_LABEL", "a=1,b=2", 1), 0);
	ASSERT_INT(setenv("MANYKUBE_HELP", "1", 1), 0);
	ASSERT_OK(opt_take_environment(options, false, &given, &err));
	ASSERT_OK(opt_take_environment(global_options, false, &given, &err));
	ASSERT_INT(PARSE("-n2"), 0);
	ASSERT_INT(arg.nodes, 2);
	ASSERT_STR(arg.name, "b");
	ASSERT(arg.force);
	ASSERT(!arg.help);
	ASSERT_INT(arg.labels.count, 2);
	ASSERT_INT(setenv("MANYKUBE_NODES", "x", 1), 0);
	ASSERT_OK(opt_take_environment(options, false, &given, &err));
	strlist_release(&given);
	ASSERT_INT(opt_take_environment(options, false, &given, &why), -EINVAL);
	ASSERT_STR(why.text, "MANYKUBE_NODES: 'x' is not a whole number");
	ASSERT(strstr(why.hint, "unset MANYKUBE_NODES"));
}

TEST(help_is_aligned_and_wrapped)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	opt_print_help(options, 60, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT_STR(text, "  -f, --force             do it anyway\n"
			 "      --wait              wait for the nodes (default: true)\n"
			 "      --node-name=NAME    what to call it\n"
			 "  -o, --output=text|json  how to print it (default: text)\n"
			 "  -n, --nodes=N           how many nodes\n"
			 "      --cpus=N            CPUs of a node\n"
			 "  -m, --memory=SIZE       memory of a node\n"
			 "  -t, --wait-timeout=DURATION\n"
			 "                          how long to wait (default: 6m)\n"
			 "  -w, --watch[=DURATION]  go on\n"
			 "  -l, --label=KEY=VALUE   labels of the node (may be\n"
			 "                          repeated)\n"
			 "      --names=NAME        more names (may be repeated)\n");
	free(text);
}

TEST(help_fits_into_a_narrow_window)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	opt_print_help(options, 20, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT(strstr(
		text,
		"      --wait\n      wait for the\n      nodes\n      (default:\n      true)\n"));
	free(text);
}

TEST(suggests_only_what_is_near)
{
	struct suggest near = SUGGEST_INIT("statsu");
	struct suggest begun = SUGGEST_INIT("prof");
	struct suggest far = SUGGEST_INIT("xyz");
	struct suggest short_word = SUGGEST_INIT("nope");

	suggest_offer(&near, "start");
	suggest_offer(&near, "status");
	ASSERT_STR(near.nearest, "status");
	suggest_offer(&begun, "profile");
	ASSERT_STR(begun.nearest, "profile");
	suggest_offer(&far, "stop");
	ASSERT(!far.nearest);
	suggest_offer(&short_word, "nodes");
	ASSERT(!short_word.nearest);
}

TEST(text_is_measured_wrapped_and_clipped)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	ASSERT_INT(text_width("aé…"), 3);
	ASSERT_INT(text_width("🚀"), 2);
	ASSERT_INT(text_width("\xff\xc3"), 2);
	text_wrap(&out, "one two  three averyverylongword x\ny", 0, 2, 10);
	ASSERT_STR(out.text, "one two\n  three\n  averyverylongword\n  x\n  y");
	strbuf_reset(&out);
	text_clip(&out, "déjà vu", 5);
	ASSERT_STR(out.text, "déjà…");
	strbuf_reset(&out);
	text_clip(&out, "🚀🚀", 3);
	ASSERT_STR(out.text, "🚀…");
	strbuf_reset(&out);
	text_clip(&out, "abc", 0);
	ASSERT_STR(out.text, "");
}
