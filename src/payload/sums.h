/*
 * Sums of pinned Go modules, so that the sources of a build do not depend on a proxy, Go's checksum
 * database or the environment.
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"

/* The sum (h1:…) of MODULE at VERSION; NULL if it is not pinned. */
const char *sums_find(const char *module, const char *version);

/* Add all sums to OUT, as lines of a go.sum. */
void sums_add_all(struct strbuf *out);

/* -EBADMSG unless SUM is the pinned sum of MODULE at VERSION. */
int sums_check(const char *module, const char *version, const char *sum, struct error *err);
