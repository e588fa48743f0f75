/* How well a cluster is. */

#include "cluster/health.h"

#include <string.h>

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "cluster/members.h"

static const struct {
	enum health health;
	const char *name;
} names[] = {
	{ HEALTH_STARTING, "Starting" },   { HEALTH_PAUSING, "Pausing" },
	{ HEALTH_UNPAUSING, "Unpausing" }, { HEALTH_STOPPING, "Stopping" },
	{ HEALTH_DELETING, "Deleting" },   { HEALTH_OK, "OK" },
	{ HEALTH_HAPPY, "HAppy" },         { HEALTH_DEGRADED, "Degraded" },
	{ HEALTH_NOT_FOUND, "NotFound" },  { HEALTH_STOPPED, "Stopped" },
	{ HEALTH_PAUSED, "Paused" },       { HEALTH_ERROR, "Error" },
};

static const struct {
	const char *word;
	enum health health;
} parts[] = {
	{ "Running", HEALTH_OK },          { "Configured", HEALTH_OK },
	{ "Irrelevant", HEALTH_OK },       { "Paused", HEALTH_PAUSED },
	{ "Stopped", HEALTH_STOPPED },     { "Nonexistent", HEALTH_NOT_FOUND },
	{ "Misconfigured", HEALTH_ERROR },
};

static const struct {
	const char *command;
	enum health health;
} doings[] = {
	{ "manykube start", HEALTH_STARTING },    { "manykube stop", HEALTH_STOPPING },
	{ "manykube delete", HEALTH_DELETING },   { "manykube pause", HEALTH_PAUSING },
	{ "manykube unpause", HEALTH_UNPAUSING },
};

const char *health_name(enum health health)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].health == health)
			return names[i].name;
	return "Unknown";
}

const char *health_word(enum health health)
{
	return health == HEALTH_OK || health == HEALTH_HAPPY ? "Running" : health_name(health);
}

enum health health_of_word(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strcmp(parts[i].word, word) == 0)
			return parts[i].health;
	return HEALTH_UNKNOWN;
}

enum health health_of_node(const struct node_status *status)
{
	enum health host = health_of_word(status->host);
	enum health kubelet = health_of_word(status->kubelet);
	enum health apiserver = health_of_word(status->apiserver);

	if (host != HEALTH_OK)
		return host;
	if (kubelet == HEALTH_OK && apiserver == HEALTH_OK)
		return HEALTH_OK;
	if (kubelet == HEALTH_PAUSED)
		return HEALTH_PAUSED;
	return apiserver == HEALTH_UNKNOWN ? HEALTH_UNKNOWN : HEALTH_ERROR;
}

/* What is being done to the cluster; HEALTH_UNKNOWN if nothing that makes it another one. */
static enum health health_of_doing(const char *command)
{
	for (size_t i = 0; command && i < ARRAY_SIZE(doings); i++)
		if (strcmp(doings[i].command, command) == 0)
			return doings[i].health;
	return HEALTH_UNKNOWN;
}

enum health health_of_cluster(const struct cluster_status *status, const char *busy_with)
{
	size_t well = 0;
	size_t paused = 0;
	size_t stopped = 0;
	size_t absent = 0;
	size_t unknown = 0;
	struct quorum quorum = health_quorum(status);
	enum health doing = health_of_doing(busy_with);

	for (size_t i = 0; i < status->count; i++) {
		enum health health = health_of_node(&status->nodes[i]);

		well += health == HEALTH_OK;
		paused += health == HEALTH_PAUSED;
		stopped += health == HEALTH_STOPPED;
		absent += health == HEALTH_NOT_FOUND;
		unknown += health == HEALTH_UNKNOWN;
	}
	if (doing != HEALTH_UNKNOWN)
		return doing;
	if (absent == status->count)
		return HEALTH_NOT_FOUND;
	if (absent + stopped == status->count)
		return HEALTH_STOPPED;
	if (paused > 0 && absent + stopped + paused == status->count)
		return HEALTH_PAUSED;
	if (quorum.healthy < members_majority(quorum.members))
		return unknown > 0 ? HEALTH_UNKNOWN : HEALTH_ERROR;
	if (well < status->count)
		return HEALTH_DEGRADED;
	return quorum.members >= 3 ? HEALTH_HAPPY : HEALTH_OK;
}

struct quorum health_quorum(const struct cluster_status *status)
{
	struct quorum quorum = { 0 };

	for (size_t i = 0; i < status->count; i++) {
		const struct node_status *node = &status->nodes[i];

		/* The primary is the first one, also while it is being made. */
		if (!node->node->control_plane ||
		    (node->node->phase != NODE_JOINED && !node->node->primary))
			continue;
		quorum.members++;
		quorum.healthy += health_of_node(node) == HEALTH_OK;
		quorum.paused += health_of_node(node) == HEALTH_PAUSED;
	}
	return quorum;
}

unsigned quorum_may_fail(const struct quorum *quorum)
{
	unsigned needed = members_majority(quorum->members);

	return quorum->healthy > needed ? quorum->healthy - needed : 0;
}

/* What to do if fewer members than NEEDED are healthy; one that is paused is not lost. */
static char *missing_majority(const struct quorum *quorum, unsigned needed)
{
	const char *remedy = "'manykube start' brings them up; if some are lost for good, "
			     "'manykube node recover' goes on with one";
	cleanup_free char *text = NULL;

	if (quorum->paused > 0)
		remedy = "'manykube unpause' lets what is paused go on";
	else if (quorum->members < 2)
		remedy = "'manykube start' brings it up";
	if (quorum->members < 2)
		text = xasprintf("%u of %u healthy: %s", quorum->healthy, quorum->members, remedy);
	else
		text = xasprintf("%u of %u healthy, and %u are needed: %s", quorum->healthy,
				 quorum->members, needed, remedy);
	return advice_complete(text);
}

char *quorum_words(const struct quorum *quorum)
{
	unsigned needed = members_majority(quorum->members);
	unsigned may_fail = quorum_may_fail(quorum);
	bool all = quorum->healthy == quorum->members;

	if (quorum->members > 0 && quorum->healthy < needed)
		return missing_majority(quorum, needed);
	if (quorum->members < 2)
		return xasprintf("%u of %u healthy", quorum->healthy, quorum->members);
	if (may_fail > 0)
		return xasprintf("%u of %u healthy, %u%s may fail", quorum->healthy,
				 quorum->members, may_fail, all ? "" : " more");
	return xasprintf("%u of %u healthy, none may fail", quorum->healthy, quorum->members);
}
