/* Tar archives, plain or compressed, are read to their end or refused, and what is read is within
 * its limits. */

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "data/decompress.h"
#include "data/tar-read.h"

/* Compressed input may stand for much more than it is. */
#define BYTES_MAX (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t total;

static int count_bytes(void *arg, const void *data, size_t len, struct error *err)
{
	(void)arg;
	(void)data;
	total += len;
	return total > BYTES_MAX ? error_set(err, -EFBIG, "enough") : 0;
}

static void check_entry(const struct tar_entry *entry)
{
	if (!*entry->path || strlen(entry->path) >= PATH_MAX || strlen(entry->target) >= PATH_MAX ||
	    entry->mode > 07777 || entry->mtime_ns > 999999999 ||
	    (entry->type != TAR_FILE && entry->size > 0))
		abort();
	if ((entry->type == TAR_HARD_LINK || entry->type == TAR_SYMLINK) && !*entry->target)
		abort();
	for (size_t i = 0; i < entry->xattr_count; i++)
		if (!*entry->xattrs[i].name || !entry->xattrs[i].value)
			abort();
}

static int read_contents(struct tar_reader *reader, uint64_t size, struct error *err)
{
	uint64_t done = 0;

	for (;;) {
		const void *data;
		size_t len;
		int r = tar_reader_data(reader, &data, &len, err);

		if (r < 0)
			return r;
		if (len == 0)
			break;
		done += len;
	}
	if (done != size)
		abort();
	return 0;
}

static void read_archive(const uint8_t *data, size_t size)
{
	cleanup_with(tar_reader_release) struct tar_reader reader = TAR_READER_INIT;
	cleanup_with(decompress_release) struct decompress plain = DECOMPRESS_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	const struct tar_entry *entry;
	struct stream_memory memory;
	struct stream_tap tap;
	bool reads = false;
	int r;

	total = 0;
	stream_memory_open(&memory, data, size);
	decompress_open(&plain, &memory.stream);
	stream_tap_open(&tap, &plain.stream, count_bytes, NULL);
	tar_reader_open(&reader, &tap.stream);
	while ((r = tar_reader_next(&reader, &entry, &err)) > 0) {
		check_entry(entry);
		/* Every other entry is left out. */
		reads = !reads;
		if (reads && read_contents(&reader, entry->size, &err) < 0)
			break;
	}
	if (r < 0 && !err.text)
		abort();
}

/* Make the checksums of all headers right: otherwise hardly any change gets past them. */
static void seal_headers(uint8_t *data, size_t size)
{
	for (; size >= 512; data += 512, size -= 512) {
		unsigned sum = 0;

		if (memcmp(data + 257, "ustar", 5) != 0)
			continue;
		memset(data + 148, ' ', 8);
		for (unsigned i = 0; i < 512; i++)
			sum += data[i];
		for (unsigned i = 154; i-- > 148; sum >>= 3)
			data[i] = (uint8_t)('0' + (sum & 7));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free uint8_t *sealed = malloc(size + 1);

	if (!sealed)
		abort();
	memcpy(sealed, data, size);
	seal_headers(sealed, size);
	read_archive(data, size);
	read_archive(sealed, size);
	return 0;
}
