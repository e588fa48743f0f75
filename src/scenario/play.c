/* Playing a scenario. */

#include "scenario/play.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "cluster/cluster.h"
#include "fail/fail.h"
#include "scenario/observe.h"

#define POLL_MS   200
#define RECORD_MS 500 /* how often the record is read, for failures whose time is over */

#define LOCK_SECONDS  120
#define BEGIN_SECONDS 30 /* how long the API may take to answer at the beginning */

#define COMMAND "manykube fail run"

struct player {
	const char *name;
	const struct scenario *scenario;
	const struct play_options *options;
	struct observers observers;
	struct timeline timeline;
	int64_t begin_ms;
	int64_t record_ms;     /* when the record was last read */
	int64_t until_ms;      /* when the last failure with a duration is over */
	struct strlist before; /* active failures that are not ours, in words */
	struct strlist active; /* ours */
};

static int64_t run_ms(const struct player *player)
{
	return clock_now_ms() - player->begin_ms;
}

static void add_event(struct player *player, enum event_what what, const char *name)
{
	struct event event = { .ms = run_ms(player),
			       .what = what,
			       .name = (char *)(uintptr_t)name };

	timeline_add(&player->timeline, &event);
}

/* Events are told when they become known; their times say when they happened. */
static void tell_news(const struct player *player)
{
	for (size_t i = 0; i < player->timeline.count; i++) {
		struct event *event = &player->timeline.items[i];
		cleanup_free char *words = NULL;

		if (event->is_told)
			continue;
		event->is_told = true;
		words = event_words(&player->timeline, event);
		if (words)
			player->options->tell(event->ms, words);
	}
}

/* The words of all active failures of PROFILE. */
static void list_active(const struct profile *profile, struct strlist *ret)
{
	cleanup_with(failures_release) struct failures failures = FAILURES_INIT;
	const struct failure *failure;

	failures_read(profile, &failures);
	failures_for_each(failure, &failures) {
		cleanup_free char *words = failure_print(failure);

		strlist_add(ret, words);
	}
}

/* Find out which of our failures are over, and which ones parts of them have become. */
static void compare_record(struct player *player, const struct profile *profile)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	struct strlist ours = STRLIST_INIT;
	const char *words;

	list_active(profile, &all);
	strlist_for_each(words, &all)
		if (!strlist_has(&player->before, words))
			strlist_add(&ours, words);
	strlist_for_each(words, &player->active)
		if (!strlist_has(&ours, words))
			add_event(player, EVENT_HEALED, words);
	strlist_for_each(words, &ours)
		if (!strlist_has(&player->active, words))
			add_event(player, EVENT_FAILED, words);
	strlist_release(&player->active);
	player->active = ours;
}

static void look_at_record(struct player *player)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	if (clock_now_ms() < player->record_ms + RECORD_MS || player->active.count == 0)
		return;
	player->record_ms = clock_now_ms();
	if (profile_load(player->name, &profile, NULL) == 0)
		compare_record(player, &profile);
}

static int explain_interrupt(struct error *err)
{
	(void)error_because(err, &reason_interrupted, -EINTR, "interrupted by a signal");
	return error_hint(err, -EINTR, "the failures of the scenario were undone");
}

/* Take in what the observers tell, for POLL_MS at most. */
static int look(struct player *player, struct error *err)
{
	int r;

	if (*player->options->stop)
		return explain_interrupt(err);
	look_at_record(player);
	r = observers_read(&player->observers, POLL_MS, &player->timeline, err);
	tell_news(player);
	return r;
}

/* Load the profile and hold its lock until RET_LOCK is closed. */
static int begin_change(const struct player *player, struct profile *profile, int *ret_lock,
			struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + LOCK_SECONDS * 1000;
	int r;

	while ((r = profile_lock(player->name, COMMAND, ret_lock, err)) == -EWOULDBLOCK &&
	       clock_poll(deadline_ms, POLL_MS))
		error_clear(err);
	return r < 0 ? r : profile_load(player->name, profile, err);
}

static int do_fail(struct player *player, const struct scenario_step *step, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_fd int lock = -1;
	int r = begin_change(player, &profile, &lock, err);

	if (r < 0)
		return r;
	r = fail_begin(&profile, &step->failure, NULL, err);
	player->until_ms = MAX(player->until_ms,
			       run_ms(player) + (int64_t)step->failure.for_seconds * 1000);
	/* A failure counts from the time when it was made, also one that was only made in part. */
	compare_record(player, &profile);
	return MIN(r, 0);
}

