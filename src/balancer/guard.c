/* Maintaining the cluster's firewall rules while it runs. */

#include "balancer/guard.h"

#include <net/if.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/process.h"
#include "data/inet.h"
#include "data/sha256.h"
#include "host/firewall.h"
#include "host/neighbours.h"
#include "routing/conntrack.h"

/* Changes come in bursts; other firewalls are checked once after them. */
static const unsigned settle_ms = 500;

/* A firewall may load its rules before it accepts commands.  Failed attempts are repeated, each
 * after twice the time. */
static const unsigned most_failures = 5;

/* The first repetition for the cluster's own table, which is never left to wait. */
static const unsigned table_retry_ms = 20;

/* A check that runs in a process of its own, because it may be slow. */
struct check {
	struct guard *guard;
	bool (*restore)(const struct guard *guard); /* whether all rules are in place now */
	unsigned delay_ms;                          /* after a change; 0: at once */

	struct loop_source *timer;   /* for the next run */
	struct loop_source *looking; /* while WORKER runs */
	struct process worker;
	bool again;        /* rules changed while it ran */
	unsigned failures; /* consecutive failures */
	unsigned version;  /* of the rules that it was started with */
};

struct guard {
	struct loop *loop;
	char *bridge; /* NULL: no rules */
	char *rules;
	struct strlist ports;
	struct strlist networks;
	unsigned version;          /* counts changes of RULES */
	unsigned restored_version; /* the version that the table was made of; 0: none */
	char *digest;              /* of the table as it was then; shared with the processes */

	int news;
	struct loop_source *listening;
	struct check table;
	struct check others;
};

static bool restore_table(const struct guard *guard);
static bool restore_others(const struct guard *guard);

struct guard *guard_new(struct loop *loop)
{
	struct guard *guard = xcalloc(1, sizeof(*guard));
	char *digest = mmap(NULL, SHA256_HEX_SIZE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*guard = (struct guard){
		.loop = loop,
		.digest = digest == MAP_FAILED ? NULL : digest,
		.news = -1,
		.table = { .guard = guard, .restore = restore_table, .worker = PROCESS_INIT },
		.others = { .guard = guard,
			    .restore = restore_others,
			    .delay_ms = settle_ms,
			    .worker = PROCESS_INIT },
	};
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
	forget_source(&guard->table.timer);
	forget_source(&guard->others.timer);
	if (guard->news >= 0)
		(void)close(take_fd(guard->news));
}

static void check_release(struct check *check)
{
	forget_source(&check->looking);
	if (check->worker.pid > 0)
		(void)process_wait(&check->worker, 0, NULL);
}

void guard_free(struct guard *guard)
{
	stop_listening(guard);
	check_release(&guard->table);
	check_release(&guard->others);
	if (guard->digest)
		(void)munmap(guard->digest, SHA256_HEX_SIZE);
	strlist_release(&guard->ports);
	strlist_release(&guard->networks);
	free(guard->bridge);
	free(guard->rules);
	free(guard);
}

/* Whether LISTING is the table as it was when we made it, or was made by a command that has not
 * told us of its rules yet. */
static bool is_whole(const struct guard *guard, const char *listing)
{
	char digest[SHA256_HEX_SIZE];

	if (guard->restored_version != guard->version || !guard->digest)
		return false;
	sha256_of(listing, strlen(listing), digest);
	return strcmp(digest, guard->digest) == 0 ||
	       firewall_has_other_rules(listing, guard->rules);
}

static void remember_table(const struct guard *guard)
{
	cleanup_free char *listing = firewall_list_table(guard->bridge);

	if (guard->digest && listing)
		sha256_of(listing, strlen(listing), guard->digest);
}

/* Connections that others made while there were no rules would be accepted as established. */
static int forget_strangers(const struct guard *guard, struct error *err)
{
	cleanup_free struct subnet *subnets = xcalloc(guard->networks.count + 1, sizeof(*subnets));
	const struct subnet6 *subnet6 = NULL;
	struct subnet6 prefix;
	const char *network;
	size_t count = 0;
	int r = 0;

	/* A cluster has at most one of IPv6. */
	strlist_for_each(network, &guard->networks) {
		if (r == 0 && strchr(network, ':')) {
			r = inet6_parse_subnet(network, &prefix, err);
			subnet6 = &prefix;
		} else if (r == 0) {
			r = inet_parse_subnet(network, &subnets[count++], err);
		}
	}
	return r < 0 ? r : conntrack_forget_strangers(subnets, count, subnet6, err);
}

static bool restore_table(const struct guard *guard)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *listing = firewall_list_table(guard->bridge);
	int r;

