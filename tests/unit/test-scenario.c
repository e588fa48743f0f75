/* Files with scenarios, what observers see, and the report about a run. */

#include "base/strbuf.h"
#include "cli/fail-report.h"
#include "scenario/observe.h"
#include "scenario/scenario.h"
#include "test.h"

#define HEAD "apiVersion: manykube/v1\nkind: Scenario\n"

static void read_text(const char *text, struct scenario *ret)
{
	ASSERT_OK(scenario_parse("s.yaml", text, strlen(text), ret, &err));
}

static void assert_step(const struct scenario *scenario, size_t number, const char *words)
{
	cleanup_free char *text = scenario_step_words(scenario, &scenario->steps[number]);

	ASSERT_STR(text, words);
}

static void assert_refused(const char *text, const char *why)
{
	cleanup_with(scenario_release) struct scenario scenario = SCENARIO_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	if (scenario_parse("s.yaml", text, strlen(text), &scenario, &err) != -EBADMSG)
		test_fail(__FILE__, __LINE__, "this was not refused:\n%s", text);
	if (!strstr(err.text, why))
		ASSERT_STR(err.text, why);
	ASSERT(err.reason == &reason_cluster_file);
	ASSERT_INT(scenario.count, 0);
	/* Also for a caller who does not want the words. */
	ASSERT_INT(scenario_parse("s.yaml", text, strlen(text), &scenario, NULL), -EBADMSG);
}

TEST(a_scenario_has_steps_with_times)
{
	cleanup_with(scenario_release) struct scenario scenario = SCENARIO_INIT;

	read_text(HEAD "name: all of it\n"
		       "observe: {service: shop/web, protocol: tcp}\n"
		       "settle: 2m\n"
		       "steps:\n"
		       "- {at: 10s, fail: freeze, nodes: [node-2, node-3], for: 1m30s}\n"
		       "- fail: partition\n"
		       "  nodes: node-1\n"
		       "  from: [node-2, host]\n"
		       "  port: 2380\n"
		       "  after: 5\n"
		       "- {wait: not-ready, nodes: [node-2], timeout: 45s}\n"
		       "- {wait: service}\n"
		       "- {at: 1m, heal: [node-2, node-3]}\n"
		       "- heal: all\n",
		  &scenario);
	ASSERT_STR(scenario.name, "all of it");
	ASSERT_STR(scenario.namespace, "shop");
	ASSERT_STR(scenario.service, "web");
	ASSERT(scenario.connects_only);
	ASSERT_INT(scenario.settle_seconds, 120);
	ASSERT_INT(scenario.count, 6);
	ASSERT(scenario.steps[0].has_at);
	ASSERT_INT(scenario.steps[0].at_seconds, 10);
	ASSERT_INT(scenario.steps[0].failure.for_seconds, 90);
	ASSERT_INT(scenario.steps[1].after_seconds, 5);
	ASSERT_INT(scenario.steps[2].timeout_seconds, 45);
	assert_step(&scenario, 0, "freeze node-2 node-3");
	assert_step(&scenario, 1, "partition node-1 --from=node-2,host --port=2380");
	assert_step(&scenario, 2, "wait until node-2 is not Ready");
	assert_step(&scenario, 3, "wait until the service web answers");
	assert_step(&scenario, 4, "heal node-2 node-3");
	assert_step(&scenario, 5, "heal all");
}

TEST(what_a_scenario_does_not_say_has_defaults)
{
	cleanup_with(scenario_release) struct scenario scenario = SCENARIO_INIT;

	read_text(HEAD "observe: {service: web}\nsteps: [{wait: ready}]\n", &scenario);
	ASSERT_STR(scenario.namespace, "default");
	ASSERT(!scenario.connects_only);
	ASSERT(!scenario.name);
	ASSERT_INT(scenario.settle_seconds, 300);
	ASSERT_INT(scenario.steps[0].timeout_seconds, 300);
	assert_step(&scenario, 0, "wait until all nodes are Ready");
}

