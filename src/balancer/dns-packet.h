/* DNS packets, as far as a relay must understand them (RFC 1035, 2308). */
#pragma once

#include <sys/types.h>

#include "base/macro.h"

#define DNS_PACKET_MAX 65535

/* What a resolver sends fits one packet of the smallest networks (as EDNS recommends). */
#define DNS_QUERY_MAX 1232

enum dns_rcode {
	DNS_NO_ERROR = 0,
	DNS_FORMAT_ERROR = 1,
	DNS_SERVER_FAILURE = 2,
	DNS_NO_SUCH_NAME = 3,
	DNS_REFUSED = 5,
};

/*
 * The end of the one question in PACKET, which must be an ordinary query: its length from the
 * beginning of the packet.  -EBADMSG if it is something else (an answer, a notification, an update;
 * too long), which deserves no reply; -EPROTO if it is a query with more or less than one question,
 * with records that only answers have, or for a whole zone.
 */
int dns_question_end(const uint8_t *packet, size_t len);

/*
 * Make the answer "RCODE, nothing else" to the question PACKET in ANSWER, which has room for
 * ROOM bytes; returns its length, 0 if there is nothing to be said.  A question that makes no
 * sense gets DNS_FORMAT_ERROR.
 */
size_t dns_answer(const uint8_t *packet, size_t len, enum dns_rcode rcode, uint8_t *answer,
		  size_t room);

/* Whether ANSWER is one to QUESTION: same id, same name, type and class. */
bool dns_answers(const uint8_t *question, size_t question_len, const uint8_t *answer, size_t len);

/*
 * How many of the LEN bytes that a client sent by TCP are whole queries, each after its length;
 * -EBADMSG if there is something else among them.
 */
ssize_t dns_whole_queries(const uint8_t *bytes, size_t len);

uint16_t dns_id(const uint8_t *packet);
void dns_set_id(uint8_t *packet, uint16_t id);
