#include "base/file.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "test.h"

/* The log file as it is now, without the times. */
static char *read_log(const char *path)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf words = STRBUF_INIT;

	ASSERT_OK(file_read(path, 65536, &text, &err));
	for (const char *line = text.text; *line; line += strcspn(line, "\n") + 1)
		strbuf_addf(&words, "%.*s\n", (int)strcspn(line + 10, "\n"), line + 10);
	return strbuf_take(&words);
}

TEST(what_is_asked_again_and_again_is_kept_when_the_answer_changes)
{
	cleanup_free char *path = xasprintf("%s/log", test_dir());
	cleanup_free char *text = NULL;

	ASSERT_OK(log_open(path, &err));
	for (unsigned i = 0; i < 9; i++) {
		log_debug_look("GET /readyz: %s", i < 6 ? "500" : "200");
		log_debug_look("GET /nodes: 200");
	}
	log_debug("PATCH /x: 200");
	log_debug("PATCH /x: 200");
	log_keep("step: %s", "waiting");
	text = read_log(path);
	ASSERT_STR(text, "debug   GET /readyz: 500\n"
			 "debug   GET /nodes: 200\n"
			 "debug   GET /readyz: 200\n"
			 "debug   PATCH /x: 200\n"
			 "debug   PATCH /x: 200\n"
			 "info    step: waiting\n");
}
