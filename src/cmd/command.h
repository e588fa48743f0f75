/*
 * One command, one file, one table entry.
 *
 * To add the command `foo`:
 *
 *  1. write src/cmd/foo.c, ending in a `const struct command cmd_foo`;
 *  2. declare it at the end of this file, and name it in commands[] in src/main.c (or in
 *     the subcommands of its parent) and in src/cmd/meson.build.
 *
 * Usage and --help are printed from the entry, so they cannot disagree with what the
 * command accepts.
 */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "base/strlist.h"
#include "cli/opt.h"
#include "cli/progress.h"
#include "describe/file.h"
#include "record/profile.h"

enum command_flags {
	COMMAND_NEEDS_CLUSTER = 1 << 0,   /* load the profile before run() */
	COMMAND_LOCKS_CLUSTER = 1 << 1,   /* hold the profile's lock until run() returns */
	COMMAND_NEEDS_ROOT = 1 << 2,      /* unless no driver of its nodes does */
	COMMAND_PASSES_REST = 1 << 3,     /* all after `--` or the first operand is operands */
	COMMAND_HIDDEN = 1 << 4,          /* not listed by help; for internal use */
	COMMAND_KEEPS_FILES = 1 << 5,     /* execs a program that inherits our caller's
					   * descriptors */
	COMMAND_NO_SETTINGS = 1 << 6,     /* works even if the user's settings are invalid */
	COMMAND_AUDITED = 1 << 7,         /* changes something: see look/audit.h */
	COMMAND_FOREIGN_OPTIONS = 1 << 9, /* of our options, only -p and -h may come before the
					   * rest */
	COMMAND_WAITS = 1 << 8,           /* wait for the command that holds the lock */
	COMMAND_WORKERS = 1 << 10,        /* of `worker`: not for control planes */
};

struct command_context {
	const struct command *command;
	const char *profile_name; /* from -p, or the active one; valid, but need not exist */
	bool profile_given;       /* it was given on the command line or in the environment */
	struct profile *profile;  /* set iff COMMAND_NEEDS_CLUSTER */
	const struct cluster_file *file; /* of --file; NULL if none was given */
	struct strlist overridden;       /* options given both there and on the command line */
	bool quiet;                      /* -q; for -v see log_verbosity */
	bool after_dashes; /* there was a `--` before the operands; with COMMAND_PASSES_REST */
	int argc;          /* operands left after the options */
	char **argv;       /* ended by NULL; never NULL itself */
};

struct command {
	const char *name;
	const char *alias;       /* further names, "remove|unload", or NULL */
	const char *operands;    /* as shown in usage, e.g. "[NAME]" */
	const char *summary;     /* one line, imperative, no full stop */
	const char *description; /* sentences below the usage, or NULL */
	const char *examples;    /* lines, each ended by a newline, or NULL */
	const char *elsewhere;   /* its names in similar programs: "create|up"; only for
				  * suggestions */
	unsigned min_operands;
	unsigned max_operands; /* not looked at with COMMAND_PASSES_REST */
	enum command_flags flags;
	enum complete complete;    /* what a shell offers for operands */
	const char *words;         /* or these: "bash|zsh|fish" */
	const struct opt *options; /* ends with OPT_END; may be NULL */
	const struct opt *absent;  /* options of minikube that do not exist here; may be NULL */
	const struct command *const *subcommands; /* ends with NULL; run is for other operands */
	const char *interrupted; /* advice after a Ctrl-C; NULL: run the same command again */
	const bool *no_lock; /* an option with which COMMAND_LOCKS_CLUSTER is not needed, or NULL */
	const char **events; /* the variable that -o sets: "json" prints events; or NULL */

	/* The options that the file of --file sets, unless the command line does; NULL: it takes no
	 * cluster file. */
	struct cluster_options *wanted;

	/* The program's exit status, or a negative errno with ERR set. */
	int (*run)(struct command_context *ctx, struct error *err);
};

/* -o of the commands that have `events`. */
#define OPT_EVENTS(to_)                             \
	OPT_CHOICE('o', "output", to_, "text|json", \
		   "output format; json prints one event per line", .once = true)

/* --yes of the commands that may have to build Kubernetes. */
#define OPT_YES                                                                                  \
	OPT_FLAG('y', "yes", &progress_assume_yes,                                               \
		 "do not ask before building Kubernetes from source if it cannot be downloaded", \
		 .once = true)

/* The flags of commands that start or stop nodes. */
#define COMMAND_CHANGES_NODES                                                                 \
	(COMMAND_NEEDS_CLUSTER | COMMAND_LOCKS_CLUSTER | COMMAND_WAITS | COMMAND_NEEDS_ROOT | \
	 COMMAND_AUDITED)

/* COMMAND's options, with the placeholders of settings replaced; may be NULL. */
const struct opt *command_options(const struct command *command);

/* The options that every command has. */
extern const struct opt command_global_options[];

/*
 * Run the program: find the command of ARGV (without the program's name) in COMMANDS (ended by
 * NULL), parse the options, do what the command's flags say, run it. Returns the exit status or a
 * negative errno with ERR set.
 */
