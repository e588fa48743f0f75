#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "cmd/command.h"
#include "cmd/record.h"
#include "data/settings.h"
#include "record/setting-check.h"
#include "test.h"

static struct {
	bool force;
} arg;

static const struct opt options[] = {
	OPT_FLAG('f', "force", &arg.force, "do it anyway"),
	OPT_END,
};

static char *ran;
static char *profile_name;
static bool after_dashes;
static char *start_name;
static const char *start_name_option;
static char *start_program;
static const char *start_program_option;

static int note(struct command_context *ctx, arg_unused struct error *err)
{
	struct strlist words = STRLIST_INIT;

	strlist_add(&words, ctx->command->name);
	strlist_add_all(&words, ctx->argv);
	free(ran);
	free(profile_name);
	after_dashes = ctx->after_dashes;
	/* It points into what is gone afterwards. */
	free(start_name);
	start_name = xstrdup(start_name_option ? start_name_option : "");
	free(start_program);
	start_program = start_program_option ? xstrdup(start_program_option) : NULL;
	ran = strlist_join(&words, " ");
	profile_name = xstrdup(ctx->profile_name);
	ASSERT_INT(words.count, ctx->argc + 1);
	strlist_release(&words);
	return 3;
}

static const struct command plain = { .name = "plain",
				      .summary = "s",
				      .options = options,
				      .operands = "[A]",
				      .max_operands = 1,
				      .run = note };
static const struct command passing = {
	.name = "passing", .summary = "s", .flags = COMMAND_PASSES_REST, .run = note
};
static const struct command needing = { .name = "needing",
					.summary = "s",
					.flags = COMMAND_NEEDS_CLUSTER | COMMAND_LOCKS_CLUSTER,
					.run = note };
static const struct command rooted = { .name = "rooted",
				       .alias = "radical",
				       .elsewhere = "sudo|doas",
				       .summary = "s",
				       .flags = COMMAND_NEEDS_ROOT,
				       .run = note };
static const struct command fetching = { .name = "fetching",
					 .summary = "s",
					 .options = options,
					 .flags = COMMAND_LOCKS_CLUSTER,
					 .no_lock = &arg.force,
					 .run = note };
static const struct command naming = { .name = "naming",
				       .summary = "s",
				       .max_operands = 9,
				       .complete = COMPLETE_NODE,
				       .flags = COMMAND_NEEDS_CLUSTER | COMMAND_LOCKS_CLUSTER,
				       .run = note };
static const struct command hidden = {
	.name = "secret", .summary = "s", .flags = COMMAND_HIDDEN, .run = note
};
static const struct command *const children[] = { &plain, &hidden, NULL };
static const struct command parent = { .name = "parent", .summary = "s", .subcommands = children };
static const struct command both = { .name = "both",
				     .summary = "s",
				     .operands = "[A]",
				     .max_operands = 1,
				     .subcommands = children,
				     .run = note };
static const struct command *const list[] = { &plain,  &passing, &needing, &rooted, &fetching,
					      &hidden, &parent,  &both,    &naming, NULL };
static struct error why;

#define RUN(...) command_main(list, (char *[]){ __VA_ARGS__, NULL }, &why)

static void use_fresh_home(void)
{
	ASSERT_INT(setenv("MANYKUBE_HOME", test_dir(), 1), 0);
}

TEST(passes_the_status_and_the_operands_on)
{
	use_fresh_home();
	ASSERT_INT(RUN("plain", "-f", "x"), 3);
	ASSERT_STR(ran, "plain x");
	ASSERT(arg.force);
	ASSERT_STR(profile_name, "manykube");
}

TEST(global_options_may_stand_before_or_behind)
{
	ASSERT_INT(RUN("-p", "one", "plain"), 3);
	ASSERT_STR(profile_name, "one");
	ASSERT_INT(RUN("-p", "one", "plain", "-p", "two"), 3);
	ASSERT_STR(profile_name, "two");
	ASSERT_INT(RUN("parent", "-pthree", "plain", "x"), 3);
	ASSERT_STR(profile_name, "three");
	ASSERT_STR(ran, "plain x");
}

