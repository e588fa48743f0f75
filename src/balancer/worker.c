/* The front door's worker: the pool, the proxy, forwards and DNS on one event loop. */

#include "balancer/worker.h"

#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>

#include "balancer/dns.h"
#include "balancer/door.h"
#include "balancer/forward.h"
#include "balancer/pool.h"
#include "balancer/proxy.h"
#include "balancer/report.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "host/cage.h"
#include "host/channel.h"

#define CHANNEL_FD 3

/* Descriptors that are not for connections: DNS queries with their timers, probes, sockets. */
static const rlim_t descriptors_apart = 512 * 2 + 64 * 3 + 64;
static const unsigned connections_least = 64;
static const unsigned connections_most = 8192;
static const unsigned forwarded_most = 4096; /* through all forwarded ports */

/* Clients of the API start with a TLS handshake, and send pings on connections that they need. */
static const unsigned silent_limit_ms = 30 * 1000;
static const unsigned idle_limit_ms = 8 * 60 * 60 * 1000;

/* Longer than the shutdown timeout of an API server (cluster/hand-over.c). */
static const unsigned retire_limit_ms = 15 * 1000;

/* A backend that has sent nothing for this long and does not answer probes hangs. */
static const int64_t heard_limit_ms = 4000;

static const size_t config_most_bytes = 1 << 20;

/* More memory than all allowed connections need. */
static const uint64_t memory_most_bytes = 2ull << 30;

struct worker {
	struct door door;
	struct loop_source *channel;
	bool report_waits; /* a report waits for room in the channel */
	struct pool *pool;
	struct tally *tally; /* counts connections to the API */
	struct proxy *proxy;
	struct forwards *forwards;
	struct dns *dns;
};

