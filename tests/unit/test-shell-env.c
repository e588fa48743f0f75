#include "base/cleanup.h"
#include "cli/shell-env.h"
#include "test.h"

static const struct shell_variable variables[] = {
	{ "DOCKER_HOST", "tcp://192.0.2.2:2376" },
	{ "DOCKER_CERT_PATH", "/a \"$b`\\" },
};

static char *print_for(const char *shell, bool unset)
{
	struct strbuf out = STRBUF_INIT;

	shell_env_print(shell, variables, ARRAY_SIZE(variables), unset, &out);
	return strbuf_take(&out);
}

TEST(each_shell_gets_its_own_words)
{
	static const struct {
		const char *shell;
		bool unset;
		const char *want;
	} cases[] = {
		{ "bash", false,
		  "export DOCKER_HOST=\"tcp://192.0.2.2:2376\"\n"
		  "export DOCKER_CERT_PATH=\"/a \\\"\\$b\\`\\\\\"\n" },
		{ "zsh", true, "unset DOCKER_HOST\nunset DOCKER_CERT_PATH\n" },
		{ "fish", false,
		  "set -gx DOCKER_HOST \"tcp://192.0.2.2:2376\";\n"
		  "set -gx DOCKER_CERT_PATH \"/a \\\"\\$b`\\\\\";\n" },
		{ "fish", true, "set -e DOCKER_HOST;\nset -e DOCKER_CERT_PATH;\n" },
		{ "powershell", false,
		  "$Env:DOCKER_HOST = \"tcp://192.0.2.2:2376\"\n"
		  "$Env:DOCKER_CERT_PATH = \"/a `\"`$b``\\\"\n" },
		{ "powershell", true,
		  "Remove-Item Env:\\DOCKER_HOST\nRemove-Item Env:\\DOCKER_CERT_PATH\n" },
		{ "none", false,
		  "DOCKER_HOST=tcp://192.0.2.2:2376\nDOCKER_CERT_PATH=/a \"$b`\\\n" },
		{ "none", true, "DOCKER_HOST\nDOCKER_CERT_PATH\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_free char *got = print_for(cases[i].shell, cases[i].unset);

		ASSERT_STR(got, cases[i].want);
	}
}

TEST(the_comment_says_how_to_run_it)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	shell_env_explain("bash", "use it", "manykube docker-env", &out);
	ASSERT_STR(out.text, "# To use it, run:\n# eval $(manykube docker-env)\n");
	strbuf_release(&out);
	shell_env_explain("fish", "use it", "manykube docker-env", &out);
	ASSERT_STR(out.text, "# To use it, run:\n# manykube docker-env | source\n");
	strbuf_release(&out);
	shell_env_explain("none", "use it", "manykube docker-env", &out);
	ASSERT_INT(out.len, 0);
	ASSERT_STR(shell_env_failure("bash"), "false\n");
	ASSERT_STR(shell_env_failure("none"), "");
}

TEST(the_shell_is_found_by_its_path)
{
	ASSERT_STR(shell_env_detect(NULL), "bash");
	ASSERT_STR(shell_env_detect("/bin/dash"), "bash");
	ASSERT_STR(shell_env_detect("/usr/bin/fish"), "fish");
	ASSERT_STR(shell_env_detect("/bin/zsh"), "zsh");
	ASSERT_STR(shell_env_detect("/usr/bin/pwsh"), "powershell");
	ASSERT_STR(shell_env_detect("none"), "bash");
}
