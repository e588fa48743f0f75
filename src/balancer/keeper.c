/*
 * The front door's keeper: the privileged process, which communicates only with its worker.
 *
 * It holds the lock, watches the directory, opens the listening sockets and passes them and the
 * configuration to a worker (worker.h), which does everything else without privileges.  It writes
 * the worker's reports to the status file.  A worker that ends is replaced; clients that connect
 * meanwhile wait in the sockets, which stay open here.  The keeper also maintains the cluster's
 * firewall rules (guard.h), runs its registry (registry/keep.h) on sockets that it opens, and the
 * process that watches its API (watch/keep.h).
 */

#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>

#include "balancer/balancer.h"
#include "balancer/files.h"
#include "balancer/guard.h"
#include "balancer/report.h"
#include "balancer/sockets.h"
#include "balancer/worker.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/parse.h"
#include "host/cage.h"
#include "host/channel.h"
#include "registry/keep.h"
#include "watch/config.h"
#include "watch/keep.h"

/* The least interval between reports, so that a worker cannot keep us busy. */
static const unsigned report_rest_ms = 10;

/* The delay before a new worker starts.  It doubles with each one, unless the last one ran for
 * long. */
static const unsigned restart_ms = 20;
static const unsigned most_doublings = 8;
static const int64_t long_life_ms = 60 * 1000;
static const int64_t end_limit_ms = 1000;

struct front_door {
	const char *dir;
	struct loop *loop;
	struct guard *guard;
	struct sockets *sockets;
	struct registry_keep *registry;
	struct sockets *registry_sockets;
	struct watch_keep *watch;
	watch_install_fn install;
	struct balancer_config config;
	int inotify;

	struct process worker;
	int channel;
	struct loop_source *reports; /* NULL between reports */
	struct loop_source *rest;    /* the timer until the next report */
	struct loop_source *life;    /* while a worker runs */
	struct loop_source *restart; /* while no worker runs */
	int64_t began_ms;            /* when the worker started */
	unsigned failures;           /* consecutive workers that ended early */
	bool open;                   /* a worker has reported and the status file was written */
};

/* Report the result of the start to the process that started us, if it waits for that. */
static void answer_starter(const char *word, const char *text)
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

/* Whether all sockets of the registry, which has some, are open. */
static bool has_registry_sockets(const struct front_door *door)
{
	const struct strlist *listen = &door->config.registry.listen;
	const char *address;

	strlist_for_each(address, listen) {
		cleanup_fd int fd = -1;

		if (sockets_get(door->registry_sockets, SOCK_STREAM, address, &fd, NULL) < 0)
			return false;
	}
	return listen->count > 0;
}

/* Write the status file; takes ownership of BACKENDS. */
static void write_status(struct front_door *door, json_t *backends)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *path = xasprintf("%s/%s", door->dir, FRONT_DOOR_STATUS);
	cleanup_free char *text = NULL;
	json_t *held = json_array();
	json_auto_t *root = json_pack(
		"{s:i, s:i, s:i, s:i, s:i, s:o, s:o}", "pid", (int)getpid(), "worker",
		(int)door->worker.pid, "registry", (int)registry_keep_pid(door->registry),
		"watcher", (int)watch_keep_pid(door->watch), "revision", FRONT_DOOR_REVISION,
		"registryListens", held, "backends", backends);
	const char *address;

	if (has_registry_sockets(door))
		strlist_for_each(address, &door->config.registry.listen)
			(void)json_array_append_new(held, json_string(address));

	text = json_dumps(root, JSON_INDENT(2));
	if (!text || file_put(path, text, strlen(text), 0644, &err) < 0)
		log_debug("%s", text ? err.text : "cannot write the status as JSON");
}

static void forget_source(struct loop_source **source)
{
	if (*source)
		loop_remove(take_ptr(*source));
}

static void drop_channel(struct front_door *door)
{
	forget_source(&door->reports);
	forget_source(&door->rest);
	if (door->channel >= 0)
		(void)close(take_fd(door->channel));
}

