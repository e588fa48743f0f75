/* Functions shared by the readers of cluster files. */
#pragma once

#include "describe/file-fields.h"
#include "describe/file.h"
#include "record/options.h"

struct file_reader {
	struct cluster_file *file;
	bool has_version; /* see cluster_file_before */
	struct error *err;
};

/* Report an error at PLACE: -EBADMSG with reason_cluster_file. */
int file_wrong(struct file_reader *reader, struct yaml_place place, const char *fmt, ...)
	printf_like(3, 4);

/* Add PLACE and KEY to the error of a check that failed with R. */
int file_wrong_there(struct file_reader *reader, struct yaml_place place, int r, const char *key);

/* Keep TEXT, which is taken over, as long as the file. */
const char *file_keep(struct file_reader *reader, char *text);

/* Read a file in manykube's format, or in kind's: apiVersion and kind have been checked. */
int file_read_own(struct file_reader *reader, const struct yaml_value *root);
int file_read_kind(struct file_reader *reader, const struct yaml_value *root);

/* PATH on this host, relative to the file's directory, for the caller to free. */
char *file_absolute_path(const struct file_reader *reader, const char *path) must_check;

/* Add a node without settings, which is described at PLACE, and return it.  Invalidates earlier
 * pointers to nodes. */
struct node_options *file_add_node(struct file_reader *reader, struct yaml_place place);
