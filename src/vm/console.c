/* The console of a VM. */

#include "vm/console.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "vm/keeper.h"

#define LINE_MOST 512u

static const struct {
	const char *words;
	const char *trouble;
	bool panic;
} signs[] = {
	{ "Kernel panic", "its kernel panicked", true },
	{ "soft lockup", "its kernel reports CPUs that hang", false },
	{ "hard LOCKUP", "its kernel reports CPUs that hang", false },
	{ "detected stalls on CPUs", "its kernel reports CPUs that hang", false },
	{ "self-detected stall", "its kernel reports CPUs that hang", false },
	{ "blocked for more than", "its kernel reports tasks that hang", false },
	{ "Out of memory: Killed", "it ran out of memory", false },
};

const char *console_trouble_at(size_t number, bool *ret_panic)
{
	if (number >= ARRAY_SIZE(signs))
		return NULL;
	*ret_panic = signs[number].panic;
	return signs[number].trouble;
}

static bool look_at_line(struct console *console)
{
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (strstr(console->line.text, signs[i].words) && !console->panicked) {
			bool is_new = console->trouble != signs[i].trouble;

			console->trouble = signs[i].trouble;
			console->panicked = signs[i].panic;
			return is_new;
		}
	return false;
}

void console_trim(int log, size_t most)
{
	cleanup_with(strbuf_release) struct strbuf rest = STRBUF_INIT;
	struct stat st;
	ssize_t len;

	if (log < 0 || fstat(log, &st) < 0 || (uint64_t)st.st_size <= 2 * (uint64_t)most)
		return;
	len = pread(log, strbuf_grow(&rest, most), most, st.st_size - (off_t)most);
	if (len <= 0 || ftruncate(log, 0) < 0)
		return;
	strbuf_grown(&rest, (size_t)len);
	(void)file_write_all(log, rest.text, rest.len);
}

bool console_add(struct console *console, const char *bytes, size_t len)
{
	bool changed = false;

	/* The file is open for appending. */
	(void)file_write_all(console->log, bytes, len);
	console_trim(console->log, KEEPER_CONSOLE_MOST / 2);
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] != '\n') {
			if (console->line.len < LINE_MOST && bytes[i])
				strbuf_add_char(&console->line, bytes[i]);
			continue;
		}
		changed |= look_at_line(console);
		strbuf_reset(&console->line);
	}
	return changed;
}

void console_release(struct console *console)
{
	strbuf_release(&console->line);
	*console = CONSOLE_INIT;
}