/* Kill a worker that misbehaves; on_worker_end() then starts another one. */
static void end_worker(struct front_door *door, const char *why)
{
	log_warning("killing the front door's worker: %s", why);
	drop_channel(door);
	(void)kill(door->worker.pid, SIGKILL);
}

static int on_report(int fd, uint32_t events, void *data, struct error *err);

static int read_reports(void *data, struct error *err)
{
	struct front_door *door = data;

	forget_source(&door->rest);
	return loop_add_fd(door->loop, door->channel, EPOLLIN, on_report, door, &door->reports,
			   err);
}

static int on_report(int fd, arg_unused uint32_t events, void *data, struct error *err)
{
	static char text[REPORT_MAX + 1];
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	struct front_door *door = data;
	/* recv() has no room for descriptors, so the worker cannot send any. */
	ssize_t len = recv(fd, text, sizeof(text), MSG_DONTWAIT);
	json_t *backends = NULL;
	int r;

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (len <= 0) {
		end_worker(door, "it closed the channel");
		return 0;
	}
	r = report_parse(text, (size_t)len, &door->config, &backends, &problem);
	if (r == -EBADMSG) {
		end_worker(door, problem.text);
		return 0;
	}
	if (r == 0) {
		write_status(door, backends);
		if (!door->open)
			answer_starter("ready", NULL);
		door->open = true;
	}
	forget_source(&door->reports);
	return loop_add_timer(door->loop, report_rest_ms, 0, read_reports, door, &door->rest, err);
}

static int send_socket(const char *name, int fd, void *data, struct error *err)
{
	cleanup_free char *text = xasprintf(CHANNEL_SOCKET "%s", name);
	struct front_door *door = data;

	return channel_send(door->channel, text, fd, err);
}

/* Send the worker the configuration and the sockets that it does not have yet, or ALL sockets. */
static int brief_worker(struct front_door *door, bool all, struct error *err)
{
	cleanup_free char *text = balancer_config_print(&door->config);
	int r = sockets_for_each(door->sockets, !all, send_socket, door, err);

	return r < 0 ? r : channel_send_config(door->channel, text, err);
}

static int start_worker(struct front_door *door, struct error *err);

static int on_restart(void *data, arg_unused struct error *err)
{
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	struct front_door *door = data;

	forget_source(&door->restart);
	if (start_worker(door, &problem) < 0)
		log_warning("%s", problem.text);
	return 0;
}

static int restart_later(struct front_door *door, struct error *err)
{
	unsigned doublings = MIN(door->failures, most_doublings);

	door->failures++;
	return loop_add_timer(door->loop, restart_ms << doublings, 0, on_restart, door,
			      &door->restart, err);
}

static int on_worker_end(int status, void *data, struct error *err)
{
	struct front_door *door = data;

	forget_source(&door->life);
	drop_channel(door);
	(void)close(door->worker.pidfd);
	door->worker = PROCESS_INIT;
	if (!door->open)
		return error_set(err, -EIO, "its worker exited with status %d", status);
	log_warning("the front door's worker exited with status %d; starting another one", status);
	write_status(door, report_unknown(&door->config, "the front door is being restarted"));
	if (clock_now_ms() - door->began_ms > long_life_ms)
		door->failures = 0;
	return restart_later(door, err);
}

static int start_worker(struct front_door *door, struct error *err)
{
	int r = worker_start(cage_uid(door->dir), &door->worker, &door->channel, err);

	if (r < 0)
		return restart_later(door, NULL) < 0 ? r : 0;
	door->began_ms = clock_now_ms();
	r = loop_add_child(door->loop, door->worker.pid, door->worker.pidfd, on_worker_end, door,
			   &door->life, err);
	if (r == 0)
		r = brief_worker(door, true, err);
	if (r == 0)
		r = read_reports(door, err);
	/* When it has ended, another one is started. */
	if (r < 0)
		end_worker(door, "cannot send its configuration");
	return r;
}

