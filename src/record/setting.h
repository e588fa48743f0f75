/*
 * Settings of clusters and nodes: one table, and what is done with every row of it.
 *
 * The options of commands, the environment's variables and the keys of `config`, the file that
 * describes a cluster, its schema and `config explain`, the record on disk, what nodes inherit and
 * what `apply` compares all go by the table.  So a new setting is a member of one of the structs
 * below, a row in record/setting-table.c, and the code that uses it.
 *
 * The structs stand without a name in whatever has settings, so that node->cpus is a node's.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strlist.h"

/* What all nodes have unless they have their own.  Unset is 0, NULL or empty, as everywhere here;
 * words belong to the record they are in, elsewhere to the command line or file they are from. */
struct node_defaults {
	unsigned cpus;         /* unset: as many as the host has */
	uint64_t memory_bytes; /* likewise */
	uint64_t disk_bytes;   /* unset: no disk of its own */
	struct strlist labels; /* words of record/spec.h, as are the next */
	struct strlist taints;
	struct strlist mounts;
	struct strlist env;         /* NAME=VALUE for containerd and the kubelet */
	unsigned max_pods;          /* unset: Kubernetes' own limit */
	const char *kubelet_binary; /* a kubelet of this host instead of the payload's */
	const char *base_image;     /* where /usr is from, see node/base-image.h; unset: the host */
	const char *driver;         /* its name, see driver/driver.h; unset: the default */
};

struct node_settings {
	const char *name;
	const char *address;            /* "192.168.39.2": given once, never changed */
	const char *kubernetes_version; /* "v1.36.3" */
	struct node_defaults;
	struct strlist extra_config;    /* of the kubelet, beside the cluster's */
	struct strlist feature_gates;   /* likewise */
	struct strlist kubeadm_patches; /* words of kubeadm/kubeadm-patch.h */
};

/* Who asks for one says so apart from its value: see struct cluster_options. */
struct cluster_flags {
	bool offline;
	bool keep_context;               /* leave the current context of the kubeconfig alone */
	bool embed_certs;                /* certificates as data in the kubeconfig, not as paths */
	bool no_schedule_control_planes; /* new control planes get no pods of people */
};

struct cluster_settings {
	const char *kubernetes_version;
	const char *subnet;           /* "192.168.39.0/24"; the host has its .1 */
	const char *pod_subnet;       /* "10.244.0.0/16" */
	const char *service_subnet;   /* "10.96.0.0/12" */
	const char *dns_domain;       /* "cluster.local" */
	const char *cni;              /* "auto" or "none" */
	const char *host_access;      /* "all", "none" or "8080,9090"; see network_host_access() */
	const char *image_repository; /* of Kubernetes' own images; unset: the usual one */
	unsigned api_port;            /* the front door's port on 127.0.0.1 */
	unsigned cert_seconds;        /* how long certificates are good for; unset: a year */
	struct strlist api_names;     /* further names and addresses in the API's certificate */
	struct strlist api_ips;       /* likewise */
	struct strlist extra_config;  /* words of record/spec.h, as are the next */
	struct strlist feature_gates;
	struct strlist kubeadm_patches; /* words of kubeadm/kubeadm-patch.h */
	struct strlist ports;
	struct strlist insecure_registries;
	struct strlist registry_mirrors;
	struct strlist images; /* archives of this host that nodes load, see node/own-images.h */
	union {
		struct cluster_flags flags;
		struct cluster_flags;
	};
	struct node_defaults;
};

/* What a file that describes a cluster begins with. */
#define FILE_API_VERSION "manykube/v1"
#define FILE_KIND        "Cluster"

/* Of what is to be: as much as the host has, which is unset in what is kept. */
#define ALL_CPUS   UINT_MAX
#define ALL_MEMORY UINT64_MAX

enum setting_type {
	SETTING_MAP, /* has the fields that are named after it: "network.subnet" is in "network" */
	SETTING_NODES, /* a list of maps of the fields that nodes have */
	SETTING_WORD,
	SETTING_PATH,    /* of this host; a relative one is beside the file */
	SETTING_VERSION, /* of Kubernetes */
	SETTING_CHOICE,  /* one of `words` */
	SETTING_FLAG,    /* bool, of struct cluster_flags */
	SETTING_NUMBER,  /* unsigned, from `least` to `most` */
	SETTING_SIZE,    /* uint64_t, bytes */
	SETTING_SECONDS, /* unsigned */
	SETTING_WORDS,   /* struct strlist, as are the next: a list of words */
	SETTING_PATHS,   /* the same, each a path of this host, or beginning with one */
	SETTING_PAIRS,   /* {KEY: VALUE}: words KEY=VALUE */
	SETTING_GATES,   /* {NAME: true}: words NAME=true */
	SETTING_EXTRA,   /* {COMPONENT: {KEY: VALUE}}: words COMPONENT.KEY=VALUE */
	SETTING_MIRRORS, /* {REGISTRY: URL or a list of them}: words REGISTRY=URL */
	SETTING_PATCHES, /* [{kind: KIND, merge: {...}}]: words of kubeadm/kubeadm-patch.h */
};

/* What it takes to change a node's setting. */
enum setting_effect {
	SETTING_ANEW,    /* another node in its place */
	SETTING_GROWING, /* a restart if there is more of it, else the same */
	SETTING_ON_RESTART,
	SETTING_HELD_TO, /* a limit: what is running is held to another at once */
	SETTING_AT_ONCE,
};

