/*
 * An observer that shows progress to the user.
 *
 * How it works on a terminal:
 *  1. progress_new() forks the painter, which keeps only a pipe and stderr.
 *  2. Every call of the observer becomes a message: a letter, then texts, each ended by NUL. A
 *     message is one write of less than PIPE_BUF bytes, so it is atomic.
 *  3. The painter stores them in a struct steps and draws it ten times a second.
 *  4. On progress_free(), it clears the live lines and exits. If we died, it leaves them, because
 *     our last messages may be below them.
 *
 * Elsewhere we print each step when it ends, and the painter only the steps that take long, now and
 * then, so that neither a log nor its reader takes long work for a hang.
 */

#include "cli/progress.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parse.h"
#include "cli/events.h"
#include "cli/say.h"
#include "cli/steps.h"
#include "cli/text.h"

#define FRAME_MS   100
#define PLAIN_MS   1000
#define SHORT_TEXT 400 /* length limit of a text, except for notes */

enum message {
	MESSAGE_BEGIN = 'b',
	MESSAGE_PROGRESS = 'p',
	MESSAGE_END = 'e',
	MESSAGE_NOTE = 'n',
	MESSAGE_EXPECT = 'x',
	MESSAGE_QUIT = 'q',
};

#define MESSAGE_TEXTS 5 /* step, node, detail, done, total; or any fewer */

struct progress {
	struct observer observer;
	bool quiet;
	pid_t painter; /* 0 if there is none */
	bool live;     /* the painter draws on a terminal, and prints all lines */
	int pipe;
	struct steps *steps; /* under way; a painter has steps of its own */
	struct steps_look look;
};

bool progress_assume_yes;

/* Where warnings go. */
static struct progress *shown;

struct painter {
	struct steps *steps;
	struct strbuf input;
	struct strbuf above; /* finished lines to be printed above the live ones */
	unsigned lines;      /* live lines on the screen */
	bool quit;
};

static void measure_terminal(struct steps *steps)
{
	struct winsize size = { 0 };
	unsigned columns = text_columns(STDERR_FILENO, 80);

	(void)ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	steps_resize(steps, columns, size.ws_row > 3 ? size.ws_row - 1u : 23);
}

static uint64_t number(const char *text)
{
	unsigned long long value = 0;

	(void)parse_number(text, 0, ULLONG_MAX, &value, NULL);
	return value;
}

static void take_message(struct painter *painter, char letter, char *const *texts)
{
	const char *node = *texts[1] ? texts[1] : NULL;
	int64_t now = clock_now_ms();

	if (letter == MESSAGE_BEGIN)
		steps_begin(painter->steps, texts[0], node, now);
	else if (letter == MESSAGE_PROGRESS)
		steps_progress(painter->steps, texts[0], node, *texts[2] ? texts[2] : NULL,
			       number(texts[3]), number(texts[4]), now);
	else if (letter == MESSAGE_END)
		steps_end(painter->steps, texts[0], node, *texts[2] != '\0', now, &painter->above);
	else if (letter == MESSAGE_EXPECT)
		steps_expect(painter->steps, texts[0], (int64_t)number(texts[3]), now);
	else if (letter == MESSAGE_NOTE)
		steps_note(painter->steps, texts[0], &painter->above);
	else if (letter == MESSAGE_QUIT)
		painter->quit = true;
}

/* Read all complete messages from the input. */
static void take_messages(struct painter *painter)
{
	struct strbuf *input = &painter->input;

	for (;;) {
		char *texts[MESSAGE_TEXTS];
		size_t at = 1;

		for (size_t i = 0; i < MESSAGE_TEXTS; i++) {
			size_t len;

			if (at >= input->len)
				return;
			len = strnlen(input->text + at, input->len - at);
			if (at + len >= input->len)
				return;
			texts[i] = input->text + at;
			at += len + 1;
		}
		take_message(painter, input->text[0], texts);
		strbuf_drop_front(input, at);
	}
}

static void draw(struct painter *painter, bool live)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	if (painter->lines)
		strbuf_addf(&out, "\r\033[%uA\033[J", painter->lines);
	strbuf_add(&out, painter->above.text);
	strbuf_reset(&painter->above);
	painter->lines = 0;
	if (live) {
		measure_terminal(painter->steps);
		painter->lines = steps_render(painter->steps, clock_now_ms(), &out);
	}
	if (out.len)
		(void)file_write_all(STDERR_FILENO, out.text, out.len);
}