TEST(the_environment_names_the_profile)
{
	ASSERT_INT(setenv("MANYKUBE_PROFILE", "env", 1), 0);
	ASSERT_INT(RUN("plain"), 3);
	ASSERT_STR(profile_name, "env");
	ASSERT_INT(RUN("-p", "one", "plain"), 3);
	ASSERT_STR(profile_name, "one");
}

TEST(a_wrong_variable_disturbs_neither_help_nor_who_says_it_better)
{
	ASSERT_INT(setenv("MANYKUBE_PROFILE", "No_Name", 1), 0);
	ASSERT_INT(RUN("plain"), -EINVAL);
	ASSERT(strstr(why.text, "MANYKUBE_PROFILE"));
	error_clear(&why);
	ASSERT_INT(RUN("-p", "one", "plain"), 3);
	ASSERT_STR(profile_name, "one");
	ASSERT_INT(RUN("plain", "--help"), 0);
	ASSERT(!why.text);
	ASSERT_INT(RUN("--help"), 0);
}

/* A home in which the setting names the profile "chosen". */
static void use_active_profile(void)
{
	use_fresh_home();
	ASSERT_INT(settings_change(SETTING_PROFILE, "chosen", NULL), 1);
}

TEST(without_a_name_it_is_the_active_profile)
{
	use_active_profile();
	ASSERT_INT(RUN("plain"), 3);
	ASSERT_STR(profile_name, "chosen");
}

TEST(what_is_given_comes_before_the_active_profile)
{
	use_active_profile();
	ASSERT_INT(RUN("plain", "-p", "manykube"), 3);
	ASSERT_STR(profile_name, "manykube");
	ASSERT_INT(setenv("MANYKUBE_PROFILE", "env", 1), 0);
	ASSERT_INT(RUN("plain"), 3);
	ASSERT_STR(profile_name, "env");
}

TEST(advice_does_not_repeat_the_active_profile)
{
	use_active_profile();
	ASSERT_INT(RUN("needing"), -ENOENT);
	ASSERT_STR(why.text, "there is no cluster 'chosen'");
	ASSERT(!why.hint);
}

TEST(advice_names_a_profile_that_was_given)
{
	use_active_profile();
	ASSERT_INT(RUN("needing", "-p", "dev"), -ENOENT);
	ASSERT_STR(why.hint, "'manykube profile list' lists the clusters; 'manykube start "
			     "-p dev' creates one");
}

TEST(damaged_settings_are_told_of_before_anything_is_done)
{
	cleanup_free char *path = xasprintf("%s/config.json", test_dir());

	use_fresh_home();
	ASSERT_OK(file_put(path, "{", 1, 0644, &err));
	ASSERT_INT(RUN("plain"), -EINVAL);
	ASSERT(why.reason == &reason_host_config);
	ASSERT(strstr(why.text, path));
	error_clear(&why);
	ASSERT_INT(RUN("needing", "-p", "one"), -EINVAL);
}

TEST(a_name_that_a_setting_cannot_have_is_refused)
{
	use_fresh_home();
	ASSERT_INT(settings_change(SETTING_PROFILE, "../x", NULL), 1);
	ASSERT_INT(RUN("needing"), -EINVAL);
}

TEST(what_is_no_subcommand_is_an_operand_where_there_is_a_use_for_it)
{
	use_fresh_home();
	ASSERT_INT(RUN("both"), 3);
	ASSERT_STR(ran, "both");
	ASSERT_INT(RUN("both", "plain", "x"), 3);
	ASSERT_STR(ran, "plain x");
	ASSERT_INT(RUN("both", "x", "y"), -EINVAL);
	ASSERT_INT(RUN("both", "-p", "one", "x"), 3);
	ASSERT_STR(ran, "both x");
	ASSERT_STR(profile_name, "one");
}

TEST(help_is_no_operand)
{
	ASSERT_INT(RUN("both", "help"), 0);
	ASSERT_INT(RUN("both", "help", "plain"), 0);
	ASSERT(!ran);
}

TEST(a_bad_profile_name_is_refused)
{
	ASSERT_INT(RUN("plain", "-p", "../x"), -EINVAL);
	ASSERT(why.reason == &reason_usage);
}

