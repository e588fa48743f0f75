/* Short texts without stdio. */

#include "agent/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void add_one(struct text *text, const char *part)
{
	size_t room = sizeof(text->buf) - 1 - text->len;
	size_t len = strnlen(part, room);

	memcpy(text->buf + text->len, part, len);
	text->len += len;
	text->buf[text->len] = '\0';
}

static void add_list(struct text *text, va_list parts)
{
	const char *part;

	while ((part = va_arg(parts, const char *)))
		add_one(text, part);
}

void text_add(struct text *text, ...)
{
	va_list parts;

	va_start(parts, text);
	add_list(text, parts);
	va_end(parts);
}

void text_add_number(struct text *text, uint64_t number)
{
	char digits[24];
	char *p = digits + sizeof(digits) - 1;

	*p = '\0';
	do {
		*--p = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	add_one(text, p);
}

uint64_t number_of(const char *word, uint64_t most)
{
	uint64_t number = 0;

	for (; *word >= '0' && *word <= '9'; word++) {
		unsigned digit = (unsigned)(*word - '0');

		if (number > (most - (digit < most ? digit : most)) / 10)
			return most;
		number = number * 10 + digit;
	}
	return number;
}

static void begin_line(struct text *line)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	line->len = 0;
	text_add_number(line, (uint64_t)now.tv_sec);
	add_one(line, ".");
	for (long unit = 100; now.tv_nsec / 1000000 < unit && unit > 1; unit /= 10)
		add_one(line, "0");
	text_add_number(line, (uint64_t)now.tv_nsec / 1000000);
	add_one(line, " ");
}

static void end_line(struct text *line)
{
	if (line->len == sizeof(line->buf) - 1)
		line->len--;
	line->buf[line->len++] = '\n';
	write_all(STDERR_FILENO, line->buf, line->len);
}

void say(const char *first, ...)
{
	struct text line;
	va_list parts;

	begin_line(&line);
	add_one(&line, first);
	va_start(parts, first);
	add_list(&line, parts);
	va_end(parts);
	end_line(&line);
}

void say_number(const char *first, const char *second, uint64_t number)
{
	struct text line;

	begin_line(&line);
	add_one(&line, first);
	add_one(&line, second);
	text_add_number(&line, number);
	end_line(&line);
}

void write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len > 0) {
		ssize_t written = write(fd, p, len);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return;
		p += written;
		len -= (size_t)written;
	}
}

int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

ssize_t read_file(const char *path, char *buf, size_t max)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -1;
	while (len < max && (n = read(fd, buf + len, max - len)) > 0)
		len += (size_t)n;
	(void)close(fd);
	buf[len] = '\0';
	return n < 0 ? -1 : (ssize_t)len;
}

int poke_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	(void)close(fd);
	return n < 0 ? -1 : 0;
}
