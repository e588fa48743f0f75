#include "data/tar-read.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/process.h"
#include "tar-maker.h"
#include "test.h"

#define LONG_NAME                                                                         \
	"a-directory-with-a-long-name-that-does-not-fit/into-the-hundred-bytes-of-the-"   \
	"first-field/of-a-header-nor-into-the-hundred-and-fifty-five-of-the-second-one-"  \
	"so-that-there-must-be-an-extension-for-it/in-front-of-the-member-it-belongs-to-" \
	"and-this-is-now-long-enough/file"

struct sample {
	struct strbuf tar;
	struct stream_memory memory;
	struct tar_reader reader;
	const struct tar_entry *entry;
};

static void begin(struct sample *sample)
{
	sample->tar = STRBUF_INIT;
}

static void open_sample(struct sample *sample)
{
	stream_memory_open(&sample->memory, sample->tar.text, sample->tar.len);
	tar_reader_open(&sample->reader, &sample->memory.stream);
}

static int next(struct sample *sample)
{
	return tar_reader_next(&sample->reader, &sample->entry, NULL);
}

static void end(struct sample *sample)
{
	tar_reader_release(&sample->reader);
	strbuf_release(&sample->tar);
}

/* The first entry of an archive with only one, which must be refused with CODE. */
static void assert_refused(struct sample *sample, int code)
{
	open_sample(sample);
	ASSERT_INT(next(sample), code);
	end(sample);
}

TEST(entries_have_all_that_their_headers_say)
{
	struct sample sample;
	const void *data;
	size_t len;

	begin(&sample);
	tar_maker_add(&sample.tar,
		      &(struct tar_member){ .path = "dir/", .type = '5', .mode = 01777 });
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "dir/file",
							 .text = "hello",
							 .mode = 04755,
							 .uid = 7,
							 .gid = 8,
							 .mtime = 99 });
	tar_maker_add(&sample.tar,
		      &(struct tar_member){ .path = "link", .type = '2', .target = "dir/file" });
	tar_maker_end(&sample.tar);
	open_sample(&sample);
	ASSERT_INT(next(&sample), 1);
	ASSERT_INT(sample.entry->type, TAR_DIR);
	ASSERT_INT(sample.entry->mode, 01777);
	ASSERT_INT(next(&sample), 1);
	ASSERT_STR(sample.entry->path, "dir/file");
	ASSERT_INT(sample.entry->mode, 04755);
	ASSERT_INT(sample.entry->uid, 7);
	ASSERT_INT(sample.entry->gid, 8);
	ASSERT_INT(sample.entry->mtime, 99);
	ASSERT_OK(tar_reader_data(&sample.reader, &data, &len, &err));
	ASSERT_INT(len, 5);
	ASSERT(memcmp(data, "hello", 5) == 0);
	ASSERT_OK(tar_reader_data(&sample.reader, &data, &len, &err));
	ASSERT_INT(len, 0);
	ASSERT_INT(next(&sample), 1);
	ASSERT_INT(sample.entry->type, TAR_SYMLINK);
	ASSERT_STR(sample.entry->target, "dir/file");
	ASSERT_INT(next(&sample), 0);
	ASSERT_INT(next(&sample), 0);
	end(&sample);
}

TEST(pax_records_come_before_the_header)
{
	struct strbuf pax = STRBUF_INIT;
	struct sample sample;

	begin(&sample);
	tar_maker_pax(&pax, "path", LONG_NAME, strlen(LONG_NAME));
	tar_maker_pax(&pax, "uid", "3000000", 7);
	tar_maker_pax(&pax, "mtime", "12.5", 4);
	tar_maker_pax(&pax, "SCHILY.xattr.user.bytes", "a\0b=", 4);
	tar_maker_pax(&pax, "SCHILY.xattr.user.empty", "", 0);
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "short", .pax = &pax });
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "next" });
	tar_maker_end(&sample.tar);
	open_sample(&sample);
	ASSERT_INT(next(&sample), 1);
	ASSERT_STR(sample.entry->path, LONG_NAME);
	ASSERT_INT(sample.entry->uid, 3000000);
	ASSERT_INT(sample.entry->mtime, 12);
	ASSERT_INT(sample.entry->mtime_ns, 500000000);
	ASSERT_INT(sample.entry->xattr_count, 2);
	ASSERT_STR(sample.entry->xattrs[0].name, "user.bytes");
	ASSERT_INT(sample.entry->xattrs[0].len, 4);
	ASSERT(memcmp(sample.entry->xattrs[0].value, "a\0b=", 4) == 0);
	ASSERT_INT(sample.entry->xattrs[1].len, 0);
	ASSERT_INT(next(&sample), 1);
	ASSERT_STR(sample.entry->path, "next");
	ASSERT_INT(sample.entry->xattr_count, 0);
	end(&sample);
	strbuf_release(&pax);
}

