#include "agent/config.h"
#include "test.h"

static struct agent_config parse(const char *text)
{
	struct agent_config config;
	const char *problem;
	unsigned line;

	if (agent_config_parse(text, strlen(text), &config, &problem, &line) < 0)
		test_fail(__FILE__, __LINE__, "line %u: %s", line, problem);
	return config;
}

static void refuse(const char *text, unsigned want_line)
{
	struct agent_config config;
	const char *problem;
	unsigned line;

	ASSERT_INT(agent_config_parse(text, strlen(text), &config, &problem, &line), -EINVAL);
	ASSERT(problem != NULL);
	ASSERT_INT(line, want_line);
	ASSERT(config.text == NULL);
}

TEST(all_statements_are_understood)
{
	cleanup_with(agent_config_release) struct agent_config config = parse(
		"# comment\n\ngrace 7\nservice containerd\n  command /bin/containerd --config "
		"/etc/c.toml\n  log /var/log/c.log\nservice kubelet\n  when /w\n  needs /n\n"
		"  arguments-from /f NAME\n  environment-from /e\n  stop-seconds 9\n  command /bin/kubelet");

	ASSERT_INT(config.grace_seconds, 7);
	ASSERT_INT(config.count, 2);
	ASSERT_STR(config.services[0].name, "containerd");
	ASSERT_INT(config.services[0].argc, 3);
	ASSERT_STR(config.services[0].argv[2], "/etc/c.toml");
	ASSERT(config.services[0].argv[3] == NULL);
	ASSERT_STR(config.services[0].log, "/var/log/c.log");
	ASSERT(config.services[0].when == NULL);
	ASSERT_INT(config.services[0].stop_seconds, 3);
	ASSERT_STR(config.services[1].when, "/w");
	ASSERT_STR(config.services[1].needs, "/n");
	ASSERT_STR(config.services[1].arguments_file, "/f");
	ASSERT_STR(config.services[1].arguments_name, "NAME");
	ASSERT_STR(config.services[1].environment_file, "/e");
	ASSERT_INT(config.services[1].stop_seconds, 9);
	ASSERT_STR(config.services[1].argv[0], "/bin/kubelet");
}

TEST(a_variable_has_a_name_and_a_value)
{
	refuse("service s\ncommand /b\nenvironment NAME\n", 3);
	refuse("service s\ncommand /b\nenvironment A=1 =2\n", 3);
}

TEST(words_may_be_quoted)
{
	cleanup_with(agent_config_release) struct agent_config config = parse(
		"service s\ncommand /b \"a b\" \"\" \"say \\\"x\\\" \\\\ \\n\" #no\n");

	ASSERT_INT(config.services[0].argc, 5);
	ASSERT_STR(config.services[0].argv[1], "a b");
	ASSERT_STR(config.services[0].argv[2], "");
	ASSERT_STR(config.services[0].argv[3], "say \"x\" \\ \\n");
	ASSERT_STR(config.services[0].argv[4], "#no");
}

TEST(nonsense_is_refused_with_its_line)
{
	refuse("command /x\n", 1);
	refuse("service a\ncommand /x\n\nservice a\n", 4);
	refuse("service a\nlog relative\n", 2);
	refuse("service a\ncommand /x \"open\n", 2);
	refuse("service a\ncommand /x \"a\"b\n", 2);
	refuse("grace soon\n", 1);
	refuse("grace 1000000\n", 1);
	refuse("service a\nwhat /x\n", 2);
	refuse("service a/b\n", 1);
	refuse("service a\n", 2);
}

TEST(an_empty_file_has_no_services)
{
	cleanup_with(agent_config_release) struct agent_config config = parse("");

	ASSERT_INT(config.count, 0);
	ASSERT_INT(config.grace_seconds, 5);
}

TEST(variables_are_lines_of_a_file)
{
	char text[] = "A=1\n\n# no variable\n=x\nB=two words\nC=3";
	char *variables[3];

	ASSERT_INT(agent_environment_parse(text, variables, 3), 3);
	ASSERT_STR(variables[0], "A=1");
	ASSERT_STR(variables[1], "B=two words");
	ASSERT_STR(variables[2], "C=3");
	ASSERT_INT(agent_environment_parse(text, variables, 1), 1);
}

TEST(arguments_are_found_in_an_environment_file)
{
	char text[] = "X=1\nKUBELET_KUBEADM_ARGS=\"--a=b  --c=d \"\nY=2\n";
	char plain[] = "NAME=one two";
	char missing[] = "NAMES=one\n";
	char *words[4];

	ASSERT_INT(agent_arguments_parse(text, "KUBELET_KUBEADM_ARGS", words, 3), 2);
	ASSERT_STR(words[0], "--a=b");
	ASSERT_STR(words[1], "--c=d");
	ASSERT(words[2] == NULL);
	ASSERT_INT(agent_arguments_parse(plain, "NAME", words, 1), 1);
	ASSERT_STR(words[0], "one");
	ASSERT_INT(agent_arguments_parse(missing, "NAME", words, 3), 0);
}
