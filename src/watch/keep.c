/* The privileged side of the watcher. */

#include "watch/keep.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "data/inet.h"
#include "data/sha256.h"
#include "host/cage.h"
#include "host/link.h"
#include "watch/config.h"
#include "watch/frame.h"
#include "watch/watcher.h"

#define ROUTES      "routes"
#define CONFIG_MOST (1u << 20)

/* The least interval between messages, so that a watcher cannot keep us busy. */
static const unsigned message_rest_ms = 10;

/* The delay before it is started again.  It doubles each time, unless it ran for long. */
static const unsigned restart_ms = 50;
static const unsigned most_doublings = 8;
static const int64_t long_life_ms = 60 * 1000;
static const int64_t end_limit_ms = 1000;

struct watch_keep {
	struct loop *loop;
	char *dir;
	struct watch_nodes *nodes;
	void (*changed)(void *data);
	void *data;
	struct watch_config config;
	char *applied; /* the digest of what the watcher was started with; NULL: none runs */
	struct process process;
	int fd;
	struct strbuf in;
	struct loop_source *messages; /* NULL between messages */
	struct loop_source *rest;     /* the timer until the next one */
	struct loop_source *life;
	struct loop_source *restart;
	int64_t began_ms;
	unsigned failures;

	struct frame_route *routes; /* as they are in the kernel */
	size_t route_count;
};

static void remove_source(struct loop_source **source)
{
	if (*source)
		loop_remove(take_ptr(*source));
}

static char *path_of(const struct watch_keep *keep, const char *name)
{
	return xasprintf("%s/%s", keep->dir, name);
}

static void drop_channel(struct watch_keep *keep)
{
	remove_source(&keep->messages);
	remove_source(&keep->rest);
	if (keep->fd >= 0)
		(void)close(take_fd(keep->fd));
	strbuf_release(&keep->in);
}

/* Kill a watcher that misbehaves; another one is started. */
static void end_watcher(struct watch_keep *keep, const char *why)
{
	log_warning("killing the watcher of the cluster's API: %s", why);
	drop_channel(keep);
	(void)kill(keep->process.pid, SIGKILL);
}

static bool is_node(const struct watch_keep *keep, struct in_addr address)
{
	for (size_t i = 0; i < keep->config.node_count; i++)
		if (keep->config.nodes[i].address.s_addr == address.s_addr)
			return true;
	return false;
}

static bool may_route(const struct watch_keep *keep, const struct frame_route *route)
{
	uint32_t number = ntohl(route->address.s_addr);

	return number >= ntohl(keep->config.first.s_addr) &&
	       number <= ntohl(keep->config.last.s_addr) && !is_node(keep, route->address) &&
	       is_node(keep, route->via);
}

static const struct frame_route *find_route(const struct frame_route *routes, size_t count,
					    struct in_addr address)
{
	for (size_t i = 0; i < count; i++)
		if (routes[i].address.s_addr == address.s_addr)
			return &routes[i];
	return NULL;
}

static void add_route_line(struct strbuf *text, const struct frame_route *route)
{
	cleanup_free char *address = inet_print_address(route->address);
	cleanup_free char *via = inet_print_address(route->via);

	strbuf_addf(text, "%s %s\n", address, via);
}

/* Record the routes that there may be from now on: those that there are, and ROUTES. */
static int record_routes(const struct watch_keep *keep, const struct frame_route *routes,
			 size_t count, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = path_of(keep, ROUTES);

	for (size_t i = 0; i < keep->route_count; i++)
		add_route_line(&text, &keep->routes[i]);
	for (size_t i = 0; i < count; i++)
		if (!find_route(keep->routes, keep->route_count, routes[i].address))
			add_route_line(&text, &routes[i]);
	return file_put(path, text.text, text.len, 0644, err);
}

/* Make the kernel's routes ROUTES, of which the keeper takes ownership. */
static int set_routes(struct watch_keep *keep, struct frame_route *routes, size_t count,
		      struct error *err)
{
	cleanup_with(link_closep) struct link_socket *host = NULL;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = link_open(&host, err);

	if (r == 0)
		r = record_routes(keep, routes, count, err);
	for (size_t i = 0; r == 0 && i < keep->route_count; i++)
		if (!find_route(routes, count, keep->routes[i].address) &&
		    link_delete_route(host, keep->routes[i].address, 32, keep->routes[i].via,
				      &why) < 0)
			log_warning("%s", why.text);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = link_replace_route(host, routes[i].address, 32, routes[i].via, err);
	free(keep->routes);
	keep->routes = routes;
	keep->route_count = count;
	return r < 0 ? r : record_routes(keep, NULL, 0, err);
}

