#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "host/link.h"
#include "routing/forwarding.h"
#include "test.h"

/* A host of its own that does not forward, with the bridges of two clusters and a way out. */
static void quiet_host(void)
{
	cleanup_free char *record = NULL;
	cleanup_free char *record6 = NULL;
	struct stat st;

	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
	/* Of a namespace that had the same number and was never tidied up. */
	ASSERT(stat("/proc/self/ns/net", &st) == 0);
	record = xasprintf("/run/manykube-forwarding/%llu", (unsigned long long)st.st_ino);
	(void)unlink(record);
	record6 = xasprintf("%s-6", record);
	(void)unlink(record6);
	ASSERT_OK(file_poke("/proc/sys/net/ipv4/ip_forward", "1", &err));
	ASSERT_OK(file_poke("/proc/sys/net/ipv4/ip_forward", "0", &err));
	ASSERT_INT(
		process_run(ARGV("ip", "link", "add", "mk00000001", "type", "bridge"), NULL, NULL),
		0);
	ASSERT_INT(
		process_run(ARGV("ip", "link", "add", "mk00000002", "type", "bridge"), NULL, NULL),
		0);
	ASSERT_INT(process_run(ARGV("ip", "link", "add", "out", "type", "bridge"), NULL, NULL), 0);
}

static bool forwards(const char *link)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/sys/net/ipv4/conf/%s/forwarding", link);

	ASSERT_OK(file_read(path, 16, &text, &err));
	return *text.text == '1';
}

static bool is_listed(const char *link)
{
	cleanup_with(strlist_release) struct strlist links = STRLIST_INIT;

	forwarding_list(AF_INET, &links);
	return strlist_has(&links, link);
}

TEST(a_host_forwards_for_as_long_as_a_cluster_needs_it)
{
	quiet_host();
	ASSERT(!is_listed("out"));
	ASSERT_OK(forwarding_begin(AF_INET, "mk00000001", &err));
	ASSERT_OK(forwarding_begin(AF_INET, "mk00000002", &err));
	ASSERT_OK(forwarding_begin(AF_INET, "mk00000001", &err));
	ASSERT(forwards("mk00000001") && forwards("mk00000002") && forwards("out"));
	ASSERT(forwards("default"));
	/* This is what others go by. */
	ASSERT(!forwards("all"));
	ASSERT(is_listed("out") && !is_listed("mk00000001") && !is_listed("default"));
	ASSERT_OK(forwarding_end(AF_INET, "mk00000001", &err));
	ASSERT(forwards("out"));
	ASSERT_OK(forwarding_end(AF_INET, "mk00000002", &err));
	ASSERT_OK(forwarding_end(AF_INET, "mk00000002", &err));
	ASSERT(!forwards("out") && !forwards("default"));
	ASSERT(!is_listed("out"));
}

static bool forwards6(const char *link, const char *setting)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/sys/net/ipv6/conf/%s/%s", link, setting);

	ASSERT_OK(file_read(path, 16, &text, &err));
	return *text.text == '1';
}

/* A router ignores the routers that it hears. */
TEST(a_host_forwards_ipv6_without_becoming_a_router)
{
	cleanup_with(strlist_release) struct strlist links = STRLIST_INIT;

	quiet_host();
	if (!file_exists("/proc/sys/net/ipv6/conf/all/force_forwarding"))
		test_skip("this kernel forwards IPv6 for all interfaces or none");
	ASSERT(forwarding_is_possible(AF_INET6));
	ASSERT_OK(forwarding_plan(AF_INET6, "mk00000001", &err));
	ASSERT(!forwards6("out", "force_forwarding"));
	forwarding_list(AF_INET6, &links);
	ASSERT(strlist_has(&links, "out"));
	ASSERT_OK(forwarding_begin(AF_INET6, "mk00000001", &err));
	ASSERT(forwards6("mk00000001", "force_forwarding") && forwards6("out", "force_forwarding"));
	ASSERT(!forwards6("out", "forwarding") && !forwards6("all", "forwarding"));
	/* The families do not depend on each other. */
	ASSERT(!forwards("out"));
	ASSERT_OK(forwarding_end(AF_INET, "mk00000001", &err));
	ASSERT(forwards6("out", "force_forwarding"));
	ASSERT_OK(forwarding_end(AF_INET6, "mk00000001", &err));
	ASSERT(!forwards6("out", "force_forwarding") && !forwards6("default", "force_forwarding"));
}

