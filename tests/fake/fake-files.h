/* The files of nodes in a fake world, in a place of its own: not where a real driver has them. */
#pragma once

#include "driver/files.h"

extern const struct node_files fake_files;

/* The file of a node that has what its agent says; without it there is no agent. */
#define FAKE_STATE "/agent-state"

/* Keep the files of all nodes in DIR. */
void fake_files_use(const char *dir);

/* Where the file PATH ("/etc/hosts") of the node NAME is, for the caller to free. */
char *fake_files_path(const char *name, const char *path) must_check;

/* Add the names of all nodes that have files. */
void fake_files_nodes(struct strlist *ret);
