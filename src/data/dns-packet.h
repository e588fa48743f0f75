/* DNS packets, as far as a relay needs to understand them (RFC 1035, 2308). */
#pragma once

#include <sys/types.h>

#include "base/macro.h"

#define DNS_PACKET_MAX 65535

/* The largest query that is accepted: the size recommended for EDNS. */
#define DNS_QUERY_MAX 1232

enum dns_rcode {
	DNS_NO_ERROR = 0,
	DNS_FORMAT_ERROR = 1,
	DNS_SERVER_FAILURE = 2,
	DNS_NO_SUCH_NAME = 3,
	DNS_REFUSED = 5,
};

/*
 * The offset of the end of the question in PACKET, which must be a standard query.  -EBADMSG if it
 * is not a query (an answer, a notification, an update) or too long, and must not be answered.
 * -EPROTO if it is a query that does not have exactly one question, has records that only answers
 * have, or asks for a zone transfer.
 */
int dns_question_end(const uint8_t *packet, size_t len);

/*
 * Write an answer with RCODE and no records to the query PACKET into ANSWER, which has room for
 * ROOM bytes.  Returns its length, or 0 if PACKET must not be answered.  An invalid query gets
 * DNS_FORMAT_ERROR.
 */
size_t dns_answer(const uint8_t *packet, size_t len, enum dns_rcode rcode, uint8_t *answer,
		  size_t room);

/* Whether ANSWER belongs to QUESTION: same id, name, type and class. */
bool dns_answers(const uint8_t *question, size_t question_len, const uint8_t *answer, size_t len);

/*
 * The number of bytes of complete queries at the start of the LEN bytes that a client sent over
 * TCP, where each query follows its length; -EBADMSG if there is anything else.
 */
ssize_t dns_whole_queries(const uint8_t *bytes, size_t len);

uint16_t dns_id(const uint8_t *packet);
void dns_set_id(uint8_t *packet, uint16_t id);
