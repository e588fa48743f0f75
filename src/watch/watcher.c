/* The watcher of a cluster. */

#include "watch/watcher.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/loop.h"
#include "data/inet.h"
#include "host/cage.h"
#include "watch/balance.h"
#include "watch/frame.h"
#include "watch/policies.h"
#include "watch/pulse.h"
#include "watch/reflector.h"

#define CHANNEL_FD    3
#define IDENTITY_MOST 65536

/* More than all that is kept and one page of each kind need. */
#define MEMORY_MOST (256u << 20)

/* Events come in bursts. */
static const unsigned settle_ms = 10;
static const unsigned check_ms = 30 * 1000;
static const unsigned publish_most_ms = 10 * 1000;

enum {
	SERVICES,
	SLICES,
	NODES,
	KINDS
};

static const struct reflector_kind kinds[KINDS] = {
	[SERVICES] = { "/api/v1/services", balance_read_service, balance_free_service },
	[SLICES] = { "/apis/discovery.k8s.io/v1/endpointslices", balance_read_slice,
		     balance_free_slice },
	[NODES] = { "/api/v1/nodes", balance_read_node, balance_free_node },
};

struct watcher {
	struct loop *loop;
	const struct watch_config *config;
	struct https_target target;
	struct reflector *reflectors[KINDS];
	struct loop_source *update; /* until everything is looked at again */
	struct pulses *pulses;
	struct balance balance;
	struct in_addr *taken; /* addresses of nodes */
	char *routes;          /* as last sent */

	struct https *publishing;
	char *published; /* the key of the service whose status is being written; NULL: none */
	struct loop_source *publish_again;

	struct policies *policies; /* NULL: network policies are not enforced */
};

static int on_update(void *data, struct error *err);

static void update_later(void *data)
{
	struct watcher *watcher = data;

	if (!watcher->update)
		(void)loop_add_timer(watcher->loop, settle_ms, 0, on_update, watcher,
				     &watcher->update, NULL);
}

static enum balance_pulse get_pulse(struct in_addr node, void *data)
{
	struct watcher *watcher = data;

	return pulses_get(watcher->pulses, node);
}

static struct balance_object *list_objects(const struct reflector *reflector, size_t *ret_count)
{
	struct balance_object *objects;

	*ret_count = reflector_count(reflector);
	objects = xcalloc(*ret_count + 1, sizeof(*objects));
	for (size_t i = 0; i < *ret_count; i++)
		objects[i].object = reflector_at(reflector, i, &objects[i].key);
	return objects;
}

static void send_routes(struct watcher *watcher)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < watcher->balance.count; i++) {
		const struct balance_item *item = &watcher->balance.items[i];
		cleanup_free char *address = inet_print_address(item->address);
		cleanup_free char *via = inet_print_address(item->via);

		if (item->address.s_addr != 0 && item->via.s_addr != 0)
			strbuf_addf(&text, "%s %s\n", address, via);
	}
	if (watcher->routes && strcmp(watcher->routes, text.text) == 0)
		return;
	free(watcher->routes);
	watcher->routes = xstrdup(text.text);
	if (frame_send(CHANNEL_FD, "routes", text.text, text.len, NULL) < 0)
		loop_stop(watcher->loop);
}

/* Write the address of a service to its status: one after the other. */
static void publish(struct watcher *watcher)
{
	if (watcher->published || watcher->publish_again)
		return;
	for (size_t i = 0; i < watcher->balance.count; i++) {
		const struct balance_item *item = &watcher->balance.items[i];
		const char *slash = strchr(item->key, '/');
		cleanup_free char *address = inet_print_address(item->address);
		cleanup_free char *path = NULL;
		cleanup_free char *body = NULL;

		if (item->published || item->address.s_addr == 0)
			continue;
		path = xasprintf("/api/v1/namespaces/%.*s/services/%s/status",
				 (int)(slash - item->key), item->key, slash + 1);
		body = xasprintf("{\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"%s\"}]}}}",
				 address);
		watcher->published = xstrdup(item->key);
		https_request(watcher->publishing, "PATCH", path, "application/merge-patch+json",
			      body, publish_most_ms);
		return;
	}
}

static int on_publish_again(void *data, arg_unused struct error *err)
{
	struct watcher *watcher = data;

	loop_remove(take_ptr(watcher->publish_again));
	publish(watcher);
	return 0;
}

static void on_status_body(arg_unused const char *data, arg_unused size_t len, arg_unused void *to)
{
}

static void on_status_written(int status, const char *why, void *to)
{
	struct watcher *watcher = to;
	const char *key = watcher->published;

	for (size_t i = 0; i < watcher->balance.count && status == 200; i++)
		if (strcmp(watcher->balance.items[i].key, key) == 0)
			watcher->balance.items[i].published = true;
	if (status != 200 && status != 404)
		log_debug("cannot write the address of service '%s': %s (%d)", key,
			  why ? why : "refused", status);
	free(take_ptr(watcher->published));
	/* A service that is refused must not keep the others waiting, nor us busy. */
	if (!watcher->publish_again)
		(void)loop_add_timer(watcher->loop, status == 200 ? 1 : 1000, 0, on_publish_again,
				     watcher, &watcher->publish_again, NULL);
}

static void set_pulses(struct watcher *watcher, const struct balance_view *view)
{
	cleanup_free struct in_addr *nodes = xcalloc(view->node_count + 1, sizeof(*nodes));
	size_t count = 0;

	for (size_t i = 0; i < view->node_count && view->service_count > 0; i++)
		nodes[count++] = ((const struct balance_node *)view->nodes[i].object)->address;
	pulses_set(watcher->pulses, nodes, count);
}

