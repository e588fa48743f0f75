/*
 * The fields of the file that describes a cluster: one table.
 *
 * Reading, `config view`, `config explain`, `config init` and the schema for editors all go by it,
 * so a new field is one row, beside what it sets: a member of struct cluster_options and struct
 * profile, and for what nodes have also of struct node_options and struct node.
 */
#pragma once

#include "base/error.h"

#define FILE_API_VERSION "manykube/v1"
#define FILE_KIND        "Cluster"

enum file_type {
	FILE_MAP,   /* has the fields that are named after it: "network.subnet" is in "network" */
	FILE_NODES, /* a list of maps of the fields that nodes have */
	FILE_WORD,
	FILE_PATH,    /* of this host; a relative one is beside the file */
	FILE_VERSION, /* of Kubernetes */
	FILE_CHOICE,  /* one of `words` */
	FILE_FLAG,    /* bool, with one that says whether it was given */
	FILE_NUMBER,  /* unsigned, from `least` to `most` */
	FILE_SIZE,    /* uint64_t, bytes */
	FILE_SECONDS, /* unsigned */
	FILE_WORDS,   /* struct strlist, as are the next: a list of words */
	FILE_MOUNTS,  /* the same, each a path of this host, or beginning with one */
	FILE_PAIRS,   /* {KEY: VALUE}: words KEY=VALUE */
	FILE_GATES,   /* {NAME: true}: words NAME=true */
	FILE_EXTRA,   /* {COMPONENT: {KEY: VALUE}}: words COMPONENT.KEY=VALUE */
	FILE_MIRRORS, /* {REGISTRY: URL or a list of them}: words REGISTRY=URL */
	FILE_PATCHES, /* [{kind: KIND, merge: {...}}]: words of kubeadm/kubeadm-patch.h */
};

/* What it takes to change a field of a node. */
enum file_effect {
	FILE_ANEW,    /* another node in its place */
	FILE_GROWING, /* a restart if there is more of it, else the same */
	FILE_ON_RESTART,
	FILE_HELD_TO, /* a limit: what is running is held to another at once */
	FILE_AT_ONCE,
};

enum file_place {
	FILE_OF_CLUSTER = 1 << 0,
	FILE_OF_DEFAULTS = 1 << 1, /* in "defaults", for all nodes: a member of cluster_options */
	FILE_OF_NODE = 1 << 2,     /* in an item of "nodes" */
};

struct file_field {
	const char *name; /* "network.subnet"; of what nodes have, without "defaults." */
	enum file_type type;
	unsigned places;    /* enum file_place */
	const char *option; /* of `start`, which overrides it and checks its words; may be NULL */
	const char *usual;  /* what it is unless given: the very word, or "(what it is found by)" */
	const char *example;  /* on one line */
	const char *help;     /* lower case, no full stop */
	const char *words;    /* of a choice: "auto|none" */
	unsigned least, most; /* of a number */
	bool may_be_all;      /* "max" is a value, too: as much as the host has */
	enum file_effect effect;

	/* What its words must be, if no option of `start` says it; may be NULL. */
	int (*check)(const char *word, struct error *err);
	int (*check_size)(uint64_t bytes, struct error *err);

	bool has_member;     /* it is kept where the next say; else the reader knows what it is */
	size_t wanted;       /* in struct cluster_options; */
	size_t given;        /* of a flag: likewise, what says that it was given */
	size_t kept;         /* in struct profile; */
	size_t node_wanted;  /* in struct node_options; */
	size_t node_kept;    /* in struct node */
	bool chosen_for_you; /* a free one is taken unless given; see profile.h */
};

extern const struct file_field file_fields[]; /* ended by one without a name */

/* Loop over all fields with the `const struct file_field *` variable FIELD. */
#define file_for_each_field(field) for (field = file_fields; field->name; field++)

/* The part of FIELD's name behind the last dot: its key. */
const char *file_field_key(const struct file_field *field);

/* Whether FIELD is in the map called IN ("network"; "" is the file itself) at PLACE. */
bool file_field_is_in(const struct file_field *field, enum file_place place, const char *in);

/* The member of FIELD, which is no list, as it is written in a file; NULL if it is not set, for the
 * caller to free. */
char *file_member_text(const struct file_field *field, const void *member) must_check;

/* Copy the member of FIELD; a word is still the same one, a list is another. */
void file_copy_member(const struct file_field *field, const void *from, void *to);

/* The same, where words belong to what they are in: what was in TO is released. */
void file_own_member(const struct file_field *field, const void *from, void *to);

/* FIELD as it is called in the whole file: "nodes[].memory", for the caller to free. */
char *file_field_path(const struct file_field *field, enum file_place place) must_check;

/* What FIELD means, is, and is unless given, in one sentence; for the caller to free. */
char *file_field_summary(const struct file_field *field) must_check;

/* What FIELD is unless given, for people; "" if nothing, for the caller to free. */
char *file_field_usual(const struct file_field *field) must_check;

/* What a value of FIELD is, "a number from 1 to 65535", for the caller to free. */
char *file_field_type_words(const struct file_field *field) must_check;
