/*
 * What an engine answers.
 *
 * Answers are foreign bytes: what is missing or has another type is empty, 0 or false; -EBADMSG if
 * an answer is no JSON of the expected kind.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "base/strlist.h"

/* The most bytes of an answer that are read. */
#define ENGINE_ANSWER_MOST (4u << 20)

struct engine_info {
	char *version; /* "20.10.24" */
	char *api;     /* the newest API that it has: "1.41" */
	char *kernel;  /* of the machine that it runs on */
	bool rootless; /* it runs in a user namespace */
};

#define ENGINE_INFO_INIT ((struct engine_info){ NULL })

void engine_info_release(struct engine_info *info);

/* Add what the answers to /version and /info say to RET. */
int engine_read_version(const char *text, size_t len, struct engine_info *ret, struct error *err);
int engine_read_info(const char *text, size_t len, struct engine_info *ret, struct error *err);

/* Whether the API VERSION ("1.41") is WANTED or later. */
bool engine_api_is(const char *version, const char *wanted);

struct engine_container {
	char *id;
	char *image;           /* as it was named when the container was made */
	struct strlist labels; /* KEY=VALUE */
	bool running;
	bool paused;
	pid_t pid; /* of its first process; 0 if it does not run */
	int exit_status;
	char *problem; /* why it could not be started; may be NULL */
};

#define ENGINE_CONTAINER_INIT ((struct engine_container){ NULL })

void engine_container_release(struct engine_container *container);

/* Read the answer to /containers/NAME/json. */
int engine_read_container(const char *text, size_t len, struct engine_container *ret,
			  struct error *err);

/* Add the ids of a list of containers, the names of a list of volumes, or the names of a list of
 * images to RET. */
int engine_read_list(const char *text, size_t len, struct strlist *ret, struct error *err);
