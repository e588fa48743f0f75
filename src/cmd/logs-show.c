/* `logs`: print logs. */

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "cmd/logs.h"
#include "look/log-reader.h"

#define LOOK_EVERY_MS 250

/* Number of lines that are searched for problems. */
#define PROBLEM_LINES 20000

/* A log being printed. */
struct source {
	char *title; /* "node-1: kubelet" */
	bool of_container;
	struct log_reader reader;
};

struct sources {
	const struct logs_view *view;
	struct source *items;
	size_t count;
	const char *last_title; /* the last printed heading */
	char *silent;           /* a node that does not answer; NULL: none */
};

static void sources_release(struct sources *all)
{
	for (size_t i = 0; i < all->count; i++) {
		free(all->items[i].title);
		log_reader_release(&all->items[i].reader);
	}
	free(all->items);
	free(all->silent);
}

/* Open the log LOG of PROFILE if it exists; warn if it cannot be read. */
static void open_log(struct sources *all, const struct profile *profile,
		     const struct log_source *log)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	struct log_reader reader = LOG_READER_INIT;
	int r;

	if (all->view->services.count > 0 && !strlist_has(&all->view->services, log->service))
		return;
	/* Every further question would take as long. */
	if (log->in_node && all->silent && strcmp(all->silent, log->node) == 0)
		return;
	r = log->silent ? error_set(&err, -ETIMEDOUT, "node '%s' does not answer", log->node)
			: log_reader_open(profile, log, &reader, &err);
	if (log->in_node && (r == -ETIMEDOUT || r == -EPIPE)) {
		free(all->silent);
		all->silent = xstrdup(log->node);
	}
	if (r == -ENOENT)
		return;
	if (r < 0) {
		log_warning("%s", err.text);
		return;
	}
	all->items = xrealloc(all->items, all->count + 1, sizeof(*all->items));
	all->items[all->count++] = (struct source){
		.title = log->node ? xasprintf("%s: %s", log->node, log->service)
				   : xstrdup(log->service),
		.of_container = log->of_container,
		.reader = reader,
	};
}

/* Add to OUT the lines of TEXT that VIEW selects. */
static void choose_lines(const struct logs_view *view, const struct source *source,
			 const struct strbuf *text, struct strbuf *out)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;

	strlist_split(&lines, text->text, '\n');
	for (size_t i = lines.count, left = view->length; view->problems && i-- > 0;)
		if (left == 0 || !cluster_log_is_problem(lines.items[i], strlen(lines.items[i])))
			lines.items[i][0] = '\0';
		else
			left--;
	for (size_t i = 0; i < lines.count; i++) {
		const char *line = lines.items[i];

		if (source->of_container)
			line = cluster_log_words(line, strlen(line));
		if (*line)
			strbuf_addf(out, "%s\n", line);
	}
}

static void print_source(struct sources *all, const struct source *source,
			 const struct strbuf *text)
{
	cleanup_with(strbuf_release) struct strbuf chosen = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf shown = STRBUF_INIT;

	choose_lines(all->view, source, text, &chosen);
	if (chosen.len == 0)
		return;
	/* Log contents must not control the terminal. */
	if (isatty(STDOUT_FILENO))
		strbuf_add_printable(&shown, chosen.text, chosen.len);
	if (all->last_title != source->title)
		printf("%s==> %s <==\n", all->last_title ? "\n" : "", source->title);
	all->last_title = source->title;
	if (shown.len)
		(void)fwrite(shown.text, 1, shown.len, stdout);
	else
		(void)fwrite(chosen.text, 1, chosen.len, stdout);
}

/* Whether our output still has a reader: without new lines no write would fail. */
static bool has_reader(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	return poll(&out, 1, 0) == 0 && fflush(stdout) == 0;
}

static int follow_sources(struct sources *all, struct error *err)
{
	/* Ctrl-C is the normal way to end this. */
	(void)signal(SIGINT, SIG_DFL);
	while (has_reader()) {
		clock_rest_ms(LOOK_EVERY_MS);
		for (size_t i = 0; i < all->count; i++) {
			cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
			int r = log_reader_more(&all->items[i].reader, &text, err);

			if (r < 0)
				return r;
			print_source(all, &all->items[i], &text);
		}
	}
	return EXIT_FAILURE;
}

/* The requested logs. */
static int open_logs(struct sources *all, const struct profile *profile, struct error *err)
{
	cleanup_with(log_list_release) struct log_list list = LOG_LIST_INIT;
	struct node *node = NULL;
	const char *name = all->view->node;
	int r = name ? profile_need_node(profile, name, &node, err) : 0;

	if (r < 0)
		return r;
	if (node) {
		cluster_logs_add_node(&list, profile, node);
	} else {
		if (!all->view->workers)
			cluster_logs_add_shared(&list, profile);
		profile_for_each_node(node, profile)
			if (!all->view->workers || !node->control_plane)
				cluster_logs_add_node(&list, profile, node);
	}
	for (size_t i = 0; i < list.count; i++)
		open_log(all, profile, &list.items[i]);
	if (all->count > 0)
		return 0;
	return error_set(err, -ENOENT, "cluster '%s' has no such log yet, or you may not read it",
			 profile->name);
}

int logs_show(const struct profile *profile, const struct logs_view *view, struct error *err)
{
	cleanup_with(sources_release) struct sources all = { .view = view };
	int r = open_logs(&all, profile, err);

	for (size_t i = 0; r == 0 && i < all.count; i++) {
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

		r = log_reader_last(&all.items[i].reader,
				    view->problems ? PROBLEM_LINES : view->length, &text, err);
		if (r == 0)
			print_source(&all, &all.items[i], &text);
	}
	return r == 0 && view->follow ? follow_sources(&all, err) : r;
}
