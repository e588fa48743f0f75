/* `image`: the images of the nodes. */

#include "cmd/command.h"

static const struct command *const subcommands[] = {
	&cmd_image_load, &cmd_image_build, &cmd_image_ls,   &cmd_image_rm, &cmd_image_tag,
	&cmd_image_save, &cmd_image_pull,  &cmd_image_push, NULL,
};

const struct command cmd_image = {
	.name = "image",
	.elsewhere = "images|load|cache",
	.summary = "load, build and list images on all nodes",
	.examples = "sudo manykube image load app.tar\n"
		    "sudo manykube image build -t app .\n"
		    "sudo manykube image ls\n",
	.subcommands = subcommands,
};
