/* How well a cluster is. */

#include "cluster/health.h"

#include <string.h>

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
	size_t control_planes = 0;
	size_t well_control_planes = 0;
	enum health doing = health_of_doing(busy_with);

	for (size_t i = 0; i < status->count; i++) {
		bool control_plane = status->nodes[i].node->control_plane;
		enum health health = health_of_node(&status->nodes[i]);

		well += health == HEALTH_OK;
		paused += health == HEALTH_PAUSED;
		stopped += health == HEALTH_STOPPED;
		absent += health == HEALTH_NOT_FOUND;
		unknown += health == HEALTH_UNKNOWN;
		control_planes += control_plane;
		well_control_planes += control_plane && health == HEALTH_OK;
	}
	if (doing != HEALTH_UNKNOWN)
		return doing;
	if (absent == status->count)
		return HEALTH_NOT_FOUND;
	if (absent + stopped == status->count)
		return HEALTH_STOPPED;
	if (paused > 0 && absent + stopped + paused == status->count)
		return HEALTH_PAUSED;
	if (well_control_planes < control_planes / 2 + 1)
		return unknown > 0 ? HEALTH_UNKNOWN : HEALTH_ERROR;
	if (well < status->count)
		return HEALTH_DEGRADED;
	return control_planes >= 3 ? HEALTH_HAPPY : HEALTH_OK;
}
