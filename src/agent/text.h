/* Short texts without stdio: log lines, paths and the state file of the agent. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A text of limited size, which is truncated rather than reallocated: PID 1 must not run out of
 * memory. */
struct text {
	size_t len;
	char buf[4096]; /* always ends in a NUL */
};

/* Add the strings up to the first NULL. */
void text_add(struct text *text, ...) __attribute__((__sentinel__));
void text_add_number(struct text *text, uint64_t number);

/* The decimal number at the beginning of WORD, at most MOST; 0 if there is none. */
uint64_t number_of(const char *word, uint64_t most);

/* Write a line of the agent's log, the strings up to the first NULL, to standard error. */
void say(const char *first, ...) __attribute__((__sentinel__));

/* Like say(), with NUMBER at the end of the line. */
void say_number(const char *first, const char *second, uint64_t number);

/* Write DATA; bytes that cannot be written are lost. */
void write_all(int fd, const void *data, size_t len);

/* The monotonic clock, in milliseconds. */
int64_t now_ms(void);

/* Read at most MAX bytes of the file PATH into BUF, which has room for MAX+1, and add a NUL; -1 on
 * failure. */
ssize_t read_file(const char *path, char *buf, size_t max);

/* Write TEXT into the existing file PATH; -1 on failure. */
int poke_file(const char *path, const char *text);
