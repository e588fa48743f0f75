/* Published checksum files. */

#include "payload/checksum.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strlist.h"

#define DIGITS (SHA256_HEX_SIZE - 1)

/* The file name after the digest, without "*", which marks binary mode, and without directories. */
static const char *name_in(char *line)
{
	char *name = line + DIGITS;
	char *end = name + strlen(name);
	char *slash;

	while (end > name && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (*name == ' ' || *name == '\t')
		name++;
	if (*name == '*')
		name++;
	slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
}

/* Whether LINE begins with a digest of the right length. */
static bool has_digest(const char *line)
{
	return strspn(line, "0123456789abcdefABCDEF") == DIGITS &&
	       (line[DIGITS] == '\0' || isspace((unsigned char)line[DIGITS]));
}

static void lower(char hex[SHA256_HEX_SIZE], const char *digits)
{
	for (size_t i = 0; i < DIGITS; i++)
		hex[i] = (char)tolower((unsigned char)digits[i]);
	hex[DIGITS] = '\0';
}

int checksum_find(const char *text, size_t len, const char *name, char ret_hex[SHA256_HEX_SIZE],
		  struct error *err)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_free char *copy = xstrndup(text, len);
	char found[SHA256_HEX_SIZE] = "";

	strlist_split(&lines, copy, '\n');
	for (size_t i = 0; i < lines.count; i++) {
		char digest[SHA256_HEX_SIZE];
		const char *listed;

		if (!has_digest(lines.items[i]))
			continue;
		lower(digest, lines.items[i]);
		listed = name_in(lines.items[i]);
		if (*listed ? strcmp(listed, name) != 0 : lines.count > 1)
			continue;
		if (*found && strcmp(found, digest) != 0)
			return error_set(err, -EBADMSG,
					 "the published checksums have two different ones for '%s'",
					 name);
		memcpy(found, digest, sizeof(found));
	}
	if (!*found)
		return error_set(err, -EBADMSG, "the published checksums have none for '%s'", name);
	memcpy(ret_hex, found, sizeof(found));
	return 0;
}
