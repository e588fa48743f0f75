/* What we need to know of Go's go.mod files. */
#pragma once

#include "base/macro.h"
#include "base/strbuf.h"

/* The version that the `go` line of GOMOD asks for (1.26.0), to be freed; NULL if it has none. */
char *gomod_go_version(const char *gomod) must_check;

/* Compare versions such as go1.26.8, 1.26 or v1.2.3 number by number: < 0, 0 or > 0. */
int gomod_compare_versions(const char *a, const char *b);

/*
 * Add to OUT a go.mod of our own that builds k8s.io/kubernetes at VERSION (v1.36.3) with the
 * very requirements of its own GOMOD.  Its staging modules, directories that a module's archive
 * leaves out, are taken at their releases (v0.36.3).
 */
void gomod_wrap_kubernetes(const char *gomod, const char *version, struct strbuf *out);
