/* Firewalls of other programs on this host. */

#include "host/neighbours.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/process.h"
#include "host/firewall.h"

void neighbours_find_drops(const char *chains, const char *hook, struct strlist *ret)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_free char *words = xasprintf("hook %s ", hook);
	const char *table = NULL;
	const char *line;

	strlist_split(&lines, chains, '\n');
	strlist_for_each(line, &lines) {
		if (strncmp(line, "table ", 6) == 0)
			table = line + 6;
		else if (table && strstr(line, words) && strstr(line, "policy drop") &&
			 strncmp(table, "ip6 ", 4) != 0) {
			cleanup_free char *name = xstrndup(table, strcspn(table, "{"));

			name[strlen(name) - (*name && name[strlen(name) - 1] == ' ')] = '\0';
			if (!strlist_has(ret, name))
				strlist_add(ret, name);
		}
	}
}

static bool has_table(const char *chains, const char *table)
{
	cleanup_free char *line = xasprintf("table %s {", table);

	return strstr(chains, line);
}

static bool drops(const char *chains, const char *hook)
{
	cleanup_with(strlist_release) struct strlist tables = STRLIST_INIT;

	neighbours_find_drops(chains, hook, &tables);
	return strlist_has(&tables, NEIGHBOURS_IPTABLES);
}

/* Run the command LINE, split at spaces, on the host; returns whether it succeeded. */
static bool run(const char *line)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	const struct process_options options = { .no_stdin = true, .output = "/dev/null" };

	strlist_split(&argv, line, ' ');
	return process_run(argv.items, &options, NULL) == 0;
}

static bool change_rule(const char *how, const char *chain, const char *rule)
{
	cleanup_free char *line = xasprintf("iptables -w 5 %s %s %s", how, chain, rule);

	if (run(line))
		return true;
	log_warning("'%s' failed", line);
	return false;
}

/* Add the rules of CHAIN to RET, in order, as `iptables -S` prints them after "-A CHAIN ". */
static bool list_rules(const char *chain, struct strlist *ret)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *prefix = xasprintf("-A %s ", chain);
	const struct process_options options = { .no_stdin = true };
	const char *line;

	strlist_add_all(&argv, ARGV("iptables", "-w", "5", "-S"));
	strlist_add(&argv, chain);
	if (process_capture(argv.items, &options, &text, NULL) != 0)
		return false;
	strlist_split(&lines, text.text, '\n');
	strlist_for_each(line, &lines)
		if (strncmp(line, prefix, strlen(prefix)) == 0)
			strlist_add(ret, line + strlen(prefix));
	return true;
}

static bool is_about(const char *rule, const char *bridge)
{
	cleanup_free char *in = xasprintf("-i %s ", bridge);
	cleanup_free char *out = xasprintf("-o %s ", bridge);

	return strncmp(rule, in, strlen(in)) == 0 || strncmp(rule, out, strlen(out)) == 0;
}

/*
 * Make WANTED the only rules of CHAIN for BRIDGE.  They are placed after the jump to DOCKER-USER,
 * if there is one, because the user's rules there take precedence.
 */
static bool set_rules(const char *chain, const char *bridge, const struct strlist *wanted)
{
	cleanup_with(strlist_release) struct strlist rules = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist kept = STRLIST_INIT;
	size_t first = 0;
	size_t removed = 0;
	bool all = true;
	const char *rule;

	if (!list_rules(chain, &rules))
		return false;
	for (size_t i = 0; i < rules.count; i++)
		if (strcmp(rules.items[i], "-j DOCKER-USER") == 0)
			first = i + 1;
	for (size_t i = 0; i < rules.count; i++) {
		rule = rules.items[i];
		if (!is_about(rule, bridge))
			continue;
		if (i >= first && strlist_has(wanted, rule) && !strlist_has(&kept, rule)) {
			strlist_add(&kept, rule);
			continue;
		}
		all &= change_rule("-D", chain, rule);
		removed += i < first;
	}
	strlist_for_each(rule, wanted) {
		cleanup_free char *place = xasprintf("%s %zu", chain, first - removed + 1);

		if (!strlist_has(&kept, rule))
			all &= change_rule("-I", place, rule);
	}
	return all;
}

/* The rules for forwarded packets, in the format of `iptables -S`. */
static void list_forward(const char *bridge, struct strlist *ret)
{
	strlist_addf(ret, "-o %s -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT", bridge);
	strlist_addf(ret, "-i %s -j ACCEPT", bridge);
}

