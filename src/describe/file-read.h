/* What the readers of cluster files share. */
#pragma once

#include "describe/file-fields.h"
#include "describe/file.h"
#include "record/options.h"

struct file_reader {
	struct cluster_file *file;
	bool has_version; /* see cluster_file_before */
	struct error *err;
};

/* What is wrong at PLACE: -EBADMSG with reason_cluster_file. */
int file_wrong(struct file_reader *reader, struct yaml_place place, const char *fmt, ...)
	printf_like(3, 4);

/* What a check that failed with R has said is about PLACE. */
int file_wrong_there(struct file_reader *reader, struct yaml_place place, int r, const char *key);

/* Keep TEXT, which is taken over, as long as the file. */
const char *file_keep(struct file_reader *reader, char *text);

/* Read a file of our own, or of kind's: apiVersion and kind are known already. */
int file_read_own(struct file_reader *reader, const struct yaml_value *root);
int file_read_kind(struct file_reader *reader, const struct yaml_value *root);

/* PATH of this host, taken to begin in the file's directory, for the caller to free. */
char *file_absolute_path(const struct file_reader *reader, const char *path) must_check;

/* Add a node without settings, which is described at PLACE, and return it; earlier pointers to
 * nodes are no longer valid. */
struct node_options *file_add_node(struct file_reader *reader, struct yaml_place place);
