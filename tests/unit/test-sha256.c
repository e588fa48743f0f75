#include "base/file.h"
#include "data/sha256.h"
#include "test.h"

TEST(computes_the_digests_of_the_standard)
{
	char hex[SHA256_HEX_SIZE];

	sha256_of("", 0, hex);
	ASSERT_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha256_of("abc", 3, hex);
	ASSERT_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(appends_pieces)
{
	cleanup_with(sha256_release) struct sha256 digest = SHA256_INIT;
	char hex[SHA256_HEX_SIZE];

	sha256_begin(&digest);
	sha256_add(&digest, "a", 1);
	sha256_add(&digest, "bc", 2);
	sha256_end(&digest, hex);
	ASSERT_STR(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(reads_a_file_bigger_than_its_buffer)
{
	cleanup_free char *path = xasprintf("%s/big", test_dir());
	cleanup_free char *data = xcalloc(1, 1000001);
	char of_file[SHA256_HEX_SIZE];
	char of_data[SHA256_HEX_SIZE];

	ASSERT_OK(file_put(path, data, 1000001, 0644, &err));
	ASSERT_OK(sha256_of_file(path, of_file, &err));
	sha256_of(data, 1000001, of_data);
	ASSERT_STR(of_file, of_data);
}

TEST(names_a_missing_file)
{
	char hex[SHA256_HEX_SIZE];

	ASSERT_INT(sha256_of_file("/nowhere", hex, NULL), -ENOENT);
}

TEST(tells_a_digest_from_other_words)
{
	ASSERT(sha256_is_hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
	ASSERT(!sha256_is_hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a"));
	ASSERT(!sha256_is_hex("xa7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
	ASSERT(!sha256_is_hex(""));
}