	/* The cluster's network is being removed: the bridge goes first. */
	if (if_nametoindex(guard->bridge) == 0 || (listing && is_whole(guard, listing)))
		return true;
	if (guard->restored_version == guard->version)
		log_debug("the nftables table '%s' was %s; restoring it", guard->bridge,
			  listing ? "changed" : "removed");
	r = firewall_replace_table(guard->bridge, guard->rules, &err);
	remember_table(guard);
	if (r == 0)
		r = forget_strangers(guard, &err);
	if (r == 0 && if_nametoindex(guard->bridge) == 0)
		r = firewall_delete_table(guard->bridge, &err);
	if (r < 0)
		log_warning("%s", err.text);
	return r == 0;
}

static bool restore_others(const struct guard *guard)
{
	return if_nametoindex(guard->bridge) == 0 || neighbours_open(guard->bridge, &guard->ports);
}

static void check_later(struct check *check);
static void check_soon(struct check *check);

static int on_checked(int status, void *data, arg_unused struct error *err)
{
	struct check *check = data;

	forget_source(&check->looking);
	(void)close(check->worker.pidfd);
	check->worker = PROCESS_INIT;
	check->failures = status == 0 ? 0 : check->failures + 1;
	if (check == &check->guard->table && status == 0)
		check->guard->restored_version = check->version;
	if (check->again)
		check_soon(check);
	else if (status != 0 && check->failures <= most_failures)
		check_later(check);
	return 0;
}

static int run_check(void *data, arg_unused struct error *err)
{
	struct check *check = data;
	pid_t pid;

	forget_source(&check->timer);
	check->again = false;
	if (!check->guard->bridge)
		return 0;
	check->version = check->guard->version;
	pid = fork();
	if (pid == 0) {
		/* Release inherited locks and sockets, which a new front door may need. */
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)close_range(3, ~0u, 0);
		_exit(check->restore(check->guard) ? 0 : 1);
	}
	if (pid < 0)
		return 0;
	check->worker = (struct process){ .pid = pid, .pidfd = pidfd_open(pid, 0) };
	if (check->worker.pidfd < 0 || loop_add_child(check->guard->loop, pid, check->worker.pidfd,
						      on_checked, check, &check->looking, NULL) < 0)
		process_release(&check->worker);
	return 0;
}

static void check_later(struct check *check)
{
	unsigned doublings = check->failures < most_failures ? check->failures : most_failures;
	unsigned delay_ms = check->delay_ms ? check->delay_ms : table_retry_ms;

	if (!check->timer)
		(void)loop_add_timer(check->guard->loop, delay_ms << doublings, 0, run_check, check,
				     &check->timer, NULL);
}

/* Rules changed, or those that CHECK restores. */
static void check_soon(struct check *check)
{
	if (check->worker.pid > 0)
		check->again = true;
	else if (check->delay_ms > 0)
		check_later(check);
	else
		(void)run_check(check, NULL);
}

static int on_news(int fd, arg_unused uint32_t events, void *data, arg_unused struct error *err)
{
	struct guard *guard = data;

	firewall_pass_over(fd);
	check_soon(&guard->table);
	check_soon(&guard->others);
	return 0;
}

static void copy_list(struct strlist *to, const struct strlist *from)
{
	const char *item;

	strlist_release(to);
	strlist_for_each(item, from)
		strlist_add(to, item);
}

int guard_set(struct guard *guard, const struct balancer_config *config, struct error *err)
{
	bool same = guard->rules && config->rules && strcmp(guard->rules, config->rules) == 0;
	int r = 0;

	free(guard->bridge);
	free(guard->rules);
	guard->bridge = config->bridge ? xstrdup(config->bridge) : NULL;
	guard->rules = config->rules ? xstrdup(config->rules) : NULL;
	copy_list(&guard->ports, &config->host_ports);
	copy_list(&guard->networks, &config->networks);
	if (!guard->bridge) {
		stop_listening(guard);
		return 0;
	}
	if (!same)
		guard->version++;
	if (guard->news < 0)
		r = firewall_watch(&guard->news, err);
	if (r == 0 && !guard->listening)
		r = loop_add_fd(guard->loop, guard->news, EPOLLIN, on_news, guard,
				&guard->listening, err);
	check_soon(&guard->table);
	return r;
}