TEST(suggests_the_nearest_command_but_no_hidden_one)
{
	ASSERT_INT(RUN("plian"), -EINVAL);
	ASSERT_STR(why.text, "unknown command 'manykube plian'");
	ASSERT_STR(why.hint, "did you mean 'manykube plain'?");
	ASSERT(why.reason == &reason_usage);
	ASSERT_INT(RUN("parent", "secre"), -EINVAL);
	ASSERT_STR(why.hint, "'manykube parent --help' lists the commands");
	ASSERT_INT(RUN("secret"), 3);
	ASSERT_INT(RUN("doas"), -EINVAL);
	ASSERT_STR(why.hint, "did you mean 'manykube rooted'?");
	ASSERT_INT(RUN("ssh-key"), -EINVAL);
	ASSERT_STR(why.hint, "there is no key: 'manykube ssh' enters nodes without an SSH server");
	ASSERT_INT(RUN("ssh-key", "--odd", "-p", "dev"), -EINVAL);
	ASSERT_STR(why.hint, "there is no key: 'manykube ssh -p dev' enters nodes without an SSH "
			     "server");
	ASSERT_INT(RUN("plain", "--rootless"), -EINVAL);
	ASSERT(strstr(why.hint, "only root may create nodes"));
}

TEST(counts_the_operands)
{
	ASSERT_INT(RUN("plain", "a", "b"), -EINVAL);
	ASSERT_STR(why.text, "'manykube plain': unexpected argument 'b'");
	ASSERT_STR(why.hint, "see 'manykube plain --help'");
}

TEST(passes_the_rest_untouched)
{
	ASSERT_INT(RUN("passing", "--", "get", "-o", "wide"), 3);
	ASSERT_STR(ran, "passing get -o wide");
	ASSERT(after_dashes);
	ASSERT_INT(RUN("passing", "--", "--", "get"), 3);
	ASSERT_STR(ran, "passing -- get");
	ASSERT_INT(RUN("passing", "--"), 3);
	ASSERT_STR(ran, "passing");
	ASSERT_INT(RUN("passing", "-p", "one", "get", "-p", "x", "--", "y"), 3);
	ASSERT_STR(ran, "passing get -p x -- y");
	ASSERT(!after_dashes);
	ASSERT_STR(profile_name, "one");
}

TEST(a_missing_cluster_leaves_no_trace)
{
	cleanup_free char *profiles = NULL;

	use_fresh_home();
	profiles = xasprintf("%s/profiles", test_dir());
	ASSERT_INT(RUN("needing"), -ENOENT);
	ASSERT(why.reason == &reason_cluster_missing);
	ASSERT(!file_exists(profiles));
}

TEST(two_commands_on_one_cluster_exclude_each_other)
{
	cleanup_with(profile_release) struct profile profile = { .name = xstrdup("manykube") };
	int fd = -1;

	use_fresh_home();
	ASSERT_OK(profile_dir("manykube", &profile.dir, &err));
	ASSERT_OK(profile_save(&profile, &err));
	ASSERT_INT(RUN("needing"), 3);
	ASSERT_OK(profile_lock("manykube", "another", &fd, &err));
	ASSERT_INT(RUN("needing"), -EWOULDBLOCK);
	ASSERT(why.reason == &reason_busy);
	/* A name that is wrong is said to be at once. */
	ASSERT_INT(RUN("naming", "nope"), -ENOENT);
	ASSERT(why.reason == &reason_node_missing);
	ASSERT_INT(RUN("naming"), -EWOULDBLOCK);
}

TEST(an_option_can_make_the_lock_needless)
{
	cleanup_fd int lock = -1;

	use_fresh_home();
	ASSERT_OK(profile_lock("manykube", "manykube test", &lock, &err));
	ASSERT_INT(RUN("fetching"), -EWOULDBLOCK);
	ASSERT_INT(RUN("fetching", "-f"), 3);
	arg.force = false;
}

TEST(says_when_root_is_needed)
{
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		test_skip("cannot become another user");
	ASSERT_INT(RUN("rooted"), -EPERM);
	ASSERT(why.reason == &reason_not_root);
	ASSERT_STR(why.hint, "run 'sudo manykube rooted'");
	/* By its other name. */
	ASSERT_INT(RUN("radical"), -EPERM);
	ASSERT_STR(why.hint, "run 'sudo manykube rooted'");
	ASSERT_INT(RUN("-p", "dev", "rooted", "-v"), -EPERM);
	ASSERT_STR(why.hint, "run 'sudo manykube rooted -p dev -v'");
	ASSERT_INT(RUN("rooted", "-p", "dev"), -EPERM);
	ASSERT_STR(why.hint, "run 'sudo manykube rooted -p dev'");
}

