/*
 * Reports of the worker to the keeper, as text: REPORT_BEGIN and one line per backend,
 *
 *	NAME ADDRESS up|down SECONDS DETAIL
 *
 * with single spaces.  SECONDS is the time of the last change, since 1970; DETAIL is printable
 *ASCII up to the end of the line.  The keeper does not trust the worker: it rejects a report that
 *is not completely valid, and the status file names only backends that the keeper configured.
 */
#pragma once

#include <jansson.h>

#include "balancer/balancer.h"
#include "base/strbuf.h"

#define REPORT_BEGIN      "report\n"
#define REPORT_MAX        65536
#define REPORT_NAME_MAX   253
#define REPORT_DETAIL_MAX 200

/* Add the line of one backend.  DETAIL is truncated, and unprintable characters are replaced. */
void report_add(struct strbuf *report, const char *name, const char *address, bool healthy,
		int64_t since, const char *detail);

/*
 * Parse the LEN bytes of a report about the backends of CONFIG.  *RET_BACKENDS, which the caller
 * owns, is the list for the status file: all backends in the order of CONFIG, including those that
 * the report lacks.  -EBADMSG if the report is invalid, -ESTALE if it is about other backends, as
 * before a change of the configuration.
 */
int report_parse(const char *text, size_t len, const struct balancer_config *config,
		 json_t **ret_backends, struct error *err);

/* The same list without a report: all backends are unhealthy, with the reason DETAIL. */
json_t *report_unknown(const struct balancer_config *config, const char *detail) must_check;
