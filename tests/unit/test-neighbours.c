#include <sched.h>
#include <unistd.h>

#include "base/process.h"
#include "base/strbuf.h"
#include "host/neighbours.h"
#include "test.h"

/* A host of its own, whose iptables drops what it does not know. */
static void strict_host(void)
{
	cleanup_free char *iptables = process_find("iptables");

	if (!iptables || unshare(CLONE_NEWNET) < 0)
		test_skip("needs iptables and CAP_SYS_ADMIN");
	ASSERT_INT(process_run(ARGV("iptables", "-P", "FORWARD", "DROP"), NULL, NULL), 0);
	ASSERT_INT(process_run(ARGV("iptables", "-P", "INPUT", "DROP"), NULL, NULL), 0);
	ASSERT_INT(process_run(ARGV("iptables", "-A", "INPUT", "-i", "lo", "-j", "ACCEPT"), NULL,
			       NULL),
		   0);
}

static char *rules(void)
{
	struct strbuf out = STRBUF_INIT;

	ASSERT_INT(process_capture(ARGV("iptables", "-S"), NULL, &out, NULL), 0);
	return strbuf_take(&out);
}

TEST(iptables_lets_a_bridge_pass_for_as_long_as_it_is_there)
{
	cleanup_with(strlist_release) struct strlist ports = STRLIST_INIT;
	cleanup_free char *before = NULL;
	cleanup_free char *open = NULL;
	cleanup_free char *again = NULL;
	cleanup_free char *after = NULL;

	strict_host();
	strlist_add_all(&ports, ARGV("tcp 6443", "udp 53"));
	before = rules();
	ASSERT(neighbours_open("mktest", &ports));
	open = rules();
	ASSERT(strstr(open, "-A FORWARD -i mktest -j ACCEPT\n"));
	ASSERT(strstr(open, "-A FORWARD -o mktest -m conntrack --ctstate RELATED,ESTABLISHED"));
	ASSERT(strstr(open, "-A INPUT -i mktest -p tcp -m tcp --dport 6443 -j ACCEPT\n"));
	ASSERT(strstr(open, "-A INPUT -i mktest -p udp -m udp --dport 53 -j ACCEPT\n"));
	/* Every start does it. */
	ASSERT(neighbours_open("mktest", &ports));
	again = rules();
	ASSERT_STR(again, open);
	neighbours_close("mktest", &ports);
	neighbours_close("mktest", &ports);
	after = rules();
	ASSERT_STR(after, before);
}

TEST(the_remedy_names_who_drops)
{
	cleanup_free char *own = NULL;
	cleanup_free char *ufw = NULL;
	cleanup_free char *firewalld = NULL;

	strict_host();
	own = neighbours_remedy("192.168.39.0/24");
	ASSERT_STR(own, "have the rules of this host (nftables: ip filter) accept what comes from "
			"192.168.39.0/24");
	ASSERT_INT(process_run(ARGV("iptables", "-N", "ufw-user-input"), NULL, NULL), 0);
	ufw = neighbours_remedy("192.168.39.0/24");
	ASSERT_STR(ufw, "'ufw allow from 192.168.39.0/24' has it let them in");
	ASSERT_INT(process_run(ARGV("nft", "add", "table", "inet", "firewalld"), NULL, NULL), 0);
	firewalld = neighbours_remedy("192.168.39.0/24");
	ASSERT_STR(firewalld, "'firewall-cmd --zone=trusted --add-source=192.168.39.0/24' has it "
			      "let them in");
}
