/* Files that services wait for: seen by inotify once they are complete, in directories that need
 * not exist yet. */
#pragma once

#include <stdbool.h>

struct watch {
	const char *path;
	bool there; /* found complete; set to false to wait for it anew, then call watch_look() */
	int dir;    /* the inotify watch, of the file's directory or the nearest one above */
};

/* The descriptor to poll, or -1. */
int watch_open(void);

/* Look for the file of WATCH, and be told of changes where it is missing. */
void watch_look(struct watch *watch);

/* Read the events that came and look again for what was missing of the COUNT WATCHES. */
void watch_read(struct watch *watches, unsigned count);
