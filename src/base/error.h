/*
 * Errors: a code for the program, a message for the user.
 *
 * A function that can fail returns a negative errno and takes a struct error as
 * its last parameter:
 *
 *  - on success it returns 0 or a non-negative result and leaves ERR alone;
 *  - on failure ERR holds one line of text: lower case, no full stop, names in
 *    single quotes, complete enough to be printed as it is.
 *
 * The number is for code to branch on, the text is for people.  An error may
 * also carry a reason, which decides the program's exit status and the advice
 * printed below the text; an error without one is a plain failure.
 *
 * Only src/cmd/ and src/main.c print errors; every other layer passes them up.
 * ERR may be NULL when the caller does not need the words.
 */
#pragma once

#include "base/macro.h"

/* Why a command failed: the word for scripts, and the exit status that goes with it. */
struct reason {
	const char *word;
	int exit_status;
	const char *advice;  /* what to do next, or NULL */
	const char *meaning; /* for the documentation: lower case, no full stop */
};

/* Exit codes follow minikube's scheme: tens name the area, units name the kind of problem. */
extern const struct reason reason_usage;             /* 14: the command line is wrong */
extern const struct reason reason_cluster_file;      /* 18: the cluster's file is wrong */
extern const struct reason reason_interrupted;       /* 11: Ctrl-C or a termination signal */
extern const struct reason reason_busy;              /* 11: another command works on the cluster */
extern const struct reason reason_not_root;          /* 37 */
extern const struct reason reason_host_missing_tool; /* 35 */
extern const struct reason reason_host_unsupported;  /* 36 */
extern const struct reason reason_host_config;       /* 38: state or kubeconfig damaged */
extern const struct reason reason_resources;         /* 23 */
extern const struct reason reason_storage;           /* 26 */
extern const struct reason reason_network;           /* 70: bridge, addresses, nftables */
extern const struct reason reason_subnet_taken;      /* 71 */
extern const struct reason reason_port_taken;        /* 71 */
extern const struct reason reason_download;          /* 40 */
extern const struct reason reason_version_unsupported; /* 106 */
extern const struct reason reason_cluster_missing;     /* 85 */
extern const struct reason reason_node_missing;        /* 85 */
extern const struct reason reason_node_not_running;    /* 83 */
extern const struct reason reason_node_paused;         /* 83 */
extern const struct reason reason_node_failed;         /* 80 */
extern const struct reason reason_copy;                /* 80 */
extern const struct reason reason_image;               /* 80 */
extern const struct reason reason_node_path;           /* 85 */
extern const struct reason reason_host_path;           /* 35 */
extern const struct reason reason_control_plane;       /* 100 */
extern const struct reason reason_api_not_running;     /* 103 */
extern const struct reason reason_wait_timeout;        /* 102 */
extern const struct reason reason_service_unreachable; /* 113: no endpoint, or no node */
extern const struct reason reason_service_missing;     /* 115 */
extern const struct reason reason_service_inside;      /* 116: without a node port */
extern const struct reason reason_command_refused;     /* 126, as in a shell */
extern const struct reason reason_command_missing;     /* 127, as in a shell */

/* All reasons, sorted by exit status; ends with NULL. */
extern const struct reason *const reasons[];

struct error {
	char *text;
	char *hint; /* advice for this case; replaces the reason's advice */
	const struct reason *reason;
};

#define ERROR_INIT ((struct error){ NULL })

/* Set ERR's text and return CODE, a negative errno. */
int error_set(struct error *err, int code, const char *fmt, ...) printf_like(3, 4);

/* Like error_set(), with a reason. */
int error_because(struct error *err, const struct reason *reason, int code, const char *fmt, ...)
	printf_like(4, 5);

/* Like error_set() for a failed system call: appends strerror(errno), returns -errno. */
int error_sys(struct error *err, const char *fmt, ...) printf_like(2, 3);

/* Put "context: " in front of ERR's text and return CODE unchanged. */
int error_prefix(struct error *err, int code, const char *fmt, ...) printf_like(3, 4);

/* Give ERR a reason unless it has one, and return CODE unchanged. */
int error_reason(struct error *err, int code, const struct reason *reason);

/* ERR's hint, or else its reason's advice; NULL if there is neither. */
const char *error_advice(const struct error *err);

/* The exit status of a program that ends because of ERR. */
int error_exit_status(const struct error *err);

/* Set the advice for this case and return CODE unchanged.  base/advice.h describes how to write
 * commands in it. */
int error_hint(struct error *err, int code, const char *fmt, ...) printf_like(3, 4);

/* Reset ERR (may be NULL) to ERROR_INIT. */
void error_clear(struct error *err);

/* Move FROM to ERR and return CODE.  FROM becomes ERROR_INIT, or stays as it is if ERR is NULL. */
int error_move(struct error *err, int code, struct error *from);
