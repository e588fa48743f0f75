/* `service`: the URLs of services. */

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cmd/command.h"
#include "kubeadm/members.h"
#include "kubeconfig/context.h"
#include "look/services.h"
#include "network/front-door.h"

#define POLL_MS   200
#define ANSWER_MS 1000

#define NO_NODE_PORT "No node port"
#define SCHEME       (arg.https ? "https" : "http")

static struct {
	const char *namespace;
	const char *output;
	bool url;
	bool https;
	unsigned wait_seconds;
} arg = { .output = "table" };

/* kubectl's checks, which say what to do where the API cannot answer. */
static int need_api(const struct command_context *ctx, struct error *err)
{
	cleanup_with(kube_freep) struct kube *admin = NULL;
	int r = context_open(ctx->profile, &admin, err);

	if (r == 0)
		r = cluster_open_front_door(ctx->profile, err);
	return r < 0 ? r : cluster_need_awake(ctx->profile, err);
}

static int check_namespace(struct error *err)
{
	if (!arg.namespace || parse_is_dns_label(arg.namespace))
		return 0;
	return error_because(err, &reason_usage, -EINVAL, "'%s' is not the name of a namespace",
			     arg.namespace);
}

/* One row for each port; only the first names the service. */
static void add_rows(const struct service *service, struct table *table)
{
	for (size_t i = 0; i < service->port_count && service->is_reachable; i++)
		TABLE_ROW(table, i == 0 ? service->namespace : "", i == 0 ? service->name : "",
			  service->ports[i].target,
			  service->ports[i].url ? service->ports[i].url : "");
	if (!service->is_reachable)
		TABLE_ROW(table, service->namespace, service->name, NO_NODE_PORT, "");
}

static void print_table(const struct service *services, size_t count)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	unsigned columns = text_columns(STDOUT_FILENO, 0);

	TABLE_ROW(&table, "NAMESPACE", "NAME", "TARGET PORT", "URL");
	for (size_t i = 0; i < count; i++)
		if (!arg.namespace || strcmp(services[i].namespace, arg.namespace) == 0)
			add_rows(&services[i], &table);
	/* The box would be garbled on a terminal that is too narrow. */
	if (columns == 0 || table_box_width(&table) <= columns)
		table_print_box(&table, stdout);
	else
		table_print_records(&table, stdout);
}

static json_t *describe(const struct service *service)
{
	json_t *urls = json_array();
	json_t *names = json_array();

	for (size_t i = 0; i < service->port_count && service->is_reachable; i++) {
		(void)json_array_append_new(names, json_string(service->ports[i].target));
		if (service->ports[i].url)
			(void)json_array_append_new(urls, json_string(service->ports[i].url));
	}
	if (!service->is_reachable)
		(void)json_array_append_new(names, json_string(NO_NODE_PORT));
	return json_pack("{s:s, s:s, s:o, s:o}", "Namespace", service->namespace, "Name",
			 service->name, "URLs", urls, "PortNames", names);
}

static void print_json(const struct service *services, size_t count)
{
	json_auto_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		if (!arg.namespace || strcmp(services[i].namespace, arg.namespace) == 0)
			(void)json_array_append_new(list, describe(&services[i]));
	(void)json_dumpf(list, stdout, JSON_COMPACT);
	printf("\n");
}

static void print_urls(const struct service *service)
{
	for (size_t i = 0; i < service->port_count; i++)
		if (service->ports[i].url)
			printf("%s\n", service->ports[i].url);
}

/* Find the service NAME.  With --wait, repeat that until it can be reached, and answers. */
static int find_service(struct command_context *ctx, const char *name, struct services *services,
			const struct service **ret, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + (int64_t)arg.wait_seconds * 1000;

	for (;;) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		int r = services_collect(ctx->profile, SCHEME, services, &why);

		if (r == 0)
			r = services_need(services, arg.namespace, name, ret, &why);
		if (r == 0)
			r = service_check(*ret, &why);
		if (r == 0 && arg.wait_seconds && !service_answers(*ret, ANSWER_MS, deadline_ms))
			r = error_because(&why, &reason_service_unreachable, -EAGAIN,
					  "service '%s' in namespace '%s' does not answer", name,
					  arg.namespace);
		/* A service does not get a node port by itself. */
		if (r == 0 || r == -ENOTSUP || !clock_poll(deadline_ms, POLL_MS))
			return r < 0 ? error_move(err, r, &why) : 0;
		services_release(services);
	}
}

