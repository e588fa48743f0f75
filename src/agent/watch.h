/* Files that services wait for: detected with inotify once they are complete, even in directories
 * that do not exist yet. */
#pragma once

#include <stdbool.h>

struct watch {
	const char *path;
	bool there; /* the file is complete; to wait again, set to false and call watch_look() */
	int dir;    /* the inotify watch of the file's directory or its nearest existing parent */
};

/* Initialize; returns the descriptor to poll, or -1. */
int watch_open(void);

/* Check for the file of WATCH, and watch for it if it is missing. */
void watch_look(struct watch *watch);

/* Read pending events and check the missing files of the COUNT WATCHES again. */
void watch_read(struct watch *watches, unsigned count);
