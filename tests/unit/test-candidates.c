#include "base/file.h"
#include "cmd/candidates.h"
#include "test.h"

static struct {
	bool offline;
	bool force;
	unsigned nodes;
	const char *cni;
	const char *node;
	const char *file;
	const char *version;
	const char *access;
	unsigned watch;
} arg;

static const struct opt start_options[] = {
	OPT_COUNT('n', "nodes", &arg.nodes, "how many"),
	OPT_CHOICE(0, "cni", &arg.cni, "auto|none", "the network"),
	OPT_FLAG(0, "offline", &arg.offline, "no way out"),
	OPT_STRING(0, "version", &arg.version, "VERSION", "which", .complete = COMPLETE_VERSION),
	OPT_FLAG('f', "force", &arg.force, "do it anyway", .once = true),
	OPT_END,
};
static const struct opt ssh_options[] = {
	OPT_STRING('n', "node", &arg.node, "NODE", "the node", .complete = COMPLETE_NODE),
	OPT_SECONDS_MAYBE('w', "watch", &arg.watch, "look again"),
	OPT_STRING(0, "file", &arg.file, "FILE", "a file", .complete = COMPLETE_FILE),
	OPT_STRING(0, "access", &arg.access, "all|none|PORT,...", "to what",
		   .complete = COMPLETE_CHOICE),
	OPT_END,
};

static const struct command start = { .name = "start",
				      .summary = "make",
				      .options = start_options };
static const struct command ssh = { .name = "ssh",
				    .summary = "shell",
				    .options = ssh_options,
				    .complete = COMPLETE_NODE,
				    .flags = COMMAND_PASSES_REST };
static const struct command copy = {
	.name = "cp", .summary = "copy", .complete = COMPLETE_NODE_FILE, .max_operands = 2
};
static const struct command config_set = { .name = "set",
					   .alias = "put",
					   .summary = "keep",
					   .complete = COMPLETE_SETTING,
					   .max_operands = 2 };
static const struct command secret = { .name = "secret", .summary = "s", .flags = COMMAND_HIDDEN };
static const struct command *const config_commands[] = { &config_set, &secret, NULL };
static const struct command config = { .name = "config",
				       .summary = "settings",
				       .subcommands = config_commands };
static const struct command profile_list_command = { .name = "list", .summary = "list" };
static const struct command *const profile_commands[] = { &profile_list_command, NULL };
static const struct command profile = { .name = "profile",
					.summary = "clusters",
					.subcommands = profile_commands,
					.complete = COMPLETE_PROFILE,
					.max_operands = 1 };
static const struct command help = {
	.name = "help", .summary = "help", .complete = COMPLETE_COMMAND, .max_operands = 2
};
static const struct command completion = {
	.name = "completion", .summary = "scripts", .words = "bash|zsh", .max_operands = 1
};
static const struct command *const list[] = { &start,  &ssh,  &copy,       &config, &profile,
					      &secret, &help, &completion, NULL };

/* What is found for the words, without descriptions, in one line. */
static char *find(char **words)
{
	struct strlist lines = STRLIST_INIT;
	struct strlist names = STRLIST_INIT;
	const char *line;
	char *text;

	candidates_find(list, "dev", words, &lines);
	strlist_for_each(line, &lines)
		strlist_addf(&names, "%.*s", (int)strcspn(line, "\t"), line);
	text = strlist_join(&names, " ");
	strlist_release(&lines);
	strlist_release(&names);
	return text;
}

#define ASSERT_FOUND(want, ...)                                                    \
	do {                                                                       \
		cleanup_free char *found_ = find((char *[]){ __VA_ARGS__, NULL }); \
		ASSERT_STR(found_, want);                                          \
	} while (0)

/* Record the cluster NAME with the nodes NODE_NAME and node-2. */
static void add_cluster(const char *name, const char *node_name)
{
	cleanup_with(profile_release) struct profile record = { .name = xstrdup(name) };

	ASSERT_INT(setenv("MANYKUBE_HOME", test_dir(), 1), 0);
	ASSERT_OK(profile_dir(name, &record.dir, &err));
	profile_add_node(&record, node_name)->control_plane = true;
	profile_add_node(&record, "node-2");
	ASSERT_OK(profile_save(&record, &err));
}

