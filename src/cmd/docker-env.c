/* `docker-env`: use the Docker daemon of a node. */

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/say.h"
#include "cli/shell-env.h"
#include "cmd/docker-daemon.h"
#include "cmd/node-change.h"
#include "data/yaml.h"

static struct {
	const char *node;
	const char *shell;
	const char *output;
	bool unset;
	bool stop;
	bool no_proxy;
	bool download_only;
} arg;

static const struct opt options[] = {
	OPT_STRING('n', "node", &arg.node, "NODE", "same as the argument",
		   .complete = COMPLETE_NODE),
	OPT_FLAG('u', "unset", &arg.unset, "print how to use your own Docker daemon again",
		 .once = true),
	OPT_FLAG(0, "stop", &arg.stop,
		 "stop the daemon and its containers, and do not start it again", .once = true),
	OPT_CHOICE(0, "shell", &arg.shell, SHELL_ENV_WORDS,
		   "shell to print commands for (default: yours)", .once = true),
	OPT_CHOICE('o', "output", &arg.output, "text|json|yaml",
		   "output format; json and yaml print only the variables", .once = true),
	OPT_FLAG(0, "no-proxy", &arg.no_proxy, "also add the node's address to NO_PROXY",
		 .once = true),
	OPT_FLAG(0, "download-only", &arg.download_only,
		 "only put the daemon into the cache, for clusters that are offline", .once = true),
	OPT_END,
};

static const struct opt absent[] = {
	OPT_NEEDLESS(0, "ssh-host", NULL, "the connection is protected by TLS, not by SSH"),
	OPT_NEEDLESS(0, "ssh-add", NULL, "the connection is protected by TLS, not by SSH"),
	OPT_END,
};

#define VARIABLES_MOST 5

/* Add NO_PROXY with ADDRESS, in the memory of TO. */
static void add_no_proxy(const char *address, char **to, struct shell_variable *variable)
{
	const char *before = getenv("NO_PROXY");

	*to = before && *before ? xasprintf("%s,%s", before, address) : xstrdup(address);
	*variable = (struct shell_variable){ "NO_PROXY", *to };
}

static void print_structured(const struct shell_variable *variables, size_t count)
{
	json_auto_t *object = json_object();
	cleanup_free char *text = NULL;

	for (size_t i = 0; i < count; i++)
		(void)json_object_set_new(object, variables[i].name,
					  arg.unset ? json_null()
						    : json_string(variables[i].value));
	text = strcmp(arg.output, "json") == 0 ? json_dumps(object, JSON_INDENT(2))
					       : yaml_print(object);
	printf("%s%s", text, strcmp(arg.output, "json") == 0 ? "\n" : "");
}

/* Print VARIABLES, and how to run that; WHOSE daemon they lead to. */
static void print_variables(const struct command_context *ctx,
			    const struct shell_variable *variables, size_t count, const char *whose)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_free char *purpose = xasprintf("point your shell to %s Docker daemon", whose);
	cleanup_free char *command = xasprintf(
		"manykube%s%s%s docker-env%s%s%s", ctx->profile_given ? " -p " : "",
		ctx->profile_given ? ctx->profile_name : "",
		ctx->command->flags & COMMAND_WORKERS ? " worker" : "", arg.unset ? " --unset" : "",
		arg.node ? " " : "", arg.node ? arg.node : "");

	if (arg.output && strcmp(arg.output, "text") != 0) {
		print_structured(variables, count);
		return;
	}
	shell_env_print(arg.shell, variables, count, arg.unset, &out);
	strbuf_add_char(&out, '\n');
	shell_env_explain(arg.shell, purpose, command, &out);
	strbuf_trim_end(&out);
	printf("%s\n", out.text);
}

static int print_environment(struct command_context *ctx, const char *name, struct error *err)
{
	cleanup_with(docker_client_release) struct docker_client client = DOCKER_CLIENT_INIT;
	cleanup_free char *no_proxy = NULL;
	cleanup_free char *whose = xasprintf("%s's", name);
	struct shell_variable variables[VARIABLES_MOST];
	size_t count = 0;
	int r = docker_daemon_need(ctx, name, &client, err);

	if (r < 0)
		return r;
	variables[count++] = (struct shell_variable){ "DOCKER_TLS_VERIFY", "1" };
	variables[count++] = (struct shell_variable){ "DOCKER_HOST", client.host };
	variables[count++] = (struct shell_variable){ "DOCKER_CERT_PATH", client.cert_dir };
	variables[count++] = (struct shell_variable){ "MANYKUBE_ACTIVE_DOCKERD",
						      arg.node ? arg.node : ctx->profile_name };
	if (arg.no_proxy)
		add_no_proxy(profile_find_node(ctx->profile, name)->address, &no_proxy,
			     &variables[count++]);
	print_variables(ctx, variables, count, whose);
	return 0;
}