/* Returns -EBADMSG if the message is invalid. */
static int take_routes(struct watch_keep *keep, const char *text, size_t len)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	struct frame_route *routes = NULL;
	size_t kept = 0;
	size_t count;
	int r = frame_parse_routes(text, len, &routes, &count, &err);

	if (r < 0)
		return r;
	/* A node that was removed meanwhile, or that has got the address, is not an offence. */
	for (size_t i = 0; i < count; i++)
		if (may_route(keep, &routes[i]))
			routes[kept++] = routes[i];
	if (set_routes(keep, routes, kept, &err) < 0)
		log_warning("cannot route addresses of services: %s", err.text);
	return 0;
}

/* Whether the cluster has the node NAME, so that it is safe as a part of a path. */
static bool has_node(const struct watch_keep *keep, const char *name)
{
	for (size_t i = 0; i < keep->config.node_count; i++)
		if (strcmp(keep->config.nodes[i].name, name) == 0)
			return true;
	return false;
}

/* Returns -EBADMSG if the message is invalid. */
static int take_policies(struct watch_keep *keep, const char *node, const char *text, size_t len)
{
	struct policy_model model = POLICY_MODEL_INIT;
	int r = keep->config.policies && has_node(keep, node)
			? policy_model_parse(text, len, &model, NULL)
			: -EBADMSG;

	if (r < 0)
		return r;
	watch_nodes_set(keep->nodes, node, &model);
	policy_model_release(&model);
	return 0;
}

static int take_message(struct watch_keep *keep, const char *name, const char *text, size_t len)
{
	static const char policy[] = "policy ";

	if (strncmp(name, policy, strlen(policy)) == 0)
		return take_policies(keep, name + strlen(policy), text, len);
	return strcmp(name, "routes") == 0 ? take_routes(keep, text, len) : -EBADMSG;
}

/* Network policies are not to be enforced any more. */
static void drop_policies(struct watch_keep *keep)
{
	const struct policy_model none = POLICY_MODEL_INIT;

	for (size_t i = 0; i < keep->config.node_count; i++)
		watch_nodes_set(keep->nodes, keep->config.nodes[i].name, &none);
}

static int on_message(int fd, uint32_t events, void *data, struct error *err);

static int read_messages(void *data, struct error *err)
{
	struct watch_keep *keep = data;

	remove_source(&keep->rest);
	return loop_add_fd(keep->loop, keep->fd, EPOLLIN, on_message, keep, &keep->messages, err);
}

static int on_message(int fd, arg_unused uint32_t events, void *data, struct error *err)
{
	struct watch_keep *keep = data;
	/* recv() has no room for descriptors, so the watcher cannot send any. */
	ssize_t len = recv(fd, strbuf_grow(&keep->in, 65536), 65536, MSG_DONTWAIT);
	char name[FRAME_NAME_MOST + 1];
	const char *text;
	size_t text_len;
	bool taken = false;
	size_t used;
	int r;

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len <= 0) {
		end_watcher(keep, "it closed the channel");
		return 0;
	}
	strbuf_grown(&keep->in, (size_t)len);
	while ((r = frame_take(&keep->in, name, &text, &text_len, &used)) > 0) {
		r = take_message(keep, name, text, text_len);
		if (r < 0)
			break;
		strbuf_drop_front(&keep->in, used);
		taken = true;
	}
	if (r < 0) {
		end_watcher(keep, "it sent an invalid message");
		return 0;
	}
	if (keep->in.len == 0)
		strbuf_release(&keep->in);
	if (!taken)
		return 0;
	remove_source(&keep->messages);
	return loop_add_timer(keep->loop, message_rest_ms, 0, read_messages, keep, &keep->rest,
			      err);
}

static void start_watcher(struct watch_keep *keep);

static int on_restart(void *data, arg_unused struct error *err)
{
	struct watch_keep *keep = data;

	remove_source(&keep->restart);
	start_watcher(keep);
	return 0;
}

static int restart_later(struct watch_keep *keep, struct error *err)
{
	unsigned doublings = MIN(keep->failures, most_doublings);

	keep->failures++;
	return loop_add_timer(keep->loop, restart_ms << doublings, 0, on_restart, keep,
			      &keep->restart, err);
}