TEST(bad_scenarios_are_refused_with_the_place_and_what_was_meant)
{
	assert_refused("", "s.yaml:1:1: the file must be a mapping");
	assert_refused("kind: Scenario\n", "'apiVersion: manykube/v1' is missing");
	assert_refused("apiVersion: manykube/v1\nkind: Cluster\n",
		       "s.yaml:2:7: 'kind' must be 'Scenario'");
	assert_refused(HEAD, "s.yaml:1:1: the scenario has no 'steps'");
	assert_refused(HEAD "steps: []\n", "s.yaml:3:8: 'steps' must be a list of steps");
	assert_refused(HEAD "step: []\n",
		       "s.yaml:3:1: unknown field 'step'; did you mean 'steps'?");
	assert_refused(HEAD "steps: [freeze]\n", "s.yaml:3:9: a step must be a mapping");
	assert_refused(HEAD "steps: [{nodes: [a]}]\n",
		       "s.yaml:3:9: the step has none of 'fail', 'heal' and 'wait'");
	assert_refused(HEAD "steps:\n- {fail: freeze, heal: all}\n",
		       "s.yaml:4:18: a step has only one of");
	assert_refused(HEAD "steps:\n- {fail: freeze}\n", "s.yaml:4:3: the step has no 'nodes'");
	assert_refused(HEAD "steps:\n- {fail: burn, nodes: [a]}\n",
		       "s.yaml:4:10: fail: there is no failure 'burn'");
	assert_refused(HEAD "steps:\n- fail: freeze\n  nodes: [a]\n  node: b\n",
		       "s.yaml:6:3: unknown field 'node'; did you mean 'nodes'?");
	assert_refused(HEAD "steps:\n- fail: freeze\n  nodes: [a]\n  port: 1\n",
		       "s.yaml:6:9: port: a failure of the kind 'freeze' has no");
	assert_refused(HEAD "steps:\n- fail: slow\n  nodes: [a]\n  loss: 200%\n",
		       "s.yaml:6:9: loss:");
	assert_refused(HEAD "steps:\n- {fail: freeze, nodes: [a, a]}\n",
		       "s.yaml:4:29: 'nodes' has 'a' twice");
	assert_refused(HEAD "steps:\n- {fail: freeze, nodes: [A_b]}\n",
		       "is not the name of a node");
	assert_refused(HEAD "steps:\n- {wait: redy}\n",
		       "s.yaml:4:10: unknown value 'redy' of 'wait'; did you mean 'ready'?");
	assert_refused(HEAD "steps:\n- {wait: api, nodes: [a]}\n", "is not about nodes");
	assert_refused(HEAD "steps:\n- {wait: service}\n", "no service is observed");
	assert_refused(HEAD "steps:\n- {wait: ready, at: 1s, after: 2s}\n", "not both");
	assert_refused(HEAD "steps:\n- {wait: ready, at: soon}\n", "s.yaml:4:21: at:");
	assert_refused(HEAD "steps:\n- {wait: ready, at: 25h}\n", "at most 24h");
	assert_refused(HEAD "steps:\n- {wait: ready, at: 9}\n- {wait: api}\n- {at: 8, wait: api}\n",
		       "s.yaml:6:8: 'at' is before that of the step on line 4");
	assert_refused(HEAD "observe: {service: a/b/c}\nsteps: [{wait: api}]\n",
		       "is not a service");
	assert_refused(HEAD "observe: {protocol: tcp}\nsteps: [{wait: api}]\n",
		       "'observe' names no service");
	assert_refused(HEAD "observe: {services: a}\nsteps: [{wait: api}]\n",
		       "did you mean 'service'?");
}

static void add(struct timeline *timeline, int64_t ms, enum event_what what, const char *name,
		const char *state)
{
	timeline_add(timeline, &(struct event){ .ms = ms,
						.what = what,
						.name = (char *)(uintptr_t)name,
						.state = (char *)(uintptr_t)state });
}

static void add_pod(struct timeline *timeline, int64_t ms, const char *name, const char *state,
		    const char *node, const char *owner)
{
	/* The name is the uid as well. */
	timeline_add(timeline, &(struct event){ .ms = ms,
						.what = EVENT_POD,
						.name = (char *)(uintptr_t)name,
						.state = (char *)(uintptr_t)state,
						.node = (char *)(uintptr_t)node,
						.uid = (char *)(uintptr_t)name,
						.owner = (char *)(uintptr_t)owner });
}

