/* What a start does with a node, and why. */
#pragma once

#include "record/profile.h"

enum node_need {
	NODE_NEEDS_NOTHING,  /* it runs */
	NODE_NEEDS_JOIN,     /* it has not joined the cluster; it may run */
	NODE_NEEDS_START,    /* it does not run, or is shutting down */
	NODE_NEEDS_UNPAUSE,  /* it is frozen */
	NODE_NEEDS_UNCORDON, /* it runs, but a command that drained it did not finish */
};

/* What NODE of PROFILE needs: the first thing that is true, except that a node that is down may
 * also have to be uncordoned. */
enum node_need node_need_find(const struct profile *profile, const struct node *node);

/* What is done, and why: "is started: it is down"; NULL if it needs nothing. */
const char *node_need_words(enum node_need need);

/* What a start would do: "would be started", "runs". */
const char *node_need_prospect(enum node_need need);
