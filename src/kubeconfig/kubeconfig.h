/*
 * The person's kubeconfig: our context, cluster and user in it, all named after the profile.
 *
 * The file is edited, not rewritten: every other entry, the order and the comments stay as
 * they are, in block style, flow style and JSON.  A file that can't be understood is never
 * changed: -EBADMSG with reason_host_config, ERR beginning with "FILE:LINE:COLUMN: ".
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"

enum kubeconfig_flags {
	KUBECONFIG_BY_PATH = 1 << 0,      /* certificates are named, not embedded */
	KUBECONFIG_KEEP_CURRENT = 1 << 1, /* leave the current context as it is */
};

struct kubeconfig_entry {
	const char *name; /* a DNS label */
	const char *server;
	const char *ca; /* this and the next: PEM, or with KUBECONFIG_BY_PATH absolute paths */
	const char *cert;
	const char *key;
	enum kubeconfig_flags flags;
};

enum kubeconfig_state {
	KUBECONFIG_NONEXISTENT,   /* there is no file, or it has no such context */
	KUBECONFIG_MISCONFIGURED, /* its cluster has another server, or it is damaged or closed */
	KUBECONFIG_CONFIGURED,
};

/* The file that we change: the first of KUBECONFIG, by default ~/.kube/config. */
int kubeconfig_path(char **ret_path, struct error *err);

/* All files that kubectl reads: those of KUBECONFIG, by default ~/.kube/config. */
int kubeconfig_paths(struct strlist *ret_paths, struct error *err);

/* Fail, with reason_host_config, if the file PATH is damaged or can't be written:
 * kubeconfig_merge() would.  That there is none is no error. */
int kubeconfig_check(const char *path, struct error *err);

/*
 * Put context, cluster and user of ENTRY into the file PATH, and make it the current context.
 * A context that leads to them is left as it is, with its namespace.  The file is created if
 * missing, replaced by rename (of what it links to, if it is a link), readable for its owner
 * only.  Returns whether something had to be changed.
 */
int kubeconfig_merge(const char *path, const struct kubeconfig_entry *entry, struct error *err);

/* Take context, cluster and user NAME out of the file PATH, and unset the current context if it is
 * NAME; succeeds if there is nothing to take out. */
int kubeconfig_remove(const char *path, const char *name, struct error *err);

/* What the file PATH says of NAME: "kubeconfig: Configured" in status. */
enum kubeconfig_state kubeconfig_points_at(const char *path, const char *name, const char *server);

/* "Nonexistent", "Misconfigured", "Configured". */
const char *kubeconfig_state_word(enum kubeconfig_state state);

/* The current context of the file PATH, for the caller to free; NULL if there is none. */
char *kubeconfig_current(const char *path) must_check;

/* The same on text: add the edited TEXT to OUT.  ERR begins with "LINE:COLUMN: ". */
int kubeconfig_merge_text(const char *text, size_t len, const struct kubeconfig_entry *entry,
			  struct strbuf *out, struct error *err);
int kubeconfig_remove_text(const char *text, size_t len, const char *name, struct strbuf *out,
			   struct error *err);
