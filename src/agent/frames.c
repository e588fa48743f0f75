/* Frames of the channel between a VM's agent and its host. */

#include "agent/frames.h"

#include <string.h>

const unsigned char frame_sync[FRAME_SYNC] = { 0xff, 0x00, 'm', 'a', 'n', 'y', 'k',  'u',
					       'b',  'e',  '-', 'v', 'm', '1', 0x00, 0xff };

unsigned char *frame_room(struct frame_reader *reader, size_t *ret_size)
{
	if (reader->begin > 0) {
		memmove(reader->bytes, reader->bytes + reader->begin, reader->end - reader->begin);
		reader->end -= reader->begin;
		reader->begin = 0;
	}
	*ret_size = sizeof(reader->bytes) - reader->end;
	return reader->bytes + reader->end;
}

void frame_grown(struct frame_reader *reader, size_t len)
{
	reader->end += len;
}

/* Drop everything up to and including the sync word; false if there is none yet. */
static bool find_sync(struct frame_reader *reader)
{
	size_t have = reader->end - reader->begin;
	const unsigned char *at = reader->bytes + reader->begin;
	const unsigned char *found = have ? memmem(at, have, frame_sync, FRAME_SYNC) : NULL;

	if (found) {
		reader->begin = (size_t)(found - reader->bytes) + FRAME_SYNC;
		reader->synced = true;
	} else if (have >= FRAME_SYNC) {
		reader->begin = reader->end - (FRAME_SYNC - 1);
	}
	return reader->synced;
}

/* Whether a new sync word follows, or may follow once more bytes are there. */
static bool at_sync(const struct frame_reader *reader)
{
	size_t have = reader->end - reader->begin;

	return memcmp(reader->bytes + reader->begin, frame_sync,
		      have < FRAME_SYNC ? have : FRAME_SYNC) == 0;
}

int frame_next(struct frame_reader *reader, struct frame *ret)
{
	const unsigned char *header;

	if (!reader->synced && !find_sync(reader))
		return 0;
	while (reader->end - reader->begin >= FRAME_SYNC && at_sync(reader))
		reader->begin += FRAME_SYNC;
	if (reader->end - reader->begin < FRAME_HEADER)
		return 0;
	if (at_sync(reader))
		return 0;
	header = reader->bytes + reader->begin;
	*ret = (struct frame){ .type = header[1],
			       .stream = header[2],
			       .session = (uint16_t)frame_number(header + 4, 2),
			       .len = (uint16_t)frame_number(header + 6, 2),
			       .data = header + FRAME_HEADER };
	if (header[0] != 'M' || header[1] == 0 || header[1] >= FRAME_TYPES || header[2] > 2 ||
	    header[3] != 0 || ret->len > FRAME_MOST) {
		reader->synced = false;
		return -1;
	}
	if (reader->end - reader->begin < FRAME_HEADER + (size_t)ret->len)
		return 0;
	reader->begin += FRAME_HEADER + (size_t)ret->len;
	return 1;
}

void frame_put_number(unsigned char *ret, uint64_t number, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		ret[i] = (unsigned char)(number >> (8 * i));
}

uint64_t frame_number(const unsigned char *data, unsigned bytes)
{
	uint64_t number = 0;

	for (unsigned i = 0; i < bytes; i++)
		number |= (uint64_t)data[i] << (8 * i);
	return number;
}

void frame_header(enum frame_type type, uint8_t stream, uint16_t session, size_t len,
		  unsigned char ret[FRAME_HEADER])
{
	ret[0] = 'M';
	ret[1] = (unsigned char)type;
	ret[2] = stream;
	ret[3] = 0;
	frame_put_number(ret + 4, session, 2);
	frame_put_number(ret + 6, len, 2);
}

/* Add TEXT with its NUL; false if there is no room. */
static bool put_text(unsigned char *ret, size_t *len, const char *text)
{
	size_t need = strlen(text) + 1;

	if (need > FRAME_MOST - *len)
		return false;
	memcpy(ret + *len, text, need);
	*len += need;
	return true;
}

/* Add the number of TEXTS, which NULL ends, and the texts. */
static bool put_texts(unsigned char *ret, size_t *len, const char *const *texts)
{
	size_t count = 0;

	while (texts[count])
		count++;
	if (count > FRAME_WORDS || FRAME_MOST - *len < 2)
		return false;
	frame_put_number(ret + *len, count, 2);
	*len += 2;
	for (size_t i = 0; i < count; i++)
		if (!put_text(ret, len, texts[i]))
			return false;
	return true;
}

size_t frame_put_open(const struct frame_open *open, unsigned char ret[FRAME_MOST])
{
	size_t len = 5;

	ret[0] = open->terminal;
	frame_put_number(ret + 1, open->rows, 2);
	frame_put_number(ret + 3, open->columns, 2);
	return put_text(ret, &len, open->dir) && put_texts(ret, &len, open->words) &&
			       put_texts(ret, &len, open->variables)
		       ? len
		       : 0;
}

struct rest {
	const unsigned char *data;
	size_t len;
};

static const char *take_text(struct rest *rest)
{
	const char *text = (const char *)rest->data;
	size_t len = strnlen(text, rest->len);

	if (len == rest->len)
		return NULL;
	rest->data += len + 1;
	rest->len -= len + 1;
	return text;
}

static bool take_texts(struct rest *rest, const char **ret)
{
	size_t count;

	if (rest->len < 2)
		return false;
	count = frame_number(rest->data, 2);
	rest->data += 2;
	rest->len -= 2;
	if (count > FRAME_WORDS)
		return false;
	for (size_t i = 0; i < count; i++) {
		ret[i] = take_text(rest);
		if (!ret[i])
			return false;
	}
	ret[count] = NULL;
	return true;
}

int frame_read_open(const unsigned char *data, size_t len, struct frame_open *ret)
{
	struct rest rest = { data + 5, len - 5 };

	if (len < 5)
		return -1;
	ret->terminal = data[0] != 0;
	ret->rows = (uint16_t)frame_number(data + 1, 2);
	ret->columns = (uint16_t)frame_number(data + 3, 2);
	ret->dir = take_text(&rest);
	return ret->dir && take_texts(&rest, ret->words) && take_texts(&rest, ret->variables) &&
			       rest.len == 0 && ret->words[0]
		       ? 0
		       : -1;
}
