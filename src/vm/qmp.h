/*
 * The QEMU Machine Protocol: commands to QEMU and its events, as lines of JSON.
 *
 * It only encodes and decodes; the caller owns the connection.  QEMU may have been taken over by
 * its guest, so any bytes are accepted, and a line has at most QMP_LINE_MOST bytes.
 */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "base/strbuf.h"

#define QMP_LINE_MOST (256u << 10)

struct qmp {
	struct strbuf in;  /* an incomplete line */
	struct strbuf out; /* what the caller has to send */
	bool ready;        /* QEMU accepts commands */
	json_int_t last_id;
	void (*on_event)(const char *name, const json_t *data, void *data_of_caller);

	/* The answer to the command ID; PROBLEM is NULL if it succeeded. */
	void (*on_answer)(json_int_t id, const char *problem, void *data_of_caller);
	void *data;
};

#define QMP_INIT ((struct qmp){ .in = STRBUF_INIT, .out = STRBUF_INIT })

/* Handle received bytes; -EPROTO if they are not of the protocol. */
int qmp_receive(struct qmp *qmp, const char *bytes, size_t len, struct error *err);

/* Add the command NAME to what is to be sent; returns its id.  ARGUMENTS (may be NULL) is released.
 * -ENOTCONN if QEMU is not ready. */
json_int_t qmp_command(struct qmp *qmp, const char *name, json_t *arguments);

void qmp_release(struct qmp *qmp);
