#include <string.h>

#include "agent/frames.h"
#include "base/macro.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct frame *frame)
{
	static struct frame_open open;

	assert(frame->type > 0 && frame->type < FRAME_TYPES && frame->len <= FRAME_MOST);
	if (frame->type == FRAME_OPEN && frame_read_open(frame->data, frame->len, &open) == 0)
		for (size_t i = 0; open.words[i]; i++)
			assert(open.words[i] + strlen(open.words[i]) <
			       (const char *)frame->data + frame->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct frame_reader reader;
	struct frame frame;

	reader = (struct frame_reader){ .synced = size > 0 && data[0] & 1 };
	while (size > 0) {
		size_t room;
		unsigned char *at = frame_room(&reader, &room);
		size_t piece = MIN(size, (size_t)7);
		size_t part = MIN(room, piece);

		assert(room > 0);
		memcpy(at, data, part);
		frame_grown(&reader, part);
		data += part;
		size -= part;
		while (frame_next(&reader, &frame) > 0)
			look_at(&frame);
	}
	return 0;
}
