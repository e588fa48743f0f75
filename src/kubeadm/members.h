/*
 * The members of the cluster's etcd: one on every control plane that has joined.
 *
 * Writes, including changes of the members, need a majority of running members.  Requests go to
 * running control planes, one after another until one answers.
 */
#pragma once

#include "record/profile.h"

struct member {
	char *id;
	char *name;    /* the node's; empty for a member that was added but has not started */
	char *address; /* the node's */
	bool learner;  /* does not vote until it has caught up with the others */
};

struct members {
	struct member *items;
	size_t count;
};

#define MEMBERS_INIT ((struct members){ NULL })

int members_read(const struct profile *profile, struct members *ret, struct error *err);
void members_release(struct members *members);

/* The member of NODE, or NULL. */
const struct member *members_find(const struct members *members, const struct node *node);

/* Remove the member of NODE, or the one called NAME, through another member; succeeds if there is
 * none. */
int members_remove(const struct profile *profile, const struct node *node, struct error *err);
int members_remove_named(const struct profile *profile, const char *name, struct error *err);

/* Whether OWN, the member of NODE, is the leader. */
int members_leads(const struct profile *profile, const struct node *node, const struct member *own,
		  bool *ret_leads, struct error *err);

/* Transfer leadership from the member of NODE to NEXT; returns when NEXT leads. */
int members_pass_lead(const struct profile *profile, const struct node *node,
		      const struct member *next, struct error *err);

/* The number of members that is a majority of COUNT. */
unsigned members_majority(unsigned count);

/* The number of members of PROFILE, including those of deleted control planes that are still
 * members, and how many of them run or are paused, without those called EXCEPT (may be NULL). */
struct members_tally {
	unsigned count;
	unsigned running; /* without the paused ones */
	unsigned paused;
};

struct members_tally members_tally(const struct profile *profile, const struct strlist *except);

/*
 * Add a hint to ERR for the case that the directories of most members are missing, and return CODE.
 */
int members_hint_lost(int code, struct error *err);

/* Add a hint to ERR on how to restore etcd's majority, and return CODE.  A paused member is not
 * lost. */
int members_hint_majority(const struct profile *profile, int code, struct error *err);

/* -EBUSY with reason_api_not_running if the API cannot answer because control planes are paused. */
int cluster_need_awake(const struct profile *profile, struct error *err);
