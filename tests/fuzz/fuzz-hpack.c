/* Headers of HTTP/2: what is read stays within bounds, and can be written and read again. */

#include <string.h>

#include "api/hpack.h"
#include "base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct strbuf *name, const struct strbuf *value)
{
	cleanup_with(strbuf_release) struct strbuf block = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf name_again = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf value_again = STRBUF_INIT;
	struct hpack rest;

	hpack_add(&block, name->text, value->text);
	rest = (struct hpack){ (const unsigned char *)block.text, block.len };
	assert(hpack_next(&rest, &name_again, &value_again) == 1);
	assert(strcmp(name_again.text, name->text) == 0);
	assert(strcmp(value_again.text, value->text) == 0);
	assert(rest.len == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(strbuf_release) struct strbuf name = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf value = STRBUF_INIT;
	struct hpack block = { data, size };

	while (hpack_next(&block, &name, &value) > 0) {
		assert(block.data + block.len == data + size);
		assert(name.len + value.len <= 2 * size);
		check_again(&name, &value);
	}
	return 0;
}
