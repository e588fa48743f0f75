#include <jansson.h>

#include "base/file.h"
#include "base/parse.h"
#include "base/strlist.h"
#include "cli/events.h"
#include "cli/say.h"
#include "test.h"

static json_t *events_of(const char *dir)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_free char *path = xasprintf("%s/logs/events.json", dir);
	json_t *list = json_array();
	const char *line;

	ASSERT_OK(file_read(path, 1 << 22, &text, &err));
	strlist_split(&lines, text.text, '\n');
	strlist_for_each(line, &lines) {
		json_t *event = json_loads(line, 0, NULL);

		ASSERT(event);
		ASSERT_INT(json_array_append_new(list, event), 0);
	}
	return list;
}

static const char *data(const json_t *list, size_t i, const char *name)
{
	const json_t *event = json_array_get(list, i);

	return json_string_value(json_object_get(json_object_get(event, "data"), name));
}

static const char *type(const json_t *list, size_t i)
{
	return json_string_value(json_object_get(json_array_get(list, i), "type"));
}

/* A directory as a start finds it once the profile is saved. */
static const char *recorded_dir(void)
{
	cleanup_free char *logs = xasprintf("%s/logs", test_dir());

	ASSERT_OK(file_make_dirs(logs, 0755, &err));
	events_begin("start", false);
	events_record(test_dir());
	return test_dir();
}

TEST(steps_only_count_up)
{
	const char *dir = recorded_dir();
	json_auto_t *list = NULL;
	unsigned long long last = 0;

	events_step("making the network", NULL);
	events_step("starting node", "node-1");
	events_step("installing DNS and kube-proxy", NULL);
	events_step("joining node", "node-2");
	events_step("a step that nobody has listed", NULL);
	events_step("waiting for nodes", NULL);
	events_done("all is well");
	list = events_of(dir);
	ASSERT_INT(json_array_size(list), 7);
	for (size_t i = 0; i < 7; i++) {
		unsigned long long at;

		ASSERT_STR(type(list, i), "io.manykube.step");
		ASSERT_OK(parse_number(data(list, i, "currentstep"), last, 99, &at, &err));
		last = at;
	}
	ASSERT_STR(data(list, 1, "message"), "Starting node: node-1");
	ASSERT_STR(data(list, 1, "name"), "Starting node");
	ASSERT_STR(data(list, 6, "message"), "all is well");
	ASSERT_STR(data(list, 6, "currentstep"), data(list, 6, "totalsteps"));
	ASSERT_STR(data(list, 0, "totalsteps"), data(list, 6, "totalsteps"));
}

TEST(an_event_is_a_cloudevent)
{
	const char *dir = recorded_dir();
	json_auto_t *list = NULL;
	const json_t *event;

	events_step("making the network", NULL);
	list = events_of(dir);
	event = json_array_get(list, 0);
	ASSERT_STR(json_string_value(json_object_get(event, "specversion")), "1.0");
	ASSERT_STR(json_string_value(json_object_get(event, "source")), "manykube");
	ASSERT_STR(json_string_value(json_object_get(event, "datacontenttype")),
		   "application/json");
	ASSERT_INT(json_string_length(json_object_get(event, "id")), 36);
}

TEST(an_error_has_its_reason_and_advice)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	const char *dir = recorded_dir();
	json_auto_t *list = NULL;

	events_warning("low \xff");
	events_step("making the network", NULL);
	(void)error_because(&err, &reason_busy, -EWOULDBLOCK, "it is busy");
	events_error(&err, -EWOULDBLOCK);
	list = events_of(dir);
	/* What came before the record could be opened is in it all the same. */
	ASSERT_STR(type(list, 0), "io.manykube.warning");
	ASSERT(data(list, 0, "message"));
	ASSERT_STR(type(list, 2), "io.manykube.error");
	ASSERT_STR(data(list, 2, "message"), "it is busy");
	ASSERT_STR(data(list, 2, "name"), "MK_BUSY");
	ASSERT_STR(data(list, 2, "exitcode"), "11");
	ASSERT_STR(data(list, 2, "advice"), reason_busy.advice);
}

TEST(downloads_say_how_far_they_are)
{
	const char *dir = recorded_dir();
	json_auto_t *list = NULL;

	events_step("getting Kubernetes v1.36.3", NULL);
	events_progress("getting Kubernetes v1.36.3", "etcd", 1, 4);
	events_progress("getting Kubernetes v1.36.3", "etcd", 2, 4);
	events_progress("getting Kubernetes v1.36.3", "kubelet", 3, 4);
	events_progress("waiting for nodes", "nodes ready", 1, 4);
	list = events_of(dir);
	ASSERT_INT(json_array_size(list), 3);
	ASSERT_STR(type(list, 1), "io.manykube.download.progress");
	ASSERT_STR(data(list, 1, "artifact"), "etcd");
	ASSERT_STR(data(list, 1, "progress"), "0.25");
	ASSERT_STR(data(list, 2, "artifact"), "kubelet");
}

TEST(a_refused_start_keeps_the_last_ones_record)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	const char *dir = recorded_dir();
	json_auto_t *list = NULL;

	events_step("making the network", NULL);
	events_begin("start", false);
	events_record(dir);
	events_warning("no");
	(void)error_because(&err, &reason_usage, -EINVAL, "wrong");
	events_error(&err, -EINVAL);
	list = events_of(dir);
	ASSERT_INT(json_array_size(list), 1);
	ASSERT_STR(type(list, 0), "io.manykube.step");
}

TEST(a_record_stays_small)
{
	const char *dir = recorded_dir();
	cleanup_free char *path = xasprintf("%s/logs/events.json", dir);
	struct stat st;

	for (unsigned i = 0; i < 6000; i++)
		events_step("making the network", NULL);
	ASSERT_INT(stat(path, &st), 0);
	ASSERT(st.st_size <= 1 << 20);
	ASSERT(st.st_size > 1 << 19);
}

TEST(errors_for_programs_take_the_place_of_those_for_people)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	json_auto_t *event = NULL;

	(void)error_because(&err, &reason_usage, -EINVAL, "wrong");
	ASSERT_INT(say_fd(), STDERR_FILENO);
	events_begin("start", true);
	ASSERT_INT(say_fd(), STDOUT_FILENO);
	say_compose(&err, -EINVAL, &out);
	event = json_loads(out.text, 0, NULL);
	ASSERT(event);
	ASSERT_STR(json_string_value(json_object_get(event, "type")), "io.manykube.error");
}
