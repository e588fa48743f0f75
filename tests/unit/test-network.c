#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "cluster/network.h"
#include "test.h"

TEST(the_same_folder_has_the_same_bridge_and_another_has_another)
{
	cleanup_free char *one = network_bridge_name("/home/a/.manykube/profiles/dev");
	cleanup_free char *again = network_bridge_name("/home/a/.manykube/profiles/dev");
	cleanup_free char *other = network_bridge_name("/home/b/.manykube/profiles/dev");

	ASSERT_STR(one, again);
	ASSERT(strcmp(one, other) != 0);
	/* A node's link adds up to four characters, and 15 are allowed. */
	ASSERT_INT(strlen(one), 10);
}

TEST(finds_the_name_servers_and_nothing_else)
{
	cleanup_with(strlist_release) struct strlist servers = STRLIST_INIT;
	cleanup_free char *text = NULL;

	network_parse_resolv("# nameserver 1.1.1.1\n"
			     "search example.org\n"
			     "nameserver 192.0.2.1\n"
			     "nameserver\t127.0.0.53 # local\n"
			     "nameserver fe80::1\n"
			     "nameserver\n"
			     "nameserver 300.1.1.1\n",
			     &servers);
	text = strlist_join(&servers, " ");
	ASSERT_STR(text, "192.0.2.1:53 127.0.0.53:53");
}

TEST(who_plans_a_network_keeps_others_from_it)
{
	cleanup_fd int namespace = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	cleanup_fd int other = -1;
	cleanup_free char *path = NULL;
	struct stat st;
	int fd = -1;

	if (geteuid() != 0)
		test_skip("needs root");
	/* What every user can do. */
	ASSERT_INT(flock(namespace, LOCK_EX | LOCK_NB), 0);
	(void)alarm(20);
	ASSERT_OK(network_lock(&fd, &err));
	ASSERT_INT(fstat(namespace, &st), 0);
	path = xasprintf("/run/manykube/network-%llu", (unsigned long long)st.st_ino);
	other = open(path, O_RDONLY | O_CLOEXEC);
	ASSERT(fstat(other, &st) == 0 && st.st_uid == 0 && (st.st_mode & 0777) == 0600);
	ASSERT_INT(flock(other, LOCK_EX | LOCK_NB), -1);
	ASSERT_INT(errno, EWOULDBLOCK);
	(void)close(fd);
	ASSERT_INT(flock(other, LOCK_EX | LOCK_NB), 0);
}
