/*
 * Settings of clusters and nodes: one table, and the operations on every row of it.
 *
 * The options of commands, environment variables and the keys of `config`, the file that describes
 * a cluster, its schema and `config explain`, the record on disk, inheritance by nodes and the
 * comparison of `apply` all use the table.  To add a setting, add a member to one of the structs
 * below, a row to record/setting-table.c, and the code that uses it.
 *
 * The structs are anonymous members of other structs, so node->cpus is a setting of the node.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strlist.h"

/* Settings of nodes that can also be set for all nodes.  An unset member is 0, NULL or empty.  In a
 * record, strings belong to the record; elsewhere, to the command line or file they come from. */
struct node_defaults {
	unsigned cpus;         /* unset: as many as the host has */
	uint64_t memory_bytes; /* unset: as much as the host has */
	uint64_t disk_bytes;   /* unset: no disk of its own */
	struct strlist labels; /* words of record/spec.h, like the next two */
	struct strlist taints;
	struct strlist mounts;
	struct strlist env;         /* NAME=VALUE for containerd and the kubelet */
	struct strlist docker_opt;  /* options of the Docker daemon, without dashes */
	struct strlist docker_env;  /* NAME=VALUE for the Docker daemon */
	unsigned max_pods;          /* unset: Kubernetes' own limit */
	const char *kubelet_binary; /* a kubelet on this host instead of the payload's */
	const char *base_image;     /* the source of /usr, see node/base-image.h; unset: the host */
	const char *kernel;         /* of VMs, see vm/kernel.h; unset: Debian's */
	const char *driver;         /* its name, see driver/driver.h; unset: the default */
};

struct node_settings {
	const char *name;
	const char *address;            /* "192.168.39.2": assigned once, never changed */
	const char *kubernetes_version; /* "v1.36.3" */
	struct node_defaults;
	struct strlist extra_config;        /* of the kubelet, in addition to the cluster's */
	struct strlist feature_gates;       /* likewise */
	struct strlist kubeadm_patches;     /* words of kubeadm/kubeadm-patch.h */
	struct strlist insecure_registries; /* in addition to the cluster's, like the next */
	struct strlist registry_mirrors;
};

/* Flags have no unset value; struct cluster_options records which of them were given. */
struct cluster_flags {
	bool offline;
	bool keep_context;               /* leave the current context of the kubeconfig alone */
	bool embed_certs;                /* certificates as data in the kubeconfig, not as paths */
	bool no_schedule_control_planes; /* new control planes get no ordinary pods */
};

struct cluster_settings {
	const char *kubernetes_version;
	const char *subnet;           /* "192.168.39.0/24"; the host has the address .1 */
	const char *pod_subnet;       /* "10.244.0.0/16" */
	const char *service_subnet;   /* "10.96.0.0/12" */
	const char *dns_domain;       /* "cluster.local" */
	const char *cni;              /* see record/cni.h */
	const char *cni_backend;      /* of flannel: "host-gw" or "vxlan" */
	const char *ip_family;        /* "ipv4" or "dual"; unset: "ipv4" */
	const char *network_policy;   /* "false": network policies are not enforced */
	const char *failover;         /* "fast": short timeouts, see kubeadm/failover.h */
	const char *host_access;      /* "all", "none" or "8080,9090"; see network_host_access() */
	const char *image_repository; /* of Kubernetes' own images; unset: the default repository */
	unsigned api_port;            /* the front door's port on 127.0.0.1 */
	unsigned registry_port;       /* the cluster's registry is at localhost:PORT; unset: none */
	unsigned cert_seconds;        /* validity of certificates; unset: a year */
	struct strlist api_names;     /* additional names and addresses in the API's certificate */
	struct strlist api_ips;       /* likewise */
	struct strlist extra_config;  /* words of record/spec.h, like the next */
	struct strlist feature_gates;
	struct strlist kubeadm_patches; /* words of kubeadm/kubeadm-patch.h */
	struct strlist ports;
	struct strlist insecure_registries;
	struct strlist registry_mirrors;
	struct strlist
		images; /* archives on this host that nodes load, see node-images/own-images.h */
	union {
		struct cluster_flags flags;
		struct cluster_flags;
	};
	struct node_defaults;
};

/* The first lines of a file that describes a cluster. */
#define FILE_API_VERSION "manykube/v1"
#define FILE_KIND        "Cluster"

/* In options, these mean "as much as the host has"; a record stores that as unset. */
#define ALL_CPUS   UINT_MAX
#define ALL_MEMORY UINT64_MAX