/* Without a terminal: only the steps that take long; the finished lines are printed elsewhere. */
static void report_long_steps(struct painter *painter)
{
	strbuf_reset(&painter->above);
	if (painter->quit)
		return;
	steps_report(painter->steps, clock_now_ms(), &painter->above);
	(void)file_write_all(STDERR_FILENO, painter->above.text, painter->above.len);
}

static _Noreturn void paint(int pipe, const struct steps_look *look)
{
	struct painter painter = { .steps = steps_new(look), STRBUF_INIT, STRBUF_INIT };
	bool live = look->columns > 0;

	/* Ctrl-C is handled by our parent; we exit when it does. */
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	if (dup2(pipe, STDIN_FILENO) < 0)
		_exit(EXIT_FAILURE);
	(void)close_range(STDERR_FILENO + 1, UINT_MAX, 0);

	while (!painter.quit) {
		struct pollfd poll_fd = { .fd = STDIN_FILENO, .events = POLLIN };
		ssize_t len;

		if (poll(&poll_fd, 1, live ? FRAME_MS : PLAIN_MS) > 0) {
			len = read(STDIN_FILENO, strbuf_grow(&painter.input, PIPE_BUF), PIPE_BUF);
			if (len <= 0)
				_exit(EXIT_FAILURE);
			strbuf_grown(&painter.input, (size_t)len);
			take_messages(&painter);
		}
		if (live)
			draw(&painter, !painter.quit);
		else
			report_long_steps(&painter);
	}
	_exit(EXIT_SUCCESS);
}

static int start_painter(struct progress *progress, const struct steps_look *look)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	progress->painter = fork();
	if (progress->painter == 0) {
		(void)close(fds[1]);
		paint(fds[0], look);
	}
	(void)close(fds[0]);
	if (progress->painter < 0) {
		progress->painter = 0;
		(void)close(fds[1]);
		return -EAGAIN;
	}
	progress->pipe = fds[1];
	progress->live = look->columns > 0;
	return 0;
}

/* Send the message LETTER with MESSAGE_TEXTS texts; NULL is an empty one. */
static void tell(struct progress *progress, enum message letter, const char *const *texts)
{
	cleanup_with(strbuf_release) struct strbuf message = STRBUF_INIT;

	strbuf_add_char(&message, (char)letter);
	for (size_t i = 0; i < MESSAGE_TEXTS; i++) {
		size_t most = letter == MESSAGE_NOTE ? PIPE_BUF - 10 : SHORT_TEXT;

		if (texts[i])
			strbuf_add_mem(&message, texts[i], strnlen(texts[i], most));
		strbuf_add_char(&message, '\0');
	}
	(void)file_write_all(progress->pipe, message.text, message.len);
}

#define TELL(progress, letter, ...) \
	tell(progress, letter, (const char *const[MESSAGE_TEXTS]){ __VA_ARGS__ })

static void observe_begins(struct observer *observer, const char *step, const char *node)
{
	struct progress *progress = (struct progress *)observer;

	events_step(step, node);
	log_keep("step: %s%s%s", step, node ? " " : "", node ? node : "");
	steps_begin(progress->steps, step, node, clock_now_ms());
	if (progress->painter)
		TELL(progress, MESSAGE_BEGIN, step, node);
}

static void observe_goes_on(struct observer *observer, const char *step, const char *node,
			    const char *detail, uint64_t done, uint64_t total)
{
	struct progress *progress = (struct progress *)observer;
	cleanup_free char *done_text = NULL;
	cleanup_free char *total_text = NULL;

	events_progress(step, detail, done, total);
	steps_progress(progress->steps, step, node, detail, done, total, clock_now_ms());
	if (!progress->painter)
		return;
	done_text = xasprintf("%llu", (unsigned long long)done);
	total_text = xasprintf("%llu", (unsigned long long)total);
	TELL(progress, MESSAGE_PROGRESS, step, node, detail, done_text, total_text);
}

static void observe_ends(struct observer *observer, const char *step, const char *node, bool ok)
{
	struct progress *progress = (struct progress *)observer;
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	int64_t now = clock_now_ms();

	log_keep("%s: %s%s%s (%.1fs)", ok ? "done" : "failed", step, node ? " " : "",
		 node ? node : "", (double)steps_taken_ms(progress->steps, step, node, now) / 1000);
	steps_end(progress->steps, step, node, ok, now, &out);
	if (progress->painter)
		TELL(progress, MESSAGE_END, step, node, ok ? "ok" : NULL);
	if (!progress->live && !progress->quiet)
		(void)file_write_all(STDERR_FILENO, out.text, out.len);
}

