/* The positions of entries in the text of a kubeconfig, as byte ranges, so that the text can be
 * edited without changing the rest of it. */
#pragma once

#include "base/error.h"

enum kubeconfig_list_id {
	KUBECONFIG_CLUSTERS,
	KUBECONFIG_CONTEXTS,
	KUBECONFIG_USERS,
	KUBECONFIG_LISTS, /* the number of lists */
};

extern const char *const kubeconfig_keys[KUBECONFIG_LISTS];

enum scan_style {
	SCAN_MISSING,
	SCAN_EMPTY, /* null, or nothing after the colon */
	SCAN_BLOCK, /* "- a" lines */
	SCAN_FLOW,  /* [a, b] */
	SCAN_SCALAR,
};

/* A range of bytes of the text; END is exclusive. */
struct span {
	size_t start;
	size_t end;
};

struct scan_item {
	struct span span; /* without its dash */
	char *name;       /* may be NULL */
	char *server;     /* of a cluster, or NULL */
	char *cluster;    /* of a context, or NULL */
	char *user;       /* of a context, or NULL */
};

/* A list of named entries. */
struct scan_list {
	enum scan_style style;
	struct span span;
	size_t inside;   /* after the '[' of a flow sequence */
	unsigned column; /* of the dashes of a block sequence */
	struct scan_item *items;
	size_t count;
};

struct scan {
	bool empty;      /* there is no mapping yet */
	bool flow;       /* {...} instead of lines */
	bool aliased;    /* has aliases, so anchors must be kept */
	unsigned column; /* of the keys, if not flow */
	size_t inside;   /* after the '{', if flow */
	size_t end;      /* of the last item in the mapping */
	size_t key_count;
	struct span nothing; /* if empty: the word null, or the end of the text */
	struct scan_list lists[KUBECONFIG_LISTS];
	enum scan_style current_style; /* SCAN_MISSING, SCAN_EMPTY or SCAN_SCALAR */
	struct span current_span;
	char *current; /* the current context, or NULL */
};

#define SCAN_INIT ((struct scan){ false })

/* Find the entries in TEXT; -EBADMSG with ERR beginning with "LINE:COLUMN: " if it is not a
 * kubeconfig. */
int kubeconfig_scan(const char *text, size_t len, struct scan *ret, struct error *err);

/* The item called NAME, or NULL. */
const struct scan_item *scan_find(const struct scan_list *list, const char *name);

void scan_release(struct scan *scan);
