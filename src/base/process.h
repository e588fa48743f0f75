/*
 * Child processes: started from an argument vector, never through a shell, and held by a pidfd.
 *
 * A child made by process_spawn() is reaped by process_wait(), or killed and reaped by
 * process_release(), whichever comes first.
 */
#pragma once

#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "base/user.h"

/* An argument vector as an expression: ARGV("ls", "-l"). */
#define ARGV(...) ((char *[]){ __VA_ARGS__, NULL })

struct process {
	pid_t pid;
	int pidfd;
};

#define PROCESS_INIT ((struct process){ .pid = -1, .pidfd = -1 })

/* How to start a child.  With all members zero, it inherits standard input, output and error, the
 * working directory and the environment. */
struct process_options {
	const char *dir;
	const char *output; /* append stdout and stderr to this file */
	int stdin_fd;       /* > 0: the child's standard input */
	int stdout_fd;      /* > 0: the child's standard output */
	int stderr_fd;      /* > 0: the child's standard error */
	/* > 0: how many bytes of its output are taken, if it runs in a node; more is dropped. */
	uint64_t stdout_most;
	uint64_t stderr_most;
	/* Of a program in a node: writing more to standard output fails instead, and our end is
	 * closed when the program ends, whatever it left behind, or has written nothing for ten
	 * minutes. */
	bool stdout_stops;
	/* > 0: bytes of memory for a program of this host that reads what a node wrote; it dumps no
	 * core then. */
	uint64_t memory_most;
	bool no_stdin;            /* /dev/null as standard input */
	bool new_session;         /* run in a new session, so that it can outlive us */
	bool dies_with_us;        /* killed when we end, however we end */
	char *const *environment; /* NULL: inherited */
	const struct user *user;  /* NULL: run as our own user */
	bool only_dir;            /* all mounts except `dir` are read-only; needs root */
	/*
	 * > 0: run a program that reads untrusted data.  It has this uid and gid and no other
	 * rights, cannot gain any through set-user-ID programs, has no network, an empty
	 * environment unless one is given, and one hour of CPU time.
	 */
	uid_t confined_uid;
	/* Called in the child last, to restrict it further; NULL: nothing.  On failure it returns
	 * -1 and sets errno, and the program is not started.  The program need not be reachable by
	 * its path any more, but must not be a script. */
	int (*enter)(const void *arg);
	const void *enter_arg;
};

/* Start ARGV[0] (found in PATH if it has no slash); -ENOENT if there is no such program. */
int process_spawn(char *const *argv, const struct process_options *options,
		  struct process *ret_process, struct error *err);

/* Wait until the child PID has closed the pipe REPORT by starting its program, and return 0; or the
 * errno that it wrote there instead, or ETIMEDOUT after TIMEOUT_MS, and then it is killed and
 * reaped. */
int process_await_exec(pid_t pid, int report, unsigned timeout_ms);

/* Wait until DEADLINE_MS (0: no limit) for the child to end.  Returns its exit status, 128+N for
 * signal N, or -ETIMEDOUT. */
int process_wait(struct process *process, int64_t deadline_ms, struct error *err);

/* Kill and reap the child if it still runs. */
void process_release(struct process *process);

/* Run ARGV, wait for it to end and return its exit status like process_wait(). */
int process_run(char *const *argv, const struct process_options *options, struct error *err);

/* Like process_run(), appending standard output to OUTPUT (at most 16 MiB). */
int process_capture(char *const *argv, const struct process_options *options, struct strbuf *output,
		    struct error *err);

/* Whether the process is stopped by SIGSTOP or a debugger. */
bool process_is_halted(pid_t pid);

/* Whether PID is still the process that started at START_TIME, as process_start_time() returned it;
 * false if the pid was reused. */
bool process_is(pid_t pid, uint64_t start_time);

/* The start time of PID in clock ticks since boot; 0 if it does not run.  Zombies do not run. */
uint64_t process_start_time(pid_t pid);

/* The path of PROGRAM, found in PATH and in the standard system directories; NULL if there is none.
 * The caller frees it. */
char *process_find(const char *program) must_check;

struct process_limit {
	__rlimit_resource_t resource;
	rlim_t most;
};

/* Lower the resource limits of this process for good; a limit that is lower already stays.  All of
 * LIMITS are tried; returns -1 and sets errno if one of them failed. */
int process_lower_limits(const struct process_limit *limits, size_t count);
