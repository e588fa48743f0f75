/*
 * The members of the cluster's etcd: one on every control plane that has joined.
 *
 * A majority of them must run for anything to be written, a change of the members included.  They
 * are asked at control planes that run, one after another until one answers.
 */
#pragma once

#include "record/profile.h"

struct member {
	char *id;
	char *name;    /* the node's; empty for one that was announced and has not begun */
	char *address; /* the node's */
	bool learner;  /* takes part without a vote until it knows all that the others know */
};

struct members {
	struct member *items;
	size_t count;
};

#define MEMBERS_INIT ((struct members){ NULL })

int members_read(const struct profile *profile, struct members *ret, struct error *err);
void members_release(struct members *members);

/* The member that NODE is, or NULL. */
const struct member *members_find(const struct members *members, const struct node *node);

/* Have the others take out the member that NODE is, or the one called NAME; succeeds if there is
 * none. */
int members_remove(const struct profile *profile, const struct node *node, struct error *err);
int members_remove_named(const struct profile *profile, const char *name, struct error *err);

/* Whether the member OWN, which NODE is, leads the others. */
int members_leads(const struct profile *profile, const struct node *node, const struct member *own,
		  bool *ret_leads, struct error *err);

/* Have the member NEXT lead instead of the one that NODE is; returns when it does. */
int members_pass_lead(const struct profile *profile, const struct node *node,
		      const struct member *next, struct error *err);

/* How many of COUNT members are a majority. */
unsigned members_majority(unsigned count);

/* How many members PROFILE has, those of deleted control planes that etcd still counts included,
 * and how many of them run or are paused, those called EXCEPT (may be NULL) aside. */
struct members_tally {
	unsigned count;
	unsigned running; /* without those that are paused */
	unsigned paused;
};

struct members_tally members_tally(const struct profile *profile, const struct strlist *except);

/* Have ERR suggest what to do if the directories of most members are gone, and return CODE. */
int members_hint_lost(int code, struct error *err);

/* Have ERR suggest what gives etcd its majority back, and return CODE: a paused member is not lost.
 */
int members_hint_majority(const struct profile *profile, int code, struct error *err);

/* -EBUSY with reason_api_not_running if the API can't answer because control planes are paused. */
int cluster_need_awake(const struct profile *profile, struct error *err);