/* The rules for packets to this host, in the format of `iptables -S`. */
static void list_input(const char *bridge, const struct strlist *ports, struct strlist *ret)
{
	const char *port;

	strlist_for_each(port, ports) {
		int protocol = (int)strcspn(port, " ");

		strlist_addf(ret, "-i %s -p %.*s -m %.*s --dport %s -j ACCEPT", bridge, protocol,
			     port, protocol, port, port + protocol + 1);
	}
}

static bool firewalld_has_zone(void)
{
	/* Not with --quiet, which firewall-cmd does not accept here. */
	return run("firewall-cmd --zone=" NEIGHBOURS_ZONE " --list-interfaces");
}

/*
 * Make our own zone, so that settings of other zones do not affect nodes, nor ours other
 * interfaces. firewalld must be reloaded for a new zone.  The zone is permanent, so this happens
 * once per host.
 */
static bool make_zone(void)
{
	if (firewalld_has_zone())
		return true;
	/* The zone may exist from an interrupted attempt. */
	(void)run("firewall-cmd --quiet --permanent --new-zone=" NEIGHBOURS_ZONE);
	return run("firewall-cmd --quiet --permanent --zone=" NEIGHBOURS_ZONE
		   " --set-target=ACCEPT") &&
	       run("firewall-cmd --quiet --reload") && firewalld_has_zone();
}

static bool enter_zone(const char *bridge)
{
	cleanup_free char *line = xasprintf(
		"firewall-cmd --quiet --zone=" NEIGHBOURS_ZONE " --change-interface=%s", bridge);

	return make_zone() && run(line);
}

/* Remove BRIDGE from any zone: earlier versions used another one. */
static void leave_zone(const char *bridge)
{
	cleanup_free char *line = xasprintf("firewall-cmd --quiet --remove-interface=%s", bridge);

	(void)run(line);
}

/* Whether firewalld runs.  Its table appears only some time after it was started. */
static bool firewalld_runs(const char *chains)
{
	cleanup_free char *program = process_find("firewall-cmd");

	return has_table(chains, "inet firewalld") ||
	       (program && run("systemctl is-active --quiet firewalld"));
}

bool neighbours_open(const char *bridge, const struct strlist *ports)
{
	cleanup_with(strlist_release) struct strlist forward = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist input = STRLIST_INIT;
	cleanup_free char *chains = NULL;
	bool all = true;

	if (firewall_list_chains(&chains, NULL) < 0)
		return false;
	list_forward(bridge, &forward);
	list_input(bridge, ports, &input);
	if (drops(chains, "forward"))
		all &= set_rules("FORWARD", bridge, &forward);
	if (drops(chains, "input"))
		all &= set_rules("INPUT", bridge, &input);
	if (firewalld_runs(chains) && !enter_zone(bridge)) {
		log_warning("cannot put the interface '%s' into firewalld's zone '" NEIGHBOURS_ZONE
			    "'",
			    bridge);
		all = false;
	}
	return all;
}

void neighbours_close(const char *bridge)
{
	const struct strlist none = STRLIST_INIT;
	cleanup_free char *chains = NULL;

	if (firewall_list_chains(&chains, NULL) < 0)
		return;
	/* iptables would create a missing table. */
	if (has_table(chains, NEIGHBOURS_IPTABLES)) {
		(void)set_rules("FORWARD", bridge, &none);
		(void)set_rules("INPUT", bridge, &none);
	}
	/* firewall-cmd logs an error for an interface that is in no zone,
	 * so ask only if it runs. */
	if (firewalld_runs(chains))
		leave_zone(bridge);
}

char *neighbours_remedy(const char *subnet)
{
	cleanup_with(strlist_release) struct strlist tables = STRLIST_INIT;
	cleanup_free char *chains = NULL;
	cleanup_free char *names = NULL;

	if (firewall_list_chains(&chains, NULL) == 0 && has_table(chains, "inet firewalld"))
		return xasprintf("'firewall-cmd --zone=" NEIGHBOURS_ZONE
				 " --add-source=%s' lets them in",
				 subnet);
	if (chains && strstr(chains, "ufw-user-input"))
		return xasprintf("'ufw allow from %s' lets them in", subnet);
	if (chains)
		neighbours_find_drops(chains, "input", &tables);
	names = strlist_join(&tables, ", ");
	return xasprintf("change the firewall rules of this host%s%s%s to accept packets from %s",
			 tables.count ? " (nftables: " : "", names, tables.count ? ")" : "",
			 subnet);
}
