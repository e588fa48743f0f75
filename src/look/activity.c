/* What a command is doing to a cluster. */

#include "look/activity.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "look/health.h"

#define EVENTS_LIMIT (16 << 20)

/* The words before the names of nodes in the failure of a wait: see cluster/wait.c. */
#define WAITED_FOR "waiting for nodes: "

/* The words before the name in the failure of a driver. */
#define CANNOT_START "cannot start node '"

static void replace_text_member(char **to, const json_t *text)
{
	free(*to);
	*to = json_is_string(text) ? xstrdup(json_string_value(text)) : NULL;
}

static void take_event(const char *line, struct activity *ret)
{
	json_auto_t *event = json_loads(line, 0, NULL);
	const char *type = json_string_value(json_object_get(event, "type"));
	const json_t *data = json_object_get(event, "data");

	if (!type)
		return;
	if (strcmp(type, "io.manykube.step") == 0) {
		replace_text_member(&ret->step, json_object_get(data, "name"));
		replace_text_member(&ret->step_detail, json_object_get(data, "message"));
		replace_text_member(&ret->failure, NULL);
	} else if (strcmp(type, "io.manykube.error") == 0) {
		replace_text_member(&ret->failure, json_object_get(data, "message"));
	}
}

void activity_parse(const char *text, struct activity *ret)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	const char *line;

	strlist_split(&lines, text, '\n');
	strlist_for_each(line, &lines)
		take_event(line, ret);
}

void activity_read(const struct profile *profile, struct activity *ret)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/logs/events.json", profile->dir);

	*ret = ACTIVITY_INIT;
	ret->busy_with = profile_lock_holder(profile->name);
	if (file_read(path, EVENTS_LIMIT, &text, NULL) == 0)
		activity_parse(text.text, ret);
	/* The last step of a command that has succeeded does not matter, nor do those of another
	 * command than the one at work, which may record none. */
	if ((!ret->busy_with && !ret->failure) ||
	    (ret->busy_with && !profile_lock_is_older(profile->name, path))) {
		replace_text_member(&ret->step, NULL);
		replace_text_member(&ret->step_detail, NULL);
	}
}

/* Whether NAME is not the name of a node, or that of an unhealthy node of the cluster. */
static bool is_still_sick(const struct cluster_status *status, const char *name)
{
	for (size_t i = 0; i < status->count; i++)
		if (strcmp(status->nodes[i].node->name, name) == 0)
			return health_of_node(&status->nodes[i]) != HEALTH_OK;
	return !parse_is_dns_label(name);
}

/* Whether FAILURE is that of a start of a node that is gone or well by now. */
static bool is_about_well_start(const char *failure, const struct cluster_status *status)
{
	const char *words = strstr(failure, CANNOT_START);
	const char *begin = words ? words + strlen(CANNOT_START) : NULL;
	cleanup_free char *name = begin ? xstrndup(begin, strcspn(begin, "'")) : NULL;

	return name && !is_still_sick(status, name);
}

/* Whether FAILURE is about nodes that are all gone or well by now. */
static bool is_about_well_nodes(const char *failure, const struct cluster_status *status)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *list = strstr(failure, WAITED_FOR);
	const char *name;

	if (!list)
		return is_about_well_start(failure, status);
	strlist_split(&names, list + strlen(WAITED_FOR), ',');
	strlist_for_each(name, &names)
		if (is_still_sick(status, name + strspn(name, " ")))
			return false;
	return true;
}

void activity_settle(struct activity *activity, const struct cluster_status *status)
{
	enum health health = health_of_cluster(status, NULL);

	if (!activity->failure)
		return;
	if (health != HEALTH_OK && health != HEALTH_HAPPY &&
	    !is_about_well_nodes(activity->failure, status))
		return;
	replace_text_member(&activity->failure, NULL);
	if (!activity->busy_with) {
		replace_text_member(&activity->step, NULL);
		replace_text_member(&activity->step_detail, NULL);
	}
}

void activity_release(struct activity *activity)
{
	free(activity->busy_with);
	free(activity->step);
	free(activity->step_detail);
	free(activity->failure);
	*activity = ACTIVITY_INIT;
}
