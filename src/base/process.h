/*
 * Other programs: started by argument vector, never through a shell, known by pidfd.
 *
 * A child is what process_spawn() made; it is reaped by process_wait(), or killed and
 * reaped by process_release(), whichever comes first.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "base/user.h"

/* An argument vector in place: ARGV("ls", "-l"). */
#define ARGV(...) ((char *[]){ __VA_ARGS__, NULL })

struct process {
	pid_t pid;
	int pidfd;
};

#define PROCESS_INIT ((struct process){ .pid = -1, .pidfd = -1 })

/* How to start a child; zero means: our own standard input, output, error, directory and
 * environment.
 */
struct process_options {
	const char *dir;
	const char *output;       /* append stdout and stderr to this file */
	int stdin_fd;             /* > 0: the child's standard input */
	int stdout_fd;            /* > 0: the child's standard output */
	int stderr_fd;            /* > 0: the child's standard error */
	bool no_stdin;            /* /dev/null as standard input */
	bool new_session;         /* outlive us: a session of its own */
	bool dies_with_us;        /* killed when we end, however we end */
	char *const *environment; /* NULL: ours */
	const struct user *user;  /* NULL: run as who we are, else as this user */
	bool only_dir;            /* it can change nothing outside of `directory`; needs root */
	/*
	 * > 0: a program that reads what is not to be trusted.  It has this uid and gid and no
	 * other rights, can't gain any by set-user-ID programs, has no network, an empty
	 * environment, and an hour of processor time.
	 */
	uid_t confined_uid;
};

/* Start ARGV[0] (found in PATH if it has no slash); -ENOENT if there is no such program. */
int process_spawn(char *const *argv, const struct process_options *options,
		  struct process *ret_process, struct error *err);

/* Wait until DEADLINE_MS (0: for ever) for the end; returns the exit status, 128+N for a signal,
 * -ETIMEDOUT. */
int process_wait(struct process *process, int64_t deadline_ms, struct error *err);

/* Kill and reap the child if it still runs. */
void process_release(struct process *process);

/* Run ARGV to its end and return its exit status as process_wait() does. */
int process_run(char *const *argv, const struct process_options *options, struct error *err);

/* Like process_run() with stdout added to OUTPUT (at most 16 MiB). */
int process_capture(char *const *argv, const struct process_options *options, struct strbuf *output,
		    struct error *err);

/* Whether PID lives and began at START (in clock ticks, from process_start_time()): guards against
 * reused pids. */
bool process_is(pid_t pid, uint64_t start_time);

/* When PID began, in clock ticks since boot; 0 if there is no such process. */
uint64_t process_start_time(pid_t pid);

/* The path of PROGRAM as PATH finds it, for the caller to free; NULL if there is none. */
char *process_find(const char *program) must_check;
