/* The front door's process: the pool, the proxy and DNS on one loop, kept as its folder says. */

#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>

#include "balancer/balancer.h"
#include "balancer/dns.h"
#include "balancer/files.h"
#include "balancer/forward.h"
#include "balancer/guard.h"
#include "balancer/pool.h"
#include "balancer/proxy.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/parse.h"

/* Descriptors that are not for connections: DNS questions with their timers, probes, files. */
static const rlim_t descriptors_apart = 512 * 2 + 64 * 3 + 64;
static const unsigned connections_least = 64;
static const unsigned connections_most = 16384;
static const unsigned forwarded_most = 1024; /* through each forwarded port */

struct front_door {
	const char *folder;
	struct loop *loop;
	struct pool *pool;
	struct proxy *proxy;
	struct forwards *forwards;
	struct dns *dns;
	struct guard *guard;
	int inotify;
	bool listening; /* the status file may be written */
};

static void write_status(void *data)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	struct front_door *door = data;
	cleanup_free char *path = NULL;
	cleanup_free char *text = NULL;

	if (!door->listening)
		return;
	path = xasprintf("%s/%s", door->folder, FRONT_DOOR_STATUS);
	text = pool_status(door->pool);
	if (file_put(path, text, strlen(text), 0644, &err) < 0)
		log_debug("%s", err.text);
}

/* Clients of a lost backend reconnect elsewhere, if there is an elsewhere. */
static void backend_lost(struct backend *backend, arg_unused bool gone, bool other, void *data)
{
	struct front_door *door = data;

	if (other && door->proxy)
		proxy_drop(door->proxy, backend->id);
}

static bool choose_backend(const unsigned *tried, unsigned tried_count, struct proxy_target *ret,
			   void *data)
{
	struct front_door *door = data;
	struct backend *backend = pool_choose(door->pool, tried, tried_count);

	if (!backend)
		return false;
	*ret = (struct proxy_target){ .endpoint = &backend->endpoint, .id = backend->id };
	return true;
}

static void backend_failed(unsigned target, void *data)
{
	struct front_door *door = data;

	pool_suspect(door->pool, target);
}

/* As many descriptors as we may have; returns how many connections they are good for. */
static unsigned raise_limit(void)
{
	struct rlimit limit;
	rlim_t connections;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return connections_least;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	/* Two sockets each, and a timer while connecting. */
	connections = limit.rlim_cur > descriptors_apart ? (limit.rlim_cur - descriptors_apart) / 3
							 : 0;
	if (connections < connections_least)
		return connections_least;
	return connections > connections_most ? connections_most : (unsigned)connections;
}

/* Apply the configuration as it is now; what can be applied is, the first failure is returned. */
static int apply(struct front_door *door, struct error *err)
{
	cleanup_with(balancer_config_release) struct balancer_config config = BALANCER_CONFIG_INIT;
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	int r = front_door_read_config(door->folder, &config, err);
	int result;

	if (r < 0)
		return r;
	result = proxy_listen(door->proxy, config.listen.items, config.listen.count, err);
	r = dns_set(door->dns, config.dns_listen, &config.dns_upstream, result == 0 ? err : NULL);
	result = result < 0 ? result : r;
	r = forwards_set(door->forwards, &config, result == 0 ? err : NULL);
	result = result < 0 ? result : r;
	/* The API is open without it, too. */
	if (guard_set(door->guard, &config, &problem) < 0)
		log_warning("%s", problem.text);
	r = pool_set(door->pool, &config, result == 0 ? err : NULL);
	return result < 0 ? result : r;
}

static bool is_about(const struct inotify_event *event, const char *name)
{
	return event->len > 0 && strcmp(event->name, name) == 0;
}

static int on_folder(int fd, arg_unused uint32_t events, void *data, arg_unused struct error *err)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	struct front_door *door = data;
	bool changed = false;
	ssize_t len;

	while ((len = read(fd, buf, sizeof(buf))) > 0) {
		for (char *p = buf; p < buf + len;) {
			const struct inotify_event *event = (const void *)p;

			if (is_about(event, FRONT_DOOR_CONFIG) && !(event->mask & IN_DELETE))
				changed = true;
			/* The profile was deleted: nobody could find and stop us any more.  Not
			 * every file system tells of the folder itself. */
			if ((event->mask & (IN_DELETE_SELF | IN_IGNORED)) ||
			    (is_about(event, FRONT_DOOR_LOCK) && (event->mask & IN_DELETE)))
				loop_stop(door->loop);
			p += sizeof(*event) + event->len;
		}
	}
	if (changed && apply(door, &problem) < 0)
		log_debug("%s; going on without it", problem.text);
	return 0;
}