TEST(offers_commands_but_no_hidden_ones)
{
	ASSERT_FOUND("start ssh cp config profile help completion", "");
	ASSERT_FOUND("start ssh", "s");
	ASSERT_FOUND("start", "-v", "sta");
	ASSERT_FOUND("set put", "config", "");
	ASSERT_FOUND("put", "config", "p");
	ASSERT_FOUND("auto none", "config", "put", "cni", "");
	ASSERT_FOUND("", "nonsense", "");
	ASSERT_FOUND("", "start", "");
}

TEST(describes_what_it_offers)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;

	candidates_find(list, "dev", (char *[]){ "sta", NULL }, &lines);
	candidates_find(list, "dev", (char *[]){ "start", "--cn", NULL }, &lines);
	candidates_find(list, "dev", (char *[]){ "start", "--cni", "n", NULL }, &lines);
	ASSERT_INT(lines.count, 3);
	ASSERT_STR(lines.items[0], "start\tmake");
	ASSERT_STR(lines.items[1], "--cni\tthe network");
	ASSERT_STR(lines.items[2], "none");
}

TEST(offers_options_of_the_command_and_of_all)
{
	ASSERT_FOUND(
		"--nodes --cni --offline --version --force --profile --verbose --quiet --user --skip-audit --help",
		"start", "-");
	ASSERT_FOUND("--profile --verbose --quiet --user --skip-audit --help", "-");
	ASSERT_FOUND("--no-offline --no-force --no-quiet --no-skip-audit", "start", "--no-");
	ASSERT_FOUND("", "start", "--", "-");
}

TEST(offers_values)
{
	ASSERT_FOUND("auto none", "start", "--cni", "");
	ASSERT_FOUND("--cni=none", "start", "--cni=n");
	ASSERT_FOUND("all none", "ssh", "--access", "");
	ASSERT_FOUND("--offline=true --offline=false", "start", "--offline=");
	ASSERT_FOUND("v1.36.3 v1.35.4", "start", "--version", "");
	ASSERT_FOUND("--version=v1.35.4", "start", "--version=v1.35");
	ASSERT_FOUND("", "start", "--nodes", "");
	ASSERT_FOUND("", "start", "-n3", "");
	ASSERT_FOUND(":files", "ssh", "--file", "");
	ASSERT_FOUND("bash zsh", "completion", "");
	ASSERT_FOUND("", "completion", "bash", "");
}

TEST(offers_clusters_and_their_nodes)
{
	add_cluster("dev", "node-1");
	add_cluster("other", "first");
	ASSERT_FOUND("dev other", "-p", "");
	ASSERT_FOUND("-pdev", "-pd");
	ASSERT_FOUND("--profile=other", "start", "--profile=o");
	ASSERT_FOUND("list dev other", "profile", "");
	ASSERT_FOUND("", "profile", "dev", "");
	ASSERT_FOUND("node-1 node-2", "ssh", "");
	ASSERT_FOUND("node-1 node-2", "ssh", "--watch", "");
	ASSERT_FOUND("first node-2", "ssh", "-p", "other", "");
	ASSERT_FOUND("first node-2", "-pother", "ssh", "-n", "");
	ASSERT_FOUND("first", "--profile=other", "ssh", "--node", "f");
	ASSERT_FOUND("", "-p", "absent", "ssh", "");
	ASSERT_FOUND("node-1: node-2: :files", "cp", "");
	ASSERT_FOUND("", "cp", "node-1:");
	ASSERT_FOUND("", "cp", "a", "b", "");
}

TEST(leaves_alone_what_is_passed_on)
{
	add_cluster("dev", "node-1");
	ASSERT_FOUND("", "ssh", "node-1", "");
	ASSERT_FOUND("", "ssh", "node-1", "-");
	ASSERT_FOUND("", "ssh", "--", "");
}

TEST(offers_settings_and_their_values)
{
	ASSERT_FOUND("profile nodes cni offline version", "config", "set", "");
	ASSERT_FOUND("auto none", "config", "set", "cni", "");
	ASSERT_FOUND("true false", "config", "set", "offline", "");
	ASSERT_FOUND("", "config", "set", "nonsense", "");
}

TEST(offers_the_words_of_a_command_to_help)
{
	ASSERT_FOUND("config completion", "help", "co");
	ASSERT_FOUND("set put", "help", "config", "");
	ASSERT_FOUND("", "help", "start", "");
}
