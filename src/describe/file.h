/*
 * The file that describes a cluster.
 *
 * It is YAML with the fields in describe/file-fields.c, or a file of kind, which is converted to
 * the same (describe/file-kind.c).  An invalid file is -EBADMSG (-ENOENT if it does not exist) with
 * reason_cluster_file; the message begins with "FILE:LINE:COLUMN: ".
 *
 * An existing cluster can be described in the same form, so that the actual and the desired state
 * can be compared, and written as such a file.
 */
#pragma once

#include <jansson.h>

#include "data/yaml.h"
#include "record/options.h"
#include "record/profile.h"

struct cluster_file {
	char *source;           /* the name of the file in messages */
	char *dir;              /* the base of its relative paths */
	struct yaml_value root; /* texts point into it, */
	struct strlist texts;   /* or into these */
	char *name;             /* of the cluster */
	struct cluster_options options;
	struct node_options *nodes; /* all with a name, the primary control plane first; empty:
				       not in the file */
	size_t node_count;
	struct strlist given; /* the options of `start` that the file has values for */

	bool foreign; /* it is a file of kind: fields that kind does not have are left open */

	/* The parts of a file of kind that are not supported, a sentence each. */
	struct strlist warnings;
};

#define CLUSTER_FILE_INIT ((struct cluster_file){ NULL })

/* Options for reading a file. */
struct cluster_file_before {
	const char *name;       /* of the cluster, overrides the file; NULL: the file's name, or */
	const char *usual_name; /* this one if it has none */
	bool has_version;       /* a version is given, so that of a file of kind is ignored */
};

/* Read the file PATH; "-" is standard input. */
int cluster_file_read(const char *path, const struct cluster_file_before *before,
		      struct cluster_file *ret, struct error *err);

/* Parse TEXT, which comes from the file SOURCE. */
int cluster_file_parse(const char *source, const char *text, size_t len,
		       const struct cluster_file_before *before, struct cluster_file *ret,
		       struct error *err);

/* The node of FILE called NAME, or NULL. */
const struct node_options *cluster_file_node(const struct cluster_file *file, const char *name);

/*
 * Set OPTIONS from FILE, except for the options that are named in GIVEN; of mappings, except for
 * the keys that OPTIONS have.  The options that are set are added to GIVEN.  OPTIONS then points
 * into FILE.
 */
void cluster_file_take(const struct cluster_file *file, struct cluster_options *options,
		       struct strlist *given);

/* Describe PROFILE.  Values that were chosen automatically, such as a free subnet, are left out; if
 * RET_CHOSEN is not NULL, they are added there: "network.subnet 192.168.39.0/24". */
void cluster_file_describe(const struct profile *profile, struct cluster_file *ret,
			   struct strlist *ret_chosen);

/* FILE as JSON that cluster_file_parse() parses to the same, for the caller to release. */
json_t *cluster_file_to_json(const struct cluster_file *file) must_check;

void cluster_file_release(struct cluster_file *file);
