/* Work on one component in a separate process. */

#include "payload/task.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"

/* A message is a letter followed by TEXTS texts, each ended by NUL. */
#define TEXTS         4
#define MESSAGE_LIMIT (1 << 16)

void work_send(int pipe, enum work_message letter, const char *const texts[4])
{
	cleanup_with(strbuf_release) struct strbuf message = STRBUF_INIT;

	strbuf_add_char(&message, (char)letter);
	for (size_t i = 0; i < TEXTS; i++) {
		if (texts[i])
			strbuf_add_mem(&message, texts[i],
				       strnlen(texts[i], MESSAGE_LIMIT / (TEXTS + 1)));
		strbuf_add_char(&message, '\0');
	}
	(void)file_write_all(pipe, message.text, message.len);
}

static _Noreturn void run_child(struct work *work, enum component_id id, task_fn run, int pipe,
				pid_t parent)
{
	struct error err = ERROR_INIT;
	cleanup_free char *code = NULL;
	int r;

	/* Die with the parent, however it ends. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(EXIT_FAILURE);
	work->report = pipe;
	r = run(work, id, &err);
	code = xasprintf("%d", -r);
	work_send(pipe, WORK_ENDED,
		  (const char *[4]){ code, err.reason ? err.reason->word : NULL, err.text,
				     err.hint });
	_exit(EXIT_SUCCESS);
}

int task_start(struct work *work, enum component_id id, task_fn run, struct task *ret,
	       struct error *err)
{
	cleanup_with(task_release) struct task task = TASK_INIT;
	cleanup_fd int to = -1;
	pid_t parent = getpid();
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_sys(err, "cannot make a pair of sockets");
	task.pipe = ends[0];
	to = ends[1];
	task.id = id;
	task.process.pid = fork();
	if (task.process.pid < 0)
		return error_sys(err, "cannot start a process for %s", components[id].name);
	if (task.process.pid == 0) {
		(void)close(task.pipe);
		run_child(work, id, run, to, parent);
	}
	task.process.pidfd = pidfd_open(task.process.pid, 0);
	*ret = task;
	task = TASK_INIT;
	return 0;
}

static int number(const char *text, int most)
{
	unsigned long long value = 0;

	return parse_number(text, 0, (unsigned)most, &value, NULL) < 0 ? most : (int)value;
}

/* Handle the end of a task: return its result and set ERR to its error. */
static int take_end(char *const *texts, struct error *err)
{
	int r = -number(texts[0], 4095);
	const struct reason *reason = NULL;

	if (r == 0)
		return 0;
	for (size_t i = 0; reasons[i]; i++)
		if (strcmp(reasons[i]->word, texts[1]) == 0)
			reason = reasons[i];
	(void)error_set(err, r, "%s", texts[2]);
	if (reason)
		(void)error_reason(err, r, reason);
	return *texts[3] ? error_hint(err, r, "%s", texts[3]) : r;
}

/* Handle the choice of a way; a task that wants to build waits for an answer. */
static int take_way(struct task *task, struct work *work, int way, struct error *err)
{
	int r = work_goes(work, task->id, way == WAY_BUILD ? WAY_BUILD : WAY_DOWNLOAD, err);

	if (r < 0)
		return r;
	/* A task that does not read its answers must not block us. */
	if (way == WAY_BUILD)
		(void)send(task->pipe, "y", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	return 1;
}

/* Handle one message; returns 1 unless the task has ended. */
static int take_message(struct task *task, struct work *work, char letter, char *const *texts,
			struct error *err)
{
	switch ((enum work_message)letter) {
	case WORK_PROGRESS:
		work_tell(work, task->id, (unsigned)number(texts[0], 1000), "%s", texts[1]);
		return 1;
	case WORK_NOTE:
		work_note(work, texts[0]);
		return 1;
	case WORK_WAY:
		return take_way(task, work, number(texts[0], WAY_BUILD), err);
	case WORK_UNREACHABLE:
		work_avoid(work, texts[0]);
		return 1;
	case WORK_MISSING:
		work_lacks(work, task->id);
		return 1;
	case WORK_ENDED:
		return take_end(texts, err);
	}
	return error_set(err, -EBADMSG, "the process for %s sent an unknown message",
			 components[task->id].name);
}

/* Handle the first message in the input and remove it; -EAGAIN if it is incomplete. */
static int take_first(struct task *task, struct work *work, struct error *err)
{
	struct strbuf *input = &task->input;
	char *texts[TEXTS];
	size_t at = 1;
	int r;

	for (size_t i = 0; i < TEXTS; i++) {
		size_t len = at < input->len ? strnlen(input->text + at, input->len - at) : 0;

		if (at + len >= input->len)
			return -EAGAIN;
		texts[i] = input->text + at;
		at += len + 1;
	}
	r = take_message(task, work, input->text[0], texts, err);
	strbuf_drop_front(input, at);
	return r;
}

int task_take(struct task *task, struct work *work, const void *data, size_t len, struct error *err)
{
	int r = 1;

	strbuf_add_mem(&task->input, data, len);
	while (r == 1)
		r = take_first(task, work, err);
	if (r != -EAGAIN)
		return r;
	return task->input.len <= MESSAGE_LIMIT
		       ? 1
		       : error_set(err, -EBADMSG,
				   "the process for %s sent a message that is too long",
				   components[task->id].name);
}

int task_step(struct task *task, struct work *work, struct error *err)
{
	char data[PIPE_BUF];
	ssize_t len = read(task->pipe, data, sizeof(data));

	if (len < 0 && errno == EINTR)
		return 1;
	if (len <= 0)
		return error_set(err, -EIO, "the process for %s ended unexpectedly",
				 components[task->id].name);
	return task_take(task, work, data, (size_t)len, err);
}

int task_run(struct work *work, enum component_id id, task_fn run, struct error *err)
{
	cleanup_with(task_release) struct task task = TASK_INIT;
	int r = task_start(work, id, run, &task, err);

	if (r == 0)
		r = 1;
	while (r == 1)
		r = task_step(&task, work, err);
	return r;
}

void task_release(struct task *task)
{
	process_release(&task->process);
	if (task->pipe >= 0)
		(void)close(task->pipe);
	strbuf_release(&task->input);
	*task = TASK_INIT;
}
