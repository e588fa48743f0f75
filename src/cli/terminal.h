/* Running a program in a node as if it ran here: with its own terminal if we have one. */
#pragma once

#include "driver/driver.h"

/*
 * Run ARGV in the node; returns its exit status; for a command that cannot be run or does not
 * exist, the exit status is as in a shell, 126 or 127. On a terminal it gets a pseudo-terminal that
 * belongs to the node, follows our window's size and takes every key, Ctrl-C too; otherwise our own
 * stdin, stdout and stderr.
 */
int terminal_run(const struct node_driver *driver, const struct node_spec *spec, char *const *argv,
		 struct error *err);
