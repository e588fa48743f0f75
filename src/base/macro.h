/* Attributes and small macros that every file may use. */
#pragma once

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define printf_like(fmt, args) __attribute__((__format__(__printf__, fmt, args)))
#define must_check             __attribute__((__warn_unused_result__))
#define arg_unused             __attribute__((__unused__))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define MIN(a, b)                   \
	({                          \
		typeof(a) a_ = (a); \
		typeof(b) b_ = (b); \
		a_ < b_ ? a_ : b_;  \
	})
#define MAX(a, b)                   \
	({                          \
		typeof(a) a_ = (a); \
		typeof(b) b_ = (b); \
		a_ > b_ ? a_ : b_;  \
	})
