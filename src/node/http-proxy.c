/* HTTP proxies of the caller, and what nodes reach without one. */

#include "node/http-proxy.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "record/ports.h"

/* The last one says which hosts the others are not used for. */
static const char *const variables[] = { "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY" };

#define NO_PROXY 2

static char *in_lower_case(const char *name)
{
	char *lower = xstrdup(name);

	for (char *p = lower; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return lower;
}

/* The value of the variable NAME in ENV, in upper or lower case, or NULL. */
static const char *value_in(const struct strlist *env, const char *name)
{
	size_t len = strlen(name);
	const char *word;

	strlist_for_each(word, env)
		if (strncasecmp(word, name, len) == 0 && word[len] == '=')
			return word + len + 1;
	return NULL;
}

/* Whether the proxy URL, "http://user:password@host:port", is at a loopback address. */
static bool is_loopback(const char *url)
{
	static const char *const hosts[] = { "localhost", "127.", "[::1]" };
	const char *scheme = strstr(url, "://");
	const char *host = scheme ? scheme + 3 : url;
	const char *user = memchr(host, '@', strcspn(host, "/"));

	if (user)
		host = user + 1;
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
		if (strncasecmp(host, hosts[i], strlen(hosts[i])) == 0)
			return true;
	return false;
}

void http_proxy_inherit(char *(*look_up)(const char *name), struct strlist *env,
			struct strlist *ret_local)
{
	bool has_proxy = value_in(env, variables[0]) || value_in(env, variables[1]);

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		cleanup_free char *lower = in_lower_case(variables[i]);
		const char *value = look_up(variables[i]) ?: look_up(lower);

		if (!value || !*value || value_in(env, variables[i]) ||
		    (i == NO_PROXY && !has_proxy))
			continue;
		if (i != NO_PROXY && is_loopback(value)) {
			strlist_add(ret_local, variables[i]);
			continue;
		}
		strlist_addf(env, "%s=%s", variables[i], value);
		has_proxy = true;
	}
}

void http_proxy_environment(const struct profile *profile, const struct strlist *env,
			    struct strlist *ret)
{
	bool has_proxy = value_in(env, "HTTP_PROXY") || value_in(env, "HTTPS_PROXY") ||
			 value_in(env, "ALL_PROXY");
	const char *exceptions = value_in(env, variables[NO_PROXY]);
	const char *word;

	strlist_for_each(word, env)
		if (!has_proxy || strncasecmp(word, "NO_PROXY=", strlen("NO_PROXY=")) != 0)
			strlist_add(ret, word);
	if (has_proxy)
		strlist_addf(
			ret,
			"NO_PROXY=%s%slocalhost,127.0.0.1,.manykube.internal,.svc,.%s,%s,%s,%s%s%s",
			exceptions ?: "", exceptions && *exceptions ? "," : "", profile->dns_domain,
			profile->subnet, profile->pod_subnet, profile->service_subnet,
			profile->ipv6_prefix ? "," : "", profile->ipv6_prefix ?: "");
}
