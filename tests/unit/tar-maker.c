#include "tar-maker.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define BLOCK 512

static void add_zeros(struct strbuf *tar, size_t len)
{
	static const char zeros[2 * BLOCK];

	strbuf_add_mem(tar, zeros, len);
}

static void put_octal(char *field, size_t digits, size_t value)
{
	for (; digits-- > 0; value >>= 3)
		field[digits] = (char)('0' + (value & 7));
}

void tar_maker_seal(struct strbuf *tar, size_t offset)
{
	unsigned char *header = (unsigned char *)tar->text + offset;
	unsigned sum = 0;

	memset(header + 148, ' ', 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += header[i];
	put_octal((char *)header + 148, 6, sum);
	header[154] = '\0';
}

static void add_block(struct strbuf *tar, const struct tar_member *member, char type, size_t len)
{
	size_t offset = tar->len;
	unsigned mode = member->mode ? member->mode : type == '5' ? 0755 : 0644;
	char *header;

	add_zeros(tar, BLOCK);
	header = tar->text + offset;
	memcpy(header, member->path, strnlen(member->path, 100));
	put_octal(header + 100, 7, mode);
	put_octal(header + 108, 7, member->uid);
	put_octal(header + 116, 7, member->gid);
	put_octal(header + 124, 11, len);
	put_octal(header + 136, 11, member->mtime);
	header[156] = type;
	if (member->target)
		memcpy(header + 157, member->target, strnlen(member->target, 100));
	memcpy(header + 257,
	       "ustar\0"
	       "00",
	       8);
	tar_maker_seal(tar, offset);
}

static void add_data(struct strbuf *tar, const char *data, size_t len)
{
	strbuf_add_mem(tar, data, len);
	if (len % BLOCK)
		add_zeros(tar, BLOCK - len % BLOCK);
}

void tar_maker_add(struct strbuf *tar, const struct tar_member *member)
{
	size_t len = member->len ? member->len : member->text ? strlen(member->text) : 0;

	if (member->pax) {
		add_block(tar, &(struct tar_member){ .path = "pax" }, 'x', member->pax->len);
		add_data(tar, member->pax->text, member->pax->len);
	}
	add_block(tar, member, member->type ? member->type : '0', len);
	if (len > 0)
		add_data(tar, member->text, len);
}

void tar_maker_pax(struct strbuf *records, const char *key, const char *value, size_t len)
{
	size_t rest = 1 + strlen(key) + 1 + len + 1;
	size_t size = rest;
	char number[24];

	/* The length counts its own digits. */
	do
		size = rest + (size_t)snprintf(number, sizeof(number), "%zu", size);
	while (rest + (size_t)snprintf(number, sizeof(number), "%zu", size) != size);
	strbuf_addf(records, "%zu %s=", size, key);
	strbuf_add_mem(records, value, len);
	strbuf_add_char(records, '\n');
}

void tar_maker_end(struct strbuf *tar)
{
	add_zeros(tar, 2 * BLOCK);
}
