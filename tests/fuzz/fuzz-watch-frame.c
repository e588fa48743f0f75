/* What a hostile watcher could send to the keeper. */
#include <stdlib.h>
#include <string.h>

#include "watch/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char name[FRAME_NAME_MOST + 1];
	struct strbuf in = STRBUF_INIT;
	const char *text;
	size_t len;
	size_t used;

	strbuf_add_mem(&in, data, size);
	while (frame_take(&in, name, &text, &len, &used) > 0) {
		struct frame_route *routes = NULL;
		size_t count = 0;

		assert(strlen(name) <= FRAME_NAME_MOST && used <= in.len && len <= used);
		assert(text >= in.text && text + len <= in.text + in.len);
		if (frame_parse_routes(text, len, &routes, &count, NULL) == 0)
			free(routes);
		strbuf_drop_front(&in, used);
	}
	strbuf_release(&in);
	return 0;
}
