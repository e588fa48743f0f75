/* libcurl, loaded on first use. */

#include "api/curl.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY "libcurl.so.4"

/* clang-format off */
#define FUNCTION(name_) { "curl_" #name_, offsetof(struct curl, name_) }
/* clang-format on */

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
	FUNCTION(global_init),    FUNCTION(easy_init),    FUNCTION(easy_reset),
	FUNCTION(easy_setopt),    FUNCTION(easy_perform), FUNCTION(easy_getinfo),
	FUNCTION(easy_strerror),  FUNCTION(easy_cleanup), FUNCTION(slist_append),
	FUNCTION(slist_free_all),
};

/* Report the error of the dynamic loader. */
static int refuse_without_curl(struct error *err)
{
	const char *why = dlerror();

	error_because(err, &reason_host_missing_tool, -ELIBACC, "cannot load libcurl: %s",
		      why ? why : "unknown error");
	return error_hint(err, -ELIBACC,
			  "install libcurl; on Debian and Ubuntu it is the package 'libcurl4'");
}

static int find_functions(void *library, struct curl *ret, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *address = dlsym(library, functions[i].name);

		if (!address)
			return refuse_without_curl(err);
		memcpy((char *)ret + functions[i].offset, &address, sizeof(address));
	}
	return 0;
}

int curl_load(const struct curl **ret_curl, struct error *err)
{
	static struct curl curl;
	static bool loaded;
	void *library;
	int r;

	if (!loaded) {
		/* The library is never unloaded. */
		library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
		if (!library)
			return refuse_without_curl(err);
		r = find_functions(library, &curl, err);
		if (r < 0)
			return r;
		if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
			return error_set(err, -ENOMEM, "cannot initialize libcurl");
		loaded = true;
	}
	*ret_curl = &curl;
	return 0;
}
