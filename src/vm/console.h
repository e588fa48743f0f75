/* The console of a VM: kept in a file of limited size, and watched for signs of trouble. */
#pragma once

#include "base/strbuf.h"

struct console {
	int log;
	struct strbuf line;  /* the current one, its beginning if it is long */
	const char *trouble; /* what the guest's kernel reported last; NULL: nothing */
	bool panicked;
};

#define CONSOLE_INIT ((struct console){ .log = -1, .line = STRBUF_INIT })

/* Handle bytes from the console; whether TROUBLE has changed. */
bool console_add(struct console *console, const char *bytes, size_t len);

/* What the console tells of a guest in trouble, numbered from 0; NULL after the last. */
const char *console_trouble_at(size_t number, bool *ret_panic);

/* Keep at most the last MOST bytes, if the file LOG has more than twice that. */
void console_trim(int log, size_t most);

void console_release(struct console *console);