/* A node is frozen for half a minute; its pod moves, and one of another controller does not. */
static void make_run(struct timeline *timeline)
{
	add(timeline, 10, EVENT_API, "API", "up");
	add(timeline, 20, EVENT_NODE, "node-1", "True");
	add(timeline, 20, EVENT_NODE, "node-2", "True");
	add_pod(timeline, 30, "default/a", "ready", "node-2", "set");
	add_pod(timeline, 30, "default/b", "ready", "node-1", "set");
	add_pod(timeline, 30, "default/daemon", "ready", "node-2", "");
	add(timeline, 1000, EVENT_FAILED, "freeze node-2", "");
	add(timeline, 9000, EVENT_NODE, "node-2", "Unknown");
	add_pod(timeline, 11000, "default/a", "leaving", "node-2", "set");
	add_pod(timeline, 11000, "default/c", "waiting", "", "set");
	add_pod(timeline, 11000, "default/daemon", "leaving", "node-2", "");
	add_pod(timeline, 11500, "default/c", "waiting", "node-1", "set");
	add_pod(timeline, 13000, "default/c", "ready", "node-1", "set");
	add(timeline, 20000, EVENT_API, "API", "down");
	add(timeline, 21500, EVENT_API, "API", "up");
	add(timeline, 31000, EVENT_HEALED, "freeze node-2", "");
	add(timeline, 32000, EVENT_NODE, "node-2", "True");
	add(timeline, 35000, EVENT_SERVICE, "default/web", "down");
}

TEST(the_report_has_the_times_of_what_happened)
{
	cleanup_with(timeline_release) struct timeline timeline = TIMELINE_INIT;
	cleanup_with(report_release) struct report report = REPORT_INIT;

	make_run(&timeline);
	report_make(&timeline, 40000, "default/web", &report);
	ASSERT_INT(report.failures.count, 1);
	ASSERT_INT(report.failures.items[0].begin_ms, 1000);
	ASSERT_INT(report.failures.items[0].end_ms, 31000);
	ASSERT_INT(report.nodes.count, 1);
	ASSERT_STR(report.nodes.items[0].name, "node-2");
	ASSERT_INT(report.nodes.items[0].begin_ms, 9000);
	ASSERT_INT(report.nodes.items[0].end_ms, 32000);
	ASSERT_INT(report.move_count, 1);
	ASSERT_STR(report.moves[0].pod, "default/a");
	ASSERT_STR(report.moves[0].heir, "default/c");
	ASSERT_STR(report.moves[0].to, "node-1");
	ASSERT_INT(report.moves[0].left_ms, 11000);
	ASSERT_INT(report.moves[0].ready_ms, 13000);
	ASSERT_INT(spans_total_ms(&report.api, 40000), 1500);
	/* It is not over. */
	ASSERT_INT(report.service.items[0].end_ms, -1);
	ASSERT_INT(spans_longest_ms(&report.service, 40000), 5000);
}

TEST(two_pods_have_two_successors_and_a_third_one_has_none)
{
	cleanup_with(timeline_release) struct timeline timeline = TIMELINE_INIT;
	cleanup_with(report_release) struct report report = REPORT_INIT;

	add_pod(&timeline, 1, "a", "ready", "node-2", "set");
	add_pod(&timeline, 1, "b", "ready", "node-2", "set");
	add_pod(&timeline, 1, "c", "ready", "node-2", "other");
	add_pod(&timeline, 1, "old", "ready", "node-1", "set");
	add_pod(&timeline, 1, "going", "leaving", "node-2", "set");
	add_pod(&timeline, 5, "a", "leaving", "node-2", "set");
	add_pod(&timeline, 5, "b", "leaving", "node-2", "set");
	add_pod(&timeline, 5, "c", "leaving", "node-2", "other");
	add_pod(&timeline, 5, "d", "waiting", "node-1", "set");
	add_pod(&timeline, 6, "e", "ready", "node-1", "set");
	report_make(&timeline, 10, NULL, &report);
	ASSERT_INT(report.move_count, 3);
	ASSERT_STR(report.moves[0].heir, "d");
	ASSERT_INT(report.moves[0].ready_ms, -1);
	ASSERT_STR(report.moves[1].heir, "e");
	ASSERT_INT(report.moves[1].ready_ms, 6);
	ASSERT(!report.moves[2].heir);
}

