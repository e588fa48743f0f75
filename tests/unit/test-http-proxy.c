#include "node/http-proxy.h"

#include <string.h>

#include "base/cleanup.h"
#include "test.h"

/* The caller's variables. */
static const char *caller[8];

static char *look_up(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(caller) && caller[i]; i++)
		if (strncmp(caller[i], name, len) == 0 && caller[i][len] == '=')
			return (char *)(uintptr_t)caller[i] + len + 1;
	return NULL;
}

/* What a cluster with the variable GIVEN (or none) inherits, and what is left out. */
static void assert_inherited(const char *given, const char *env, const char *local)
{
	cleanup_with(strlist_release) struct strlist variables = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist left = STRLIST_INIT;
	cleanup_free char *all = NULL;
	cleanup_free char *rest = NULL;

	if (given)
		strlist_add(&variables, given);
	http_proxy_inherit(look_up, &variables, &left);
	all = strlist_join(&variables, " ");
	rest = strlist_join(&left, " ");
	ASSERT_STR(all, env);
	ASSERT_STR(rest, local);
}

TEST(nothing_is_inherited_without_a_proxy)
{
	assert_inherited(NULL, "", "");
	caller[0] = "NO_PROXY=example.com";
	caller[1] = "HTTP_PROXY=";
	assert_inherited(NULL, "", "");
}

TEST(proxies_are_inherited_in_upper_and_lower_case)
{
	caller[0] = "HTTP_PROXY=http://proxy:3128";
	caller[1] = "https_proxy=http://other:3128";
	caller[2] = "no_proxy=example.com";
	assert_inherited(NULL,
			 "HTTP_PROXY=http://proxy:3128 HTTPS_PROXY=http://other:3128 "
			 "NO_PROXY=example.com",
			 "");
}

TEST(a_variable_that_was_given_is_kept)
{
	caller[0] = "HTTP_PROXY=http://proxy:3128";
	caller[1] = "NO_PROXY=example.com";
	assert_inherited("http_proxy=http://mine:1",
			 "http_proxy=http://mine:1 NO_PROXY=example.com", "");
}

TEST(a_proxy_at_a_loopback_address_is_left_out)
{
	caller[0] = "HTTP_PROXY=http://user:word@127.0.0.1:3128/";
	caller[1] = "HTTPS_PROXY=localhost:3128";
	caller[2] = "NO_PROXY=example.com";
	assert_inherited(NULL, "", "HTTP_PROXY HTTPS_PROXY");
	caller[1] = "HTTPS_PROXY=http://proxy.example:3128/127.0.0.1@";
	assert_inherited(NULL,
			 "HTTPS_PROXY=http://proxy.example:3128/127.0.0.1@ NO_PROXY=example.com",
			 "HTTP_PROXY");
}

static char *environment(char *const *given)
{
	struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist variables = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;

	profile.dns_domain = "cluster.local";
	profile.subnet = "192.168.39.0/24";
	profile.pod_subnet = "10.244.0.0/16";
	profile.service_subnet = "10.96.0.0/12";
	strlist_add_all(&variables, given);
	http_proxy_environment(&profile, &variables, &all);
	return strlist_join(&all, " ");
}

TEST(a_service_without_a_proxy_gets_its_variables_alone)
{
	cleanup_free char *all = environment((char *[]){ "A=b", "NO_PROXY=x", NULL });

	ASSERT_STR(all, "A=b NO_PROXY=x");
}

TEST(the_cluster_is_reached_without_the_proxy)
{
	cleanup_free char *all = environment(
		(char *[]){ "HTTPS_PROXY=http://proxy:3128", "no_proxy=example.com", NULL });

	ASSERT_STR(
		all,
		"HTTPS_PROXY=http://proxy:3128 "
		"NO_PROXY=example.com,localhost,127.0.0.1,.manykube.internal,.svc,.cluster.local,"
		"192.168.39.0/24,10.244.0.0/16,10.96.0.0/12");
}
