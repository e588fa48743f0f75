/*
 * The part of Go's templates that people use to pick fields: `{{.Name}} {{.IP}}\n`.
 *
 * Understood are fields, strings ({{"\t"}}), comments, the dashes that eat white space ({{- -}}),
 * and \n, \t, \r and \\ in the text between.
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

struct template_field {
	const char *name; /* "Host" */
	const char *value;
};

/*
 * Add TEXT to OUT with the values of FIELDS (ended by one without a name) in it.  -EINVAL with
 * reason_usage for what it does not understand; OUT may have got the beginning then.
 */
int template_expand(const char *text, const struct template_field *fields, struct strbuf *out,
		    struct error *err);
