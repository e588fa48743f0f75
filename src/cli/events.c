/* Events, for programs. */

#include "cli/events.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "data/cloudevent.h"

#define TYPE(word) "io.manykube." word

/* Size limit of the events kept of one start. */
#define RECORD_BYTES (1 << 20)

/* Interval between progress events. */
#define PROGRESS_MS 500

/* The steps of each command in the order in which they start; the last one is always "done". */
static const char *const start_steps[] = {
	"getting Kubernetes",
	"making the network",
	"opening the front door",
	"starting node",
	"starting the control plane",
	"setting up the cluster",
	"waiting for the API",
	"joining node",
	"installing DNS and kube-proxy",
	"waiting for nodes",
	"waiting for the default service account",
	"waiting for system pods",
	"loading images",
	"done",
	NULL,
};
static const char *const delete_steps[] = { "removing node", "done", NULL };
static const char *const pause_steps[] = { "pausing node", "done", NULL };
static const char *const unpause_steps[] = { "unpausing node", "done", NULL };
static const char *const other_steps[] = { "done", NULL };

static struct {
	const char *const *steps;
	size_t current; /* counted from 1 */
	bool to_stdout;
	char *record;          /* the file's path, or NULL */
	int record_fd;         /* -1 until it is open */
	size_t record_bytes;   /* written so far */
	struct strbuf pending; /* for the file, until it is open */
	char *artifact;        /* the last reported artifact */
	int64_t progress_ms;   /* and its time */
} events = { .steps = other_steps, .record_fd = -1, .pending = { .text = strbuf_empty } };

static size_t count_steps(void)
{
	size_t count = 0;

	while (events.steps[count])
		count++;
	return count;
}

bool events_asked_for(const char *output, char *const *argv)
{
	static const char *const forms[] = { "-ojson", "-o=json", "--output=json" };

	for (; *argv; argv++) {
		bool split = strcmp(*argv, "-o") == 0 || strcmp(*argv, "--output") == 0;

		if (split && argv[1] && strcmp(argv[1], "json") == 0)
			return true;
		for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
			if (strcmp(*argv, forms[i]) == 0)
				return true;
	}
	return strcmp(output, "json") == 0;
}

void events_begin(const char *command, bool to_stdout)
{
	static const struct {
		const char *command;
		const char *const *steps;
	} known[] = {
		{ "start", start_steps }, { "apply", start_steps },     { "delete", delete_steps },
		{ "pause", pause_steps }, { "unpause", unpause_steps },
	};

	events.steps = other_steps;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(command, known[i].command) == 0)
			events.steps = known[i].steps;
	events.current = 0;
	events.to_stdout = to_stdout;
}

bool events_on_stdout(void)
{
	return events.to_stdout;
}

void events_record(const char *dir)
{
	free(events.record);
	events.record = xasprintf("%s/logs/events.json", dir);
	if (events.record_fd >= 0)
		(void)close(events.record_fd);
	events.record_fd = -1;
	events.record_bytes = 0;
}

void events_forget(const char *dir)
{
	cleanup_free char *path = xasprintf("%s/logs/events.json", dir);

	(void)unlink(path);
}

static void append(const char *text, size_t len)
{
	if (events.record_bytes + len > RECORD_BYTES)
		return;
	events.record_bytes += len;
	(void)file_write_all(events.record_fd, text, len);
}

/* A refused start must keep the file of the last one: only a step opens it. */
static void open_record(void)
{
	if (!events.record || events.record_fd >= 0)
		return;
	events.record_fd = open(events.record,
				O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
				0644);
	if (events.record_fd < 0)
		return;
	append(events.pending.text, events.pending.len);
	strbuf_release(&events.pending);
}

static void tell(const char *type, json_t *data)
{
	cleanup_free char *line = cloudevent_print(type, NULL, data);
	size_t len = strlen(line);

	if (events.to_stdout) {
		(void)fputs(line, stdout);
		(void)fflush(stdout);
	}
	if (events.record_fd >= 0)
		append(line, len);
	else if (events.record && events.pending.len + len <= RECORD_BYTES)
		strbuf_add_mem(&events.pending, line, len);
}

static bool listens(void)
{
	return events.to_stdout || events.record;
}

/* The position of STEP, counted from 1; 0 if it is not in the table. */
static size_t place_of(const char *step)
{
	for (size_t i = 0; events.steps[i]; i++)
		if (strncmp(step, events.steps[i], strlen(events.steps[i])) == 0)
			return i + 1;
	return 0;
}

/* Output of other programs may not be UTF-8, which JSON requires. */
static json_t *words(const char *text)
{
	json_t *string = json_string(text);

	return string ? string : json_string("(not UTF-8)");
}

static void tell_step(const char *step, const char *message)
{
	size_t place = place_of(step);
	cleanup_free char *current = NULL;
	cleanup_free char *total = xasprintf("%zu", count_steps());
	cleanup_free char *name = xstrdup(step);

	place = MAX(place, (size_t)1);
	events.current = MAX(events.current, place);
	current = xasprintf("%zu", events.current);
	name[0] = (char)toupper((unsigned char)name[0]);
	open_record();
	tell(TYPE("step"), json_pack("{s:s, s:o, s:s, s:s}", "currentstep", current, "message",
				     words(message), "name", name, "totalsteps", total));
}

void events_step(const char *step, const char *node)
{
	cleanup_free char *message = NULL;

	if (!listens())
		return;
	message = xasprintf("%s%s%s", step, node ? ": " : "", node ? node : "");
	message[0] = (char)toupper((unsigned char)message[0]);
	tell_step(step, message);
}

void events_done(const char *text)
{
	if (listens())
		tell_step("done", text);
}

void events_progress(const char *step, const char *detail, uint64_t done, uint64_t total)
{
	int64_t now = clock_now_ms();
	cleanup_free char *progress = NULL;

	/* Only for downloads: the number of ready nodes is none. */
	if (!listens() || !detail || strncmp(step, start_steps[0], strlen(start_steps[0])) != 0)
		return;
	if (events.artifact && strcmp(events.artifact, detail) == 0 &&
	    now - events.progress_ms < PROGRESS_MS)
		return;
	free(events.artifact);
	events.artifact = xstrdup(detail);
	events.progress_ms = now;
	progress = xasprintf("%.2f", total > 0 ? (double)done / (double)total : 0.0);
	tell(TYPE("download.progress"),
	     json_pack("{s:o, s:s}", "artifact", words(detail), "progress", progress));
}

void events_info(const char *text)
{
	if (listens())
		tell(TYPE("info"), json_pack("{s:o}", "message", words(text)));
}

void events_warning(const char *text)
{
	if (listens())
		tell(TYPE("warning"), json_pack("{s:o}", "message", words(text)));
}

static json_t *error_data(const struct error *err, int code)
{
	const struct reason *reason = err->reason;
	const char *advice = error_advice(err);
	cleanup_free char *status = xasprintf("%d", error_exit_status(err));

	return json_pack("{s:o, s:s, s:o, s:s}", "advice", words(advice ? advice : ""), "exitcode",
			 status, "message", words(err->text ? err->text : strerror(-code)), "name",
			 reason ? reason->word : "MK_FAILURE");
}

void events_error(const struct error *err, int code)
{
	if (listens())
		tell(TYPE("error"), error_data(err, code));
}

void events_compose_error(const struct error *err, int code, struct strbuf *out)
{
	cleanup_free char *line = cloudevent_print(TYPE("error"), NULL, error_data(err, code));

	strbuf_add(out, line);
}
