/*
 * The subset of Go's templates that selects fields: `{{.Name}} {{.IP}}\n`.
 *
 * Supported are fields, strings ({{"\t"}}), comments, dashes that trim white space ({{- -}}), and
 * \n, \t, \r and \\ in the text between.
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

struct template_field {
	const char *name; /* "Host" */
	const char *value;
};

/*
 * Add TEXT to OUT with the values of FIELDS (ended by one without a name). -EINVAL with
 * reason_usage for unsupported actions; OUT may then have a part of the text.
 */
int template_expand(const char *text, const struct template_field *fields, struct strbuf *out,
		    struct error *err);