enum setting_type {
	SETTING_MAP,   /* contains the settings named after it: "network.subnet" is in "network" */
	SETTING_NODES, /* a list of maps with the settings of nodes */
	SETTING_WORD,
	SETTING_PATH,    /* on this host; a relative path starts at the file's directory */
	SETTING_VERSION, /* a version of Kubernetes */
	SETTING_CHOICE,  /* one of `words` */
	SETTING_FLAG,    /* bool, in struct cluster_flags */
	SETTING_NUMBER,  /* unsigned, from `least` to `most` */
	SETTING_SIZE,    /* uint64_t, bytes */
	SETTING_SECONDS, /* unsigned */
	SETTING_WORDS,   /* struct strlist, like the next: a list of words */
	SETTING_PATHS,   /* the same, each a path on this host or beginning with one */
	SETTING_PAIRS,   /* {KEY: VALUE}: words KEY=VALUE */
	SETTING_GATES,   /* {NAME: true}: words NAME=true */
	SETTING_EXTRA,   /* {COMPONENT: {KEY: VALUE}}: words COMPONENT.KEY=VALUE */
	SETTING_MIRRORS, /* {REGISTRY: URL or a list of them}: words REGISTRY=URL */
	SETTING_PATCHES, /* [{kind: KIND, merge: {...}}]: words of kubeadm/kubeadm-patch.h */
};

/* What it takes to change a setting of an existing node. */
enum setting_effect {
	SETTING_ANEW,    /* replacing the node */
	SETTING_GROWING, /* a restart if the value grows, else replacing the node */
	SETTING_ON_RESTART,
	SETTING_OF_DOCKER, /* a restart of the node's Docker daemon, if it runs one */
	SETTING_HELD_TO,   /* nothing: running processes are limited to the new value at once */
	SETTING_AT_ONCE,
};

/* Where a setting can be given: in which part of the file, and as an option of `start` or `node
 * add`. */
enum setting_place {
	SETTING_OF_CLUSTER = 1 << 0,
	SETTING_OF_DEFAULTS = 1 << 1, /* in "defaults", for all nodes */
	SETTING_OF_NODE = 1 << 2,     /* in an item of "nodes" */
};

/* Whether `config` may hold a default for the option of `start`. */
enum setting_config {
	SETTING_CONFIG_NEW, /* for new clusters only */
	SETTING_CONFIG_ANY, /* also for existing clusters */
	SETTING_CONFIG_NONE,
};

struct setting {
	const char *name; /* its path in the file, "network.subnet"; without "defaults." */
	enum setting_type type;
	unsigned places;      /* enum setting_place */
	const char *option;   /* of `start` and `node add`, without dashes; may be NULL */
	const char *usual;    /* the default: a value, or "(how it is found)" in parentheses */
	const char *example;  /* on one line */
	const char *help;     /* lower case, no full stop; options have the same text */
	const char *words;    /* of a choice: "auto|none" */
	unsigned least, most; /* of a number */
	bool may_be_all;      /* "max" is valid, too: as much as the host has */
	bool chosen_for_you;  /* a free one is chosen unless given; see `asked` in profile.h */

	/* Checks of a value, for a list of each word; may be NULL.  Checks that need more than
	 * record/ knows are in describe/choices.c. */
	int (*check)(const char *word, struct error *err);
	int (*check_size)(uint64_t bytes, struct error *err);
	bool (*excludes)(const char *word, const char *other); /* whether a list may not contain
								  both words; may be NULL */

	/* The one spelling of a word of a list that all its spellings have in common, for the
	 * caller to free; NULL if WORD is not valid.  Records keep words as they were given. */
	char *(*normal)(const char *word);

	/* What a single word that is given stands for, which is stored in its place; NULL: as if it
	 * was not given.  The result is WORD or a constant. */
	const char *(*resolve)(const char *word);

	bool has_member; /* it is stored as said below; else its reader handles it */
	const char *key; /* its key in the record */
	size_t cluster;  /* offset in struct cluster_settings, */
	size_t node;     /* and in struct node_settings */

	/* Of a word, may be NULL: whether WORD is a path or URL, which has a file's directory put
	 * in front if it is a relative path. */
	bool (*is_path)(const char *word);

	bool any_time;              /* may change on an existing cluster */
	bool moves_pods;            /* changes only by `network set` and `apply`, which make all
				     * pods anew */
	enum setting_effect effect; /* what it takes to change it on a node */

