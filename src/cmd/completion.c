/* `completion`: shell completion scripts. */

#include <string.h>

#include "cmd/command.h"

static const struct {
	const char *shell;
	const char *script;
} scripts[] = {
	{
		"bash",
#include "manykube.bash.inc"
	},
	{
		"zsh",
#include "manykube.zsh.inc"
	},
	{
		"fish",
#include "manykube.fish.inc"
	},
};

static int run(struct command_context *ctx, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		if (strcmp(scripts[i].shell, ctx->argv[0]) == 0) {
			printf("%s", scripts[i].script);
			return 0;
		}
	}
	error_because(err, &reason_usage, -EINVAL, "no completion for '%s'", ctx->argv[0]);
	return error_hint(err, -EINVAL, "use bash, zsh or fish");
}

const struct command cmd_completion = {
	.name = "completion",
	.operands = "bash|zsh|fish",
	.summary = "print a shell completion script",
	.description =
		"'make install' and the Debian package install these scripts. Otherwise add the "
		"line from the examples to ~/.bashrc, ~/.zshrc (after compinit) or "
		"~/.config/fish/config.fish.",
	.examples = "source <(manykube completion bash)\n"
		    "source <(manykube completion zsh)\n"
		    "manykube completion fish | source\n",
	.min_operands = 1,
	.max_operands = 1,
	.flags = COMMAND_NO_SETTINGS,
	.words = "bash|zsh|fish",
	.run = run,
};
