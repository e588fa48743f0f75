/* The cluster's own registry of images. */

#include "network/own-registry.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "balancer/balancer.h"
#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "network/network.h"
#include "node/cluster-node.h"
#include "node/registries.h"
#include "payload/registry.h"
#include "record/world.h"

#define LAST_PORT 5999

#define ASK_SECONDS 2
#define WAIT_MS     10000
#define POLL_MS     20

/* Limits of counting, because the registry's user may fill its directory with anything. */
#define NAMES_MOST   10000
#define LEVELS_MOST  32
#define FOLDERS_MOST 100000
#define ENTRIES_MOST 500000

static const char repositories_dir[] = "docker/registry/v2/repositories";

static char *data_dir(const struct profile *profile)
{
	return xasprintf("%s/" REGISTRY_DATA, profile->dir);
}

/* Connect to PORT of 127.0.0.1; returns the descriptor, or a negative errno. */
static int dial(unsigned port)
{
	const struct timeval limit = { .tv_sec = ASK_SECONDS };
	const struct sockaddr_in name = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr = { htonl(INADDR_LOOPBACK) },
	};
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0 ||
	    connect(fd, (const struct sockaddr *)&name, sizeof(name)) < 0)
		return -errno;
	return take_fd(fd);
}

/* Whether a registry answers at PORT: "HTTP/1.0 200 OK". */
static bool answers(unsigned port)
{
	static const char request[] = "GET /v2/ HTTP/1.0\r\nHost: localhost\r\n\r\n";
	cleanup_fd int fd = dial(port);
	char text[13] = "";

	return fd >= 0 && send(fd, request, strlen(request), MSG_NOSIGNAL) > 0 &&
	       recv(fd, text, sizeof(text) - 1, MSG_WAITALL) == sizeof(text) - 1 &&
	       strncmp(text, "HTTP/1.", 7) == 0 && strcmp(text + 8, " 200") == 0;
}

/* Whether the keeper holds the port of PROFILE's registry, on this host and for the nodes. */
static bool is_held(const struct profile *profile)
{
	return balancer_holds_for_registry(profile->dir, "127.0.0.1", profile->registry_port) &&
	       balancer_holds_for_registry(profile->dir, profile->gateway, profile->registry_port);
}

/* Whether it is the cluster's registry that answers at its port. */
static bool runs(const struct profile *profile)
{
	return is_held(profile) && answers(profile->registry_port);
}

static bool is_open(unsigned port)
{
	cleanup_fd int fd = dial(port);

	return fd >= 0;
}

static bool cluster_runs(const struct profile *profile)
{
	return balancer_pid(profile->dir) > 0;
}

static int choose_port(const struct profile *profile, unsigned *ret, struct error *err)
{
	const struct in_addr loopback = { htonl(INADDR_LOOPBACK) };

	if (profile->registry_port) {
		*ret = profile->registry_port;
		return 0;
	}
	for (unsigned port = REGISTRY_PORT; port <= LAST_PORT; port++) {
		if (!network_port_is_free(loopback, port) ||
		    network_port_is_promised(port, profile->name))
			continue;
		*ret = port;
		return 0;
	}
	return error_because(err, &reason_port_taken, -EADDRINUSE,
			     "no port of 127.0.0.1 between %d and %d is free for the registry",
			     REGISTRY_PORT, LAST_PORT);
}

int own_registry_tell_nodes(const struct profile *profile, unsigned port, struct error *err)
{
	struct profile told = *profile;
	const struct node *node;
	int r = 0;

	told.registry_port = port;
	profile_for_each_node(node, &told)
		if (r == 0 && cluster_node_state(&told, node) == NODE_RUNNING)
			r = registries_write(&told, node, err);
	return r;
}

static int wait_for_answer(const struct profile *profile, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + WAIT_MS;

	while (!runs(profile))
		if (!clock_poll(deadline_ms, POLL_MS)) {
			(void)error_because(err, &reason_network, -ETIMEDOUT,
					    "the registry does not %s at 127.0.0.1:%u",
					    is_held(profile) ? "answer" : "listen",
					    profile->registry_port);
			return error_hint(err, -ETIMEDOUT, "see '%s/front-door.log'", profile->dir);
		}
	return 0;
}

/* The sockets are closed when the process has ended. */
static int wait_for_end(unsigned port, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + WAIT_MS;

	while (is_open(port))
		if (!clock_poll(deadline_ms, POLL_MS))
			return error_because(err, &reason_network, -ETIMEDOUT,
					     "port %u of 127.0.0.1 is still open", port);
	return 0;
}

/* Have the running cluster open the registry of PROFILE.  The rules that keep other machines from
 * its port are there before it is open, and nodes are led to it when the keeper holds it. */
static int open_registry(const struct profile *profile, struct error *err)
{
	int r = world->network_up(profile, err);

	if (r == 0)
		r = world->front_door_up(profile, err);
	world->after("start registry");
	if (r == 0)
		r = wait_for_answer(profile, err);
	return r < 0 ? r : own_registry_tell_nodes(profile, profile->registry_port, err);
}