int command_main(const struct command *const *commands, char **argv, struct error *err);

/* Whether NAME is a name of COMMAND. */
bool command_is(const struct command *command, const char *name);

/* The command of COMMANDS called NAME; -EINVAL with reason_usage if there is none; the advice is
 * the substitute for another program's command, or the nearest name. PARENT is "manykube" or
 * "manykube node". */
int command_find(const struct command *const *commands, const char *parent, const char *name,
		 const struct command **ret_command, struct error *err);

/* Check that COMMAND, whose full name is PATH, takes as many operands as OPERANDS; -EINVAL with
 * reason_usage, and the substitute if the first is a command of another program. */
int command_check_operands(const struct command *command, const char *path,
			   const struct strlist *operands, struct error *err);

#define COMMAND_PROGRAM_SUMMARY "Real Kubernetes clusters of many nodes on one Linux machine"

/* The usage lines of COMMAND, whose full name is PATH; the caller frees them. */
char *command_usage(const struct command *command, const char *path) must_check;

/* COMMAND's summary as a sentence; the caller frees it. */
char *command_sentence(const struct command *command) must_check;

/* Print the help of COMMAND, whose full name is PATH ("manykube node list"). */
void command_print_help(const struct command *command, const char *path, FILE *out);

/* Print the list of COMMANDS, the help of the whole program. */
void command_print_list(const struct command *const *commands, FILE *out);

/* Print the options that every command has. */
void command_print_options(FILE *out);

/* The program's own table, for `help`. */
extern const struct command *const commands[];

extern const struct command cmd_apply;
extern const struct command cmd_autostart;
extern const struct command cmd_complete;
extern const struct command cmd_completion;
extern const struct command cmd_config;
extern const struct command cmd_config_explain;
extern const struct command cmd_config_get;
extern const struct command cmd_config_init;
extern const struct command cmd_config_set;
extern const struct command cmd_config_unset;
extern const struct command cmd_config_view;
extern const struct command cmd_cp;
extern const struct command cmd_delete;
extern const struct command cmd_docker_all;
extern const struct command cmd_docker_env;
extern const struct command cmd_docs;
extern const struct command cmd_doctor;
extern const struct command cmd_driver;
extern const struct command cmd_fail;
extern const struct command cmd_fail_api;
extern const struct command cmd_fail_clock;
extern const struct command cmd_fail_disk;
extern const struct command cmd_fail_etcd;
extern const struct command cmd_fail_freeze;
extern const struct command cmd_fail_kill;
extern const struct command cmd_fail_kubelet;
extern const struct command cmd_fail_list;
extern const struct command cmd_fail_memory;
extern const struct command cmd_fail_partition;
extern const struct command cmd_fail_run;
extern const struct command cmd_fail_runtime;
extern const struct command cmd_fail_slow;
extern const struct command cmd_fail_timer;
extern const struct command cmd_front_door;
extern const struct command cmd_vm_keeper;
extern const struct command cmd_heal;
extern const struct command cmd_help;
extern const struct command cmd_image;
extern const struct command cmd_image_build;
extern const struct command cmd_image_load;
extern const struct command cmd_image_ls;
extern const struct command cmd_image_pull;
extern const struct command cmd_image_push;
extern const struct command cmd_image_rm;
extern const struct command cmd_image_save;
extern const struct command cmd_image_tag;
extern const struct command cmd_ip;
extern const struct command cmd_kubectl;
extern const struct command cmd_logs;
extern const struct command cmd_network;
extern const struct command cmd_node;
extern const struct command cmd_node_add;
extern const struct command cmd_node_delete;
extern const struct command cmd_node_list;
extern const struct command cmd_node_recover;
extern const struct command cmd_node_set;
extern const struct command cmd_node_start;
extern const struct command cmd_node_stop;
extern const struct command cmd_node_pause;
extern const struct command cmd_node_unpause;
extern const struct command cmd_options;
extern const struct command cmd_pause;
extern const struct command cmd_port;
extern const struct command cmd_profile;
extern const struct command cmd_profile_import;
extern const struct command cmd_profile_list;
extern const struct command cmd_registry;
extern const struct command cmd_service;
extern const struct command cmd_ssh;
extern const struct command cmd_start;
extern const struct command cmd_status;
extern const struct command cmd_stop;
extern const struct command cmd_unpause;
extern const struct command cmd_update_context;
extern const struct command cmd_tunnel;
extern const struct command cmd_upgrade;
extern const struct command cmd_version;
extern const struct command cmd_worker;
extern const struct command cmd_worker_create;
extern const struct command cmd_worker_delete;
extern const struct command cmd_worker_docker_env;
extern const struct command cmd_worker_ip;
extern const struct command cmd_worker_list;
extern const struct command cmd_worker_logs;
extern const struct command cmd_worker_ssh;
extern const struct command cmd_worker_start;
extern const struct command cmd_worker_status;
extern const struct command cmd_worker_stop;