static int on_end(arg_unused int signal, void *data, arg_unused struct error *err)
{
	struct front_door *door = data;

	loop_stop(door->loop);
	return 0;
}

static int watch_outside(struct front_door *door, struct error *err)
{
	struct loop_source *source;
	int r;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	r = loop_add_signal(door->loop, SIGTERM, on_end, door, &source, err);
	if (r < 0)
		return r;
	r = loop_add_signal(door->loop, SIGINT, on_end, door, &source, err);
	if (r < 0)
		return r;
	door->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (door->inotify < 0 || inotify_add_watch(door->inotify, door->folder,
						   IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE |
							   IN_DELETE_SELF | IN_ONLYDIR) < 0)
		return error_sys(err, "cannot watch '%s'", door->folder);
	return loop_add_fd(door->loop, door->inotify, EPOLLIN, on_folder, door, &source, err);
}

static int start(struct front_door *door, struct error *err)
{
	static const struct pool_events events = { .changed = write_status, .lost = backend_lost };
	struct proxy_owner owner = { .choose = choose_backend,
				     .failed = backend_failed,
				     .data = door };
	int r = loop_new(&door->loop, err);

	if (r < 0)
		return r;
	r = pool_new(door->loop, &events, door, &door->pool, err);
	if (r < 0)
		return r;
	door->proxy = proxy_new(door->loop, &owner, raise_limit());
	/* The API comes first: others share what is left when descriptors are few. */
	door->forwards = forwards_new(door->loop, forwarded_most);
	door->dns = dns_new(door->loop);
	door->guard = guard_new(door->loop);
	/* Watch first: a configuration replaced while we read it is read again. */
	r = watch_outside(door, err);
	if (r < 0)
		return r;
	return apply(door, err);
}

static void front_door_release(struct front_door *door)
{
	if (door->proxy)
		proxy_free(door->proxy);
	if (door->forwards)
		forwards_free(door->forwards);
	if (door->dns)
		dns_free(door->dns);
	if (door->guard)
		guard_free(door->guard);
	if (door->pool)
		pool_free(door->pool);
	if (door->loop)
		loop_free(door->loop);
	if (door->inotify >= 0)
		(void)close(door->inotify);
}

/* Tell whoever started us how it went; nobody may be there. */
static void report(const char *word, const char *text)
{
	const char *number = getenv(FRONT_DOOR_READY_FD);
	cleanup_free char *line = xasprintf("%s%s%s", word, text ? " " : "", text ? text : "");
	unsigned long long fd;

	if (!number || parse_number(number, 3, INT32_MAX, &fd, NULL) < 0)
		return;
	(void)unsetenv(FRONT_DOOR_READY_FD);
	(void)file_write_all((int)fd, line, strlen(line));
	(void)close((int)fd);
}

int balancer_run(const char *folder, struct error *err)
{
	cleanup_with(front_door_release) struct front_door door = { .folder = folder,
								    .inotify = -1 };
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	cleanup_free char *lock_path = xasprintf("%s/%s", folder, FRONT_DOOR_LOCK);
	cleanup_free char *status_path = xasprintf("%s/%s", folder, FRONT_DOOR_STATUS);
	cleanup_fd int lock = -1;
	int r;

	/* What goes to our stderr is the front door's log. */
	log_verbosity = 2;
	r = file_lock(lock_path, "front-door", &lock, &problem);
	if (r < 0) {
		report(r == -EWOULDBLOCK ? "busy" : "error", problem.text);
		return error_set(err, r, "%s", problem.text);
	}
	(void)unlink(status_path);
	r = start(&door, &problem);
	if (r < 0) {
		/* Whoever hears of it may try again at once. */
		(void)close(take_fd(lock));
		report("error", problem.text);
		return error_set(err, r, "%s", problem.text);
	}
	door.listening = true;
	write_status(&door);
	report("ready", NULL);
	r = loop_run(door.loop, err);
	(void)unlink(status_path);
	return r;
}
