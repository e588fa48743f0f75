#include "data/dns-packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t answer[512];
	size_t len = dns_answer(data, size, DNS_NO_SUCH_NAME, answer, sizeof(answer));

	assert(len <= sizeof(answer));
	if (dns_question_end(data, size) > 0)
		assert(dns_answers(data, size, answer, len));
	/* The input as question and answer, cut in two. */
	(void)dns_answers(data, size / 2, data + size / 2, size - size / 2);
	assert(dns_whole_queries(data, size) <= (ssize_t)size);
	return 0;
}
