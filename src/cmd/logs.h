/* The parts of `logs`. */
#pragma once

#include "base/error.h"
#include "base/strlist.h"
#include "record/profile.h"

/* Which logs to show, and how. */
struct logs_view {
	const char *node;        /* only this node's, unless NULL */
	bool workers;            /* only those of workers */
	struct strlist services; /* only these, unless empty */
	unsigned length;         /* lines of each */
	bool problems;           /* only lines that look like problems */
	bool follow;
};

int logs_show(const struct profile *profile, const struct logs_view *view, struct error *err);

/* Print the audit log: a table, or with AS_JSON a list of objects. */
int logs_show_audit(bool as_json, struct error *err);