/* Have the running cluster close its registry, which was at PORT (0: unknown).  The rules go last.
 */
static int close_registry(const struct profile *profile, unsigned port, struct error *err)
{
	struct profile without = *profile;
	int r;

	without.registry_port = 0;
	r = own_registry_tell_nodes(&without, 0, err);
	if (r == 0)
		r = world->front_door_up(&without, err);
	if (r == 0 && port)
		r = wait_for_end(port, err);
	return r < 0 ? r : world->network_up(&without, err);
}

int own_registry_check(const struct profile *profile, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + WAIT_MS;
	cleanup_free char *program = NULL;

	/* Without its program it does not run, and the API does not depend on it. */
	if (!profile->registry_port || !cluster_runs(profile) ||
	    registry_program_open(&program, NULL) < 0)
		return 0;
	while (!is_held(profile))
		if (!clock_poll(deadline_ms, POLL_MS)) {
			(void)error_because(err, &reason_port_taken, -EADDRINUSE,
					    "the registry cannot listen at port %u of 127.0.0.1 "
					    "and %s: another program uses it",
					    profile->registry_port, profile->gateway);
			return error_hint(err, -EADDRINUSE, "see '%s/front-door.log'",
					  profile->dir);
		}
	return 0;
}

/* Choose a port, and record it.  The caller holds the lock for planning. */
static int record_port(struct profile *profile, unsigned port, struct error *err)
{
	cleanup_with(profile_release) struct profile before = PROFILE_INIT;
	int r = profile_copy(profile, &before, err);

	if (r == 0 && !port)
		r = choose_port(profile, &port, err);
	if (r < 0)
		return r;
	profile->registry_port = port;
	r = world->ports_are_free(profile, &before, err);
	if (r == 0)
		r = profile_save(profile, err);
	if (r < 0)
		profile->registry_port = before.registry_port;
	return r;
}

int own_registry_enable(struct profile *profile, unsigned port, struct observer *observer,
			struct error *err)
{
	static const char step[] = "starting the registry";
	const struct payload_source source = { .offline = profile->offline };
	cleanup_free char *program = NULL;
	/* An interrupted change has left open what the record does not have any more. */
	unsigned before = balancer_registry_port(profile->dir) ?: profile->registry_port;
	cleanup_fd int lock = -1;
	int r = registry_program_ensure(&source, observer, &program, err);

	if (r == 0)
		r = world->network_lock(&lock, err);
	if (r == 0)
		r = record_port(profile, port, err);
	if (r < 0)
		return r;
	world->after("record registry");
	if (!cluster_runs(profile))
		return 0;
	/* One that runs is only checked. */
	if (before == profile->registry_port && runs(profile))
		observer = NULL;
	observe_begin(observer, step, NULL);
	r = before && before != profile->registry_port ? close_registry(profile, before, err) : 0;
	if (r == 0)
		r = open_registry(profile, err);
	observe_end(observer, step, NULL, r == 0);
	return r;
}

int own_registry_disable(struct profile *profile, bool delete_images, struct error *err)
{
	cleanup_free char *data = data_dir(profile);
	unsigned port = balancer_registry_port(profile->dir) ?: profile->registry_port;
	int r;

	profile->registry_port = 0;
	r = profile_save(profile, err);
	if (r == 0 && cluster_runs(profile))
		r = close_registry(profile, port, err);
	return r < 0 || !delete_images ? r : file_remove_tree(data, err);
}

/* Count directories with manifests in and below PATH of the directory DATA. */
static void count_repositories(const char *data, const char *path, unsigned level, unsigned *seen,
			       unsigned *count)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;

	if (level > LEVELS_MOST || ++*seen > FOLDERS_MOST ||
	    below_list_most(data, path, NAMES_MOST, &names, NULL) < 0)
		return;
	strlist_for_each(name, &names) {
		cleanup_free char *below = xasprintf("%s/%s", path, name);

		if (strcmp(name, "_manifests") == 0)
			++*count;
		else if (name[0] != '_')
			count_repositories(data, below, level + 1, seen, count);
	}
}

void own_registry_look(const struct profile *profile, struct own_registry_status *ret)
{
	cleanup_free char *data = data_dir(profile);
	unsigned seen = 0;

	*ret = (struct own_registry_status){ .state = OWN_REGISTRY_RUNNING };
	if (!profile->registry_port)
		ret->state = OWN_REGISTRY_DISABLED;
	else if (!cluster_runs(profile))
		ret->state = OWN_REGISTRY_STOPPED;
	else if (!runs(profile))
		ret->state = OWN_REGISTRY_FAILED;
	if (access(data, R_OK | X_OK) < 0 && errno != ENOENT)
		return;
	ret->is_counted = true;
	count_repositories(data, repositories_dir, 0, &seen, &ret->repositories);
	ret->size_bytes = file_exists(data) ? file_tree_bytes_most(data, true, ENTRIES_MOST) : 0;
}