static void list_registry_sockets(const struct front_door *door, struct strlist *ret)
{
	const char *address;

	strlist_for_each(address, &door->config.registry.listen)
		strlist_addf(ret, "tcp %s", address);
}

/* End the registry if it is not wanted or moves, and close the sockets that it no longer needs. */
static void end_registry(struct front_door *door)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	list_registry_sockets(door, &names);
	if (!door->config.registry.program || !has_registry_sockets(door))
		(void)registry_keep_set(door->registry, NULL, false, NULL);
	sockets_end(door->registry_sockets, &names);
}

/* Run the registry, whose sockets are open; RESTART it if they were not before. */
static int run_registry(struct front_door *door, bool restart, struct error *err)
{
	const struct balancer_registry *wanted = &door->config.registry;
	int sockets[CELL_SOCKETS_MAX] = { 0 };
	struct cell cell = { wanted->program, wanted->data, sockets, 0 };
	const char *address;
	int r = 0;

	strlist_for_each(address, &wanted->listen)
		if (r == 0 && cell.count < CELL_SOCKETS_MAX) {
			r = sockets_get(door->registry_sockets, SOCK_STREAM, address,
					&sockets[cell.count], err);
			cell.count += r == 0;
		}
	if (r == 0)
		r = registry_keep_set(door->registry, &cell, !restart, err);
	for (size_t i = 0; i < cell.count; i++)
		(void)close(sockets[i]);
	return r;
}

/* Open the sockets of the registry, all or none, and run it.  It is an error if they cannot be
 * opened: another program would be the registry.  One that does not run is tried again. */
static int apply_registry(struct front_door *door, struct error *err)
{
	static const struct strlist none = { NULL };
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	bool restart = !has_registry_sockets(door);
	int r;

	if (!door->config.registry.program)
		return 0;
	list_registry_sockets(door, &names);
	r = sockets_open(door->registry_sockets, &names, err);
	if (r < 0) {
		sockets_end(door->registry_sockets, &none);
		return error_prefix(err, r, "the registry");
	}
	if (run_registry(door, restart, &problem) < 0)
		log_warning("%s", problem.text);
	return 0;
}

/* Read and apply the configuration.  If a part fails, applies the others and returns the first
 * error.  What is not wanted any more is closed before the rules that protect it change. */
static int apply_config_file(struct front_door *door, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	struct balancer_config config = BALANCER_CONFIG_INIT;
	int result = front_door_read_config(door->dir, &config, err);
	int r;

	if (result < 0)
		return result;
	balancer_config_release(&door->config);
	door->config = config;
	sockets_list(&config, &names);
	sockets_end(door->sockets, &names);
	end_registry(door);
	/* The API works without it. */
	if (guard_set(door->guard, &config, &problem) < 0)
		log_warning("%s", problem.text);
	result = sockets_open(door->sockets, &names, err);
	r = apply_registry(door, result < 0 ? NULL : err);
	return result < 0 ? result : r;
}

/* The worker answers with a report, and the status file is written. */
static void watcher_changed(void *data)
{
	struct front_door *door = data;

	if (door->open && door->channel >= 0)
		(void)brief_worker(door, false, NULL);
}

static bool is_about(const struct inotify_event *event, const char *name)
{
	return event->len > 0 && strcmp(event->name, name) == 0;
}

