#include "base/macro.h"
#include "vm/qmp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_event(const char *name, arg_unused const json_t *data, arg_unused void *us)
{
	assert(name);
}

static void on_answer(json_int_t id, arg_unused const char *problem, arg_unused void *us)
{
	assert(id > 0);
}

/* The first byte is the size of the pieces in which the rest arrives. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct qmp qmp = QMP_INIT;
	size_t piece;

	qmp.on_event = on_event;
	qmp.on_answer = on_answer;
	if (size == 0)
		return 0;
	piece = 1 + data[0];
	for (size_t at = 1; at < size; at += piece) {
		if (qmp_receive(&qmp, (const char *)data + at, MIN(piece, size - at), NULL) < 0)
			break;
		(void)qmp_command(&qmp, "stop", NULL);
	}
	qmp_release(&qmp);
	return 0;
}
