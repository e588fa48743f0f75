#include "test.h"
#include "vm/qmp.h"

static char events[256];
static json_int_t answered;
static char problem[64];

static void on_event(const char *name, const json_t *data, arg_unused void *us)
{
	const char *why = json_string_value(json_object_get(data, "reason"));

	(void)snprintf(events + strlen(events), sizeof(events) - strlen(events), "%s(%s) ", name,
		       why ? why : "");
}

static void on_answer(json_int_t id, const char *why, arg_unused void *us)
{
	answered = id;
	(void)snprintf(problem, sizeof(problem), "%s", why ? why : "");
}

static struct qmp qmp;

static int receive(const char *text)
{
	return qmp_receive(&qmp, text, strlen(text), NULL);
}

/* What QEMU would read, as a server that agrees to everything. */
static void begin(void)
{
	qmp = QMP_INIT;
	qmp.on_event = on_event;
	qmp.on_answer = on_answer;
	ASSERT_INT(receive("{\"QMP\": {\"version\": {}, \"capabilities\": [\"oob\"]}}\r\n"), 0);
	ASSERT_STR(qmp.out.text, "{\"execute\":\"qmp_capabilities\",\"id\":1}\n");
	strbuf_reset(&qmp.out);
	ASSERT(!qmp.ready);
	ASSERT_INT(qmp_command(&qmp, "stop", NULL), -ENOTCONN);
	ASSERT_INT(receive("{\"return\": {}, \"id\": 1}\r\n"), 0);
	ASSERT(qmp.ready);
}

TEST(sends_commands_once_qemu_is_ready)
{
	begin();
	ASSERT_INT(qmp_command(&qmp, "stop", NULL), 2);
	ASSERT_INT(qmp_command(&qmp, "x", json_pack("{s:i}", "n", 1)), 3);
	ASSERT_STR(qmp.out.text, "{\"execute\":\"stop\",\"id\":2}\n"
				 "{\"execute\":\"x\",\"arguments\":{\"n\":1},\"id\":3}\n");
	ASSERT_INT(receive("{\"return\": {}, \"id\": 2}\r\n"), 0);
	ASSERT_INT(answered, 2);
	ASSERT_STR(problem, "");
	ASSERT_INT(receive("{\"id\":3,\"error\":{\"class\":\"E\",\"desc\":\"not now\"}}\n"), 0);
	ASSERT_INT(answered, 3);
	ASSERT_STR(problem, "not now");
	qmp_release(&qmp);
}

TEST(lines_may_arrive_in_pieces_and_events_between_answers)
{
	static const char all[] =
		"{\"event\":\"STOP\",\"timestamp\":{}}\n{\"return\":{},\"id\":2}\n"
		"{\"event\":\"SHUTDOWN\",\"data\":{\"reason\":\"guest-reset\"}}\n";

	begin();
	(void)qmp_command(&qmp, "stop", NULL);
	for (const char *p = all; *p; p++)
		ASSERT_INT(qmp_receive(&qmp, p, 1, NULL), 0);
	ASSERT_STR(events, "STOP() SHUTDOWN(guest-reset) ");
	ASSERT_INT(answered, 2);
	qmp_release(&qmp);
}

TEST(an_answer_to_no_command_is_ignored)
{
	begin();
	ASSERT_INT(receive("{\"return\":{},\"id\":7}\n{\"return\":{}}\n{\"error\":[],\"id\":-1}\n"),
		   0);
	ASSERT_INT(answered, 0);
	qmp_release(&qmp);
}

TEST(what_is_no_json_object_ends_the_conversation)
{
	static char line[QMP_LINE_MOST + 2];

	begin();
	ASSERT_INT(receive("[]\n"), -EPROTO);
	qmp_release(&qmp);
	begin();
	ASSERT_INT(receive("\n"), -EPROTO);
	qmp_release(&qmp);
	begin();
	memset(line, ' ', sizeof(line) - 1);
	ASSERT_INT(receive(line), -EPROTO);
	qmp_release(&qmp);
}
