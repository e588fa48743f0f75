/*
 * What the worker reports to the keeper, as text: REPORT_BEGIN and one line per backend,
 *
 *	NAME ADDRESS up|down SECONDS DETAIL
 *
 * with single spaces; SECONDS since 1970 when it became so; DETAIL of printable ASCII to the end of
 *the line.  The keeper takes the worker for an enemy: what it does not understand in full it does
 *not use, and of the backends only those that it configured itself are named in the status file.
 */
#pragma once

#include <jansson.h>

#include "balancer/balancer.h"
#include "base/strbuf.h"

#define REPORT_BEGIN      "report\n"
#define REPORT_MAX        65536
#define REPORT_NAME_MAX   253
#define REPORT_DETAIL_MAX 200

/* Add the line of one backend, with a detail that is made fit for it. */
void report_add(struct strbuf *report, const char *name, const char *address, bool healthy,
		int64_t since, const char *detail);

/*
 * Read the LEN bytes of a report on the backends of CONFIG; *RET_BACKENDS, which the caller owns,
 * is what the status file says of all of them in the order of CONFIG, those that the report left
 * out among them.  -EBADMSG if it is no report, -ESTALE if it is one on other backends, as before a
 * change of the configuration.
 */
int report_parse(const char *text, size_t len, const struct balancer_config *config,
		 json_t **ret_backends, struct error *err);

/* The same for a worker that says nothing: no backend is known to be healthy, because of DETAIL. */
json_t *report_unknown(const struct balancer_config *config, const char *detail) must_check;
