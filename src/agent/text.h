/* Short texts without stdio: the agent's own log lines, paths and its state file. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A text that ends at its limit rather than growing: PID 1 must not fail for want of memory. */
struct text {
	size_t len;
	char buf[4096]; /* always ends in a NUL */
};

/* Add the strings up to the first NULL. */
void text_add(struct text *text, ...) __attribute__((__sentinel__));
void text_add_number(struct text *text, uint64_t number);

/* Write one line of the agent's own log to stderr, made of the strings up to the first NULL. */
void say(const char *first, ...) __attribute__((__sentinel__));

/* Like say(), with NUMBER at the end of the line. */
void say_number(const char *first, const char *second, uint64_t number);

/* Write all of DATA; what can't be written is lost. */
void write_all(int fd, const void *data, size_t len);

/* Milliseconds on a clock that only goes forward. */
int64_t now_ms(void);

/* Read at most MAX bytes of the file PATH into BUF and end them with a NUL (BUF has room for
 * MAX+1); -1 on failure. */
ssize_t read_file(const char *path, char *buf, size_t max);

/* Write TEXT into the existing file PATH; -1 on failure. */
int poke_file(const char *path, const char *text);
