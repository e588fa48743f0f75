/* The ports of this host that a cluster publishes. */

#include "network/published-ports.h"

#include <arpa/inet.h>
#include <string.h>

#include "balancer/balancer.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "data/inet.h"
#include "network/network.h"
#include "record/ports.h"
#include "record/setting-check.h"
#include "record/setting.h"
#include "record/spec.h"
#include "record/world.h"

#define WAIT_MS 5000
#define POLL_MS 20

#define DNS_PORT 53

static const char *same_port(const struct strlist *ports, const char *word)
{
	const char *other;

	strlist_for_each(other, ports)
		if (setting_is_same_port(other, word))
			return other;
	return NULL;
}

static bool is_same_word(const char *one, const char *other)
{
	cleanup_free char *a = setting_normal_port(one);
	cleanup_free char *b = setting_normal_port(other);

	return a && b && strcmp(a, b) == 0;
}

/* What of the cluster itself listens at PORT whenever it runs; NULL if nothing does. */
static const char *find_own_use(const struct profile *profile, const struct port_spec *port)
{
	bool is_all = port->address.s_addr == INADDR_ANY;
	bool is_loopback = is_all || port->address.s_addr == htonl(INADDR_LOOPBACK);
	struct in_addr gateway = { INADDR_NONE };

	(void)inet_parse_address(profile->gateway, &gateway, NULL);
	is_all = is_all || port->address.s_addr == gateway.s_addr;
	if ((is_loopback && port->host_port == profile->api_port) ||
	    (is_all && port->host_port == FRONT_DOOR_PORT))
		return "its API";
	if ((is_loopback || is_all) && profile->registry_port &&
	    port->host_port == profile->registry_port)
		return "its registry";
	return is_all && port->host_port == DNS_PORT ? "DNS" : NULL;
}

static int refuse_own_use(const struct profile *profile, const char *word,
			  const struct port_spec *port, struct error *err)
{
	const char *use = find_own_use(profile, port);

	if (!use)
		return 0;
	(void)error_because(err, &reason_port_taken, -EADDRINUSE,
			    "'%s': cluster '%s' itself uses port %u, for %s", word, profile->name,
			    port->host_port, use);
	return error_hint(err, -EADDRINUSE, "publish another port of this host");
}

static int refuse_second(const char *word, const char *other, struct error *err)
{
	(void)error_because(err, &reason_port_taken, -EADDRINUSE,
			    "'%s' and '%s' publish the same port of this host", other, word);
	return error_hint(err, -EADDRINUSE, "use another port of this host for one of them");
}

int published_ports_check(const struct profile *profile, const struct strlist *words,
			  struct error *err)
{
	cleanup_with(strlist_release) struct strlist seen = STRLIST_INIT;
	const char *word;

	strlist_for_each(word, words) {
		const char *other = same_port(&seen, word);
		struct port_spec port;
		int r = spec_parse_port(word, &port, err);

		if (r == 0)
			r = refuse_own_use(profile, word, &port, err);
		if (r < 0)
			return r;
		if (other && !is_same_word(other, word))
			return refuse_second(word, other, err);
		strlist_add(&seen, word);
	}
	return 0;
}

/* Add WORD to the ports of PROFILE; returns whether it was not there yet. */
static int add_word(struct profile *profile, const char *word, struct error *err)
{
	const char *other = same_port(&profile->ports, word);
	struct port_spec port;
	int r = spec_parse_port(word, &port, err);

	if (r < 0)
		return r;
	if (other && is_same_word(other, word))
		return 0;
	if (other) {
		(void)error_because(err, &reason_port_taken, -EADDRINUSE,
				    "'%s': cluster '%s' publishes that port already, as %s", word,
				    profile->name, other);
		return error_hint(err, -EADDRINUSE,
				  "'manykube port remove %s' first, or use another port", other);
	}
	r = refuse_own_use(profile, word, &port, err);
	if (r < 0)
		return r;
	strlist_add(&profile->ports, word);
	return 1;
}

/* Wait until the front door listens at all of WORDS, or until it does not any more. */
static int wait_for_door(const struct strlist *words, bool open, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + WAIT_MS;
	const char *word;

	strlist_for_each(word, words) {
		struct port_spec port;

		if (spec_parse_port(word, &port, NULL) < 0)
			continue;
		while (network_port_is_free(port.address, port.host_port) == open)
			if (!clock_poll(deadline_ms, POLL_MS))
				return error_because(err, &reason_network, -ETIMEDOUT,
						     "the front door does not %s port %u",
						     open ? "open" : "close", port.host_port);
	}
	return 0;
}

/* Have a running cluster do what PROFILE says, about the ports in WORDS.  The rules that keep other
 * machines from them are there before the front door opens them, and go when it has closed them. */