/* Archives of GNU tar in each of its formats, with a large uid and a long name. */
static void read_gnu(const char *format)
{
	cleanup_free char *dir = xasprintf("%s/%s", test_dir(), format);
	cleanup_free char *file = xasprintf("%s/%s", dir, LONG_NAME);
	cleanup_free char *archive = xasprintf("%s/%s.tar", test_dir(), format);
	cleanup_free char *option = xasprintf("--format=%s", format);
	cleanup_free char *above = xstrndup(file, strlen(file) - strlen("/file"));
	cleanup_with(stream_file_release) struct stream_file stream = STREAM_FILE_INIT;
	cleanup_with(tar_reader_release) struct tar_reader reader = TAR_READER_INIT;
	cleanup_fd int fd = -1;
	const struct tar_entry *entry;
	bool found = false;

	ASSERT_OK(file_make_dirs(above, 0755, &err));
	ASSERT_OK(file_put(file, "text", 4, 0644, &err));
	ASSERT_INT(process_run(ARGV("tar", option, "--owner=somebody:3000000", "-C", dir, "-cf",
				    archive, "."),
			       NULL, NULL),
		   0);
	fd = open(archive, O_RDONLY | O_CLOEXEC);
	stream_file_open(&stream, fd, 700);
	tar_reader_open(&reader, &stream.stream);
	while (tar_reader_next(&reader, &entry, NULL) > 0)
		if (strcmp(entry->path, "./" LONG_NAME) == 0) {
			found = true;
			ASSERT_INT(entry->uid, 3000000);
			ASSERT_INT(entry->size, 4);
		}
	ASSERT(found);
	ASSERT(reader.ended);
}

TEST(reads_archives_of_gnu_tar)
{
	read_gnu("gnu");
	read_gnu("posix");
}

TEST(what_is_no_archive_is_told_from_a_damaged_one)
{
	struct sample sample;

	begin(&sample);
	assert_refused(&sample, -EINVAL);
	begin(&sample);
	strbuf_add(&sample.tar, "some text");
	assert_refused(&sample, -EINVAL);

	begin(&sample);
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "a" });
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "b" });
	sample.tar.text[512] = 'c';
	open_sample(&sample);
	ASSERT_INT(next(&sample), 1);
	ASSERT_INT(next(&sample), -EBADMSG);
	end(&sample);
}

TEST(truncated_archives_are_refused)
{
	struct sample sample;
	const void *data;
	size_t len;

	begin(&sample);
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "a", .text = "contents" });
	sample.tar.len = 512 + 4;
	open_sample(&sample);
	ASSERT_INT(next(&sample), 1);
	ASSERT_OK(tar_reader_data(&sample.reader, &data, &len, &err));
	ASSERT_INT(tar_reader_data(&sample.reader, &data, &len, NULL), -EBADMSG);
	end(&sample);

	begin(&sample);
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "a" });
	strbuf_add(&sample.tar, "half a header");
	open_sample(&sample);
	ASSERT_INT(next(&sample), 1);
	ASSERT_INT(next(&sample), -EBADMSG);
	end(&sample);
}

TEST(hostile_headers_are_refused)
{
	struct strbuf pax = STRBUF_INIT;
	struct sample sample;

	begin(&sample);
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "" });
	assert_refused(&sample, -EBADMSG);

	/* A negative size, in binary. */
	begin(&sample);
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "a" });
	memset(sample.tar.text + 124, 0xff, 12);
	tar_maker_seal(&sample.tar, 0);
	assert_refused(&sample, -EBADMSG);

	/* A size that does not fit. */
	begin(&sample);
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "a" });
	memset(sample.tar.text + 124, 0x7f, 12);
	sample.tar.text[124] = (char)0x80;
	tar_maker_seal(&sample.tar, 0);
	assert_refused(&sample, -EBADMSG);

	begin(&sample);
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "a", .type = 'S' });
	assert_refused(&sample, -EOPNOTSUPP);
	begin(&sample);
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "a", .type = 'Z' });
	assert_refused(&sample, -EBADMSG);

	begin(&sample);
	strbuf_add(&pax, "99 path=short\n");
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "a", .pax = &pax });
	assert_refused(&sample, -EBADMSG);
	strbuf_reset(&pax);
	begin(&sample);
	tar_maker_pax(&pax, "path", "a\0b", 3);
	tar_maker_add(&sample.tar, &(struct tar_member){ .path = "a", .pax = &pax });
	assert_refused(&sample, -EBADMSG);
	strbuf_release(&pax);
}

TEST(extensions_without_end_are_refused)
{
	struct sample sample;

	begin(&sample);
	for (unsigned i = 0; i < 100; i++)
		tar_maker_add(&sample.tar, &(struct tar_member){ .path = "a", .type = 'g' });
	assert_refused(&sample, -EBADMSG);
}

TEST(an_archive_may_begin_with_its_end)
{
	struct sample sample;

	begin(&sample);
	tar_maker_end(&sample.tar);
	ASSERT_INT(sample.tar.len, 1024);
	open_sample(&sample);
	ASSERT_INT(next(&sample), 0);
	ASSERT_INT(next(&sample), 0);
	end(&sample);
}