TEST(help_names_the_subcommands_and_options)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	command_print_help(&parent, "manykube parent", out);
	command_print_help(&plain, "manykube plain", out);
	command_print_list(list, out);
	ASSERT_INT(fclose(out), 0);
	ASSERT(strstr(text, "Usage: manykube parent [plain]\n"));
	ASSERT(strstr(text, "Usage: manykube plain [OPTION]... [A]\n"));
	ASSERT(strstr(text, "  -f, --force  do it anyway\n"));
	ASSERT(!strstr(text, "secret"));
	ASSERT_INT(RUN("parent", "help"), 0);
	ASSERT_INT(RUN("parent", "help", "plain"), 0);
	ASSERT_INT(RUN("parent", "help", "absent"), -EINVAL);
	ASSERT(!ran);
	free(text);
}

static struct {
	unsigned nodes;
} start_arg;

static const char *start_file;
static unsigned start_port;

static const struct opt start_options[] = {
	OPT_COUNT(0, "port", &start_port, "where", .beyond_user = setting_is_low_port),
	OPT_STRING(0, "program", &start_program_option, "FILE", "what root runs",
		   .beyond_user = setting_is_beyond_user),
	OPT_COUNT('n', "nodes", &start_arg.nodes, "how many", .when_made = true),
	OPT_STRING(0, "name", &start_name_option, "NAME", "what to call it"),
	OPT_STRING('f', "file", &start_file, "FILE", "what describes it"),
	OPT_END,
};
static struct cluster_options wanted;
static const struct command start_like = {
	.name = "start", .summary = "s", .options = start_options, .wanted = &wanted, .run = note
};
static const struct command mending = {
	.name = "mending", .summary = "s", .flags = COMMAND_NO_SETTINGS, .run = note
};
static const struct command *const with_settings[] = { &start_like, &mending, NULL };

#define RUN_SET(...) command_main(with_settings, (char *[]){ __VA_ARGS__, NULL }, &why)

/* A fresh home with these settings. */
static void use_settings(const char *text)
{
	cleanup_free char *path = xasprintf("%s/config.json", test_dir());

	use_fresh_home();
	ASSERT_OK(file_replace(path, text, strlen(text), 0644, &err));
}

TEST(settings_are_defaults)
{
	use_settings("{\"nodes\": \"3\", \"name\": \"set\", \"profile\": \"dev\"}");
	ASSERT_INT(setenv("MANYKUBE_NAME", "env", 1), 0);
	ASSERT_INT(RUN_SET("start"), 3);
	ASSERT_INT(start_arg.nodes, 3);
	ASSERT_STR(start_name, "env");
	ASSERT_STR(profile_name, "dev");
	ASSERT_INT(RUN_SET("-p", "other", "start", "-n5", "--name=line"), 3);
	ASSERT_INT(start_arg.nodes, 5);
	ASSERT_STR(start_name, "line");
	ASSERT_STR(profile_name, "other");
}

TEST(settings_about_new_clusters_leave_existing_ones_alone)
{
	cleanup_with(profile_release) struct profile profile = { .name = xstrdup("dev") };

	use_settings("{\"nodes\": \"3\", \"name\": \"set\", \"profile\": \"dev\"}");
	ASSERT_OK(profile_dir("dev", &profile.dir, &err));
	ASSERT_OK(profile_save(&profile, &err));
	ASSERT_INT(RUN_SET("start"), 3);
	ASSERT_INT(start_arg.nodes, 0);
	ASSERT_STR(start_name, "set");
	/* The same with variables, which are in the environment for all clusters. */
	ASSERT_INT(setenv("MANYKUBE_NODES", "4", 1), 0);
	ASSERT_INT(RUN_SET("start"), 3);
	ASSERT_INT(start_arg.nodes, 0);
	ASSERT_INT(RUN_SET("start", "-p", "other"), 3);
	ASSERT_INT(start_arg.nodes, 4);
}

