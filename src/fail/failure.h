/*
 * Failures that a user causes: what they are, their words, and which ones a cluster's record has.
 *
 * A failure that is in the record is active: it is written there before it is made, and removed
 * after it is undone.  One failure of a single node concerns exactly one node: `fail freeze node-2
 * node-3` is two.  A partition or a slow network is one failure between two sets of nodes.
 *
 * Everything here is about words and the record.  fail/fail.h makes failures, cluster_heal() undoes
 * them.
 */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "base/strlist.h"
#include "record/profile.h"

enum fail_kind {
	FAIL_FREEZE,    /* all processes of the node are frozen */
	FAIL_KILL,      /* the node ended at once */
	FAIL_KUBELET,   /* the kubelet is held down */
	FAIL_RUNTIME,   /* containerd is held down; containers go on */
	FAIL_API,       /* the API server of a control plane is held down */
	FAIL_ETCD,      /* the etcd member of a control plane is held down */
	FAIL_DISK_FULL, /* the node's own disk is full */
	FAIL_MEMORY,    /* the node's memory is used up */
	FAIL_CLOCK,     /* the node's clock is wrong */
	FAIL_PARTITION, /* no packets between NODES and PEERS */
	FAIL_SLOW,      /* late, lost or few packets between NODES and PEERS */
	FAIL_KINDS,     /* their number */
};

/* Peers that are no nodes. */
#define FAIL_PEER_HOST       "host"
#define FAIL_PEER_FRONT_DOOR "front-door"

struct failure {
	enum fail_kind kind;
	struct strlist nodes;     /* one node, except for partitions and slow networks */
	struct strlist peers;     /* --from or --to: nodes, FAIL_PEER_*; empty: everybody else */
	unsigned port;            /* only this TCP and UDP port of either side; 0: all */
	unsigned delay_ms;        /* of every packet to the nodes, so of every answer */
	unsigned jitter_ms;       /* by which the delay varies */
	unsigned loss_hundredths; /* of a percent of all packets, 1 to 10000 */
	uint64_t rate_bits;       /* per second, from and to each node; 0: no limit */
	int64_t offset_seconds;   /* of the clock; 0: the default, an hour ahead */
	unsigned for_seconds;     /* how long; 0: until it is healed */
	int64_t since;            /* seconds since 1970; fail_begin() sets them */
	int64_t until;            /* likewise; 0: until it is healed */
};

#define FAILURE_INIT ((struct failure){ .kind = FAIL_FREEZE })

struct failures {
	struct failure *items;
	size_t count;
};

#define FAILURES_INIT ((struct failures){ NULL })

/* Loop over LIST, a struct failures, with the `const struct failure *` variable FAILURE. */
#define failures_for_each(failure, list) \
	for (failure = (list)->items; failure < (list)->items + (list)->count; failure++)

/* The word of a kind as in commands and files: "disk-full"; and the reverse, -EINVAL with
 * reason_usage, listing all kinds, for another word. */
const char *fail_kind_word(enum fail_kind kind);
int fail_kind_parse(const char *word, enum fail_kind *ret, struct error *err);

/* What such a failure is, as shown in tables: "frozen", "killed", "kubelet down",
 * "cut off"; constants. */
const char *fail_kind_state(enum fail_kind kind);

/*
 * Set the parameter NAME of FAILURE, whose kind is set, from its word: "from" or "to"
 * ("node-1,host"), "port" ("2380"), "delay" and "jitter" ("100ms", "1s"), "loss" ("5%", "0.5%"),
 * "rate" ("10mbit", "500kbit"), "offset" ("1h", "-5m"), "for" ("30s").  -EINVAL with reason_usage
 * if such a failure has no such parameter, or the word is wrong.
 */
int failure_set(struct failure *failure, const char *name, const char *word, struct error *err);

/* Whether failures of KIND have the parameter NAME. */
bool fail_kind_takes(enum fail_kind kind, const char *name);

/*
 * Parse WORDS, which are those of the command: "partition node-2 --from=node-1,host --port=2380".
 * Options are written with '=' (--from=node-1) or as two words.  -EINVAL with reason_usage if they
 * cannot be understood; nodes are not looked for in any cluster.
 */
int failure_parse(const char *words, struct failure *ret, struct error *err);

/* FAILURE in the words of the command, without --for and times; for the caller to free. */
char *failure_print(const struct failure *failure) must_check;

/* FAILURE as an object of documents ("kind", "nodes", "from", ..., "since", "until"), for the
 * caller to release. */
json_t *failure_json(const struct failure *failure) must_check;

/* Add the failures of the node NAME to OBJECT, which describes it, as "Failures"; nothing if it has
 * none. */
void failures_add_json(const struct profile *profile, const char *name, json_t *object);

/* A copy of FROM, for the caller to release. */
void failure_copy(const struct failure *from, struct failure *ret);
void failure_release(struct failure *failure);

/* The active failures of PROFILE, the oldest first.  Words of later versions are ignored. */
void failures_read(const struct profile *profile, struct failures *ret);
void failures_release(struct failures *list);

/* Those that the node NAME has, or is a named peer of. */
void failures_of_node(const struct profile *profile, const char *name, struct failures *ret);

/* Whether the node NAME has an active failure of KIND. */
bool failure_is_active(const struct profile *profile, const char *name, enum fail_kind kind);

/* Whether the node NAME cannot work because of its failures: nobody may wait for it. */
bool failure_disables(const struct profile *profile, const char *name);

/* Whether the node NAME was frozen or killed: it must neither be started nor unpaused. */
bool failure_keeps_down(const struct profile *profile, const char *name);

/* Whether the control plane NAME does not count for the majority of etcd, or its API cannot be
 * reached, because of its failures. */
bool failure_stops_etcd(const struct profile *profile, const char *name);

/* The failures of the node NAME in words for tables, "frozen, slow"; NULL if it has none.  For the
 * caller to free. */
char *failures_describe(const struct profile *profile, const char *name) must_check;

/* Add FAILURE to the record PROFILE, in place of the one of the same kind, nodes, peers and port;
 * or remove that.  The caller saves the record. */
bool failure_is_same(const struct failure *a, const struct failure *b);
void failures_add(struct profile *profile, const struct failure *failure);
void failures_remove(struct profile *profile, const struct failure *failure);
