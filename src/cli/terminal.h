/* Running a program in a node as if it ran here: with a terminal of its own when we have one. */
#pragma once

#include "driver/driver.h"

/*
 * Run ARGV in the node; returns its exit status; errors about a command that can't be run or is not
 * there have the exit status that a shell gives them, 126 and 127.  On a terminal it gets a
 * pseudo-terminal that belongs to the node, follows our window's size and takes every key, Ctrl-C
 * too; otherwise our own stdin, stdout and stderr.
 */
int terminal_run(const struct node_driver *driver, const struct node_spec *spec, char *const *argv,
		 struct error *err);
