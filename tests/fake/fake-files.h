/* The files of nodes in a fake world, stored in another place than those of real drivers. */
#pragma once

#include "driver/files.h"

extern const struct node_files fake_files;

/* The file of a node with the state written by its agent; without it, there is no agent. */
#define FAKE_STATE "/agent-state"

/* If not 0, what nodes answer when they are asked for files, and how often they were asked. */
extern int fake_files_failure;
extern unsigned fake_files_questions;

/* Keep the files of all nodes in DIR. */
void fake_files_use(const char *dir);

/* The path on the host of the file PATH ("/etc/hosts") of the node NAME; the caller frees it. */
char *fake_files_path(const char *name, const char *path) must_check;

/* Add the names of all nodes that have files to RET. */
void fake_files_nodes(struct strlist *ret);
