/*
 * Everything that helps to find out what went wrong with a cluster, in one archive.
 *
 * Logs, configurations, what Kubernetes and the host say.  Private keys, tokens and passwords are
 * replaced by the word REDACTED, and nothing is taken from directories of keys.
 */
#pragma once

#include "base/strbuf.h"
#include "record/profile.h"

/*
 * Write the archive PATH, which ends in ".tar", ".tar.gz" or ".tgz": the person's own, 0600,
 * complete or absent, also if we are killed.  What can't be had is left out and named in the
 * archive's left-out.txt, whatever state the cluster is in.
 */
int bundle_write(const struct profile *profile, const char *path, struct error *err);

/* Add the values of PROFILE's variables (--env) to RET, as they are and as they are in quotes. */
void bundle_find_values(const struct profile *profile, struct strlist *ret);

/* Put REDACTED in the place of all VALUES in TEXT. */
void bundle_hide(struct strbuf *text, const struct strlist *values);

/* Add TEXT to OUT with REDACTED for what looks like a secret. */
void bundle_redact(const char *text, size_t len, struct strbuf *out);
