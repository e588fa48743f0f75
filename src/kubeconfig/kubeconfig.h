/*
 * The user's kubeconfig: our context, cluster and user in it, all named after the profile.
 *
 * The file is edited, not rewritten: all other entries, the order and the comments stay as they
 * are, in block style, flow style and JSON.  A file that cannot be parsed is never changed:
 * -EBADMSG with reason_host_config, ERR beginning with "FILE:LINE:COLUMN: ".
 */
#pragma once

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"

enum kubeconfig_flags {
	KUBECONFIG_BY_PATH = 1 << 0,      /* certificates are referenced by path, not embedded */
	KUBECONFIG_KEEP_CURRENT = 1 << 1, /* leave the current context as it is */
};

struct kubeconfig_entry {
	const char *name; /* a DNS label */
	const char *server;
	const char *ca; /* this and the next two: PEM or, with KUBECONFIG_BY_PATH, absolute paths */
	const char *cert;
	const char *key;
	enum kubeconfig_flags flags;
};

enum kubeconfig_state {
	KUBECONFIG_NONEXISTENT,   /* the file or the context does not exist */
	KUBECONFIG_MISCONFIGURED, /* another server, or the file is not usable */
	KUBECONFIG_CONFIGURED,
};

/* The file to change: the first one in KUBECONFIG, by default ~/.kube/config. */
int kubeconfig_path(char **ret_path, struct error *err);

/* All files that kubectl reads: those in KUBECONFIG, by default ~/.kube/config. */
int kubeconfig_paths(struct strlist *ret_paths, struct error *err);

/* Fail with reason_host_config if kubeconfig_merge() would: if the file PATH is damaged or cannot
 * be written.  A missing file is not an error. */
int kubeconfig_check(const char *path, struct error *err);

/*
 * Put the context, cluster and user of ENTRY into the file PATH, and make it the current context.
 * An existing context that refers to them is left as it is, with its namespace.  The file is
 * created if missing, replaced by rename (of the target, if it is a link), and readable for its
 * owner only.  Returns whether the file was changed.
 */
int kubeconfig_merge(const char *path, const struct kubeconfig_entry *entry, struct error *err);

/* Remove the context, cluster and user NAME from the file PATH, and unset the current context if it
 * is NAME; succeeds if there are none. */
int kubeconfig_remove(const char *path, const char *name, struct error *err);

/* The state of the context NAME in the file PATH: "kubeconfig: Configured" in status. */
enum kubeconfig_state kubeconfig_points_at(const char *path, const char *name, const char *server);

/* "Nonexistent", "Misconfigured", "Configured". */
const char *kubeconfig_state_word(enum kubeconfig_state state);

/* The current context of the file PATH, for the caller to free; NULL if there is none. */
char *kubeconfig_current(const char *path) must_check;

/* The same for text: append the edited TEXT to OUT.  ERR begins with "LINE:COLUMN: ". */
int kubeconfig_merge_text(const char *text, size_t len, const struct kubeconfig_entry *entry,
			  struct strbuf *out, struct error *err);
int kubeconfig_remove_text(const char *text, size_t len, const char *name, struct strbuf *out,
			   struct error *err);
