/*
 * An archive of everything that helps to diagnose a cluster.
 *
 * It has logs, configurations, and the state of Kubernetes and the host.  Private keys, tokens and
 * passwords are replaced by the word REDACTED, and directories of keys are not read.
 */
#pragma once

#include "base/strbuf.h"
#include "record/profile.h"

/*
 * Write the archive PATH, which ends in ".tar", ".tar.gz" or ".tgz".  It belongs to the user with
 * mode 0600, and is either complete or absent, even if this process is killed.  Files that cannot
 * be read are skipped and listed in the archive's left-out.txt, whatever state the cluster is in.
 */
int bundle_write(const struct profile *profile, const char *path, struct error *err);

/* Append the values of PROFILE's variables (--env) to RET, both plain and escaped as in quotes. */
void bundle_find_values(const struct profile *profile, struct strlist *ret);

/* Replace all VALUES in TEXT by REDACTED. */
void bundle_hide(struct strbuf *text, const struct strlist *values);

/* Append TEXT to OUT, with REDACTED for everything that looks like a secret. */
void bundle_redact(const char *text, size_t len, struct strbuf *out);