static void show_note(struct progress *progress, const char *text)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	if (progress->live) {
		TELL(progress, MESSAGE_NOTE, text);
		return;
	}
	steps_note(progress->steps, text, &out);
	(void)file_write_all(STDERR_FILENO, out.text, out.len);
}

static void observe_notes(struct observer *observer, const char *text)
{
	struct progress *progress = (struct progress *)observer;

	events_info(text);
	log_keep("note: %s", text);
	if (!progress->quiet)
		show_note(progress, text);
}

static void observe_expects(struct observer *observer, const char *step, int64_t expected_ms)
{
	struct progress *progress = (struct progress *)observer;
	cleanup_free char *text = xasprintf("%lld", (long long)expected_ms);

	steps_expect(progress->steps, step, expected_ms, clock_now_ms());
	if (progress->painter)
		TELL(progress, MESSAGE_EXPECT, step, NULL, NULL, text);
}

/* Clear the live lines, until start_painter(). */
static void end_painter(struct progress *progress)
{
	TELL(progress, MESSAGE_QUIT, NULL);
	(void)close(progress->pipe);
	while (waitpid(progress->painter, NULL, 0) < 0 && errno == EINTR)
		;
	progress->painter = 0;
	progress->live = false;
	progress->pipe = -1;
}

static bool nobody_is_there(void)
{
	return !isatty(STDIN_FILENO) || !isatty(STDERR_FILENO) || events_on_stdout();
}

static bool observe_asks(struct observer *observer, const char *step, const char *text)
{
	struct progress *progress = (struct progress *)observer;
	cleanup_with(strbuf_release) struct strbuf lines = STRBUF_INIT;
	bool paints = progress->painter != 0;
	bool answer;

	if (progress_assume_yes || nobody_is_there()) {
		observe_notes(observer, text);
		return true;
	}
	events_info(text);
	log_keep("question: %s", text);
	if (paints)
		end_painter(progress);
	text_wrap(&lines, text, 0, 0, text_columns(STDERR_FILENO, 80));
	fprintf(stderr, "%s\n", lines.text);
	answer = say_go_on();
	/* The new painter does not know what the old one showed. */
	if (paints && start_painter(progress, &progress->look) == 0)
		TELL(progress, MESSAGE_BEGIN, step);
	return answer;
}

static void show_warning(const char *text)
{
	cleanup_free char *line = NULL;

	if (!shown->live) {
		say_warning(text);
		return;
	}
	line = xasprintf("Warning: %s", text);
	events_warning(text);
	show_note(shown, line);
}

struct progress *progress_new(bool quiet, int verbosity)
{
	bool mute = quiet || events_on_stdout();
	bool live = text_has_cursor(STDERR_FILENO) && !mute && verbosity < 2;
	const struct steps_look look = {
		.columns = live ? 80 : 0,
		.rows = 23,
		.unicode = text_has_emoji(STDERR_FILENO),
		.colour = text_has_colour(STDERR_FILENO),
		.times = live || verbosity > 0,
		.each = verbosity > 0,
		.since_ms = clock_now_ms() - log_elapsed_ms(),
	};
	struct progress *progress = xcalloc(1, sizeof(*progress));

	progress->observer = (struct observer){
		.begin = observe_begins,
		.progress = observe_goes_on,
		.end = observe_ends,
		.note = observe_notes,
		.expect = observe_expects,
		.confirm = observe_asks,
	};
	progress->quiet = mute;
	progress->look = look;
	progress->pipe = -1;
	progress->steps = steps_new(&look);
	if (!mute)
		(void)start_painter(progress, &look);
	if (events_on_stdout())
		return progress;
	shown = progress;
	log_show_warnings_with(show_warning);
	return progress;
}

struct observer *progress_observer(struct progress *progress)
{
	return &progress->observer;
}

void progress_free(struct progress *progress)
{
	if (shown == progress) {
		log_show_warnings_with(say_warning);
		shown = NULL;
	}
	if (progress->painter)
		end_painter(progress);
	steps_free(progress->steps);
	free(progress);
}

void progress_abandon(void)
{
	static const char quit[1 + MESSAGE_TEXTS] = { MESSAGE_QUIT };

	if (!shown || !shown->painter)
		return;
	(void)!write(shown->pipe, quit, sizeof(quit));
	(void)waitpid(shown->painter, NULL, 0);
}
