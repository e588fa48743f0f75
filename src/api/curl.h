/*
 * libcurl, loaded when something is first asked of it.
 *
 * It draws in some thirty libraries; having them loaded takes longer than all that the commands do
 * which ask nothing.  So we are not linked with it: its functions are called through a table.
 */
#pragma once

#include <curl/curl.h>

#include "base/error.h"

/* Each as <curl/curl.h> declares it.  That header's macros of the same names, which check the types
 * of arguments, don't see these: options that are numbers must be given as long or curl_off_t. */
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

/* The functions, ready to be used, for as long as the program runs; -ELIBACC with
 * reason_host_missing_tool if this host has no libcurl. */
int curl_load(const struct curl **ret_curl, struct error *err);
