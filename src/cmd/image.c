/* `image`: images of the user's own. */

#include "cmd/command.h"

static const struct command *const subcommands[] = {
	&cmd_image_build,
	NULL,
};

const struct command cmd_image = {
	.name = "image",
	.elsewhere = "images",
	.summary = "work with images",
	.examples = "sudo manykube image build -t app .\n",
	.subcommands = subcommands,
};
