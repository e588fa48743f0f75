/*
 * The unit test harness: each test file is one program that prints TAP.
 *
 *	TEST(strips_the_prefix)
 *	{
 *		ASSERT_STR(path_strip("/a/b", "/a"), "b");
 *	}
 *
 * Every test runs in its own process, so it may change namespaces, the environment
 * or the directory, and may be killed, without affecting others.
 */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/macro.h"

struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
};

void test_add(struct test *test);
_Noreturn void test_fail(const char *file, int line, const char *fmt, ...) printf_like(3, 4);
_Noreturn void test_skip(const char *reason);

/* An empty directory, which is removed after the test. */
const char *test_dir(void);

/* A socket that listens at PORT of ADDRESS, or at any port if PORT is 0, and the port it has. */
int test_listen(const char *address, uint16_t port);
uint16_t test_port(int fd);

#define TEST(name_)                                                                \
	static void test_##name_(void);                                            \
	__attribute__((constructor)) static void register_##name_(void)            \
	{                                                                          \
		static struct test self = { .name = #name_, .run = test_##name_ }; \
		test_add(&self);                                                   \
	}                                                                          \
	static void test_##name_(void)

#define ASSERT(cond)                                                \
	do {                                                        \
		if (!(cond))                                        \
			test_fail(__FILE__, __LINE__, "%s", #cond); \
	} while (0)

#define ASSERT_INT(got, want)                                                                     \
	do {                                                                                      \
		long long got_ = (long long)(got), want_ = (long long)(want);                     \
		if (got_ != want_)                                                                \
			test_fail(__FILE__, __LINE__, "%s is %lld, not %lld", #got, got_, want_); \
	} while (0)

#define ASSERT_STR(got, want)                                                           \
	do {                                                                            \
		const char *got_ = (got), *want_ = (want);                              \
		if (!got_ || strcmp(got_, want_) != 0)                                  \
			test_fail(__FILE__, __LINE__, "%s is \"%s\", not \"%s\"", #got, \
				  got_ ? got_ : "(null)", want_);                       \
	} while (0)

/* CALL, which takes &err last, must succeed. */
#define ASSERT_OK(call)                                                       \
	do {                                                                  \
		struct error err = ERROR_INIT;                                \
		int r_ = (call);                                              \
		if (r_ < 0)                                                   \
			test_fail(__FILE__, __LINE__, "%s failed: %s", #call, \
				  err.text ? err.text : strerror(-r_));       \
		error_clear(&err);                                            \
	} while (0)
