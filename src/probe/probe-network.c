/* Checks of the host's network and of its firewalls. */

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/process.h"
#include "base/strlist.h"
#include "host/firewall.h"
#include "host/link.h"
#include "host/neighbours.h"
#include "probe/probe-checks.h"

/* Make a bridge and a veth pair in the current network namespace. */
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

/* Call TRY in a child with its own network namespace.  Returns 0, -EPERM if we may not make one,
 * -ENOTSUP if TRY failed. */
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

/* Report the result R of try_apart() about WHAT. */
static enum probe_state tried(int r, const char *what, struct strbuf *text)
{
	if (r == -EPERM) {
		strbuf_addf(text, "only root can check %s", what);
		return PROBE_UNTRIED;
	}
	if (r < 0) {
		strbuf_addf(text, "this kernel does not support %s", what);
		return PROBE_MISSING;
	}
	strbuf_add(text, "supported by this kernel");
	return PROBE_OK;
}

enum probe_state probe_check_loopback(const struct probe *probe arg_unused, struct strbuf *text)
{
	struct sockaddr_in own = { AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(own);
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct pollfd wait = { fd, POLLIN, 0 };
	bool works = bind(fd, (void *)&own, len) == 0 && getsockname(fd, (void *)&own, &len) == 0 &&
		     connect(fd, (void *)&own, len) == 0 && send(fd, "x", 1, 0) == 1 &&
		     poll(&wait, 1, 2000) == 1;

	strbuf_add(text, works ? "packets reach 127.0.0.1" : "no packet reaches 127.0.0.1");
	return works ? PROBE_OK : PROBE_MISSING;
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
		strbuf_add(text, "cannot determine whether this host forwards packets");
		return PROBE_WARNING;
	}
	strbuf_add(text,
		   on ? "on" : "off; enabled per interface while a cluster without --offline runs");
	return PROBE_OK;
}

enum probe_state probe_judge_firewalls(const char *chains, bool has_iptables, struct strbuf *text)
{
	cleanup_with(strlist_release) struct strlist tables = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist others = STRLIST_INIT;
	cleanup_free char *names = NULL;
	const char *table;

	neighbours_find_drops(chains, "forward", &tables);
	neighbours_find_drops(chains, "input", &tables);
	strlist_for_each(table, &tables)
		if (!has_iptables || strcmp(table, NEIGHBOURS_IPTABLES) != 0)
			strlist_add(&others, table);
	names = strlist_join(&others, "', '");
	if (others.count > 0) {
		strbuf_addf(text,
			    "nftables table '%s' drops traffic by default, so nodes may not reach "
			    "this host or the outside",
			    names);
		return PROBE_WARNING;
	}
	strbuf_add(text,
		   strstr(chains, "table inet firewalld {")
			   ? "firewalld puts clusters' bridges into the zone '" NEIGHBOURS_ZONE "'"
		   : tables.count > 0 ? "clusters add their own iptables rules"
				      : "no firewall drops traffic by default");
	return PROBE_OK;
}

enum probe_state probe_check_firewalls(const struct probe *probe arg_unused, struct strbuf *text)
{
	cleanup_free char *chains = NULL;
	cleanup_free char *iptables = process_find("iptables");

	if (geteuid() != 0 || firewall_list_chains(&chains, NULL) < 0) {
		strbuf_add(text, "only root can check firewall rules");
		return PROBE_UNTRIED;
	}
	return probe_judge_firewalls(chains, iptables != NULL, text);
}
