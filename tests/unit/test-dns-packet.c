#include "balancer/dns-packet.h"
#include "test.h"

static const uint8_t question[] = { 0xab, 0xcd, 1, 0,   0,   1,   0,   0, 0, 0,  0, 0,
				    1,    'a',  4, 't', 'e', 's', 't', 0, 0, 28, 0, 1 };

TEST(a_question_has_an_end)
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

TEST(only_the_right_answer_is_taken)
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
