#include <sched.h>

#include "host/firewall.h"
#include "test.h"

static const char rules[] = "chain postrouting {\n"
			    "  type nat hook postrouting priority srcnat;\n"
			    "  ip saddr 192.168.39.0/24 oifname != \"br-test\" masquerade\n"
			    "}";

/* Every test runs in a network namespace of its own. */
static void fresh_network(void)
{
	if (unshare(CLONE_NEWNET) < 0)
		test_skip("needs CAP_SYS_ADMIN");
}

TEST(sets_a_table_again_and_again)
{
	fresh_network();
	ASSERT(!firewall_has_table("manykube-dev"));
	ASSERT_OK(firewall_replace_table("manykube-dev", rules, &err));
	ASSERT(firewall_has_table("manykube-dev"));
	ASSERT_OK(firewall_replace_table("manykube-dev", rules, &err));
	ASSERT_OK(firewall_replace_table("manykube-dev", "", &err));
	ASSERT(firewall_has_table("manykube-dev"));
}

TEST(a_table_is_found_by_its_whole_name)
{
	fresh_network();
	ASSERT_OK(firewall_replace_table("manykube-dev", rules, &err));
	ASSERT(!firewall_has_table("manykube"));
	ASSERT(!firewall_has_table("dev"));
	ASSERT(!firewall_has_table("manykube-dev2"));
}

TEST(deleting_a_missing_table_is_no_error)
{
	fresh_network();
	ASSERT_OK(firewall_delete_table("manykube-dev", &err));
	ASSERT_OK(firewall_replace_table("manykube-dev", rules, &err));
	ASSERT_OK(firewall_replace_table("manykube-two", rules, &err));
	ASSERT_OK(firewall_delete_table("manykube-dev", &err));
	ASSERT(!firewall_has_table("manykube-dev"));
	ASSERT(firewall_has_table("manykube-two"));
}

TEST(bad_rules_change_nothing_and_are_explained)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	fresh_network();
	ASSERT_INT(firewall_replace_table("manykube-dev", rules, &err), 0);
	ASSERT_INT(firewall_replace_table("manykube-dev", "chain x { nonsense }", &err), -EIO);
	ASSERT(strstr(err.text, "cannot set nftables table 'manykube-dev': "));
	ASSERT(!strchr(err.text, '\n'));
	ASSERT(err.reason == &reason_network);
	ASSERT(firewall_has_table("manykube-dev"));
}

TEST(a_table_name_cannot_contain_commands)
{
	fresh_network();
	ASSERT_INT(firewall_replace_table("x; flush ruleset", "", NULL), -EINVAL);
	ASSERT_INT(firewall_delete_table("", NULL), -EINVAL);
	ASSERT_INT(firewall_delete_table("9lives", NULL), -EINVAL);
	ASSERT(!firewall_has_table("a b"));
}