/* Undo our failures, or of those only the ones of NODES, unless that is empty. */
static int heal(struct player *player, const struct strlist *nodes, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(failures_release) struct failures failures = FAILURES_INIT;
	cleanup_fd int lock = -1;
	const struct failure *failure;
	int r = begin_change(player, &profile, &lock, err);

	if (r < 0)
		return r;
	failures_read(&profile, &failures);
	failures_for_each(failure, &failures) {
		cleanup_free char *words = failure_print(failure);
		struct fail_selection selection = { .only = failure };
		cleanup_with(strlist_release) struct strlist among = STRLIST_INIT;
		const char *name;

		strlist_for_each(name, nodes)
			if (strlist_has(&failure->nodes, name))
				strlist_add(&among, name);
		if (strlist_has(&player->before, words) || (nodes->count && !among.count))
			continue;
		if (nodes->count)
			selection.nodes = &among;
		r = cluster_heal(&profile, &selection, NULL, err);
		if (r < 0)
			break;
	}
	compare_record(player, &profile);
	return MIN(r, 0);
}

/* Whether the last event about NAME has STATE. */
static bool has_state(const struct player *player, enum event_what what, const char *name,
		      const char *state)
{
	const struct event *event = timeline_last(&player->timeline, what, name);

	return event && strcmp(event->state, state) == 0;
}

static bool api_is_up(const struct player *player)
{
	return has_state(player, EVENT_API, "API", "up");
}

static bool service_is_up(const struct player *player)
{
	cleanup_free char *name = xasprintf("%s/%s", player->scenario->namespace,
					    player->scenario->service);

	return has_state(player, EVENT_SERVICE, name, "up");
}

/* Whether the nodes called NAMES, or all if there are none, are Ready, or all are not. */
static bool nodes_are(const struct player *player, const struct strlist *names, bool ready)
{
	const struct event *event;

	if (!api_is_up(player))
		return false;
	timeline_for_each(event, &player->timeline)
		if (event->what == EVENT_NODE &&
		    (names->count == 0 || strlist_has(names, event->name)) &&
		    has_state(player, EVENT_NODE, event->name, "True") != ready)
			return false;
	return true;
}

/* Whether all pods are Ready, except for those that end; DaemonSets' pods leave with their node. */
static bool pods_are_ready(const struct player *player)
{
	json_auto_t *states = json_object();
	const struct event *event;
	const char *uid;
	json_t *state;

	timeline_for_each(event, &player->timeline)
		if (event->what == EVENT_POD)
			(void)json_object_set_new(states, event->uid, json_string(event->state));
	json_object_foreach(states, uid, state)
		if (strcmp(json_string_value(state), "waiting") == 0)
			return false;
	return api_is_up(player);
}

static bool holds(const struct player *player, enum scenario_condition condition,
		  const struct strlist *nodes)
{
	switch (condition) {
	case SCENARIO_NOT_READY:
	case SCENARIO_READY:
		return nodes_are(player, nodes, condition == SCENARIO_READY);
	case SCENARIO_PODS:
		return pods_are_ready(player);
	case SCENARIO_API:
		return api_is_up(player);
	default:
		return service_is_up(player);
	}
}

static int do_wait(struct player *player, const struct scenario_step *step, struct error *err)
{
	cleanup_free char *words = scenario_step_words(player->scenario, step);
	int64_t deadline_ms = clock_now_ms() + (int64_t)step->timeout_seconds * 1000;

	while (!holds(player, step->condition, &step->nodes)) {
		int r = look(player, err);

		if (r < 0)
			return r;
		if (clock_now_ms() > deadline_ms)
			return error_because(err, &reason_wait_timeout, -ETIMEDOUT,
					     "'%s' has taken more than %u seconds", words,
					     step->timeout_seconds);
	}
	return 0;
}

/* Wait until UNTIL_MS of the run. */
static int rest(struct player *player, int64_t until_ms, struct error *err)
{
	int r = 0;

	while (r == 0 && run_ms(player) < until_ms)
		r = look(player, err);
	return r;
}

