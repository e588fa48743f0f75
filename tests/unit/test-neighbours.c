#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
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
	neighbours_close("mktest");
	neighbours_close("mktest");
	after = rules();
	ASSERT_STR(after, before);
}

static void iptables(char *const *words)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;

	strlist_add(&argv, "iptables");
	strlist_add_all(&argv, words);
	ASSERT_INT(process_run(argv.items, NULL, NULL), 0);
}

TEST(what_users_told_docker_comes_before_our_rules)
{
	cleanup_with(strlist_release) struct strlist ports = STRLIST_INIT;
	cleanup_free char *before = NULL;
	cleanup_free char *open = NULL;
	cleanup_free char *after = NULL;
	const char *jump;

	strict_host();
	iptables(ARGV("-N", "DOCKER-USER"));
	iptables(ARGV("-A", "FORWARD", "-i", "other", "-j", "ACCEPT"));
	iptables(ARGV("-A", "FORWARD", "-j", "DOCKER-USER"));
	iptables(ARGV("-A", "FORWARD", "-i", "docker0", "-j", "ACCEPT"));
	before = rules();
	/* Older versions put theirs first. */
	iptables(ARGV("-I", "FORWARD", "-i", "mktest", "-j", "ACCEPT"));
	ASSERT(neighbours_open("mktest", &ports));
	open = rules();
	jump = strstr(open, "-A FORWARD -j DOCKER-USER\n");
	ASSERT(jump && strstr(jump, "-A FORWARD -i mktest -j ACCEPT\n"));
	ASSERT(strstr(jump, "-A FORWARD -i docker0") > strstr(jump, "-A FORWARD -i mktest"));
	ASSERT(strstr(open, "-i mktest") > jump && strstr(open, "-o mktest") > jump);
	neighbours_close("mktest");
	after = rules();
	ASSERT_STR(after, before);
}

TEST(ports_that_nodes_need_no_more_are_closed)
{
	cleanup_with(strlist_release) struct strlist ports = STRLIST_INIT;
	cleanup_free char *open = NULL;

	strict_host();
	strlist_add_all(&ports, ARGV("tcp 6443", "tcp 8080"));
	ASSERT(neighbours_open("mktest", &ports));
	strlist_remove(&ports, "tcp 8080");
	ASSERT(neighbours_open("mktest", &ports));
	open = rules();
	ASSERT(strstr(open, "--dport 6443") && !strstr(open, "--dport 8080"));
}

/* A firewalld that notes what it is told and has no zone of ours until it is reloaded. */
static char *fake_firewalld(void)
{
	static const char program[] = "#!/bin/sh\n"
				      "cd \"${0%/*}\"\n"
				      "echo \"$*\" >>told\n"
				      "case \"$*\" in\n"
				      "*--new-zone=manykube) touch made ;;\n"
				      "*--reload) [ ! -e made ] || touch known ;;\n"
				      "*--zone=manykube*--list-interfaces) test -e known ;;\n"
				      "esac\n";
	char directory[] = "/tmp/test-neighbours.XXXXXX";
	cleanup_free char *path = NULL;
	cleanup_free char *search = NULL;

	ASSERT(mkdtemp(directory));
	path = xasprintf("%s/firewall-cmd", directory);
	ASSERT_OK(file_put(path, program, sizeof(program) - 1, 0755, &err));
	search = xasprintf("%s:%s", directory, getenv("PATH"));
	ASSERT_INT(setenv("PATH", search, 1), 0);
	return xstrdup(directory);
}

TEST(firewalld_has_a_zone_of_our_own)
{
	cleanup_with(strlist_release) struct strlist ports = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf told = STRBUF_INIT;
	cleanup_free char *directory = NULL;
	cleanup_free char *path = NULL;

	strict_host();
	directory = fake_firewalld();
	path = xasprintf("%s/told", directory);
	ASSERT_INT(process_run(ARGV("nft", "add", "table", "inet", "firewalld"), NULL, NULL), 0);
	ASSERT(neighbours_open("mktest", &ports));
	ASSERT(neighbours_open("mktest", &ports));
	neighbours_close("mktest");
	ASSERT_OK(file_read(path, 65536, &told, &err));
	/* It is reloaded once. */
	ASSERT_STR(told.text, "--zone=manykube --list-interfaces\n"
			      "--quiet --permanent --new-zone=manykube\n"
			      "--quiet --permanent --zone=manykube --set-target=ACCEPT\n"
			      "--quiet --reload\n"
			      "--zone=manykube --list-interfaces\n"
			      "--quiet --zone=manykube --change-interface=mktest\n"
			      "--zone=manykube --list-interfaces\n"
			      "--quiet --zone=manykube --change-interface=mktest\n"
			      "--quiet --remove-interface=mktest\n");
	ASSERT_OK(file_remove_tree(directory, &err));
}

TEST(the_remedy_names_who_drops)
{
	cleanup_free char *own = NULL;
	cleanup_free char *ufw = NULL;
	cleanup_free char *firewalld = NULL;

	strict_host();
	own = neighbours_remedy("192.168.39.0/24");
	ASSERT_STR(own, "change the firewall rules of this host (nftables: ip filter) to accept "
			"packets from 192.168.39.0/24");
	ASSERT_INT(process_run(ARGV("iptables", "-N", "ufw-user-input"), NULL, NULL), 0);
	ufw = neighbours_remedy("192.168.39.0/24");
	ASSERT_STR(ufw, "'ufw allow from 192.168.39.0/24' lets them in");
	ASSERT_INT(process_run(ARGV("nft", "add", "table", "inet", "firewalld"), NULL, NULL), 0);
	firewalld = neighbours_remedy("192.168.39.0/24");
	ASSERT_STR(firewalld, "'firewall-cmd --zone=manykube --add-source=192.168.39.0/24' "
			      "lets them in");
}