static int print_removal(struct command_context *ctx)
{
	static const struct shell_variable variables[] = {
		{ "DOCKER_TLS_VERIFY", "" },
		{ "DOCKER_HOST", "" },
		{ "DOCKER_CERT_PATH", "" },
		{ "MANYKUBE_ACTIVE_DOCKERD", "" },
	};

	arg.node = NULL;
	print_variables(ctx, variables, ARRAY_SIZE(variables), "your own");
	return 0;
}

/* The name of the node, for the caller to free; CTX's profile is loaded. */
static int choose_node(struct command_context *ctx, char **ret_name, struct error *err)
{
	struct node *node = profile_primary(ctx->profile);
	int r;

	if (arg.node || ctx->command->flags & COMMAND_WORKERS) {
		r = node_need_named(ctx, arg.node, &node, err);
		if (r < 0)
			return r;
	}
	if (!node || !node->address)
		return error_because(err, &reason_node_missing, -ENOENT,
				     "cluster '%s' has no %s with an address yet",
				     ctx->profile->name, node ? node->name : "primary");
	*ret_name = xstrdup(node->name);
	return 0;
}

static int work_on_node(struct command_context *ctx, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *name = NULL;
	int r = profile_load(ctx->profile_name, &profile, err);

	if (r < 0)
		return r;
	ctx->profile = &profile;
	r = choose_node(ctx, &name, err);
	if (r == 0 && arg.stop) {
		r = docker_daemon_stop(ctx, name, err);
		if (r == 0 && !ctx->quiet)
			say_done("Stopped the Docker daemon of node %s.", name);
	} else if (r == 0) {
		r = print_environment(ctx, name, err);
	}
	ctx->profile = NULL;
	return r;
}

static int run(struct command_context *ctx, struct error *err)
{
	int r;

	if (!arg.shell)
		arg.shell = shell_env_detect(getenv("SHELL"));
	if (ctx->argc > 0)
		arg.node = ctx->argv[0];
	if (arg.unset + arg.stop + arg.download_only > 1)
		return error_because(err, &reason_usage, -EINVAL,
				     "--unset, --stop and --download-only exclude each other");
	if (arg.unset)
		return print_removal(ctx);
	if (arg.download_only)
		return docker_daemon_download(ctx, err);
	r = work_on_node(ctx, err);
	/* 'eval' of nothing would be a success. */
	if (r < 0 && !arg.stop && !arg.output && !isatty(STDOUT_FILENO))
		printf("%s", shell_env_failure(arg.shell));
	return r;
}

#define DESCRIPTION                                                                            \
	"What is built there can be used by pods on that node at once, with imagePullPolicy "  \
	"Never or IfNotPresent: the daemon shares its images with Kubernetes. The first use "  \
	"on a node starts the daemon, which needs root, and builds it from source unless it "  \
	"is in the cache; then it starts with the node. The client certificates that the "     \
	"variables name make you root in every node of the cluster. 'docker image prune -a' "  \
	"also removes Kubernetes' own images that no container of Docker uses; the node adds " \
	"them again at once, and takes their names back from others. 'docker images | grep "   \
	"-v ^sha256' leaves out the IDs by which Kubernetes knows images."

const struct command cmd_docker_env = {
	.name = "docker-env",
	.operands = "[NODE]",
	.max_operands = 1,
	.complete = COMPLETE_NODE,
	.summary = "use the Docker daemon of a node with your docker client",
	.description =
		"Prints commands for your shell that let your docker client work in NODE, or "
		"in the primary control plane. " DESCRIPTION,
	.examples = "eval $(sudo manykube docker-env)\n"
		    "eval $(sudo manykube docker-env node-2) && docker build -t app .\n"
		    "eval $(manykube docker-env --unset)\n"
		    "sudo manykube docker-env node-2 --stop\n",
	.flags = COMMAND_AUDITED | COMMAND_WAITS,
	.options = options,
	.absent = absent,
	.run = run,
};

const struct command cmd_worker_docker_env = {
	.name = "docker-env",
	.operands = "NAME",
	.max_operands = 1,
	.complete = COMPLETE_NODE,
	.summary = "use the Docker daemon of a worker with your docker client",
	.description = "Like 'manykube docker-env', but the worker must be named.",
	.examples = "eval $(sudo manykube worker docker-env node-2)\n",
	.flags = COMMAND_AUDITED | COMMAND_WAITS | COMMAND_WORKERS,
	.options = options,
	.absent = absent,
	.run = run,
};