	/*
	 * How a node's own list is combined with the list of the defaults.  CHANGE: the node's
	 * words change the defaults, "KEY-" removes one.  BY_KEY: KEY=VALUE replaces the default of
	 * the same key.  Otherwise the lists are concatenated.
	 */
	int (*change)(struct strlist *kept, const struct strlist *changes, struct error *err);
	bool by_key;

	/* For options that need more than the above. */
	char letter;
	const char *operand;
	const char *start_help; /* help for `start`, */
	const char *node_help;  /* for `node add` and `worker create`, */
	const char *set_help;   /* and for `node set` */
	bool splits;            /* values are separated by commas wherever they are given */
	bool secret;            /* NAME=VALUE, whose value must not appear in logs */
	const char *instead;    /* what to use in place of a value that is not supported */
	int (*check_option)(const char *word, struct error *err); /* called by the parser */
	enum setting_config config;

	/* Whether VALUE, as `config` stores it, lets root act beyond the rights of the user whose
	 * settings contain it; NULL: never.  Root then uses it only if the user gives the option.
	 */
	bool (*beyond_user)(const char *value);
};

extern const struct setting setting_table[]; /* terminated by an entry without a name */

/* Loop over the whole table with the `const struct setting *` variable SETTING. */
#define setting_for_each(setting) for (setting = setting_table; setting->name; setting++)

/* Whether SETTING is a member of struct cluster_settings, or of struct node_settings. */
bool setting_is_of_cluster(const struct setting *setting);
bool setting_is_of_node(const struct setting *setting);

/* The setting with the option OPTION, without dashes, at PLACE; NULL if there is none. */
const struct setting *setting_find(enum setting_place place, const char *option);

/* Whether the member of SETTING is a struct strlist. */
bool setting_is_list(const struct setting *setting);

/* The address of the member of SETTING, which must have one. */
void *setting_in_cluster(const struct setting *setting, const struct cluster_settings *in);
void *setting_in_node(const struct setting *setting, const struct node_settings *in);

/* The address of the member of SETTING, a flag, in FLAGS. */
bool *setting_in_flags(const struct setting *setting, const struct cluster_flags *flags);

/* The name of SETTING in messages about the command line: "--cpus"; for the caller to free. */
char *setting_title(const struct setting *setting) must_check;

/* Whether MEMBER has a value; false for flags. */
bool setting_is_set(const struct setting *setting, const void *member);

/* The default of SETTING if it is a fixed value; else NULL. */
const char *setting_usual_word(const struct setting *setting);

/* Whether LIST, a member of SETTING, has WORD in this or another spelling. */
bool setting_has_word(const struct setting *setting, const struct strlist *list, const char *word);

/* Append the words of WANTED that HAS does not have in any spelling to RET; both are members of
 * SETTING. */
void setting_subtract(const struct setting *setting, const struct strlist *wanted,
		      const struct strlist *has, struct strlist *ret);

/* Change the words of LIST, a member of SETTING: KEY- removes those with that key, all others are
 * added, of which a pair replaces the one with its key.  The key of a word without '=' is all of
 * it. */
int setting_change_words(const struct setting *setting, struct strlist *list,
			 const struct strlist *changes, struct error *err);

/* Whether two members have the same effect: an unset member equals the default, and the order and
 * the spelling of words do not matter. */
bool setting_equals(const struct setting *setting, const void *one, const void *other);

/* MEMBER, which is not a list, as it is written in a file, for the caller to free; NULL if it is
 * unset. */
char *setting_print(const struct setting *setting, const void *member) must_check;

/* Release the member TO and make it a deep copy of FROM. */
void setting_copy(const struct setting *setting, const void *from, void *to);

/* Replace a string of a record by a copy of WORD. */
void setting_set_word(const char **member, const char *word);

/* Like setting_copy() into a record: "max" is stored as unset. */
void setting_keep(const struct setting *setting, const void *from, void *to);

/* The reverse: turn an unset MEMBER of a record into "max". */
void setting_say_all(const struct setting *setting, void *member);

/* Like setting_copy(), but a single word is not copied and still belongs to FROM. */
void setting_borrow(const struct setting *setting, const void *from, void *to);

/* Fill NODE, whose inheritable settings are unset, from DEFAULTS and its OWN settings; names,
 * addresses and versions are not inherited. */
void settings_inherit(const struct cluster_settings *defaults, const struct node_settings *own,
		      struct node_settings *node);

/* Release all members of a record. */
void settings_release_cluster(struct cluster_settings *settings);
void settings_release_node(struct node_settings *settings);
