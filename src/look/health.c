/* The health of a cluster. */

#include "look/health.h"

#include <string.h>

#include "base/advice.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "kubeadm/members.h"
#include "look/readiness.h"

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
	{ "Misconfigured", HEALTH_ERROR }, { "Unresponsive", HEALTH_ERROR },
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

enum health health_of_parts(const struct node_status *status)
{
	enum health host = health_of_word(status->host);
	enum health kubelet = health_of_word(status->kubelet);
	enum health apiserver = health_of_word(status->apiserver);

	if (host != HEALTH_OK)
		return host;
	if (kubelet == HEALTH_OK && !status->broken && apiserver == HEALTH_OK)
		return HEALTH_OK;
	if (kubelet == HEALTH_PAUSED)
		return HEALTH_PAUSED;
	return apiserver == HEALTH_UNKNOWN ? HEALTH_UNKNOWN : HEALTH_ERROR;
}

enum health health_of_node(const struct node_status *status)
{
	enum health health = health_of_parts(status);

	if (health != HEALTH_OK || readiness_is_well(status))
		return health;
	if (status->pressure)
		return HEALTH_DEGRADED;
	return strcmp(status->readiness, "Unknown") == 0 ? HEALTH_UNKNOWN : HEALTH_ERROR;
}

/* The health during COMMAND; HEALTH_UNKNOWN if it does not affect the health. */
static enum health health_of_doing(const char *command)
{
	for (size_t i = 0; command && i < ARRAY_SIZE(doings); i++)
		if (strcmp(doings[i].command, command) == 0)
			return doings[i].health;
	return HEALTH_UNKNOWN;
}

static bool is_shut(const struct cluster_status *status)
{
	return status->front_door && health_of_word(status->front_door) != HEALTH_OK;
}

enum health health_of_cluster(const struct cluster_status *status, const char *busy_with)
{
	size_t well = 0;
	size_t paused = 0;
	size_t stopped = 0;
	size_t absent = 0;
	size_t unknown = 0;
	struct quorum quorum = health_quorum(status, busy_with);
	enum health doing = health_of_doing(busy_with);

	for (size_t i = 0; i < status->count; i++) {
		enum health health = health_of_parts(&status->nodes[i]);

		well += health_of_node(&status->nodes[i]) == HEALTH_OK ||
			node_status_is_registered(&status->nodes[i]);
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
	if (!quorum_has_majority(&quorum))
		return unknown > 0 ? HEALTH_UNKNOWN : HEALTH_ERROR;
	if (well < status->count || is_shut(status))
		return HEALTH_DEGRADED;
	return quorum.members >= 3 ? HEALTH_HAPPY : HEALTH_OK;
}

enum health health_if_finished(const struct profile *profile, enum health health)
{
	bool is_well = health == HEALTH_OK || health == HEALTH_HAPPY;

	return is_well && (profile->deleting || profile->upgrading_from) ? HEALTH_DEGRADED : health;
}

/* The primary is the first member, even while it is being created. */
static bool is_member(const struct node *node)
{
	return node->phase == NODE_JOINED || node->primary;
}

/* Count a control plane that is not a member. `apply` may both add and remove members. */
static void count_outsider(const struct node_status *status, const char *busy_with,
			   struct quorum *quorum)
{
	bool ends_nodes = busy_with && (strstr(busy_with, " stop") || strstr(busy_with, " delete"));

	if (status->node->phase == NODE_LEAVING)
		quorum->leaving++;
	else if (health_of_word(status->host) != HEALTH_OK)
		quorum->stopped++;
	else if (ends_nodes)
		quorum->leaving++;
	else if (readiness_is_being_brought_up(busy_with) && !strstr(busy_with, " apply"))
		quorum->joining++;
	else
		quorum->outside++;
}

/* Whether a member of a cluster that is running is down: a stopped control plane is no member. */
static bool has_failed(const struct node_status *node)
{
	enum health health = health_of_parts(node);

	return health != HEALTH_OK && health != HEALTH_PAUSED;
}

struct quorum health_quorum(const struct cluster_status *status, const char *busy_with)
{
	struct quorum quorum = { 0 };
	bool any_runs = false;