/* Where a setting can be given; of the file its parts, of commands `start` or `node add`. */
enum setting_place {
	SETTING_OF_CLUSTER = 1 << 0,
	SETTING_OF_DEFAULTS = 1 << 1, /* in "defaults", for all nodes */
	SETTING_OF_NODE = 1 << 2,     /* in an item of "nodes" */
};

/* Whether `config` may have a value for the option of `start`. */
enum setting_config {
	SETTING_CONFIG_NEW, /* for clusters that are made */
	SETTING_CONFIG_ANY, /* also for those that exist */
	SETTING_CONFIG_NONE,
};

struct setting {
	const char *name; /* "network.subnet": in the file; of nodes' without "defaults." */
	enum setting_type type;
	unsigned places;    /* enum setting_place */
	const char *option; /* of `start` and `node add`, without dashes; may be NULL */
	const char *usual;  /* what it is unless given: the very word, or "(what it is found by)" */
	const char *example;  /* on one line */
	const char *help;     /* lower case, no full stop; options have the same text */
	const char *words;    /* of a choice: "auto|none" */
	unsigned least, most; /* of a number */
	bool may_be_all;      /* "max" is a value, too: as much as the host has */
	bool chosen_for_you;  /* a free one is taken unless given; see profile.h */

	/* What it must be: each word of it, a size; may be NULL.  Checks that need more than
	 * record/ knows are in describe/choices.c. */
	int (*check)(const char *word, struct error *err);
	int (*check_size)(uint64_t bytes, struct error *err);
	bool (*excludes)(const char *word, const char *other); /* a list has one of both; or NULL */

	bool has_member; /* it is kept where the next say; else the reader knows what it is */
	const char *key; /* in the record */
	size_t cluster;  /* in struct cluster_settings, */
	size_t node;     /* and in struct node_settings */

	bool any_time;              /* may change on an existing cluster, which it is about */
	enum setting_effect effect; /* what it takes to change that of a node */

	/* What becomes of a node's own words and those of the defaults.  CHANGE: the former change
	 * the latter, "KEY-" takes one away; BY_KEY: KEY=VALUE replaces one; else all count. */
	int (*change)(struct strlist *kept, const struct strlist *changes, struct error *err);
	bool by_key;

	/* Of options, where the defaults will not do. */
	char letter;
	const char *operand;
	const char *start_help; /* of `start`, */
	const char *node_help;  /* `node add` and `worker create`, */
	const char *set_help;   /* `node set` */
	bool splits;            /* words are separated by commas wherever they are given */
	bool secret;            /* NAME=VALUE, of which no log has the value */
	const char *instead;    /* what to do about a value that it does not take */
	int (*check_option)(const char *word, struct error *err); /* at once, in `start` */
	enum setting_config config;
};

extern const struct setting setting_table[]; /* ended by one without a name */

/* Loop over the whole table with the `const struct setting *` variable SETTING. */
#define setting_for_each(setting) for (setting = setting_table; setting->name; setting++)

/* Whether SETTING is a member of struct cluster_settings, or of struct node_settings. */
bool setting_is_of_cluster(const struct setting *setting);
bool setting_is_of_node(const struct setting *setting);

/* The setting of the option OPTION, without dashes, at PLACE; NULL if there is none. */
const struct setting *setting_find(enum setting_place place, const char *option);

/* Whether it is a struct strlist. */
bool setting_is_list(const struct setting *setting);

/* The member of SETTING, which must be there. */
void *setting_in_cluster(const struct setting *setting, const struct cluster_settings *in);
void *setting_in_node(const struct setting *setting, const struct node_settings *in);

/* The one of FLAGS that is SETTING, which is a flag. */
bool *setting_in_flags(const struct setting *setting, const struct cluster_flags *flags);

/* How it is called in messages about the command line: "--cpus"; for the caller to free. */
char *setting_title(const struct setting *setting) must_check;

/* Whether MEMBER has a value; no flag has. */
bool setting_is_set(const struct setting *setting, const void *member);

/* What SETTING is unless given, if that is always the same word; else NULL. */
const char *setting_usual_word(const struct setting *setting);

/* Whether two members are the same, be it that one has the usual word and the other is not set; the
 * order of words does not matter. */
bool setting_equals(const struct setting *setting, const void *one, const void *other);

/* MEMBER, which is no list, as it is written in a file; NULL if it is not set, for the caller to
 * free. */
char *setting_print(const struct setting *setting, const void *member) must_check;

/* Release what is in the member TO, and have it be as FROM, with words of its own. */
void setting_copy(const struct setting *setting, const void *from, void *to);

/* Replace a word of a record by a copy of WORD. */
void setting_set_word(const char **member, const char *word);

/* Like setting_copy() for a record, in which "max" is no limit at all. */
void setting_keep(const struct setting *setting, const void *from, void *to);

/* The other way round: have a MEMBER of a record that is no limit ask for all there is. */
void setting_say_all(const struct setting *setting, void *member);

/* Like setting_copy() where words belong to somebody else: they stay the same ones. */
void setting_borrow(const struct setting *setting, const void *from, void *to);

/* Have NODE, which has nothing yet of what can be inherited, be as DEFAULTS and its OWN settings
 * say; names, addresses and versions are not inherited. */
void settings_inherit(const struct cluster_settings *defaults, const struct node_settings *own,
		      struct node_settings *node);

/* Release all members of a record. */
void settings_release_cluster(struct cluster_settings *settings);
void settings_release_node(struct node_settings *settings);