static int on_end(int status, void *data, struct error *err)
{
	struct watch_keep *keep = data;

	remove_source(&keep->life);
	drop_channel(keep);
	(void)close(keep->process.pidfd);
	keep->process = PROCESS_INIT;
	log_warning("the watcher of the cluster's API exited with status %d; starting another one",
		    status);
	if (clock_now_ms() - keep->began_ms > long_life_ms)
		keep->failures = 0;
	return restart_later(keep, err);
}

static void start_watcher(struct watch_keep *keep)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *pem = path_of(keep, WATCH_IDENTITY);
	int r = watcher_start(cage_uid(pem), &keep->config, pem, &keep->process, &keep->fd, &err);

	if (r < 0) {
		log_warning("%s", err.text);
		(void)restart_later(keep, NULL);
		return;
	}
	keep->began_ms = clock_now_ms();
	r = loop_add_child(keep->loop, keep->process.pid, keep->process.pidfd, on_end, keep,
			   &keep->life, &err);
	if (r == 0)
		r = read_messages(keep, &err);
	if (r < 0)
		end_watcher(keep, err.text);
	keep->changed(keep->data);
}

static void stop_watcher(struct watch_keep *keep)
{
	remove_source(&keep->restart);
	remove_source(&keep->life);
	drop_channel(keep);
	if (keep->process.pid > 0) {
		(void)process_wait(&keep->process, clock_now_ms() + end_limit_ms, NULL);
		process_release(&keep->process);
		keep->process = PROCESS_INIT;
	}
	keep->failures = 0;
	free(take_ptr(keep->applied));
}

/* Read the configuration; returns the digest of all that the watcher depends on, or NULL if there
 * is to be none. */
static char *read_config(const struct watch_keep *keep, struct watch_config *ret)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *identity = path_of(keep, WATCH_IDENTITY);
	cleanup_free char *path = path_of(keep, WATCH_CONFIG);
	char *digest;
	struct stat st;
	int r;

	if (stat(identity, &st) < 0)
		return NULL;
	r = file_read(path, CONFIG_MOST, &text, &err);
	if (r == 0)
		r = watch_config_parse(text.text, text.len, ret, &err);
	if (r < 0) {
		if (r != -ENOENT)
			log_warning("%s", err.text);
		return NULL;
	}
	strbuf_addf(&text, "%llu %lld.%09ld", (unsigned long long)st.st_ino,
		    (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	digest = xcalloc(SHA256_HEX_SIZE, 1);
	sha256_of(text.text, text.len, digest);
	return digest;
}

void watch_keep_apply(struct watch_keep *keep)
{
	struct watch_config config = WATCH_CONFIG_INIT;
	char *digest = read_config(keep, &config);

	if (digest && keep->applied && strcmp(digest, keep->applied) == 0) {
		watch_config_release(&config);
		free(digest);
		return;
	}
	stop_watcher(keep);
	watch_config_release(&keep->config);
	keep->config = config;
	keep->applied = digest;
	if (digest && !config.policies)
		drop_policies(keep);
	if (digest)
		start_watcher(keep);
}

/* The routes that an earlier keeper has made. */
static void read_routes(struct watch_keep *keep)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = path_of(keep, ROUTES);

	if (file_read(path, CONFIG_MOST, &text, NULL) == 0)
		(void)frame_parse_routes(text.text, text.len, &keep->routes, &keep->route_count,
					 NULL);
}

struct watch_keep *watch_keep_new(struct loop *loop, const char *dir, watch_install_fn install,
				  void (*changed)(void *data), void *data)
{
	struct watch_keep *keep = xcalloc(1, sizeof(*keep));

	*keep = (struct watch_keep){ .loop = loop,
				     .dir = xstrdup(dir),
				     .changed = changed,
				     .data = data,
				     .process = PROCESS_INIT,
				     .fd = -1,
				     .in = STRBUF_INIT,
				     .nodes = watch_nodes_new(loop, dir, install) };
	read_routes(keep);
	return keep;
}

void watch_keep_free(struct watch_keep *keep)
{
	stop_watcher(keep);
	watch_nodes_free(keep->nodes);
	watch_config_release(&keep->config);
	free(keep->routes);
	free(keep->dir);
	free(keep);
}

pid_t watch_keep_pid(const struct watch_keep *keep)
{
	return MAX(keep->process.pid, 0);
}
