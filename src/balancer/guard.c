/* Maintaining the cluster's firewall rules while it runs. */

#include "balancer/guard.h"

#include <net/if.h>
#include <signal.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/process.h"
#include "host/firewall.h"
#include "host/neighbours.h"

/* Changes come in bursts; one check after them is enough. */
static const unsigned settle_ms = 500;

/* A firewall may load its rules before it accepts commands.  Failed attempts are repeated, each
 * after twice the time. */
static const unsigned most_failures = 5;

struct guard {
	struct loop *loop;
	char *bridge; /* NULL: no rules */
	char *rules;
	struct strlist ports;

	int news;
	struct loop_source *listening;
	struct loop_source *timer;   /* for the next check */
	struct loop_source *looking; /* while WORKER runs */
	struct process worker;       /* the process that checks and restores rules */
	bool again;                  /* rules changed while it ran */
	unsigned failures;           /* consecutive failures */
};

struct guard *guard_new(struct loop *loop)
{
	struct guard *guard = xcalloc(1, sizeof(*guard));

	*guard = (struct guard){ .loop = loop, .news = -1, .worker = PROCESS_INIT };
	return guard;
}

static void forget_source(struct loop_source **source)
{
	if (*source)
		loop_remove(take_ptr(*source));
}

static void stop_listening(struct guard *guard)
{
	forget_source(&guard->listening);
	forget_source(&guard->timer);
	if (guard->news >= 0)
		(void)close(take_fd(guard->news));
}

void guard_free(struct guard *guard)
{
	stop_listening(guard);
	forget_source(&guard->looking);
	if (guard->worker.pid > 0)
		(void)process_wait(&guard->worker, 0, NULL);
	strlist_release(&guard->ports);
	free(guard->bridge);
	free(guard->rules);
	free(guard);
}

/* Restore missing rules; returns whether all are in place.  Runs in a separate process, because it
 * calls other programs, some of which are slow. */
static bool restore_rules(const struct guard *guard)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	/* The cluster's network is being removed: the bridge goes first. */
	if (if_nametoindex(guard->bridge) == 0)
		return true;
	if (!firewall_has_table(guard->bridge)) {
		log_debug("the nftables table '%s' is missing; restoring it", guard->bridge);
		if (firewall_replace_table(guard->bridge, guard->rules, &err) < 0) {
			log_warning("%s", err.text);
			return false;
		}
	}
	return neighbours_open(guard->bridge, &guard->ports);
}

static void look_soon(struct guard *guard);

static int on_looked(int status, void *data, arg_unused struct error *err)
{
	struct guard *guard = data;

	forget_source(&guard->looking);
	(void)close(guard->worker.pidfd);
	guard->worker = PROCESS_INIT;
	guard->failures = status == 0 ? 0 : guard->failures + 1;
	if (guard->again || (status != 0 && guard->failures <= most_failures))
		look_soon(guard);
	return 0;
}

static int look(void *data, arg_unused struct error *err)
{
	struct guard *guard = data;
	pid_t pid;

	forget_source(&guard->timer);
	guard->again = false;
	pid = fork();
	if (pid == 0) {
		/* Release inherited locks and sockets, which a new front door may need. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close_range(3, ~0u, 0);
		_exit(restore_rules(guard) ? 0 : 1);
	}
	if (pid < 0)
		return 0;
	guard->worker = (struct process){ .pid = pid, .pidfd = pidfd_open(pid, 0) };
	if (guard->worker.pidfd < 0 || loop_add_child(guard->loop, pid, guard->worker.pidfd,
						      on_looked, guard, &guard->looking, NULL) < 0)
		process_release(&guard->worker);
	return 0;
}

static void look_soon(struct guard *guard)
{
	unsigned doublings = guard->failures < most_failures ? guard->failures : most_failures;

	if (guard->worker.pid > 0)
		guard->again = true;
	else if (!guard->timer)
		(void)loop_add_timer(guard->loop, settle_ms << doublings, 0, look, guard,
				     &guard->timer, NULL);
}

static int on_news(int fd, arg_unused uint32_t events, void *data, arg_unused struct error *err)
{
	firewall_pass_over(fd);
	look_soon(data);
	return 0;
}

int guard_set(struct guard *guard, const struct balancer_config *config, struct error *err)
{
	const char *port;
	int r;

	free(guard->bridge);
	free(guard->rules);
	strlist_release(&guard->ports);
	guard->bridge = config->bridge ? xstrdup(config->bridge) : NULL;
	guard->rules = config->rules ? xstrdup(config->rules) : NULL;
	strlist_for_each(port, &config->host_ports)
		strlist_add(&guard->ports, port);
	if (!guard->bridge) {
		stop_listening(guard);
		return 0;
	}
	if (guard->news >= 0)
		return 0;
	r = firewall_watch(&guard->news, err);
	if (r == 0)
		r = loop_add_fd(guard->loop, guard->news, EPOLLIN, on_news, guard,
				&guard->listening, err);
	return r;
}
