/* Running a program in a node as if it ran here: with a terminal of its own when we have one. */
#pragma once

#include "node/driver.h"

/*
 * Run ARGV in the node; returns its exit status.  On a terminal it gets a pseudo-terminal
 * that belongs to the node, follows our window's size and takes every key, Ctrl-C too;
 * otherwise our own stdin, stdout and stderr.
 */
int terminal_run(const struct node_driver *driver, const struct node_spec *spec, char *const *argv,
		 struct error *err);
