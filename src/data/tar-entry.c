/* Headers of members of tar archives, with PAX records. */

#include "data/tar-entry.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/tar-block.h"

#define OCTAL_SIZE_MAX UINT64_C(077777777777)
#define PAX_HEADER     'x'
#define PAX_NAME       "PaxHeaders/member"

/* Add "LEN KEY=VALUE\n", where LEN counts itself. */
static void add_record(struct strbuf *records, const char *key, const char *value)
{
	size_t rest = strlen(key) + strlen(value) + strlen(" =\n");
	size_t len = rest;

	for (size_t before = 0; len != before;) {
		cleanup_free char *digits = NULL;

		before = len;
		digits = xasprintf("%zu", before);
		len = rest + strlen(digits);
	}
	strbuf_addf(records, "%zu %s=%s\n", len, key, value);
}

static void set_text(char *field, size_t size, const char *text)
{
	memcpy(field, text, MIN(strlen(text), size));
}

static void print_block(struct strbuf *out, const struct tar_entry *entry, char type,
			const char *path, uint64_t size)
{
	struct tar_block block = { .type = type };

	set_text(block.name, sizeof(block.name), path);
	if (entry->target && type != PAX_HEADER)
		set_text(block.target, sizeof(block.target), entry->target);
	tar_set_octal(block.mode, sizeof(block.mode), entry->mode & 07777);
	tar_set_octal(block.uid, sizeof(block.uid), 0);
	tar_set_octal(block.gid, sizeof(block.gid), 0);
	tar_set_octal(block.size, sizeof(block.size), MIN(size, OCTAL_SIZE_MAX));
	tar_set_octal(block.mtime, sizeof(block.mtime),
		      entry->mtime < 0 ? 0 : MIN((uint64_t)entry->mtime, OCTAL_SIZE_MAX));
	memcpy(block.magic, "ustar", 6);
	memcpy(block.version, "00", 2);
	tar_set_checksum(&block);
	strbuf_add_mem(out, &block, sizeof(block));
}

void tar_print_entry(struct strbuf *out, const struct tar_entry *entry)
{
	cleanup_with(strbuf_release) struct strbuf records = STRBUF_INIT;
	const struct tar_block *block = NULL;

	if (strlen(entry->path) > sizeof(block->name))
		add_record(&records, "path", entry->path);
	if (entry->target && strlen(entry->target) > sizeof(block->target))
		add_record(&records, "linkpath", entry->target);
	if (entry->size > OCTAL_SIZE_MAX) {
		cleanup_free char *size = xasprintf("%ju", (uintmax_t)entry->size);

		add_record(&records, "size", size);
	}
	if (records.len > 0) {
		print_block(out, entry, PAX_HEADER, PAX_NAME, records.len);
		strbuf_add_mem(out, records.text, records.len);
		tar_print_padding(out, records.len);
	}
	print_block(out, entry, entry->type, entry->path, entry->size);
}

void tar_print_padding(struct strbuf *out, uint64_t size)
{
	static const char zeros[TAR_BLOCK];

	if (size % TAR_BLOCK)
		strbuf_add_mem(out, zeros, TAR_BLOCK - (size_t)(size % TAR_BLOCK));
}

void tar_print_end(struct strbuf *out)
{
	static const char zeros[2 * TAR_BLOCK];

	strbuf_add_mem(out, zeros, sizeof(zeros));
}

static unsigned read_checksum(const struct tar_block *block)
{
	unsigned value = 0;

	for (size_t i = 0; i < sizeof(block->checksum); i++)
		if (block->checksum[i] >= '0' && block->checksum[i] <= '7')
			value = value * 8 + (unsigned)(block->checksum[i] - '0');
	return value;
}

/* Whether the block at DATA has the checksum of a header. */
static bool is_header(const char *data)
{
	struct tar_block block;
	unsigned checksum;

	memcpy(&block, data, sizeof(block));
	checksum = read_checksum(&block);
	tar_set_checksum(&block);
	return data[0] && checksum == read_checksum(&block);
}

bool tar_is_archive(const char *data, size_t len)
{
	static const struct {
		const char *bytes;
		size_t len;
	} magic[] = {
		{ "\x1f\x8b\x08", 3 },
		{ "BZh", 3 },
		{ "\xfd"
		  "7zXZ\0",
		  6 },
		{ "\x28\xb5\x2f\xfd", 4 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(magic); i++)
		if (len >= magic[i].len && memcmp(data, magic[i].bytes, magic[i].len) == 0)
			return true;
	return len >= TAR_BLOCK && is_header(data);
}
