/* A Docker daemon's answer to a build: nothing that reaches the terminal has control characters. */

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "buildkit/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < ' ' && text[i] != '\n' && text[i] != '\t')
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(build_answer_release) struct build_answer answer = BUILD_ANSWER_INIT;
	cleanup_with(build_trace_release) struct build_trace trace = BUILD_TRACE_INIT;
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	(void)build_answer_add(&answer, (const char *)data, size, &out, NULL);
	build_answer_end(&answer, &out);
	/* Also without JSON and base64 around it. */
	(void)build_trace_add(&trace, data, size, &out, NULL);
	build_trace_failure(&trace, &out);
	check_text(out.text, out.len);
	if (answer.failure) {
		check_text(answer.failure, strlen(answer.failure));
		if (answer.status < 1 || answer.status > 255)
			abort();
	}
	if (*answer.image_id && !sha256_is_hex(answer.image_id))
		abort();
	return 0;
}
