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

/* Run a program of the host's with the words of LINE; whether it succeeded. */
static bool run(const char *line)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	const struct process_options options = { .no_stdin = true, .output = "/dev/null" };

	strlist_split(&argv, line, ' ');
	return process_run(argv.items, &options, NULL) == 0;
}

static bool change_rule(const char *how, const char *rule)
{
	cleanup_free char *is_there = xasprintf("iptables -w 5 -C %s -j ACCEPT", rule);
	cleanup_free char *change = xasprintf("iptables -w 5 %s %s -j ACCEPT", how, rule);
	bool add = strcmp(how, "-I") == 0;

	if (run(is_there) == add || run(change))
		return true;
	log_warning("cannot have iptables %s '%s'", add ? "accept" : "forget", rule);
	return false;
}

/* Insert (-I) or delete (-D) the rules for what this host forwards, and for what comes to it. */
static bool change_forward(const char *how, const char *bridge)
{
	cleanup_free char *from = xasprintf("FORWARD -i %s", bridge);
	cleanup_free char *back = xasprintf(
		"FORWARD -o %s -m conntrack --ctstate ESTABLISHED,RELATED", bridge);
	bool all = change_rule(how, from);

	return change_rule(how, back) && all;
}

static bool change_input(const char *how, const char *bridge, const struct strlist *ports)
{
	const char *port;
	bool all = true;

	strlist_for_each(port, ports) {
		int protocol = (int)strcspn(port, " ");
		cleanup_free char *rule = xasprintf("INPUT -i %s -p %.*s --dport %s", bridge,
						    protocol, port, port + protocol + 1);

		all &= change_rule(how, rule);
	}
	return all;
}

static bool change_firewalld(const char *how, const char *bridge)
{
	cleanup_free char *line = xasprintf("firewall-cmd --quiet --zone=trusted --%s-interface=%s",
					    how, bridge);

	return run(line);
}

/* It has its table only some time after it was started. */
static bool firewalld_runs(const char *chains)
{
	cleanup_free char *program = process_find("firewall-cmd");

	return has_table(chains, "inet firewalld") ||
	       (program && run("systemctl is-active --quiet firewalld"));
}

bool neighbours_open(const char *bridge, const struct strlist *ports)
{
	cleanup_free char *chains = NULL;
	bool all = true;

	if (firewall_list_chains(&chains, NULL) < 0)
		return false;
	if (drops(chains, "forward"))
		all &= change_forward("-I", bridge);
	if (drops(chains, "input"))
		all &= change_input("-I", bridge, ports);
	if (firewalld_runs(chains) && !change_firewalld("change", bridge)) {
		log_warning("cannot have firewalld trust the interface '%s'", bridge);
		all = false;
	}
	return all;
}

void neighbours_close(const char *bridge, const struct strlist *ports)
{
	cleanup_free char *chains = NULL;

	if (firewall_list_chains(&chains, NULL) < 0)
		return;
	/* iptables would make what it does not find. */
	if (has_table(chains, NEIGHBOURS_IPTABLES)) {
		(void)change_forward("-D", bridge);
		(void)change_input("-D", bridge, ports);
	}
	/* It complains of what it does not have. */
	if (firewalld_runs(chains))
		(void)change_firewalld("remove", bridge);
}

char *neighbours_remedy(const char *subnet)
{
	cleanup_with(strlist_release) struct strlist tables = STRLIST_INIT;
	cleanup_free char *chains = NULL;
	cleanup_free char *names = NULL;

	if (firewall_list_chains(&chains, NULL) == 0 && has_table(chains, "inet firewalld"))
		return xasprintf("'firewall-cmd --zone=trusted --add-source=%s' has it let them in",
				 subnet);
	if (chains && strstr(chains, "ufw-user-input"))
		return xasprintf("'ufw allow from %s' has it let them in", subnet);
	if (chains)
		neighbours_find_drops(chains, "input", &tables);
	names = strlist_join(&tables, ", ");
	return xasprintf("have the rules of this host%s%s%s accept what comes from %s",
			 tables.count ? " (nftables: " : "", names, tables.count ? ")" : "",
			 subnet);
}