TEST(what_forwards_already_is_left_alone)
{
	quiet_host();
	ASSERT_OK(file_poke("/proc/sys/net/ipv4/conf/out/forwarding", "1", &err));
	ASSERT_OK(forwarding_begin(AF_INET, "mk00000001", &err));
	ASSERT(!is_listed("out"));
	ASSERT_OK(forwarding_end(AF_INET, "mk00000001", &err));
	ASSERT(forwards("out") && !forwards("default"));
}

TEST(forwarding_that_somebody_turned_on_meanwhile_stays_on)
{
	quiet_host();
	ASSERT_OK(forwarding_begin(AF_INET, "mk00000001", &err));
	ASSERT_OK(file_poke("/proc/sys/net/ipv4/ip_forward", "1", &err));
	ASSERT(!is_listed("out"));
	ASSERT_OK(forwarding_end(AF_INET, "mk00000001", &err));
	ASSERT(forwards("all") && forwards("out"));
}

TEST(a_vanished_bridge_does_not_keep_forwarding_on)
{
	quiet_host();
	ASSERT_OK(forwarding_begin(AF_INET, "mk00000001", &err));
	ASSERT_OK(forwarding_begin(AF_INET, "mk00000002", &err));
	ASSERT_INT(process_run(ARGV("ip", "link", "del", "mk00000001"), NULL, NULL), 0);
	ASSERT_OK(forwarding_end(AF_INET, "mk00000002", &err));
	ASSERT(!forwards("out"));
}

#define ADD_LINK(name) \
	ASSERT_INT(process_run(ARGV("ip", "link", "add", name, "type", "bridge"), NULL, NULL), 0)

TEST(a_link_that_came_meanwhile_forwards_no_longer_than_the_cluster)
{
	quiet_host();
	ASSERT_OK(file_poke("/proc/sys/net/ipv4/conf/out/forwarding", "1", &err));
	ASSERT_OK(forwarding_begin(AF_INET, "mk00000001", &err));
	ADD_LINK("late");
	ASSERT(forwards("late") && !is_listed("late"));
	ASSERT_OK(forwarding_begin(AF_INET, "mk00000001", &err));
	ASSERT(is_listed("late") && !is_listed("out"));
	ADD_LINK("later");
	ASSERT_OK(forwarding_end(AF_INET, "mk00000001", &err));
	ASSERT(forwards("out") && !forwards("late") && !forwards("later"));
}

TEST(links_forward_on_where_that_was_their_default)
{
	quiet_host();
	ASSERT_OK(file_poke("/proc/sys/net/ipv4/conf/default/forwarding", "1", &err));
	ASSERT_OK(forwarding_begin(AF_INET, "mk00000001", &err));
	ADD_LINK("late");
	ASSERT_OK(forwarding_begin(AF_INET, "mk00000001", &err));
	ASSERT(!is_listed("late"));
	ASSERT_OK(forwarding_end(AF_INET, "mk00000001", &err));
	ASSERT(forwards("late") && forwards("default") && !forwards("out"));
}

/* Add links until killed. */
static pid_t add_links_all_the_time(int round)
{
	struct link_socket *host;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	ASSERT_OK(link_open(&host, &err));
	for (int i = 0;; i++) {
		cleanup_free char *name = xasprintf("new%d.%d", round, i);

		(void)link_add_bridge(host, name, NULL);
	}
}

TEST(links_that_come_while_forwarding_ends_do_not_forward)
{
	quiet_host();
	for (int i = 0; i < 4; i++) {
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
		pid_t adder;

		ASSERT_OK(forwarding_begin(AF_INET, "mk00000001", &err));
		adder = add_links_all_the_time(i);
		clock_rest_ms(20);
		ASSERT_OK(forwarding_end(AF_INET, "mk00000001", &err));
		(void)kill(adder, SIGKILL);
		(void)waitpid(adder, NULL, 0);
		ASSERT_INT(process_capture(
				   ARGV("sh", "-c", "cat /proc/sys/net/ipv4/conf/new*/forwarding"),
				   NULL, &text, NULL),
			   0);
		ASSERT(text.len > 0 && !strchr(text.text, '1'));
	}
}
