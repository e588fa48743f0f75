/* A Docker daemon's answer to POST /build. */

#include "buildkit/answer.h"

#include <jansson.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define LINE_LIMIT    (8u << 20)
#define VALUES_LIMIT  1000u
#define FAILURE_LIMIT 4096u
#define DIGEST_PREFIX "sha256:"

void build_answer_release(struct build_answer *answer)
{
	strbuf_release(&answer->line);
	build_trace_release(&answer->trace);
	free(answer->failure);
	*answer = BUILD_ANSWER_INIT;
}

static int refuse_answer(struct error *err)
{
	return error_set(err, -EBADMSG, "the answer of the Docker daemon is damaged");
}

/* Read progress of BuildKit, in base64. */
static int add_trace(struct build_answer *answer, const json_t *aux, struct strbuf *out,
		     struct error *err)
{
	const char *text = json_string_value(aux);
	size_t len = json_string_length(aux);
	cleanup_free unsigned char *decoded = NULL;
	int size;

	if (!text || len % 4)
		return refuse_answer(err);
	decoded = xmalloc(len / 4 * 3 + 1);
	size = EVP_DecodeBlock(decoded, (const unsigned char *)text, (int)len);
	if (size < 0)
		return refuse_answer(err);
	/* The padding was decoded, too. */
	for (size_t i = 0; i < 2 && len > i && text[len - 1 - i] == '='; i++)
		size--;
	return build_trace_add(&answer->trace, decoded, (size_t)MAX(size, 0), out, err);
}

static void take_image_id(struct build_answer *answer, const json_t *aux)
{
	const char *id = json_string_value(json_object_get(aux, "ID"));

	if (id && strncmp(id, DIGEST_PREFIX, strlen(DIGEST_PREFIX)) == 0 &&
	    sha256_is_hex(id + strlen(DIGEST_PREFIX)))
		memcpy(answer->image_id, id + strlen(DIGEST_PREFIX), SHA256_HEX_SIZE);
}

static void take_failure(struct build_answer *answer, const json_t *line, const char *words)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	json_int_t code = json_integer_value(
		json_object_get(json_object_get(line, "errorDetail"), "code"));

	strbuf_add_printable_line(&text, words, strnlen(words, FAILURE_LIMIT));
	free(answer->failure);
	answer->failure = strbuf_take(&text);
	answer->status = code > 0 && code <= 255 ? (int)code : EXIT_FAILURE;
}

static int add_json(struct build_answer *answer, const json_t *line, struct strbuf *out,
		    struct error *err)
{
	const char *id = json_string_value(json_object_get(line, "id"));
	const json_t *aux = json_object_get(line, "aux");
	const char *error = json_string_value(json_object_get(line, "error"));
	const json_t *stream = json_object_get(line, "stream");
	const char *status = json_string_value(json_object_get(line, "status"));

	if (text_is(id, "moby.buildkit.trace"))
		return add_trace(answer, aux, out, err);
	if (aux)
		take_image_id(answer, aux);
	if (error)
		take_failure(answer, line, error);
	if (json_is_string(stream))
		strbuf_add_printable(out, json_string_value(stream), json_string_length(stream));
	if (status) {
		strbuf_add_printable_line(out, status, strlen(status));
		strbuf_add_char(out, '\n');
	}
	return 0;
}

/* At least as many as there are values in LINE; each takes much more memory than its text. */
static size_t count_values(const struct strbuf *line)
{
	size_t count = 0;
	bool in_text = false;

	for (size_t i = 0; i < line->len; i++) {
		char c = line->text[i];

		if (in_text && c == '\\')
			i++;
		else if (c == '"')
			in_text = !in_text;
		else if (!in_text)
			count += c == ',' || c == '{' || c == '[';
	}
	return count;
}

static int add_complete_line(struct build_answer *answer, struct strbuf *out, struct error *err)
{
	json_auto_t *line = NULL;

	if (count_values(&answer->line) > VALUES_LIMIT)
		return refuse_answer(err);
	line = json_loadb(answer->line.text, answer->line.len, 0, NULL);
	return json_is_object(line) ? add_json(answer, line, out, err) : refuse_answer(err);
}

int build_answer_add(struct build_answer *answer, const char *data, size_t len, struct strbuf *out,
		     struct error *err)
{
	while (len > 0) {
		const char *end = memchr(data, '\n', len);
		size_t taken = end ? (size_t)(end - data) + 1 : len;
		int r = 0;

		if (answer->line.len + taken > LINE_LIMIT)
			return refuse_answer(err);
		strbuf_add_mem(&answer->line, data, taken);
		data += taken;
		len -= taken;
		if (!end)
			return 0;
		strbuf_trim_end(&answer->line);
		if (answer->line.len > 0)
			r = add_complete_line(answer, out, err);
		strbuf_reset(&answer->line);
		if (r < 0)
			return r;
	}
	return 0;
}

void build_answer_end(const struct build_answer *answer, struct strbuf *out)
{
	if (answer->trace.warnings.len > 0)
		strbuf_addf(out, "\nWarnings:\n%s", answer->trace.warnings.text);
	if (answer->failure)
		build_trace_failure(&answer->trace, out);
}
