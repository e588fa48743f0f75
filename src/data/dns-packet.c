/* DNS packets, as far as a relay needs to understand them. */

#include "data/dns-packet.h"

#include <string.h>

#define HEADER_BYTES 12
#define NAME_MAX     255
#define LABEL_MAX    63

/* Bits of the third and fourth byte of the header. */
#define FLAG_ANSWER              0x80
#define MASK_OPCODE              0x78
#define FLAG_RECURSION_DESIRED   0x01
#define FLAG_RECURSION_AVAILABLE 0x80
#define MASK_RCODE               0x0f

/* An OPT record and a signature. */
#define ADDITIONAL_MAX 2

/* The range of types for sessions and zone transfers: TKEY, TSIG, IXFR, AXFR. */
#define TYPE_TKEY 249
#define TYPE_AXFR 252

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void put16(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

uint16_t dns_id(const uint8_t *packet)
{
	return get16(packet);
}

void dns_set_id(uint8_t *packet, uint16_t id)
{
	put16(packet, id);
}

/* The offset after name, type and class of the first question; -EPROTO if it is malformed. */
static int question_end(const uint8_t *packet, size_t len)
{
	size_t at = HEADER_BYTES;

	for (;;) {
		if (at >= len || at - HEADER_BYTES >= NAME_MAX)
			return -EPROTO;
		/* Compression pointers are invalid here, too: nothing precedes the first name. */
		if (packet[at] > LABEL_MAX)
			return -EPROTO;
		if (packet[at] == 0)
			break;
		at += 1 + (size_t)packet[at];
	}
	at += 1 + 4;
	return at <= len ? (int)at : -EPROTO;
}

int dns_question_end(const uint8_t *packet, size_t len)
{
	int end;
	uint16_t type;

	if (len < HEADER_BYTES || len > DNS_QUERY_MAX ||
	    (packet[2] & (FLAG_ANSWER | MASK_OPCODE)) != 0)
		return -EBADMSG;
	if (get16(packet + 4) != 1 || get16(packet + 6) != 0 || get16(packet + 8) != 0 ||
	    get16(packet + 10) > ADDITIONAL_MAX)
		return -EPROTO;
	end = question_end(packet, len);
	if (end < 0)
		return end;
	type = get16(packet + end - 4);
	return type >= TYPE_TKEY && type <= TYPE_AXFR ? -EPROTO : end;
}

ssize_t dns_whole_queries(const uint8_t *bytes, size_t len)
{
	size_t at = 0;

	while (len - at >= 2) {
		size_t query = get16(bytes + at);

		if (query < HEADER_BYTES || query > DNS_QUERY_MAX)
			return -EBADMSG;
		if (len - at - 2 < query)
			break;
		if (dns_question_end(bytes + at + 2, query) < 0)
			return -EBADMSG;
		at += 2 + query;
	}
	return (ssize_t)at;
}

/*
 * A negative answer may be cached only with the SOA of its zone (RFC 2308, section 5), and CoreDNS
 * follows that.  So answers include an SOA of the root with a TTL of 30 s.
 */
static const uint8_t root_soa[] = {
	0,                        /* owner: the root */
	0, 6,  0, 1, 0, 0, 0, 30, /* SOA, IN, time to live */
	0, 22, 0, 0,              /* length; no server, no mailbox */
	0, 0,  0, 1, 0, 0, 0, 30, 0, 0, 0, 30, 0, 0, 0, 30, 0, 0, 0, 30,
};

size_t dns_answer(const uint8_t *packet, size_t len, enum dns_rcode rcode, uint8_t *answer,
		  size_t room)
{
	int end = dns_question_end(packet, len);
	size_t used;

	if (end == -EBADMSG)
		return 0;
	if (end < 0)
		rcode = DNS_FORMAT_ERROR;
	used = end < 0 ? HEADER_BYTES : (size_t)end;
	if (used + sizeof(root_soa) > room)
		return 0;
	memcpy(answer, packet, used);
	answer[2] = (uint8_t)(FLAG_ANSWER | (packet[2] & (MASK_OPCODE | FLAG_RECURSION_DESIRED)));
	answer[3] = (uint8_t)(FLAG_RECURSION_AVAILABLE | (rcode & MASK_RCODE));
	memset(answer + 4, 0, HEADER_BYTES - 4);
	put16(answer + 4, end < 0 ? 0 : 1);
	if (rcode == DNS_NO_SUCH_NAME) {
		put16(answer + 8, 1);
		memcpy(answer + used, root_soa, sizeof(root_soa));
		used += sizeof(root_soa);
	}
	return used;
}

static uint8_t lower(uint8_t c)
{
	return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 32) : c;
}

bool dns_answers(const uint8_t *question, size_t question_len, const uint8_t *answer, size_t len)
{
	int end = dns_question_end(question, question_len);

	if (end < 0 || len < HEADER_BYTES || !(answer[2] & FLAG_ANSWER) ||
	    dns_id(question) != dns_id(answer))
		return false;
	/* A server that could not parse the query may omit the question. */
	if (get16(answer + 4) == 0)
		return (answer[3] & MASK_RCODE) != DNS_NO_ERROR;
	if (get16(answer + 4) != 1 || question_end(answer, len) != end)
		return false;
	for (int i = HEADER_BYTES; i < end; i++)
		if (lower(question[i]) != lower(answer[i]))
			return false;
	return true;
}
