/*
 * The file that describes a cluster.
 *
 * It is YAML, of the fields in describe/file-fields.c, or a file of kind's, which becomes the same
 * (describe/file-kind.c).  What is wrong with it is -EBADMSG (-ENOENT: there is none) with
 * reason_cluster_file, the words beginning with "FILE:LINE:COLUMN: ".
 *
 * A cluster that exists can be described in the same form, so what is and what is wanted can be
 * compared, and written as such a file again.
 */
#pragma once

#include <jansson.h>

#include "data/yaml.h"
#include "record/options.h"
#include "record/profile.h"

struct cluster_file {
	char *source;           /* what the file is called, for words about it */
	char *dir;              /* where its relative paths begin */
	struct yaml_value root; /* what texts point into, */
	struct strlist texts;   /* as they do into these */
	char *name;             /* of the cluster */
	struct cluster_options options;
	struct node_options *nodes; /* all with a name, the primary control plane first; empty: the
				       file does not say */
	size_t node_count;
	struct strlist given; /* the options of `start` that the file has values for */

	bool foreign; /* it is of kind's: what such a file can't say is left open */

	/* What of a file of kind's can't be had here, a sentence each. */
	struct strlist warnings;
};

#define CLUSTER_FILE_INIT ((struct cluster_file){ NULL })

/* What is known before a file is read. */
struct cluster_file_before {
	const char *name;       /* of the cluster, whatever the file says; NULL: as it says, or */
	const char *usual_name; /* if it says nothing */
	bool has_version; /* of Kubernetes: what a file of kind's says of it does not matter */
};

/* Read the file at PATH, "-" being what comes in. */
int cluster_file_read(const char *path, const struct cluster_file_before *before,
		      struct cluster_file *ret, struct error *err);

/* Read TEXT, which comes from what people call SOURCE. */
int cluster_file_parse(const char *source, const char *text, size_t len,
		       const struct cluster_file_before *before, struct cluster_file *ret,
		       struct error *err);

/* The node of FILE called NAME, or NULL. */
const struct node_options *cluster_file_node(const struct cluster_file *file, const char *name);

/*
 * Have OPTIONS be as FILE says, but for the options that are named in GIVEN, of mappings but for
 * the keys that these have; those that are taken are added to it.  OPTIONS points into FILE then.
 */
void cluster_file_take(const struct cluster_file *file, struct cluster_options *options,
		       struct strlist *given);

/* Describe PROFILE.  What was chosen for the person, such as a free subnet, is left out; if
 * RET_CHOSEN is not NULL, it is added there: "network.subnet 192.168.39.0/24". */
void cluster_file_describe(const struct profile *profile, struct cluster_file *ret,
			   struct strlist *ret_chosen);

/* FILE as JSON that cluster_file_parse() reads to the same, for the caller to release. */
json_t *cluster_file_to_json(const struct cluster_file *file) must_check;

void cluster_file_release(struct cluster_file *file);