TEST(a_wrong_setting_is_named_and_can_be_mended)
{
	cleanup_free char *text = NULL;

	use_settings("{\"nodes\": \"many\"}");
	ASSERT_INT(RUN_SET("start"), -EINVAL);
	text = xasprintf("'%s/config.json': nodes: 'many' is not a whole number", test_dir());
	ASSERT_STR(why.text, text);
	ASSERT(why.reason == &reason_host_config);
	ASSERT_INT(RUN_SET("mending"), 3);
	ASSERT_INT(RUN_SET("start", "--nodes=1"), 3);
	use_settings("nonsense");
	ASSERT_INT(RUN_SET("start"), -EINVAL);
	ASSERT_INT(RUN_SET("mending"), 3);
	use_settings("{\"profile\": \"../x\"}");
	ASSERT_INT(RUN_SET("start"), -EINVAL);
	ASSERT_INT(RUN_SET("mending"), 3);
	ASSERT_INT(RUN_SET("start", "--help"), 0);
}

/* Run `start` with ARGUMENT (may be NULL) and return what it wrote to standard error. */
static char *run_and_listen(char *argument)
{
	cleanup_free char *path = xasprintf("%s/said", test_dir());
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);

	start_port = 0;
	start_program_option = NULL;
	start_name_option = NULL;
	ASSERT_INT(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	ASSERT_INT(RUN_SET("start", argument), 3);
	ASSERT_INT(dup2(before, STDERR_FILENO), STDERR_FILENO);
	(void)close(fd);
	(void)close(before);
	ASSERT_OK(file_read(path, 65536, &text, &err));
	return strbuf_take(&text);
}

TEST(root_uses_no_setting_that_the_user_has_no_right_to)
{
	cleanup_free char *own = NULL;
	cleanup_free char *sudo = NULL;
	cleanup_free char *given_text = NULL;
	cleanup_free char *high = NULL;

	if (geteuid() != 0)
		test_skip("needs root");
	use_settings("{\"port\": \"80\", \"program\": \"/x\", \"name\": \"set\"}");
	ASSERT_INT(unsetenv("SUDO_UID"), 0);
	own = run_and_listen(NULL);
	ASSERT_STR(own, "");
	ASSERT_INT(start_port, 80);
	ASSERT_STR(start_program, "/x");
	ASSERT_INT(chmod(test_dir(), 0755), 0);
	ASSERT_INT(setenv("SUDO_UID", "12345", 1) + setenv("SUDO_GID", "12345", 1), 0);
	sudo = run_and_listen(NULL);
	ASSERT_STR(start_name, "set");
	ASSERT_INT(start_port, 0);
	ASSERT(!start_program);
	ASSERT(strstr(sudo, "the setting 'port' is not used with sudo, because every program of "
			    "yours can change it; give --port\n"));
	ASSERT(strstr(sudo, "; give --program\n"));
	given_text = run_and_listen((char[]){ "--program=/y" });
	ASSERT_STR(start_program, "/y");
	ASSERT(!strstr(given_text, "--program"));
	use_settings("{\"port\": \"8080\"}");
	high = run_and_listen(NULL);
	ASSERT_INT(start_port, 8080);
}

/* For an option whose value nobody looks at. */
static struct strlist list_of_nothing;

TEST(no_log_has_the_values_of_variables)
{
	cleanup_with(strlist_release) struct strlist operands = STRLIST_INIT;
	static const struct opt table[] = {
		OPT_LIST(0, "env", &list_of_nothing, "NAME=VALUE", "a variable", .secret = true),
		OPT_END,
	};
	static const struct command starting = { .name = "start", .options = table };
	static const struct command setting = { .name = "set", .complete = COMPLETE_SETTING };
	struct record record = RECORD_INIT;

	record_begin(&record, &starting, "manykube start",
		     ARGV("--env=A=secret", "--env", "B=secret", "-q", "--env", "secret"),
		     &operands, "one", NULL);
	ASSERT_STR(record.audit.args, "--env=A=REDACTED --env B=REDACTED -q --env secret");
	record_end(&record, 0, NULL);
	record_begin(&record, &setting, "manykube config set", ARGV("env", "A=secret"), &operands,
		     "one", NULL);
	ASSERT_STR(record.audit.args, "env A=REDACTED");
	record_end(&record, 0, NULL);
}