	for (size_t i = 0; i < status->count; i++) {
		const struct node_status *node = &status->nodes[i];

		if (!node->node->control_plane)
			continue;
		if (is_member(node->node)) {
			quorum.members++;
			quorum.healthy += health_of_parts(node) == HEALTH_OK;
			quorum.running += health_of_word(node->host) == HEALTH_OK &&
					  health_of_parts(node) != HEALTH_PAUSED;
			quorum.answering += health_of_word(node->host) == HEALTH_OK &&
					    health_of_word(node->apiserver) == HEALTH_OK;
			quorum.paused += health_of_parts(node) == HEALTH_PAUSED;
			quorum.failed += has_failed(node);
			any_runs |= health_of_word(node->host) == HEALTH_OK;
		} else {
			count_outsider(node, busy_with, &quorum);
		}
	}
	if (busy_with || !any_runs)
		quorum.failed = 0;
	return quorum;
}

bool quorum_has_majority(const struct quorum *quorum)
{
	unsigned needed = members_majority(quorum->members);

	return quorum->healthy >= needed || (quorum->answering > 0 && quorum->running >= needed);
}

unsigned quorum_may_fail(const struct quorum *quorum)
{
	unsigned needed = members_majority(quorum->members);

	return quorum->healthy > needed ? quorum->healthy - needed : 0;
}

unsigned quorum_total(const struct quorum *quorum)
{
	return quorum->members + quorum->joining + quorum->leaving + quorum->outside +
	       quorum->stopped;
}

/* "; 2 are stopped, 1 is joining": those without a member of etcd. */
static void add_others(struct strbuf *words, const struct quorum *quorum)
{
	const struct {
		unsigned count;
		const char *are;
	} others[] = {
		{ quorum->stopped, "stopped" },
		{ quorum->joining, "joining" },
		{ quorum->leaving, "leaving" },
		{ quorum->outside, "not in etcd" },
	};
	const char *before = "; ";

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (others[i].count == 0)
			continue;
		strbuf_addf(words, "%s%u %s %s", before, others[i].count,
			    others[i].count == 1 ? "is" : "are", others[i].are);
		before = ", ";
	}
}

/* What to do if too few members are healthy; a paused one is not lost. */
static const char *majority_remedy(const struct quorum *quorum)
{
	if (quorum->paused > 0)
		return "'manykube unpause' resumes paused nodes";
	if (quorum_total(quorum) < 2)
		return "'manykube start' starts it";
	/* Recovering discards what only lost members know: no advice for members that may come back
	 * by themselves or with a start. */
	if (quorum->members < 2 || quorum->failed == 0)
		return "'manykube start' starts them";
	return "'manykube start' starts them; if some are lost for good, 'manykube node recover' "
	       "continues with one";
}

char *quorum_words(const struct quorum *quorum)
{
	unsigned needed = members_majority(quorum->members);
	unsigned may_fail = quorum_may_fail(quorum);
	unsigned total = quorum_total(quorum);
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (quorum->healthy < needed && quorum_has_majority(quorum)) {
		strbuf_addf(&text, "%u of %u API servers answer", quorum->answering,
			    quorum->members);
		add_others(&text, quorum);
		return strbuf_take(&text);
	}
	strbuf_addf(&text, "%u of %u healthy", quorum->healthy, total);
	if (quorum->healthy < needed && total > 1)
		strbuf_addf(&text, ", %u needed", needed);
	if (quorum->healthy < needed)
		strbuf_addf(&text, ": %s", majority_remedy(quorum));
	else if (may_fail > 0)
		strbuf_addf(&text, ", %u%s may fail", may_fail,
			    quorum->healthy == total ? "" : " more");
	else if (total > 1)
		strbuf_add(&text, ", tolerates no failure");
	add_others(&text, quorum);
	return advice_complete(text.text);
}
