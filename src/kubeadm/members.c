/* The members of the cluster's etcd. */

#include "kubeadm/members.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "node/cluster-node.h"
#include "record/world.h"

/* etcd refuses to remove a member until all members have been connected for 5 s, which new members
 * have not. */
#define SETTLE_SECONDS 30
#define SETTLE_POLL_MS 200

/* Send a request to the first member that answers, except for the one at the address EXCEPT (may be
 * NULL). */
static int request_any_member(const struct profile *profile, const char *except, const char *path,
			      const json_t *body, json_t **ret_answer, struct error *err)
{
	const struct node *node;
	bool asked = false;
	int r = -ESRCH;

	profile_for_each_node(node, profile) {
		if (!node->control_plane || node->phase != NODE_JOINED ||
		    (except && strcmp(node->address, except) == 0) ||
		    !cluster_node_is_awake(profile, node))
			continue;
		if (asked && err)
			error_clear(err);
		asked = true;
		r = world->etcd(profile, node, path, body, ret_answer, err);
		if (r == 0)
			return 0;
	}
	if (asked)
		return error_reason(err, r, &reason_control_plane);
	(void)error_because(err, &reason_api_not_running, r,
			    "no %scontrol plane of cluster '%s' runs", except ? "other " : "",
			    profile->name);
	return error_hint(err, r, "'manykube start' brings them up");
}

/* The host in "https://192.168.39.2:2380". */
static char *host_of(const char *url)
{
	const char *host = url ? strstr(url, "://") : NULL;

	return host ? xstrndup(host + 3, strcspn(host + 3, ":/")) : xstrdup("");
}

static void add_member(struct members *members, const json_t *object)
{
	const char *id = json_string_value(json_object_get(object, "ID"));
	const char *name = json_string_value(json_object_get(object, "name"));
	const json_t *peers = json_object_get(object, "peerURLs");

	members->items = xrealloc(members->items, members->count + 1, sizeof(*members->items));
	members->items[members->count++] = (struct member){
		.id = xstrdup(id ? id : ""),
		.name = xstrdup(name ? name : ""),
		.address = host_of(json_string_value(json_array_get(peers, 0))),
		.learner = json_is_true(json_object_get(object, "isLearner")),
	};
}

int members_read(const struct profile *profile, struct members *ret, struct error *err)
{
	json_auto_t *nothing = json_object();
	json_auto_t *answer = NULL;
	const json_t *list;
	int r = request_any_member(profile, NULL, "/v3/cluster/member/list", nothing, &answer, err);

	if (r < 0)
		return error_prefix(err, r, "cannot list the members of etcd");
	list = json_object_get(answer, "members");
	for (size_t i = 0; i < json_array_size(list); i++)
		add_member(ret, json_array_get(list, i));
	return 0;
}

void members_release(struct members *members)
{
	for (size_t i = 0; i < members->count; i++) {
		free(members->items[i].id);
		free(members->items[i].name);
		free(members->items[i].address);
	}
	free(members->items);
	*members = MEMBERS_INIT;
}

const struct member *members_find(const struct members *members, const struct node *node)
{
	for (size_t i = 0; i < members->count; i++)
		if (strcmp(members->items[i].address, node->address) == 0)
			return &members->items[i];
	return NULL;
}

static int remove_member(const struct profile *profile, const struct member *member,
			 int64_t deadline_ms, struct error *err)
{
	json_auto_t *body = json_pack("{s:s}", "ID", member->id);
	int r;

	while ((r = request_any_member(profile, member->address, "/v3/cluster/member/remove", body,
				       NULL, err)) == -EAGAIN &&
	       clock_poll(deadline_ms, SETTLE_POLL_MS))
		error_clear(err);
	return r < 0 ? error_prefix(err, r, "cannot remove the member at %s from etcd",
				    member->address)
		     : 0;
}

int members_remove(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(members_release) struct members members = MEMBERS_INIT;
	const struct member *member;
	int r = members_read(profile, &members, err);

	if (r < 0)
		return r;
	member = members_find(&members, node);
	return member ? remove_member(profile, member, clock_now_ms() + SETTLE_SECONDS * 1000, err)
		      : 0;
}

int members_remove_named(const struct profile *profile, const char *name, struct error *err)
{
	cleanup_with(members_release) struct members members = MEMBERS_INIT;
	int64_t deadline = clock_now_ms() + SETTLE_SECONDS * 1000;
	int r = members_read(profile, &members, err);

	/* The list is etcd's, which a control plane's root can make as long as it wants. */
	for (size_t i = 0; r == 0 && i < members.count; i++) {
		if (strcmp(members.items[i].name, name) != 0)
			continue;
		if (clock_left_ms(deadline) == 0)
			return error_set(err, -ETIMEDOUT,
					 "cannot remove all members '%s' from etcd within %d s",
					 name, SETTLE_SECONDS);
		r = remove_member(profile, &members.items[i], deadline, err);
	}
	return r;
}

int members_leads(const struct profile *profile, const struct node *node, const struct member *own,
		  bool *ret_leads, struct error *err)
{
	json_auto_t *nothing = json_object();
	json_auto_t *answer = NULL;
	const char *leader;
	int r = world->etcd(profile, node, "/v3/maintenance/status", nothing, &answer, err);

	if (r < 0)
		return r;
	leader = json_string_value(json_object_get(answer, "leader"));
	*ret_leads = leader && strcmp(leader, own->id) == 0;
	return 0;
}

int members_pass_lead(const struct profile *profile, const struct node *node,
		      const struct member *next, struct error *err)
{
	json_auto_t *body = json_pack("{s:s}", "targetID", next->id);

	return world->etcd(profile, node, "/v3/maintenance/transfer-leadership", body, NULL, err);
}

unsigned members_majority(unsigned count)
{
	return count / 2 + 1;
}

struct members_tally members_tally(const struct profile *profile, const struct strlist *except)
{
	struct members_tally tally = { .count = (unsigned)profile->lost_members.count };
	const struct node *node;

	profile_for_each_node(node, profile) {
		bool is_awake;

		if (!node->control_plane || node->phase != NODE_JOINED)
			continue;
		tally.count++;
		if (except && strlist_has(except, node->name))
			continue;
		is_awake = cluster_node_is_awake(profile, node);
		tally.running += is_awake;
		tally.paused += !is_awake && cluster_node_state(profile, node) == NODE_RUNNING;
	}
	return tally;
}

int members_hint_lost(int code, struct error *err)
{
	return error_hint(err, code,
			  "nothing was changed; restore what is missing from a backup, and run "
			  "'manykube start' again; if it is lost for good, 'manykube node recover' "
			  "continues with what is left");
}

int members_hint_majority(const struct profile *profile, int code, struct error *err)
{
	if (members_tally(profile, NULL).paused > 0)
		return error_hint(err, code, "'manykube unpause' resumes the paused ones");
	return error_hint(err, code,
			  "'manykube start' brings all up; if some are lost for good, 'manykube "
			  "node recover' continues without them");
}

/* Whether so many control planes are paused that the others have no majority. */
static bool majority_is_paused(const struct profile *profile)
{
	struct members_tally tally = members_tally(profile, NULL);

	return tally.paused > 0 && tally.running < members_majority(tally.count);
}

int cluster_need_awake(const struct profile *profile, struct error *err)
{
	if (!majority_is_paused(profile))
		return 0;
	error_because(err, &reason_api_not_running, -EBUSY,
		      "the control plane of cluster '%s' is paused", profile->name);
	return error_hint(err, -EBUSY, "'manykube unpause' resumes it");
}