TEST(events_of_two_observers_are_put_in_order)
{
	cleanup_with(timeline_release) struct timeline timeline = TIMELINE_INIT;

	add(&timeline, 5, EVENT_API, "API", "up");
	add(&timeline, 3, EVENT_SERVICE, "s", "down");
	add(&timeline, 4, EVENT_SERVICE, "s", "up");
	ASSERT_INT(timeline.items[0].ms, 3);
	ASSERT_INT(timeline.items[2].ms, 5);
	ASSERT_STR(timeline_last(&timeline, EVENT_SERVICE, "s")->state, "up");
	ASSERT(!timeline_last(&timeline, EVENT_NODE, "s"));
}

TEST(only_news_are_told)
{
	cleanup_with(timeline_release) struct timeline timeline = TIMELINE_INIT;
	cleanup_with(strbuf_release) struct strbuf told = STRBUF_INIT;
	const struct event *event;

	make_run(&timeline);
	timeline_for_each(event, &timeline) {
		cleanup_free char *words = event_words(&timeline, event);

		if (words)
			strbuf_addf(&told, "%s\n", words);
	}
	ASSERT_STR(told.text, "failed: freeze node-2\n"
			      "node-2 is not Ready\n"
			      "pod default/a leaves node-2\n"
			      "pod default/daemon leaves node-2\n"
			      "pod default/c is Ready on node-1\n"
			      "the API does not answer\n"
			      "the API answers\n"
			      "healed: freeze node-2\n"
			      "node-2 is Ready\n"
			      "service default/web does not answer\n");
}

TEST(an_event_is_one_line_and_damaged_lines_are_none)
{
	static const char *const bad[] = { "",
					   "[]",
					   "{}",
					   "[1]",
					   "[1,\"node\",\"a\",\"b\",\"\",\"\"]",
					   "[-1,\"node\",\"a\",\"b\",\"\",\"\",\"\"]",
					   "[1,\"moon\",\"a\",\"b\",\"\",\"\",\"\"]",
					   "[1,\"node\",\"a\",\"b\",\"\",\"\",\"\",\"\"]" };
	struct event event = { .ms = 7,
			       .what = EVENT_NODE,
			       .name = (char *)(uintptr_t) "a\nb",
			       .state = (char *)(uintptr_t) "True" };
	cleanup_free char *line = event_print(&event);
	struct event again = { 0 };

	ASSERT(!strchr(line, '\n'));
	ASSERT_INT(event_parse(line, strlen(line), &again), 0);
	ASSERT_INT(again.ms, 7);
	ASSERT_STR(again.name, "a\nb");
	event_release(&again);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_INT(event_parse(bad[i], strlen(bad[i]), &again), -EBADMSG);
}

static void collect(const struct event *event, void *data)
{
	strbuf_addf(data, "%s %s %s %s\n", event->name, event->state,
		    event->node ? event->node : "", event->owner ? event->owner : "");
}

static void see(struct sight *sight, bool pods, const char *text, const char *want)
{
	cleanup_with(strbuf_release) struct strbuf told = STRBUF_INIT;
	json_auto_t *list = json_loads(text, 0, NULL);

	ASSERT(list);
	(pods ? observe_pods : observe_nodes)(sight, list, 1, collect, &told);
	ASSERT_STR(told.text, want);
}

#define NODE(name, ready)                                                             \
	"{\"metadata\": {\"name\": \"" name "\"}, \"status\": {\"conditions\": ["     \
	"{\"type\": \"DiskPressure\", \"status\": \"False\"}, {\"type\": \"Ready\", " \
	"\"status\": \"" ready "\"}]}}"
#define ITEMS(items) "{\"items\": [" items "]}"

TEST(observers_tell_only_what_has_changed)
{
	cleanup_with(sight_release) struct sight sight = { json_object(), json_object() };

	see(&sight, false, ITEMS(NODE("a", "True") "," NODE("b", "True")), "a True  \nb True  \n");
	see(&sight, false, ITEMS(NODE("a", "True") "," NODE("b", "True")), "");
	see(&sight, false, ITEMS(NODE("a", "True") "," NODE("b", "Unknown")), "b Unknown  \n");
	see(&sight, false, ITEMS(NODE("b", "Unknown")), "a gone  \n");
	/* What a hostile API server may send. */
	see(&sight, false, "[]", "b gone  \n");
	see(&sight, false, "{\"items\": [1, {}, {\"metadata\": []}]}", "");
}

