#include "image/name.h"

#include "test.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void assert_complete(const char *text, const char *expected)
{
	cleanup_free char *name = NULL;

	ASSERT_OK(image_name_complete(text, &name, &err));
	ASSERT_STR(name, expected);
	ASSERT(image_name_is_complete(name));
}

TEST(names_are_completed_as_by_docker)
{
	assert_complete("app", "docker.io/library/app:latest");
	assert_complete("app:1.2", "docker.io/library/app:1.2");
	assert_complete("me/app", "docker.io/me/app:latest");
	assert_complete("docker.io/app", "docker.io/library/app:latest");
	assert_complete("index.docker.io/me/app", "docker.io/me/app:latest");
	assert_complete("localhost/app", "localhost/app:latest");
	assert_complete("localhost:5000/a/b:v1", "localhost:5000/a/b:v1");
	assert_complete("[::1]:5000/app", "[::1]:5000/app:latest");
	assert_complete("registry.example/app@sha256:" HEX, "registry.example/app@sha256:" HEX);
	assert_complete("a.b/c:t@sha256:" HEX, "a.b/c:t@sha256:" HEX);
}

TEST(other_words_are_no_names)
{
	static const char *const wrong[] = {
		"",     "App",    "a b",    "a:",   ":tag",    "a//b",        "/a",           "a/",
		"../a", "a/../b", "a\n",    "a:-x", "a.b:x/c", "a@sha256:12", ("a@md5:" HEX), "-a",
		"a-",   "a:b:c",  "a.b./c",
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		cleanup_free char *name = NULL;

		if (image_name_complete(wrong[i], &name, NULL) != -EINVAL)
			test_fail(__FILE__, __LINE__, "'%s' is accepted", wrong[i]);
	}
	ASSERT(!image_name_is_complete("app"));
}