static int carry_out(const struct profile *profile, const struct strlist *words, bool open,
		     struct error *err)
{
	int r = 0;

	if (balancer_pid(profile->dir) == 0)
		return 0;
	if (open)
		r = world->network_up(profile, err);
	if (r == 0)
		r = world->front_door_up(profile, err);
	world->after("change ports");
	if (r == 0)
		r = wait_for_door(words, open, err);
	if (r == 0 && !open)
		r = world->network_up(profile, err);
	return r == -ETIMEDOUT ? error_hint(err, r, "see '%s/front-door.log'", profile->dir) : r;
}

static void set_ports(struct profile *profile, const struct strlist *ports)
{
	strlist_release(&profile->ports);
	profile->ports = STRLIST_INIT;
	if (ports->count)
		strlist_add_all(&profile->ports, ports->items);
}

static int record_added(struct profile *profile, const struct profile *before,
			const struct strlist *words, struct strlist *ret_added, struct error *err)
{
	const char *word;
	int r;

	strlist_for_each(word, words) {
		r = add_word(profile, word, err);
		if (r < 0)
			return r;
		if (r > 0)
			strlist_add(ret_added, word);
	}
	if (ret_added->count == 0)
		return 0;
	r = world->ports_are_free(profile, before, err);
	return r < 0 ? r : profile_save(profile, err);
}

int published_ports_add(struct profile *profile, const struct strlist *words, struct error *err)
{
	cleanup_with(profile_release) struct profile before = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist added = STRLIST_INIT;
	cleanup_fd int lock = -1;
	int r = world->network_lock(&lock, err);

	if (r == 0)
		r = profile_copy(profile, &before, err);
	if (r < 0)
		return r;
	r = record_added(profile, &before, words, &added, err);
	if (r < 0) {
		set_ports(profile, &before.ports);
		return r;
	}
	if (added.count == 0)
		return 0;
	world->after("record ports");
	r = carry_out(profile, &added, true, err);
	if (r == 0)
		return (int)added.count;
	/* Another program may have taken the port meanwhile. */
	set_ports(profile, &before.ports);
	if (profile_save(profile, NULL) == 0)
		(void)carry_out(profile, &added, false, NULL);
	return r;
}

/* Whether the front door still has the port WORD, which an interrupted removal has left open. */
static bool is_still_open(const struct profile *profile, const char *word)
{
	struct port_spec port;
	cleanup_free char *address = NULL;
	cleanup_free char *listen = NULL;

	if (spec_parse_port(word, &port, NULL) < 0)
		return false;
	address = inet_print_address(port.address);
	listen = xasprintf("%s:%u", address, port.host_port);
	return balancer_publishes(profile->dir, listen);
}

/* Refuse to remove WORD, which is not published; its number may be, at another address. */
static int refuse_to_remove(const struct profile *profile, const char *word, struct error *err)
{
	cleanup_with(strlist_release) struct strlist meant = STRLIST_INIT;
	cleanup_free char *joined = NULL;
	struct port_spec wanted;
	const char *other;

	(void)error_because(err, &reason_usage, -ENOENT, "cluster '%s' does not publish port '%s'",
			    profile->name, word);
	if (spec_parse_port(word, &wanted, NULL) < 0)
		return -ENOENT;
	strlist_for_each(other, &profile->ports) {
		struct port_spec port;
		cleanup_free char *address = NULL;

		if (spec_parse_port(other, &port, NULL) < 0 || port.host_port != wanted.host_port)
			continue;
		address = inet_print_address(port.address);
		strlist_addf(&meant, "%s:%u", address, port.host_port);
	}
	if (meant.count == 0)
		return error_hint(err, -ENOENT, "'manykube port list' lists the ports");
	joined = strlist_join(&meant, " ");
	return error_hint(err, -ENOENT, "it publishes %s: 'manykube port remove %s' ends that",
			  joined, joined);
}

int published_ports_remove(struct profile *profile, const struct strlist *words, struct error *err)
{
	cleanup_with(strlist_release) struct strlist removed = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist left = STRLIST_INIT;
	const char *word;
	int r;

	strlist_for_each(word, words) {
		if (same_port(&profile->ports, word))
			continue;
		if (!is_still_open(profile, word))
			return refuse_to_remove(profile, word, err);
		strlist_add(&removed, word);
	}
	strlist_for_each(word, &profile->ports)
		strlist_add(same_port(words, word) ? &removed : &left, word);
	set_ports(profile, &left);
	r = profile_save(profile, err);
	if (r == 0)
		world->after("record ports");
	return r < 0 ? r : carry_out(profile, &removed, false, err);
}
