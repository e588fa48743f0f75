/* The directories of a store, and of what comes into it. */
#pragma once

#include "base/error.h"
#include "base/strlist.h"

#define STORE_INCOMING "incoming."

struct store_files {
	int top;
	int blobs;
	int layers;
};

#define STORE_FILES_INIT ((struct store_files){ .top = -1, .blobs = -1, .layers = -1 })

/* Open the directory PATH in AT and its two subdirectories, making these if MAKE. */
int store_files_open(int at, const char *path, bool make, struct store_files *ret,
		     struct error *err);

void store_files_close(struct store_files *files);

/* Add the names of all entries of the directory FD to RET. */
int store_files_list(int fd, struct strlist *ret, struct error *err);

/* Remove what killed commands left. */
int store_files_remove_incoming(const struct store_files *files, struct error *err);