/* Send the keeper a report about all backends; only the latest one matters. */
static void send_report(void *data)
{
	cleanup_with(strbuf_release) struct strbuf report = STRBUF_INIT;
	struct worker *worker = data;
	ssize_t sent;

	strbuf_add(&report, REPORT_BEGIN);
	pool_report(worker->pool, &report);
	sent = send(CHANNEL_FD, report.text, report.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	worker->report_waits = sent < 0 && errno == EAGAIN;
	(void)loop_set_events(worker->channel, EPOLLIN | (worker->report_waits ? EPOLLOUT : 0),
			      NULL);
}

/* If there is another backend, reset connections to a lost one, so that clients reconnect.  A
 * healthy backend that is removed gets time to end its connections itself. */
static void backend_lost(struct backend *backend, bool gone, bool other, void *data)
{
	struct worker *worker = data;

	if (!other || !worker->proxy)
		return;
	if (gone && backend->healthy)
		proxy_retire(worker->proxy, backend->id, retire_limit_ms);
	else
		proxy_drop(worker->proxy, backend->id);
}

static bool backend_is_heard(struct backend *backend, void *data)
{
	struct worker *worker = data;

	return worker->proxy &&
	       clock_now_ms() - proxy_heard_ms(worker->proxy, backend->id) < heard_limit_ms;
}

static bool choose_backend(const unsigned *tried, unsigned tried_count, struct proxy_target *ret,
			   void *data)
{
	struct worker *worker = data;
	struct backend *backend = pool_choose(worker->pool, tried, tried_count);

	if (!backend)
		return false;
	*ret = (struct proxy_target){ .endpoint = &backend->endpoint, .id = backend->id };
	return true;
}

static void backend_failed(unsigned target, void *data)
{
	struct worker *worker = data;

	pool_suspect(worker->pool, target);
}

/* Raise the limit of descriptors as far as possible;
 * returns the number of connections it allows. */
static unsigned raise_limit(void)
{
	struct rlimit limit;
	rlim_t connections;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return connections_least;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	/* Each connection needs two sockets, and a timer while connecting. */
	connections = limit.rlim_cur > descriptors_apart ? (limit.rlim_cur - descriptors_apart) / 3
							 : 0;
	if (connections < connections_least)
		return connections_least;
	return (unsigned)MIN(connections, (rlim_t)(connections_most + forwarded_most));
}

/* Apply CONFIG.  If a part fails, applies the others and returns the first error. */
static int apply_config(struct worker *worker, const struct balancer_config *config,
			struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	int result = origins_set(worker->door.origins, config, err);
	int r;

	r = proxy_listen(worker->proxy, config->listen.items, config->listen.count,
			 result == 0 ? err : NULL);
	result = result < 0 ? result : r;
	r = dns_set(worker->dns, config->dns_listen, &config->dns_upstream,
		    result == 0 ? err : NULL);
	result = result < 0 ? result : r;
	r = forwards_set(worker->forwards, config, result == 0 ? err : NULL);
	result = result < 0 ? result : r;
	sockets_list(config, &names);
	sockets_keep(worker->door.sockets, &names);
	r = pool_set(worker->pool, config, result == 0 ? err : NULL);
	return result < 0 ? result : r;
}

static int read_config(struct worker *worker, int fd, struct error *err)
{
	cleanup_with(balancer_config_release) struct balancer_config config = BALANCER_CONFIG_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = file_read_fd(fd, config_most_bytes, &text, err);

	if (r == 0)
		r = balancer_config_parse(text.text, text.len, &config, err);
	return r < 0 ? r : apply_config(worker, &config, err);
}

static int on_channel(int fd, uint32_t events, void *data, arg_unused struct error *err)
{
	cleanup_with(error_clear) struct error problem = ERROR_INIT;
	cleanup_fd int passed = -1;
	struct worker *worker = data;
	char text[CHANNEL_TEXT];
	int r;

	if ((events & EPOLLOUT) && worker->report_waits)
		send_report(worker);
	r = channel_receive(fd, text, &passed);
	if (r == -EAGAIN)
		return 0;
	if (r <= 0) {
		loop_stop(worker->door.loop);
		return 0;
	}
	if (strncmp(text, CHANNEL_SOCKET, strlen(CHANNEL_SOCKET)) == 0)
		sockets_put(worker->door.sockets, text + strlen(CHANNEL_SOCKET), take_fd(passed));
	else if (read_config(worker, passed, &problem) < 0)
		log_debug("%s; continuing without it", problem.text);
	return 0;
}

static int prepare_worker(struct worker *worker, unsigned connections, struct error *err)
{
	static const struct pool_events events = { .changed = send_report,
						   .lost = backend_lost,
						   .is_heard = backend_is_heard };
	struct proxy_owner owner = { .choose = choose_backend,
				     .failed = backend_failed,
				     .data = worker };
	unsigned forwarded = MIN(connections / 4, forwarded_most);
	struct proxy_limits limits = { .tally = tally_new(
					       MIN(connections - forwarded, connections_most)),
				       .silent_ms = silent_limit_ms,
				       .idle_ms = idle_limit_ms };
	struct door *door = &worker->door;
	int r = loop_new(&door->loop, err);

	worker->tally = limits.tally;
	if (r < 0)
		return r;
	door->sockets = sockets_new();
	door->origins = origins_new();
	r = loop_add_fd(door->loop, CHANNEL_FD, EPOLLIN, on_channel, worker, &worker->channel, err);
	if (r < 0)
		return r;
	r = pool_new(door->loop, &events, worker, &worker->pool, err);
	if (r < 0)
		return r;
	worker->proxy = proxy_new(door, &owner, &limits);
	worker->forwards = forwards_new(door, forwarded);
	worker->dns = dns_new(door);
	return 0;
}

static void worker_release(struct worker *worker)
{
	if (worker->proxy)
		proxy_free(worker->proxy);
	if (worker->tally)
		tally_free(worker->tally);
	if (worker->forwards)
		forwards_free(worker->forwards);
	if (worker->dns)
		dns_free(worker->dns);
	if (worker->pool)
		pool_free(worker->pool);
	if (worker->door.sockets)
		sockets_free(worker->door.sockets);
	if (worker->door.origins)
		origins_free(worker->door.origins);
	if (worker->door.loop)
		loop_free(worker->door.loop);
}

/* Close all descriptors of the keeper except the channel and the log, and reset signals. */
static bool leave_keeper(int channel)
{
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	/* Signals to both processes are handled by the keeper. */
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	/* CHANNEL may already be this descriptor. */
	if (channel != CHANNEL_FD && dup2(channel, CHANNEL_FD) < 0)
		return false;
	return close_range(CHANNEL_FD + 1, ~0u, 0) == 0;
}

static _Noreturn void work(int channel, uid_t uid, pid_t keeper)
{
	struct worker worker = { .channel = NULL };
	struct error err = ERROR_INIT;
	unsigned connections;
	int r = -EIO;

	if (!leave_keeper(channel))
		_exit(1);
	connections = raise_limit();
	cage_enter(uid, keeper, memory_most_bytes);
	r = prepare_worker(&worker, connections, &err);
	if (r == 0)
		r = loop_run(worker.door.loop, &err);
	if (r < 0)
		log_warning("the front door's worker: %s", err.text);
	worker_release(&worker);
	/* Exit handlers belong to the keeper. */
	_exit(r < 0 ? 1 : 0);
}

int worker_start(uid_t uid, struct process *ret_process, int *ret_channel, struct error *err)
{
	cleanup_fd int ours = -1;
	cleanup_fd int its = -1;
	struct process process;
	pid_t keeper = getpid();
	int ends[2];
	int r = channel_new(ends, err);

	if (r < 0)
		return r;
	ours = ends[0];
	its = ends[1];
	process.pid = fork();
	if (process.pid < 0)
		return error_sys(err, "cannot start the front door's worker");
	if (process.pid == 0)
		work(its, uid, keeper);
	process.pidfd = pidfd_open(process.pid, 0);
	if (process.pidfd < 0) {
		r = error_sys(err, "cannot watch the front door's worker");
		process_release(&process);
		return r;
	}
	*ret_process = process;
	*ret_channel = take_fd(ours);
	return 0;
}