static int show_service(struct command_context *ctx, struct error *err)
{
	cleanup_with(services_release) struct services services = SERVICES_INIT;
	const struct service *service = NULL;
	int r = check_namespace(err);

	if (!arg.namespace)
		arg.namespace = "default";
	if (r == 0 && !parse_is_dns_label(ctx->argv[0]))
		r = error_because(err, &reason_usage, -EINVAL, "'%s' is not the name of a service",
				  ctx->argv[0]);
	if (r == 0)
		r = need_api(ctx, err);
	if (r == 0)
		r = find_service(ctx, ctx->argv[0], &services, &service, err);
	if (r < 0)
		return r;
	if (strcmp(arg.output, "json") == 0)
		print_json(service, 1);
	else if (arg.url)
		print_urls(service);
	else
		print_table(service, 1);
	return 0;
}

static int list_services(struct command_context *ctx, struct error *err)
{
	cleanup_with(services_release) struct services services = SERVICES_INIT;
	int r = check_namespace(err);

	if (r == 0)
		r = need_api(ctx, err);
	if (r == 0)
		r = services_collect(ctx->profile, SCHEME, &services, err);
	if (r < 0)
		return r;
	(strcmp(arg.output, "json") == 0 ? print_json : print_table)(services.items,
								     services.count);
	return 0;
}

#define OUTPUT OPT_CHOICE('o', "output", &arg.output, "table|json", "output format", .once = true)
#define HTTPS \
	OPT_FLAG(0, "https", &arg.https, "print https instead of http in the URLs", .once = true)

static const struct opt list_options[] = {
	OPT_STRING('n', "namespace", &arg.namespace, "NAME", "only services of this namespace",
		   .once = true),
	HTTPS,
	OUTPUT,
	OPT_END,
};

static const struct command cmd_service_list = {
	.name = "list",
	.elsewhere = "ls|get|show",
	.summary = "list all services and the URLs at which this host reaches them",
	.examples = "manykube service list\n"
		    "manykube service list -n kube-system -o json\n",
	.flags = COMMAND_NEEDS_CLUSTER,
	.options = list_options,
	.run = list_services,
};

static const struct opt options[] = {
	OPT_STRING('n', "namespace", &arg.namespace, "NAME",
		   "namespace of the service (default: default)", .once = true),
	OPT_FLAG(0, "url", &arg.url, "print only the URLs, one per line", .once = true),
	HTTPS,
	OPT_SECONDS_MAYBE(0, "wait", &arg.wait_seconds,
			  "wait until the service exists and answers, by default for at most a "
			  "minute",
			  .once = true, .bare = "60s"),
	OUTPUT,
	OPT_END,
};

static const struct opt absent[] = {
	OPT_ABSENT(0, "all", NULL, "'manykube service list' lists all services"),
	OPT_ABSENT(0, "format", "TEMPLATE", "--url prints http://ADDRESS:PORT",
		   .harmless = "http://{{.IP}}:{{.Port}}"),
	OPT_NEEDLESS(0, "interval", "N", "--wait notices at once that the service answers"),
	OPT_END,
};

static const struct command *const subcommands[] = {
	&cmd_service_list,
	NULL,
};

const struct command cmd_service = {
	.name = "service",
	.operands = "NAME",
	.summary = "print the URLs of a service, or list all services",
	.description =
		"Prints URLs that answer on this host: for type LoadBalancer, ports at the service's "
		"own address; otherwise, node ports at the address of "
		"a node that is Ready, and that has a pod of the service if it has "
		"externalTrafficPolicy Local. 'manykube port add' publishes a node port at this "
		"host's own addresses.",
	.examples = "curl $(manykube service web --url)\n"
		    "manykube service web -n shop --wait=2m\n"
		    "manykube service list\n",
	.min_operands = 1,
	.max_operands = 1,
	.flags = COMMAND_NEEDS_CLUSTER,
	.options = options,
	.absent = absent,
	.subcommands = subcommands,
	.run = show_service,
};