#define POD(uid, more, node, ready)                                                              \
	"{\"metadata\": {\"uid\": \"" uid "\", \"name\": \"" uid "\", \"namespace\": \"n\"" more \
	"}, \"spec\": {\"nodeName\": \"" node                                                    \
	"\"}, \"status\": {\"conditions\": [{\"type\": \"Ready\", \"status\": \"" ready "\"}]}}"
#define OWNER(kind) \
	", \"ownerReferences\": [{\"kind\": \"" kind "\", \"uid\": \"o\", \"controller\": true}]"

TEST(observers_tell_what_becomes_of_pods_and_who_would_make_them_anew)
{
	cleanup_with(sight_release) struct sight sight = { json_object(), json_object() };

	see(&sight, true,
	    ITEMS(POD("a", OWNER("ReplicaSet"), "x", "True") "," POD("d", OWNER("DaemonSet"), "x",
								     "False")),
	    "n/a ready x o\nn/d waiting x \n");
	see(&sight, true,
	    ITEMS(POD("a", OWNER("ReplicaSet") ", \"deletionTimestamp\": \"now\"", "x", "True")),
	    "n/a leaving x o\nn/d leaving x \nn/d gone x \n");
	see(&sight, true, ITEMS(""), "n/a gone x o\n");
}

TEST(the_report_is_a_chart_and_tables)
{
	cleanup_with(timeline_release) struct timeline timeline = TIMELINE_INIT;
	cleanup_with(report_release) struct report report = REPORT_INIT;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	make_run(&timeline);
	report_make(&timeline, 40000, "default/web", &report);
	fail_report_print(&report, 60, out);
	ASSERT(fclose(out) == 0);
	ASSERT_STR(text, "                    0s        10s       20s       30s\n"
			 "freeze node-2       .###############################........\n"
			 "node-2 not Ready    .........########################.......\n"
			 "pods on their way   ...........###..........................\n"
			 "API silent          ....................##..................\n"
			 "default/web silent  ...................................#####\n"
			 "\n"
			 "NODE    NOT READY  READY  FOR\n"
			 "node-2  9.0s       32.0s  23.0s\n"
			 "\n"
			 "POD        FROM    LEFT   SUCCESSOR  ON      READY\n"
			 "default/a  node-2  11.0s  default/c  node-1  13.0s\n"
			 "\n"
			 "SILENT       TIMES  LONGEST  IN ALL\n"
			 "API          1      1.5s     1.5s\n"
			 "default/web  1      5.0s     5.0s\n");
	free(text);
}

TEST(the_report_is_a_document_for_programs)
{
	cleanup_with(timeline_release) struct timeline timeline = TIMELINE_INIT;
	cleanup_with(report_release) struct report report = REPORT_INIT;
	json_auto_t *document = NULL;
	cleanup_free char *text = NULL;

	make_run(&timeline);
	report_make(&timeline, 40000, "default/web", &report);
	document = report_json(&report);
	ASSERT(document);
	text = json_dumps(document, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(6));
	ASSERT_STR(
		text,
		"{\"api\":{\"gaps\":[{\"begin\":20.0,\"end\":21.5}],\"longest\":1.5,\"total\":1.5},"
		"\"failures\":[{\"begin\":1.0,\"end\":31.0,\"failure\":\"freeze node-2\"}],"
		"\"length\":40.0,"
		"\"notReady\":[{\"begin\":9.0,\"end\":32.0,\"node\":\"node-2\"}],"
		"\"pods\":[{\"from\":\"node-2\",\"left\":11.0,\"pod\":\"default/a\",\"ready\":13.0,"
		"\"successor\":\"default/c\",\"to\":\"node-1\"}],"
		"\"service\":{\"gaps\":[{\"begin\":35.0,\"end\":null}],\"longest\":5.0,"
		"\"name\":\"default/web\",\"total\":5.0}}");
}
