/* `tunnel`: says that it is not needed. */

#include <stdio.h>

#include "cmd/command.h"

static int run(arg_unused struct command_context *ctx, arg_unused struct error *err)
{
	printf("No tunnel is needed: a service of type LoadBalancer has an address that this host "
	       "reaches.\n"
	       "'manykube service list' and 'kubectl get services' show it.\n");
	return 0;
}

static const struct opt absent[] = {
	OPT_NEEDLESS('c', "cleanup", NULL, "routes of services disappear with them"),
	OPT_NEEDLESS(0, "bind-address", "ADDRESS",
		     "services have addresses of the cluster's subnet"),
	OPT_END,
};

const struct command cmd_tunnel = {
	.name = "tunnel",
	.summary = "explain why services of type LoadBalancer need no tunnel",
	.description =
		"Services of type LoadBalancer get an address of the cluster's subnet, which "
		"answers on this host as long as the cluster runs. There is nothing to keep "
		"running beside it.",
	.examples = "manykube tunnel\n",
	.absent = absent,
	.run = run,
};