static void update_balance(struct watcher *watcher)
{
	const struct balance_pool pool = { watcher->config->first, watcher->config->last,
					   watcher->taken, watcher->config->node_count };
	cleanup_free struct balance_object *services = NULL;
	cleanup_free struct balance_object *slices = NULL;
	cleanup_free struct balance_object *nodes = NULL;
	cleanup_free struct balance_node *known = NULL;
	struct balance_view view = { .pulse = get_pulse, .data = watcher };

	for (size_t i = 0; i < KINDS; i++)
		if (!reflector_is_complete(watcher->reflectors[i]))
			return;
	services = list_objects(watcher->reflectors[SERVICES], &view.service_count);
	slices = list_objects(watcher->reflectors[SLICES], &view.slice_count);
	nodes = list_objects(watcher->reflectors[NODES], &view.node_count);
	known = xcalloc(view.node_count + 1, sizeof(*known));
	view.node_count = balance_keep_known(nodes, view.node_count, watcher->config, known);
	view.services = services;
	view.slices = slices;
	view.nodes = nodes;
	balance_update(&watcher->balance, &pool, &view);
	set_pulses(watcher, &view);
	send_routes(watcher);
	publish(watcher);
}

static int on_update(void *data, arg_unused struct error *err)
{
	struct watcher *watcher = data;

	loop_remove(take_ptr(watcher->update));
	update_balance(watcher);
	return 0;
}

static int on_check(void *data, arg_unused struct error *err)
{
	struct watcher *watcher = data;

	for (size_t i = 0; i < KINDS; i++)
		reflector_check(watcher->reflectors[i]);
	if (watcher->policies)
		policies_check(watcher->policies);
	return 0;
}

static int on_channel(arg_unused int fd, arg_unused uint32_t events, void *data,
		      arg_unused struct error *err)
{
	struct watcher *watcher = data;

	/* The keeper sends nothing: it has closed the channel. */
	loop_stop(watcher->loop);
	return 0;
}

static void keeper_is_gone(void *data)
{
	struct watcher *watcher = data;

	loop_stop(watcher->loop);
}

static int begin(struct watcher *watcher, struct error *err)
{
	static const struct https_events events = { .body = on_status_body,
						    .done = on_status_written };
	struct loop_source *source;
	int r = loop_new(&watcher->loop, err);

	if (r == 0)
		r = loop_add_fd(watcher->loop, CHANNEL_FD, EPOLLIN, on_channel, watcher, &source,
				err);
	if (r == 0)
		r = loop_add_timer(watcher->loop, check_ms, check_ms, on_check, watcher, &source,
				   err);
	if (r < 0)
		return r;
	watcher->taken = xcalloc(watcher->config->node_count + 1, sizeof(*watcher->taken));
	for (size_t i = 0; i < watcher->config->node_count; i++)
		watcher->taken[i] = watcher->config->nodes[i].address;
	watcher->pulses = pulses_new(watcher->loop, update_later, watcher);
	watcher->publishing = https_new(watcher->loop, &watcher->target, &events, watcher);
	for (size_t i = 0; i < KINDS; i++)
		watcher->reflectors[i] = reflector_new(watcher->loop, &watcher->target, &kinds[i],
						       update_later, watcher);
	if (watcher->config->policies)
		watcher->policies = policies_new(watcher->loop, &watcher->target, watcher->config,
						 CHANNEL_FD, keeper_is_gone, watcher);
	return loop_run(watcher->loop, err);
}

/* Close all descriptors of the keeper except the channel and the log, and reset signals. */
static bool leave_keeper(int channel)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	if (channel != CHANNEL_FD && dup2(channel, CHANNEL_FD) < 0)
		return false;
	return close_range(CHANNEL_FD + 1, ~0u, 0) == 0;
}

static _Noreturn void watch(int channel, uid_t uid, pid_t keeper, const struct watch_config *config,
			    const char *path)
{
	struct strbuf pem = STRBUF_INIT;
	struct watcher watcher = { .config = config };
	struct error err = ERROR_INIT;
	int r = -EIO;

	if (!leave_keeper(channel))
		_exit(1);
	r = file_read(path, IDENTITY_MOST, &pem, &err);
	if (r == 0)
		r = https_target_init(config->server, pem.text, &watcher.target, &err);
	explicit_bzero(pem.text, pem.len);
	if (r == 0) {
		cage_enter(uid, keeper, MEMORY_MOST);
		r = begin(&watcher, &err);
	}
	if (r < 0)
		log_warning("the watcher of the cluster's API: %s", err.text);
	/* Exit handlers belong to the keeper, and the kernel frees everything. */
	_exit(r < 0 ? 1 : 0);
}

int watcher_start(uid_t uid, const struct watch_config *config, const char *pem,
		  struct process *ret_process, int *ret_fd, struct error *err)
{
	cleanup_fd int ours = -1;
	cleanup_fd int its = -1;
	struct process process;
	pid_t keeper = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_sys(err, "cannot make a pair of sockets");
	ours = ends[0];
	its = ends[1];
	(void)fcntl(ours, F_SETFL, O_NONBLOCK);
	process.pid = fork();
	if (process.pid < 0)
		return error_sys(err, "cannot start the watcher");
	if (process.pid == 0)
		watch(its, uid, keeper, config, pem);
	process.pidfd = pidfd_open(process.pid, 0);
	if (process.pidfd < 0) {
		int r = error_sys(err, "cannot watch the watcher");

		process_release(&process);
		return r;
	}
	*ret_process = process;
	*ret_fd = take_fd(ours);
	return 0;
}
