/* The container engine of this host: Docker, or another with its API. */
#pragma once

#include "engine/answer.h"
#include "engine/request.h"

/* The oldest API that is enough: that of Docker 20.10. */
#define ENGINE_API_OLDEST "1.41"

struct engine {
	char *socket;
	char *shown; /* what errors call it */
};

#define ENGINE_INIT ((struct engine){ NULL })

/*
 * Find the engine: at the Unix socket that DOCKER_HOST names, or at that of Docker or, if there
 * is none, of Podman.  With
 * reason_host_unsupported if DOCKER_HOST names something else; with reason_host_missing_tool if
 * nobody answers there: -ENOENT without a socket, else the errno of connect().
 */
int engine_open(struct engine *ret, struct error *err);

/* Whether this host has no engine any more: neither a socket nor a program. */
bool engine_is_gone(void);
void engine_release(struct engine *engine);

/* Find out about the engine. */
int engine_look(const struct engine *engine, struct engine_info *ret, struct error *err);

/*
 * Check that it makes containers of this host that can become nodes: it is not too old, has this
 * host's root and runs on this host's kernel.  -ENOTSUP with reason_host_unsupported.
 */
int engine_check(const struct engine_info *info, struct error *err);

/* Send METHOD PATH with the body JSON (may be NULL) and append the answer to RET (may be NULL), at
 * most ENGINE_ANSWER_MOST bytes.  Errors are those of engine_send(); -EMSGSIZE. */
int engine_call(const struct engine *engine, const char *method, const char *path, const char *json,
		struct strbuf *ret, struct error *err);

/* The container called NAME; -ENOENT if there is none. */
int engine_find_container(const struct engine *engine, const char *name,
			  struct engine_container *ret, struct error *err);

/* Add to RET what the list PATH ("/volumes", "/images/json", "/containers/json") has with the
 * filter KEY=VALUE ("label"). */
int engine_list(const struct engine *engine, const char *path, const char *key, const char *value,
		struct strlist *ret, struct error *err);

/* Make the image REPOSITORY:TAG of the tar archive ARCHIVE. */
int engine_import(const struct engine *engine, const char *repository, const char *tag,
		  const struct strbuf *archive, struct error *err);
