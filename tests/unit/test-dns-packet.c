#include "data/dns-packet.h"
#include "test.h"

static const uint8_t question[] = { 0xab, 0xcd, 1, 0,   0,   1,   0,   0, 0, 0,  0, 0,
				    1,    'a',  4, 't', 'e', 's', 't', 0, 0, 28, 0, 1 };

TEST(a_truncated_question_is_refused)
{
	ASSERT_INT(dns_question_end(question, sizeof(question)), sizeof(question));
	for (size_t len = 0; len < 12; len++)
		ASSERT_INT(dns_question_end(question, len), -EBADMSG);
	for (size_t len = 12; len < sizeof(question); len++)
		ASSERT_INT(dns_question_end(question, len), -EPROTO);
}

TEST(a_name_can_be_too_long)
{
	uint8_t packet[12 + 5 * 64 + 5] = { 0, 1, 1, 0, 0, 1 };

	for (int i = 0; i < 5; i++)
		packet[12 + i * 64] = 63;
	ASSERT_INT(dns_question_end(packet, sizeof(packet)), -EPROTO);
	packet[12] = 0xc0;
	ASSERT_INT(dns_question_end(packet, sizeof(packet)), -EPROTO);
}

TEST(a_negative_answer_repeats_the_question)
{
	uint8_t answer[512];
	size_t len = dns_answer(question, sizeof(question), DNS_NO_SUCH_NAME, answer,
				sizeof(answer));

	ASSERT_INT(len, sizeof(question) + 33);
	ASSERT(dns_answers(question, sizeof(question), answer, len));
	ASSERT_INT(dns_id(answer), 0xabcd);
	ASSERT_INT(answer[2], 0x81);
	ASSERT_INT(answer[3], 0x83);
	/* One question, no answer, the authority's SOA. */
	ASSERT_INT(answer[5], 1);
	ASSERT_INT(answer[7], 0);
	ASSERT_INT(answer[9], 1);
	len = dns_answer(question, sizeof(question), DNS_SERVER_FAILURE, answer, sizeof(answer));
	ASSERT_INT(len, sizeof(question));
	ASSERT_INT(answer[3], 0x82);
}

TEST(what_is_no_question_is_not_answered)
{
	uint8_t packet[sizeof(question)];
	uint8_t answer[512];

	memcpy(packet, question, sizeof(question));
	packet[2] |= 0x80;
	ASSERT_INT(dns_answer(packet, sizeof(packet), DNS_REFUSED, answer, sizeof(answer)), 0);
	ASSERT_INT(dns_answer(packet, 5, DNS_REFUSED, answer, sizeof(answer)), 0);
}

TEST(a_broken_question_is_a_format_error)
{
	uint8_t answer[512];

	ASSERT_INT(dns_answer(question, 15, DNS_NO_SUCH_NAME, answer, sizeof(answer)), 12);
	ASSERT_INT(answer[3], 0x81);
	ASSERT_INT(answer[5], 0);
}

TEST(only_the_matching_answer_is_accepted)
{
	uint8_t answer[sizeof(question)];

	memcpy(answer, question, sizeof(question));
	ASSERT(!dns_answers(question, sizeof(question), answer, sizeof(answer)));
	answer[2] |= 0x80;
	ASSERT(dns_answers(question, sizeof(question), answer, sizeof(answer)));
	answer[13] = 'A';
	ASSERT(dns_answers(question, sizeof(question), answer, sizeof(answer)));
	answer[13] = 'b';
	ASSERT(!dns_answers(question, sizeof(question), answer, sizeof(answer)));
	answer[13] = 'a';
	dns_set_id(answer, 7);
	ASSERT(!dns_answers(question, sizeof(question), answer, sizeof(answer)));
}

/* A copy of the question with one byte changed. */
static int end_with(size_t at, uint8_t byte)
{
	uint8_t packet[sizeof(question)];

	memcpy(packet, question, sizeof(question));
	packet[at] = byte;
	return dns_question_end(packet, sizeof(packet));
}

TEST(only_ordinary_queries_are_taken)
{
	uint8_t answer[512];
	uint8_t packet[sizeof(question)];

	for (int opcode = 1; opcode < 16; opcode++)
		ASSERT_INT(end_with(2, (uint8_t)(opcode << 3 | 1)), -EBADMSG);
	/* A status request is not even answered. */
	memcpy(packet, question, sizeof(question));
	packet[2] = 2 << 3;
	ASSERT_INT(dns_answer(packet, sizeof(packet), DNS_NO_SUCH_NAME, answer, sizeof(answer)), 0);
	/* Two questions; answers and authorities in a question;
	 * more additional records than known. */
	ASSERT_INT(end_with(5, 2), -EPROTO);
	ASSERT_INT(end_with(5, 0), -EPROTO);
	ASSERT_INT(end_with(7, 1), -EPROTO);
	ASSERT_INT(end_with(9, 1), -EPROTO);
	ASSERT_INT(end_with(11, 2), sizeof(question));
	ASSERT_INT(end_with(11, 3), -EPROTO);
	/* A whole zone. */
	ASSERT_INT(end_with(sizeof(question) - 3, 252), -EPROTO);
	ASSERT_INT(end_with(sizeof(question) - 3, 251), -EPROTO);
	ASSERT_INT(end_with(sizeof(question) - 3, 255), sizeof(question));
}

TEST(a_query_that_is_too_long_is_refused)
{
	uint8_t packet[DNS_QUERY_MAX + 1] = { 0 };

	memcpy(packet, question, sizeof(question));
	ASSERT_INT(dns_question_end(packet, DNS_QUERY_MAX), sizeof(question));
	ASSERT_INT(dns_question_end(packet, DNS_QUERY_MAX + 1), -EBADMSG);
}

TEST(only_whole_queries_of_a_stream_are_forwarded)
{
	uint8_t stream[2 * (2 + sizeof(question))] = { 0 };
	size_t one = 2 + sizeof(question);

	for (int i = 0; i < 2; i++) {
		stream[(size_t)i * one + 1] = sizeof(question);
		memcpy(stream + (size_t)i * one + 2, question, sizeof(question));
	}
	for (size_t len = 0; len < one; len++)
		ASSERT_INT(dns_whole_queries(stream, len), 0);
	for (size_t len = one; len < 2 * one; len++)
		ASSERT_INT(dns_whole_queries(stream, len), one);
	ASSERT_INT(dns_whole_queries(stream, 2 * one), 2 * one);
	stream[one + 2 + 2] = 5 << 3;
	ASSERT_INT(dns_whole_queries(stream, 2 * one), -EBADMSG);
	stream[0] = 0xff;
	ASSERT_INT(dns_whole_queries(stream, 2), -EBADMSG);
	stream[0] = stream[1] = 0;
	ASSERT_INT(dns_whole_queries(stream, 2), -EBADMSG);
}
