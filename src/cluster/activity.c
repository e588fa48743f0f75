/* What is being done to a cluster. */

#include "cluster/activity.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"

#define EVENTS_LIMIT (16 << 20)

static void replace(char **to, const json_t *text)
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
		replace(&ret->step, json_object_get(data, "name"));
		replace(&ret->step_detail, json_object_get(data, "message"));
		replace(&ret->failure, NULL);
	} else if (strcmp(type, "io.manykube.error") == 0) {
		replace(&ret->failure, json_object_get(data, "message"));
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
	cleanup_free char *path = xasprintf("%s/logs/events.json", profile->folder);

	*ret = ACTIVITY_INIT;
	ret->busy_with = profile_lock_holder(profile->name);
	if (file_read(path, EVENTS_LIMIT, &text, NULL) == 0)
		activity_parse(text.text, ret);
	/* The last step of what has ended well is of no interest. */
	if (!ret->busy_with && !ret->failure) {
		replace(&ret->step, NULL);
		replace(&ret->step_detail, NULL);
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
