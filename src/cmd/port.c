/* `port`: the ports of this host that a cluster publishes. */

#include <arpa/inet.h>
#include <jansson.h>
#include <string.h>

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/say.h"
#include "cli/table.h"
#include "cmd/command.h"
#include "data/inet.h"
#include "network/published-ports.h"
#include "plan/plan.h"
#include "record/setting-check.h"
#include "record/spec.h"

static struct {
	const char *output;
} arg = { .output = "text" };

static int take_words(const struct command_context *ctx, struct strlist *ret, struct error *err)
{
	int r = 0;

	for (int i = 0; r == 0 && i < ctx->argc; i++) {
		r = setting_check_port(ctx->argv[i], err);
		strlist_add(ret, ctx->argv[i]);
	}
	return r;
}

static void tell(const struct command_context *ctx, const char *verb, const struct strlist *words)
{
	const char *word;

	if (ctx->quiet)
		return;
	strlist_for_each(word, words) {
		cleanup_free char *address = NULL;
		struct port_spec port;

		if (spec_parse_port(word, &port, NULL) < 0)
			continue;
		address = inet_print_address(port.address);
		say_done("Cluster \"%s\" %s port %u of %s.", ctx->profile_name, verb,
			 port.host_port, address);
	}
}

static int add_ports(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	int r = take_words(ctx, &words, err);

	if (r == 0)
		r = plan_check_ports(ctx->profile, &words, err);
	if (r == 0)
		r = published_ports_add(ctx->profile, &words, err);
	if (r >= 0)
		tell(ctx, "publishes", &words);
	return MIN(r, 0);
}

static int remove_ports(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	int r = take_words(ctx, &words, err);

	if (r == 0)
		r = published_ports_remove(ctx->profile, &words, err);
	if (r == 0)
		tell(ctx, "no longer publishes", &words);
	return r;
}

static void print_json(const struct strlist *words)
{
	json_auto_t *list = json_array();
	const char *word;

	strlist_for_each(word, words) {
		cleanup_free char *address = NULL;
		struct port_spec port;

		if (spec_parse_port(word, &port, NULL) < 0)
			continue;
		address = inet_print_address(port.address);
		(void)json_array_append_new(list,
					    json_pack("{s:s, s:i, s:i, s:s?}", "Address", address,
						      "HostPort", (int)port.host_port, "NodePort",
						      (int)port.node_port, "Node", port.node));
	}
	(void)json_dumpf(list, stdout, JSON_COMPACT);
	printf("\n");
}

static void print_table(const struct strlist *words)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	const char *word;

	TABLE_ROW(&table, "HOST", "NODE PORT", "NODE");
	strlist_for_each(word, words) {
		cleanup_free char *address = NULL;
		cleanup_free char *host = NULL;
		cleanup_free char *node = NULL;
		struct port_spec port;

		if (spec_parse_port(word, &port, NULL) < 0)
			continue;
		address = inet_print_address(port.address);
		host = xasprintf("%s:%u", address, port.host_port);
		node = xasprintf("%u", port.node_port);
		TABLE_ROW(&table, host, node, port.node ? port.node : "any");
	}
	table_print(&table, stdout);
}

static int list_ports(struct command_context *ctx, arg_unused struct error *err)
{
	if (strcmp(arg.output, "json") == 0)
		print_json(&ctx->profile->ports);
	else if (ctx->profile->ports.count)
		print_table(&ctx->profile->ports);
	else if (!ctx->quiet)
		say_done("Cluster \"%s\" publishes no ports; 'manykube port add' publishes one.",
			 ctx->profile_name);
	return 0;
}

static const struct command cmd_port_add = {
	.name = "add",
	.elsewhere = "create|publish|expose",
	.operands = "[ADDRESS:]HOST[:NODE][@NAME]...",
	.summary = "publish ports of this host",
	.description =
		"Connections to port HOST of this host, at 127.0.0.1 unless ADDRESS is given, go "
		"to port NODE of the first node that answers there, or of the node NAME, as with "
		"--ports of 'manykube start'. NODE is usually the node port of a service. The "
		"ports stay published until 'manykube port remove', also when the cluster was "
		"stopped meanwhile. Nothing is changed if one of them is in use.",
	.examples = "sudo manykube port add 8080:30080\n"
		    "sudo manykube port add 0.0.0.0:8443:30443 9000:9000@node-2\n",
	.min_operands = 1,
	.max_operands = 100,
	.flags = COMMAND_CHANGES_NODES,
	.run = add_ports,
};

static const struct command cmd_port_remove = {
	.name = "remove",
	.elsewhere = "rm|delete|del|unpublish",
	.operands = "[ADDRESS:]HOST...",
	.summary = "publish ports of this host no longer",
	.description = "Connections that are open end.",
	.examples = "sudo manykube port remove 8080\n"
		    "sudo manykube port remove 0.0.0.0:8443:30443\n",
	.min_operands = 1,
	.max_operands = 100,
	.flags = COMMAND_CHANGES_NODES,
	.run = remove_ports,
};

static const struct opt list_options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "output format", .once = true),
	OPT_END,
};

static const struct command cmd_port_list = {
	.name = "list",
	.elsewhere = "ls|get|show",
	.summary = "list the published ports",
	.examples = "manykube port list\n"
		    "manykube port list -o json\n",
	.flags = COMMAND_NEEDS_CLUSTER,
	.options = list_options,
	.run = list_ports,
};

static const struct command *const subcommands[] = {
	&cmd_port_add,
	&cmd_port_remove,
	&cmd_port_list,
	NULL,
};

const struct command cmd_port = {
	.name = "port",
	.summary = "publish ports of this host: add, remove or list them",
	.examples = "sudo manykube port add 8080:30080\n"
		    "sudo manykube port remove 8080\n"
		    "manykube port list\n",
	.subcommands = subcommands,
};
