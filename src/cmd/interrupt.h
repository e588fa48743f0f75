/*
 * Ctrl-C in commands that change a cluster.
 *
 * It is safe at any moment, since the record on disk is always ahead of what was done: the program
 * just ends, but not without saying how to go on.
 */
#pragma once

/*
 * From now on, end with reason_interrupted when a signal asks us to.  PROFILE_NAME is the cluster
 * that can be removed instead of going on; NULL: that is what is being done.  RESUME is the command
 * that goes on with it ("manykube start"), NULL if it is the same one,
 * "" if there is no other choice either.
 */
void interrupt_explain(const char *profile_name, const char *resume);
