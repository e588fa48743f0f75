#include <fcntl.h>

#include "base/file.h"
#include "base/process.h"
#include "base/strlist.h"
#include "data/tar.h"
#include "test.h"

#define FILE_CONTENTS "contents of a file\n"
#define LONG_DIR                                                             \
	"a-directory-with-a-rather-long-name-so-that-the-path-does-not-fit/" \
	"into-the-hundred-bytes-of-the-first-field"

/* An archive of each kind of member; its path is for the caller to free. */
static char *write_sample(const char *name)
{
	cleanup_free char *file = xasprintf("%s/file", test_dir());
	char *path = xasprintf("%s/%s", test_dir(), name);
	cleanup_fd int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct tar_writer tar = { .fd = fd };

	ASSERT(fd >= 0);
	ASSERT_OK(file_put(file, FILE_CONTENTS, strlen(FILE_CONTENTS), 0600, &err));
	ASSERT_OK(tar_add_dir(&tar, "tmp", 01777, &err));
	ASSERT_OK(tar_add_file(&tar, "bin/program", file, 0755, &err));
	ASSERT_OK(tar_add_data(&tar, LONG_DIR "/data", "data", 4, 0644, &err));
	ASSERT_OK(tar_add_link(&tar, "bin/sh", "program", &err));
	ASSERT_OK(tar_end(&tar, &err));
	ASSERT_INT(tar.bytes, 4 * 512 + 2 * 512 + 1024);
	return path;
}

static void assert_file(const char *path, const char *contents)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	ASSERT_OK(file_read(path, 1 << 20, &text, &err));
	ASSERT_STR(text.text, contents);
}

TEST(is_read_by_tar)
{
	cleanup_free char *archive = write_sample("a.tar");
	cleanup_free char *out = xasprintf("%s/out", test_dir());
	cleanup_free char *program = xasprintf("%s/bin/program", out);
	cleanup_free char *through_link = xasprintf("%s/bin/sh", out);
	cleanup_free char *data = xasprintf("%s/" LONG_DIR "/data", out);
	cleanup_free char *tmp = xasprintf("%s/tmp", out);
	struct stat st;

	ASSERT_OK(file_make_dirs(out, 0755, &err));
	ASSERT_INT(process_run(ARGV("tar", "-xpf", archive, "-C", out), NULL, NULL), 0);
	assert_file(program, FILE_CONTENTS);
	assert_file(through_link, FILE_CONTENTS);
	assert_file(data, "data");
	ASSERT_INT(stat(tmp, &st), 0);
	ASSERT_INT(st.st_mode & 07777, 01777);
	ASSERT_INT(stat(program, &st), 0);
	ASSERT_INT(st.st_mode & 07777, 0755);
	ASSERT_INT(st.st_mtime, 0);
}

TEST(writes_the_same_output_every_time)
{
	cleanup_free char *a = write_sample("a.tar");
	cleanup_free char *b = write_sample("b.tar");
	char digest_a[SHA256_HEX_SIZE];
	char digest_b[SHA256_HEX_SIZE];

	ASSERT_OK(sha256_of_file(a, digest_a, &err));
	ASSERT_OK(sha256_of_file(b, digest_b, &err));
	ASSERT_STR(digest_a, digest_b);
}

TEST(digests_what_it_writes)
{
	cleanup_with(sha256_release) struct sha256 digest = SHA256_INIT;
	cleanup_free char *path = xasprintf("%s/d.tar", test_dir());
	cleanup_fd int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	struct tar_writer tar = { .fd = fd, .digest = &digest };
	char told[SHA256_HEX_SIZE];
	char real[SHA256_HEX_SIZE];

	sha256_begin(&digest);
	ASSERT_OK(tar_add_data(&tar, "x", "y", 1, 0644, &err));
	ASSERT_OK(tar_end(&tar, &err));
	sha256_end(&digest, told);
	ASSERT_OK(sha256_of_file(path, real, &err));
	ASSERT_STR(told, real);
}

TEST(names_a_member_after_its_contents)
{
	cleanup_free char *path = xasprintf("%s/r.tar", test_dir());
	cleanup_with(strbuf_release) struct strbuf list = STRBUF_INIT;
	cleanup_fd int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	struct tar_writer tar = { .fd = fd };
	char block[1024] = "contents";
	off_t header;

	ASSERT_OK(tar_reserve(&tar, &header, &err));
	ASSERT_INT(file_write_all(fd, block, sizeof(block)), 0);
	ASSERT_OK(tar_name_reserved(&tar, header, "late", sizeof(block), &err));
	ASSERT_OK(tar_add_data(&tar, "behind", "", 0, 0644, &err));
	ASSERT_OK(tar_end(&tar, &err));
	ASSERT_INT(process_capture(ARGV("tar", "-tf", path), NULL, &list, NULL), 0);
	ASSERT_STR(list.text, "late\nbehind\n");
}

TEST(refuses_paths_and_sizes_that_ustar_cannot_hold)
{
	cleanup_free char *path = xasprintf("%s/l.tar", test_dir());
	cleanup_fd int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	struct tar_writer tar = { .fd = fd };
	char name[300];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ASSERT_INT(tar_add_data(&tar, name, "", 0, 0644, NULL), -ENAMETOOLONG);
	ASSERT_INT(tar_add_link(&tar, "link", name, NULL), -ENAMETOOLONG);
	ASSERT_INT(tar_add_file(&tar, "x", test_dir(), 0644, NULL), -EINVAL);
	ASSERT_INT(tar_add_file(&tar, "x", "/nowhere", 0644, NULL), -ENOENT);
}
