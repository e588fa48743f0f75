/* What an API server of a hostile node could answer, in parts. */
#include <string.h>

#include "watch/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count(const char *data, size_t len, void *to)
{
	size_t *total = to;

	(void)data;
	*total += len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct answer answer = ANSWER_INIT;
	size_t total = 0;
	size_t done = 0;

	while (done < size && answer.state != ANSWER_DONE) {
		size_t part = size - done < 7 ? size - done : 7;
		long taken = answer_feed(&answer, (const char *)data + done, part, count, &total);

		if (taken < 0)
			break;
		assert(taken > 0 && (size_t)taken <= part);
		done += (size_t)taken;
	}
	assert(total <= size);
	answer_release(&answer);
	return 0;
}
