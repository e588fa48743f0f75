/* Reading and writing go.mod files. */
#pragma once

#include "base/macro.h"
#include "base/strbuf.h"

/* The version in the `go` line of GOMOD (1.26.0); NULL if it has none.  The caller frees it. */
char *gomod_go_version(const char *gomod) must_check;

/* Compare versions such as go1.26.8, 1.26 or v1.2.3 number by number: < 0, 0 or > 0. */
int gomod_compare_versions(const char *a, const char *b);

/*
 * Add a go.mod for our own module to OUT that builds k8s.io/kubernetes at VERSION (v1.36.3) with
 * the requirements in GOMOD, its own go.mod.  Staging modules, which are directories that the
 * module's archive lacks, are replaced by their releases (v0.36.3).
 */
void gomod_wrap_kubernetes(const char *gomod, const char *version, struct strbuf *out);

/* Add GOMOD without the lines that begin with a comment to OUT. */
void gomod_without_comments(const char *gomod, struct strbuf *out);