static int on_dir(int fd, arg_unused uint32_t events, void *data, arg_unused struct error *err)
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
			if (is_about(event, WATCH_CONFIG) && !(event->mask & IN_DELETE))
				watch_keep_apply(door->watch);
			/* The profile was deleted, so nobody could stop us any more.  Not every
			 * file system reports the removal of the directory itself. */
			if ((event->mask & (IN_DELETE_SELF | IN_IGNORED)) ||
			    (is_about(event, FRONT_DOOR_LOCK) && (event->mask & IN_DELETE)))
				loop_stop(door->loop);
			p += sizeof(*event) + event->len;
		}
	}
	if (!changed)
		return 0;
	if (apply_config_file(door, &problem) < 0)
		log_debug("%s; continuing without it", problem.text);
	error_clear(&problem);
	if (door->channel >= 0 && brief_worker(door, false, &problem) < 0)
		end_worker(door, problem.text);
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
	if (door->inotify < 0 || inotify_add_watch(door->inotify, door->dir,
						   IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE |
							   IN_DELETE_SELF | IN_ONLYDIR) < 0)
		return error_sys(err, "cannot watch '%s'", door->dir);
	return loop_add_fd(door->loop, door->inotify, EPOLLIN, on_dir, door, &source, err);
}

static int start_doors(struct front_door *door, struct error *err)
{
	int r = loop_new(&door->loop, err);

	if (r < 0)
		return r;
	door->sockets = sockets_new();
	door->guard = guard_new(door->loop);
	door->registry_sockets = sockets_new();
	door->registry = registry_keep_new(door->loop);
	door->watch = watch_keep_new(door->loop, door->dir, door->install, watcher_changed, door);
	/* Watch first, so that a configuration that changes while being read is read again. */
	r = watch_outside(door, err);
	if (r < 0)
		return r;
	r = apply_config_file(door, err);
	if (r == 0)
		r = start_worker(door, err);
	if (r == 0)
		watch_keep_apply(door->watch);
	return r;
}

/* Let the worker end by itself, and return its exit status. */
static int finish_worker(struct front_door *door)
{
	int status;

	drop_channel(door);
	forget_source(&door->life);
	if (door->worker.pid <= 0)
		return 0;
	status = process_wait(&door->worker, clock_now_ms() + end_limit_ms, NULL);
	process_release(&door->worker);
	if (status != 0)
		log_warning("the front door's worker exited with status %d", status);
	return status;
}

static void front_door_release(struct front_door *door)
{
	(void)finish_worker(door);
	forget_source(&door->restart);
	if (door->watch)
		watch_keep_free(door->watch);
	if (door->registry)
		registry_keep_free(door->registry);
	if (door->registry_sockets)
		sockets_free(door->registry_sockets);
	if (door->guard)
		guard_free(door->guard);
	if (door->sockets)
		sockets_free(door->sockets);
	if (door->loop)
		loop_free(door->loop);
	if (door->inotify >= 0)
		(void)close(door->inotify);
	balancer_config_release(&door->config);
}

int balancer_run(const char *dir, watch_install_fn install, struct error *err)
{
	cleanup_with(front_door_release) struct front_door door = {
		.dir = dir, .install = install, .inotify = -1, .channel = -1, .worker = PROCESS_INIT
	};
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	cleanup_free char *lock_path = xasprintf("%s/%s", dir, FRONT_DOOR_LOCK);
	cleanup_free char *status_path = xasprintf("%s/%s", dir, FRONT_DOOR_STATUS);
	cleanup_with(file_unlock) int lock = -1;
	int r;

	/* Our standard error is the front door's log. */
	log_verbosity = 2;
	/* Users enter their clusters' directories, so one of them must not be able to hold it. */
	r = file_lock_private(lock_path, "front-door", 0, &lock, &problem);
	if (r < 0) {
		answer_starter(r == -EWOULDBLOCK ? "busy" : "error", problem.text);
		return error_set(err, r, "%s", problem.text);
	}
	(void)unlink(status_path);
	r = start_doors(&door, &problem);
	if (r == 0)
		r = loop_run(door.loop, &problem);
	(void)unlink(status_path);
	if (r < 0) {
		/* Unlock before reporting: the caller may try again at once. */
		file_unlock(&lock);
		answer_starter("error", problem.text);
		return error_set(err, r, "%s", problem.text);
	}
	return finish_worker(&door) == 0 ? 0 : error_set(err, -EIO, "its worker failed");
}
