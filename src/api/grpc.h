/*
 * gRPC over a Unix socket: calls with one request.
 *
 * A method that streams requests can be called as well if one is enough.  Of a stream of answers,
 * only the last one is kept.
 */
#pragma once

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "base/strlist.h"

struct grpc;

/* A client for the server at SOCKET, to which the first call connects; so it may be made by a
 * process that enters the place where SOCKET is later.  Later calls use the same connection. */
struct grpc *grpc_new(const char *socket) must_check;

/*
 * Call METHOD ("package.Service/Method") with the message REQUEST and METADATA ("name: value"), and
 * append the answer to RET_ANSWER, which may be NULL.  -ECONNREFUSED if nobody listens;
 * -ECONNRESET if the server ends meanwhile; -ETIMEDOUT after a minute; -ENOENT, -EEXIST, -ERANGE
 * and the like for the status of the same meaning, otherwise -EIO.
 */
int grpc_call(struct grpc *grpc, const char *method, const struct strlist *metadata,
	      const struct strbuf *request, struct strbuf *ret_answer, struct error *err);

void grpc_free(struct grpc *grpc);
DEFINE_CLEANUP(struct grpc *, grpc_free)

/* Append MESSAGE as a frame. */
void grpc_add_frame(struct strbuf *buf, const struct strbuf *message);

/* Find the last message in DATA, which must be one or more frames; -EBADMSG if it is not. */
int grpc_find_message(const char *data, size_t len, const char **ret_data, size_t *ret_len);

/* The negative errno for a status of gRPC; 0 for OK. */
int grpc_errno(unsigned status);
