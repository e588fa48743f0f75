/* What the host's network can do, and what others have told it to refuse. */

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strlist.h"
#include "host/firewall.h"
#include "host/link.h"
#include "host/probe-checks.h"

/* Make a bridge and a veth pair on it in the network namespace we are in. */
static int try_links(void)
{
	cleanup_with(link_closep) struct link_socket *link = NULL;
	cleanup_fd int netns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int r;

	r = link_open(&link, NULL);
	if (r >= 0)
		r = link_add_bridge(link, "probe", NULL);
	if (r >= 0)
		r = link_add_veth(link, "probe-a", "probe", "probe-b", netns, NULL);
	return r;
}

static int try_firewall(void)
{
	return firewall_replace_table("probe",
				      "chain probe {\n"
				      "  type nat hook postrouting priority srcnat;\n"
				      "  ip saddr 192.0.2.0/24 masquerade\n"
				      "}",
				      NULL);
}

/* Do TRY in a child with a network of its own: 0, -EPERM if we may not, -ENOTSUP if it failed. */
static int try_apart(int (*try)(void))
{
	int status;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		return -EPERM;
	if (pid == 0) {
		if (unshare(CLONE_NEWNET) < 0)
			_exit(2);
		_exit(try() < 0 ? 1 : 0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -EPERM;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 2 ? -EPERM : -ENOTSUP;
}

/* Words for what try_apart() returned about WHAT. */
static enum probe_state tried(int r, const char *what, struct strbuf *text)
{
	if (r == -EPERM) {
		strbuf_addf(text, "only root can try out %s", what);
		return PROBE_UNTRIED;
	}
	if (r < 0) {
		strbuf_addf(text, "this kernel cannot make %s", what);
		return PROBE_MISSING;
	}
	strbuf_add(text, "in this kernel");
	return PROBE_OK;
}

enum probe_state probe_check_links(const struct probe *probe arg_unused, struct strbuf *text)
{
	return tried(try_apart(try_links), "bridges and veth pairs", text);
}

enum probe_state probe_check_firewall(const struct probe *probe arg_unused, struct strbuf *text)
{
	return tried(try_apart(try_firewall), "nftables with address translation", text);
}

enum probe_state probe_check_forwarding(const struct probe *probe arg_unused, struct strbuf *text)
{
	unsigned long long on;

	if (probe_read_number("/proc/sys/net/ipv4/ip_forward", &on, NULL) < 0) {
		strbuf_add(text, "cannot see whether this host forwards packets");
		return PROBE_WARNING;
	}
	strbuf_add(text, on ? "on" : "off; a start without --offline turns it on");
	return PROBE_OK;
}

char *probe_dropping_tables(const char *chains)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist tables = STRLIST_INIT;
	const char *table = NULL;
	const char *line;

	strlist_split(&lines, chains, '\n');
	strlist_for_each(line, &lines) {
		if (strncmp(line, "table ", 6) == 0)
			table = line + 6;
		else if (table && strstr(line, "hook forward ") && strstr(line, "policy drop") &&
			 strncmp(table, "ip6 ", 4) != 0) {
			cleanup_free char *name = xstrndup(table, strcspn(table, "{"));

			name[strlen(name) - (*name && name[strlen(name) - 1] == ' ')] = '\0';
			if (!strlist_has(&tables, name))
				strlist_add(&tables, name);
		}
	}
	return tables.count > 0 ? strlist_join(&tables, ", ") : NULL;
}

enum probe_state probe_check_forward_policy(const struct probe *probe arg_unused,
					    struct strbuf *text)
{
	cleanup_free char *chains = NULL;
	cleanup_free char *tables = NULL;
	unsigned long long bridged = 0;

	if (geteuid() != 0 || firewall_list_chains(&chains, NULL) < 0) {
		strbuf_add(text, "only root can see what firewalls drop");
		return PROBE_UNTRIED;
	}
	tables = probe_dropping_tables(chains);
	if (!tables) {
		strbuf_add(text, "nothing is dropped by default");
		return PROBE_OK;
	}
	/* As Docker does it, together with a module that has bridges ask, too. */
	(void)probe_read_number("/proc/sys/net/bridge/bridge-nf-call-iptables", &bridged, NULL);
	strbuf_addf(text,
		    "the nftables table '%s' drops what this host forwards, so nodes do not "
		    "reach the outside%s",
		    tables, bridged ? ", nor each other" : "");
	return PROBE_WARNING;
}
