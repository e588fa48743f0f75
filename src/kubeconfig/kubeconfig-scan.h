/*
 * Where things stand in the text of a kubeconfig: byte ranges of the entries, so that the
 * text can be edited without touching the rest of it.
 */
#pragma once

#include "base/error.h"

enum kubeconfig_list_id {
	KUBECONFIG_CLUSTERS,
	KUBECONFIG_CONTEXTS,
	KUBECONFIG_USERS,
	KUBECONFIG_LISTS, /* how many there are */
};

extern const char *const kubeconfig_keys[KUBECONFIG_LISTS];

enum scan_style {
	SCAN_MISSING,
	SCAN_EMPTY, /* null, or nothing behind the colon */
	SCAN_BLOCK, /* "- a" lines */
	SCAN_FLOW,  /* [a, b] */
	SCAN_SCALAR,
};

/* Bytes of the text; END is the first that does not belong to it. */
struct span {
	size_t start;
	size_t end;
};

struct scan_item {
	struct span span; /* without its dash */
	char *name;       /* NULL if it has none */
	char *server;     /* of a cluster, or NULL */
	char *cluster;    /* of a context, or NULL */
	char *user;       /* of a context, or NULL */
};

/* A sequence of named entries. */
struct scan_list {
	enum scan_style style;
	struct span span;
	size_t inside;   /* behind the '[' of a flow sequence */
	unsigned column; /* of the dashes of a block sequence */
	struct scan_item *items;
	size_t count;
};

struct scan {
	bool empty;      /* there is no mapping yet */
	bool flow;       /* {...} instead of lines */
	bool aliased;    /* has aliases, so an anchor must not go */
	unsigned column; /* of the keys, if not flow */
	size_t inside;   /* behind the '{', if flow */
	size_t end;      /* of the last thing in the mapping */
	size_t key_count;
	struct span nothing; /* if empty: the word null, or where the text ends */
	struct scan_list lists[KUBECONFIG_LISTS];
	enum scan_style current_style; /* SCAN_MISSING, SCAN_EMPTY or SCAN_SCALAR */
	struct span current_span;
	char *current; /* the current context, or NULL */
};

#define SCAN_INIT ((struct scan){ false })

/* Find the entries in TEXT; -EBADMSG with ERR beginning with "LINE:COLUMN: " if it is no
 * kubeconfig. */
int kubeconfig_scan(const char *text, size_t len, struct scan *ret, struct error *err);

/* The item called NAME, or NULL. */
const struct scan_item *scan_find(const struct scan_list *list, const char *name);

void scan_release(struct scan *scan);