static int do_steps(struct player *player, struct error *err)
{
	const struct scenario_step *step;
	int r = 0;

	scenario_for_each(step, player->scenario) {
		r = rest(player,
			 step->has_at ? (int64_t)step->at_seconds * 1000
				      : run_ms(player) + (int64_t)step->after_seconds * 1000,
			 err);
		if (r < 0)
			return r;
		if (step->act == SCENARIO_FAIL)
			r = do_fail(player, step, err);
		else if (step->act == SCENARIO_HEAL)
			r = heal(player, &step->nodes, err);
		else
			r = do_wait(player, step, err);
		tell_news(player);
		if (r < 0 && *player->options->stop)
			return explain_interrupt(err);
		if (r < 0)
			return scenario_step_wrong(player->scenario, step, r, err);
	}
	while (r == 0 && player->active.count > 0 && run_ms(player) < player->until_ms)
		r = look(player, err);
	return r;
}

/* Wait until the cluster is as well as at the beginning. */
static int settle(struct player *player, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + (int64_t)player->scenario->settle_seconds * 1000;
	const struct strlist all = STRLIST_INIT;

	for (;;) {
		const char *missing = !api_is_up(player)               ? "the API does not answer"
				      : !nodes_are(player, &all, true) ? "a node is not Ready"
				      : !pods_are_ready(player)        ? "a pod is not Ready"
				      : player->scenario->service && !service_is_up(player)
					      ? "the service does not answer"
					      : NULL;
		int r;

		if (!missing)
			return 0;
		r = look(player, err);
		if (r < 0)
			return r;
		if (clock_now_ms() > deadline_ms) {
			(void)error_because(err, &reason_wait_timeout, -ETIMEDOUT,
					    "%u seconds after the last step %s",
					    player->scenario->settle_seconds, missing);
			return error_hint(err, -ETIMEDOUT,
					  "'manykube status' shows what is wrong; 'settle' in the "
					  "scenario gives it longer");
		}
	}
}

/* Steps can be wrong in ways that only the cluster tells. */
static int check_steps(const struct scenario *scenario, const struct profile *profile,
		       struct error *err)
{
	const struct scenario_step *step;
	struct node *node;
	const char *name;
	int r = 0;

	scenario_for_each(step, scenario) {
		if (step->act == SCENARIO_FAIL)
			r = fail_check(profile, &step->failure, err);
		strlist_for_each(name, &step->nodes)
			if (r == 0)
				r = profile_need_node(profile, name, &node, err);
		if (r < 0)
			return scenario_step_wrong(scenario, step, r, err);
	}
	return 0;
}

/* Wait for the first answer of the API, so that the times of failures can be compared with it. */
static int await_first_look(struct player *player, struct error *err)
{
	int64_t deadline_ms = clock_now_ms() + BEGIN_SECONDS * 1000;

	while (!api_is_up(player)) {
		int r = look(player, err);

		if (r < 0)
			return r;
		if (clock_now_ms() > deadline_ms)
			return error_because(err, &reason_api_not_running, -EAGAIN,
					     "the API does not answer, so nothing was done");
	}
	return look(player, err);
}

/* Whatever became of the steps, no failure of ours stays. */
static int end_failures(struct player *player, int r, struct error *err)
{
	const struct strlist all = STRLIST_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int ended = player->active.count ? heal(player, &all, &why) : 0;

	tell_news(player);
	if (ended == 0)
		return r;
	(void)error_hint(&why, ended,
			 "'manykube fail list' shows the failures that are active, and 'manykube "
			 "heal --all' undoes them");
	return error_move(err, ended, &why);
}

static int play(struct player *player, struct error *err)
{
	int r = await_first_look(player, err);

	if (r < 0)
		return r;
	r = do_steps(player, err);
	r = end_failures(player, r, err);
	if (r == 0)
		r = settle(player, err);
	return r;
}

int scenario_play(const char *name, const struct scenario *scenario,
		  const struct play_options *options, struct report *ret, struct error *err)
{
	struct player player = {
		.name = name, .scenario = scenario, .options = options, .observers = OBSERVERS_INIT
	};
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(observe_service_release) struct observe_service service = OBSERVE_SERVICE_INIT;
	int r = profile_load(name, &profile, err);

	if (r == 0)
		r = check_steps(scenario, &profile, err);
	if (r == 0 && scenario->service)
		r = observe_find_service(&profile, scenario->namespace, scenario->service, &service,
					 err);
	if (r < 0)
		return r;
	service.connects_only = scenario->connects_only;
	list_active(&profile, &player.before);
	player.begin_ms = clock_now_ms();
	r = observers_begin(&profile, &service, player.begin_ms, &player.observers, err);
	if (r == 0)
		r = play(&player, err);
	observers_end(&player.observers);
	report_make(&player.timeline, run_ms(&player), service.name, ret);
	timeline_release(&player.timeline);
	strlist_release(&player.before);
	strlist_release(&player.active);
	return r;
}
