/*
 * libcurl, loaded on first use.
 *
 * It depends on some thirty libraries.  Loading them takes longer than a whole command that sends
 * no request, so we do not link with libcurl but call its functions through a table.
 */
#pragma once

#include <curl/curl.h>

#include "base/error.h"

/* Functions with the types that <curl/curl.h> declares.  The type-checking macros of that header do
 * not apply here: numeric options must be passed as long or curl_off_t. */
struct curl {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *easy_init;
	__typeof__(curl_easy_reset) *easy_reset;
	__typeof__(curl_easy_setopt) *easy_setopt;
	__typeof__(curl_easy_perform) *easy_perform;
	__typeof__(curl_easy_getinfo) *easy_getinfo;
	__typeof__(curl_easy_strerror) *easy_strerror;
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
};

/* Return the functions, which stay valid until the program ends; -ELIBACC with
 * reason_host_missing_tool if this host has no libcurl. */
int curl_load(const struct curl **ret_curl, struct error *err);
