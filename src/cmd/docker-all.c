/* `docker-all`: run the docker client against all nodes. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/path.h"
#include "base/process.h"
#include "base/user.h"
#include "cmd/docker-daemon.h"
#include "node/docker-service.h"

static int find_client(char **ret_path, struct error *err)
{
	*ret_path = process_find("docker");
	if (*ret_path)
		return 0;
	(void)error_because(err, &reason_host_missing_tool, -ENOENT,
			    "there is no docker client on this host");
	return error_hint(
		err, -ENOENT,
		"install it; on Debian and Ubuntu it is in the package 'docker-cli' or 'docker.io'");
}

static bool is_replaced(const char *variable, bool with_home)
{
	static const char *const names[] = { "DOCKER_HOST=", "DOCKER_TLS_VERIFY=", "DOCKER_TLS=",
					     "DOCKER_CERT_PATH=", "DOCKER_CONTEXT=" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return with_home && strncmp(variable, "HOME=", strlen("HOME=")) == 0;
}

/* The environment for the client of CLIENT's daemon; HOME is another one under sudo. */
static void make_environment(const struct docker_client *client, const char *home,
			     struct strlist *ret)
{
	for (char **variable = environ; *variable; variable++)
		if (!is_replaced(*variable, home != NULL))
			strlist_add(ret, *variable);
	strlist_add(ret, "DOCKER_TLS_VERIFY=1");
	strlist_addf(ret, "DOCKER_HOST=%s", client->host);
	strlist_addf(ret, "DOCKER_CERT_PATH=%s", client->cert_dir);
	if (home)
		strlist_addf(ret, "HOME=%s", home);
}

/* Run the client PATH with CTX's operands; under sudo as the user, because it runs plugins from the
 * user's home. */
static int run_client(struct command_context *ctx, const char *path,
		      const struct docker_client *client, struct error *err)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist environment = STRLIST_INIT;
	cleanup_with(user_release) struct user user = USER_INIT;
	cleanup_free char *home = NULL;
	struct process_options options = { .dir = NULL };
	int r;

	user_find(&user);
	if (user.is_other) {
		r = path_home(&home, err);
		if (r < 0)
			return r;
		options.user = &user;
	}
	make_environment(client, home, &environment);
	options.environment = environment.items;
	strlist_add(&argv, path);
	strlist_add_all(&argv, ctx->argv);
	return process_run(argv.items, &options, err);
}

/* Run the docker client PATH, if not NULL, against the daemon of NODE, which is started if it does
 * not run.  INPUT is where standard input, if it is a file, begins for each node. */
static int run_on_node(struct command_context *ctx, const char *node, const char *path, off_t input,
		       struct error *err)
{
	cleanup_with(docker_client_release) struct docker_client client = DOCKER_CLIENT_INIT;
	int r = docker_daemon_need(ctx, node, &client, err);

	if (r < 0 || !path)
		return r;
	if (!ctx->quiet)
		fprintf(stderr, "==> %s\n", node);
	if (input >= 0)
		(void)lseek(STDIN_FILENO, input, SEEK_SET);
	return run_client(ctx, path, &client, err);
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_free char *path = NULL;
	const struct node *node;
	off_t input = lseek(STDIN_FILENO, 0, SEEK_CUR);
	const char *name;
	int r = find_client(&path, err);

	if (r < 0)
		return r;
	profile_for_each_node(node, ctx->profile) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		if (node->phase == NODE_LEAVING)
			continue;
		if (docker_service_check(node, &why) < 0)
			log_warning("%s: it is left out", why.text);
		else
			strlist_add(&names, node->name);
	}
	if (names.count == 0)
		return error_because(err, &reason_usage, -ENOTSUP,
				     "cluster '%s' has no node with a Docker daemon",
				     ctx->profile_name);
	/* All daemons first: what is wrong with one is found before anything is done. */
	strlist_for_each(name, &names) {
		r = run_on_node(ctx, name, NULL, input, err);
		if (r < 0)
			return r;
	}
	strlist_for_each(name, &names) {
		r = run_on_node(ctx, name, path, input, err);
		if (r != 0)
			return r;
	}
	return 0;
}

const struct command cmd_docker_all = {
	.name = "docker-all",
	.operands = "[--] ARGUMENT...",
	.min_operands = 1,
	.summary = "run your docker client against every node, one after another",
	.description =
		"Runs the docker client of this host with the arguments, once for the Docker daemon of "
		"each node; see 'manykube docker-env'. It stops at the first failure, with the exit "
		"status of docker. Under sudo, docker runs with your rights, not root's. Put -- before "
		"arguments that start with a dash.",
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_PASSES_REST | COMMAND_FOREIGN_OPTIONS |
		 COMMAND_AUDITED | COMMAND_WAITS,
	.examples = "sudo manykube docker-all -- build -t app .\n"
		    "manykube docker-all -p dev -- images\n",
	.run = run,
};
