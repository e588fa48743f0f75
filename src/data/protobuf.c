/* Writing and reading protocol buffers. */

#include "data/protobuf.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_FIXED32 = 5,
};

static void add_varint(struct strbuf *buf, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		strbuf_add_char(buf, (char)(value | 0x80));
	strbuf_add_char(buf, (char)value);
}

static void add_tag(struct strbuf *buf, unsigned field, enum wire_type type)
{
	add_varint(buf, (uint64_t)field << 3 | type);
}

static void add_bytes(struct strbuf *buf, unsigned field, const char *data, size_t len)
{
	add_tag(buf, field, WIRE_BYTES);
	add_varint(buf, len);
	strbuf_add_mem(buf, data, len);
}

void protobuf_add_number(struct strbuf *buf, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	add_tag(buf, field, WIRE_VARINT);
	add_varint(buf, value);
}

void protobuf_add_text(struct strbuf *buf, unsigned field, const char *text)
{
	if (text && *text)
		add_bytes(buf, field, text, strlen(text));
}

void protobuf_add_message(struct strbuf *buf, unsigned field, const struct strbuf *value)
{
	add_bytes(buf, field, value->text, value->len);
}

void protobuf_add_pair(struct strbuf *buf, unsigned field, const char *key, const char *value)
{
	cleanup_with(strbuf_release) struct strbuf entry = STRBUF_INIT;

	protobuf_add_text(&entry, 1, key);
	protobuf_add_text(&entry, 2, value);
	protobuf_add_message(buf, field, &entry);
}

static bool read_varint(struct protobuf *message, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && message->len > 0; shift += 7) {
		unsigned char byte = (unsigned char)*message->data;

		/* Only one bit is left for the tenth byte. */
		if (shift == 63 && byte > 1)
			return false;
		message->data++;
		message->len--;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = value;
			return true;
		}
	}
	return false;
}

static bool read_bytes(struct protobuf *message, uint64_t len, struct protobuf *ret)
{
	if (len > message->len)
		return false;
	*ret = (struct protobuf){ message->data, (size_t)len };
	message->data += len;
	message->len -= (size_t)len;
	return true;
}

/* Read a little-endian number of LEN bytes. */
static bool read_fixed(struct protobuf *message, size_t len, uint64_t *ret)
{
	struct protobuf bytes;

	if (!read_bytes(message, len, &bytes))
		return false;
	*ret = 0;
	for (size_t i = 0; i < len; i++)
		*ret |= (uint64_t)(unsigned char)bytes.data[i] << (8 * i);
	return true;
}

int protobuf_next(struct protobuf *message, struct protobuf_field *ret)
{
	struct protobuf_field field = { .number = 0 };
	uint64_t tag;
	bool good;

	if (message->len == 0)
		return 0;
	if (!read_varint(message, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
		return -EBADMSG;
	field.number = (unsigned)(tag >> 3);
	switch (tag & 7) {
	case WIRE_VARINT:
		good = read_varint(message, &field.value);
		break;
	case WIRE_FIXED64:
		good = read_fixed(message, 8, &field.value);
		break;
	case WIRE_FIXED32:
		good = read_fixed(message, 4, &field.value);
		break;
	case WIRE_BYTES:
		field.is_bytes = true;
		good = read_varint(message, &field.value) &&
		       read_bytes(message, field.value, &field.bytes);
		break;
	default:
		good = false;
	}
	if (!good)
		return -EBADMSG;
	*ret = field;
	return 1;
}

bool protobuf_has_bytes(const struct protobuf_field *field, unsigned number)
{
	return field->number == number && field->is_bytes;
}

char *protobuf_text(const struct protobuf_field *field)
{
	char *text;

	if (memchr(field->bytes.data, 0, field->bytes.len))
		return NULL;
	text = xmalloc(field->bytes.len + 1);
	memcpy(text, field->bytes.data, field->bytes.len);
	text[field->bytes.len] = 0;
	return text;
}

int protobuf_pair(const struct protobuf_field *field, char **ret_key, char **ret_value)
{
	struct protobuf rest = field->bytes;
	cleanup_free char *key = NULL;
	cleanup_free char *value = NULL;
	struct protobuf_field part;
	int r;

	while ((r = protobuf_next(&rest, &part)) > 0) {
		char **which = protobuf_has_bytes(&part, 1)   ? &key
			       : protobuf_has_bytes(&part, 2) ? &value
							      : NULL;

		if (!which)
			continue;
		free(*which);
		*which = protobuf_text(&part);
		if (!*which)
			return -EBADMSG;
	}
	if (r < 0)
		return r;
	*ret_key = key ? take_ptr(key) : xstrdup("");
	*ret_value = value ? take_ptr(value) : xstrdup("");
	return 0;
}
