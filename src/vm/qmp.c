/* The QEMU Machine Protocol. */

#include "vm/qmp.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

static json_int_t send_command(struct qmp *qmp, const char *name, json_t *arguments)
{
	json_auto_t *command = json_object();
	cleanup_free char *text = NULL;

	(void)json_object_set_new(command, "execute", json_string(name));
	if (arguments)
		(void)json_object_set_new(command, "arguments", arguments);
	(void)json_object_set_new(command, "id", json_integer(++qmp->last_id));
	text = json_dumps(command, JSON_COMPACT);
	strbuf_add(&qmp->out, text ? text : "{}");
	strbuf_add_char(&qmp->out, '\n');
	return qmp->last_id;
}

json_int_t qmp_command(struct qmp *qmp, const char *name, json_t *arguments)
{
	if (!qmp->ready) {
		json_decref(arguments);
		return -ENOTCONN;
	}
	return send_command(qmp, name, arguments);
}

static void handle_answer(struct qmp *qmp, const json_t *message, const json_t *problem)
{
	json_int_t id = json_integer_value(json_object_get(message, "id"));
	const char *words = json_string_value(json_object_get(problem, "desc"));

	/* The first command was qmp_capabilities. */
	if (!qmp->ready) {
		qmp->ready = !problem;
		return;
	}
	if (qmp->on_answer && id > 0 && id <= qmp->last_id)
		qmp->on_answer(id, problem ? (words ? words : "unknown error") : NULL, qmp->data);
}

static int handle_line(struct qmp *qmp, const char *line, size_t len, struct error *err)
{
	json_auto_t *message = json_loadb(line, len, 0, NULL);
	const char *event = json_string_value(json_object_get(message, "event"));
	const json_t *problem = json_object_get(message, "error");

	if (!json_is_object(message))
		return error_set(err, -EPROTO, "QEMU sent a line that is no JSON object");
	if (json_object_get(message, "QMP") && qmp->last_id == 0)
		(void)send_command(qmp, "qmp_capabilities", NULL);
	else if (event && qmp->on_event)
		qmp->on_event(event, json_object_get(message, "data"), qmp->data);
	else if (problem || json_object_get(message, "return"))
		handle_answer(qmp, message, problem);
	return 0;
}

int qmp_receive(struct qmp *qmp, const char *bytes, size_t len, struct error *err)
{
	size_t done = 0;
	const char *end;

	strbuf_add_mem(&qmp->in, bytes, len);
	while ((end = memchr(qmp->in.text + done, '\n', qmp->in.len - done))) {
		size_t length = (size_t)(end - qmp->in.text) - done;
		int r = handle_line(qmp, qmp->in.text + done, length, err);

		if (r < 0)
			return r;
		done += length + 1;
	}
	strbuf_drop_front(&qmp->in, done);
	if (qmp->in.len > QMP_LINE_MOST)
		return error_set(err, -EPROTO, "QEMU sent a line of more than %u bytes",
				 QMP_LINE_MOST);
	return 0;
}

void qmp_release(struct qmp *qmp)
{
	strbuf_release(&qmp->in);
	strbuf_release(&qmp->out);
	*qmp = QMP_INIT;
}
