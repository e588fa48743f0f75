/* The fields of tar headers and PAX records. */

#include "data/tar-fields.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"

#define XATTR_PREFIX    "SCHILY.xattr."
#define XATTRS_MAX      128
#define XATTR_VALUE_MAX 65536

/* More than any size or time that makes sense, so that sums do not overflow. */
#define NUMBER_MAX (UINT64_C(1) << 62)

static_assert(sizeof(struct tar_block) == TAR_BLOCK, "a tar header is one block");

static int refuse_number(struct error *err)
{
	return error_set(err, -EBADMSG, "a header of the archive has an invalid number");
}

/* GNU's binary numbers: the first bit is set, the second one is the sign. */
static int decode_binary(const unsigned char *field, size_t size, int64_t *ret, struct error *err)
{
	bool is_negative = field[0] & 0x40;
	uint64_t value = is_negative ? UINT64_MAX : 0;

	for (size_t i = 0; i < size; i++) {
		unsigned char byte = i > 0 ? field[i] : field[i] & 0x7f;

		if (i == 0 && is_negative)
			byte |= 0x80;
		if ((value >> 54) != (is_negative ? 0x3ffu : 0))
			return refuse_number(err);
		value = value << 8 | byte;
	}
	*ret = (int64_t)value;
	return 0;
}

/* An octal number, perhaps between spaces, or a binary one. */
static int decode_number(const char *field, size_t size, int64_t *ret, struct error *err)
{
	uint64_t value = 0;
	size_t i = 0;

	if (field[0] & 0x80)
		return decode_binary((const unsigned char *)field, size, ret, err);
	while (i < size && field[i] == ' ')
		i++;
	for (; i < size && field[i] >= '0' && field[i] <= '7'; i++)
		value = value << 3 | (uint64_t)(field[i] - '0');
	if (i < size && field[i] != ' ' && field[i] != '\0')
		return refuse_number(err);
	*ret = (int64_t)value;
	return 0;
}

/* The same for numbers that are not negative. */
static int decode_count(const char *field, size_t size, uint64_t *ret, struct error *err)
{
	int64_t value;
	int r = decode_number(field, size, &value, err);

	if (r < 0)
		return r;
	if (value < 0 || (uint64_t)value > NUMBER_MAX)
		return refuse_number(err);
	*ret = (uint64_t)value;
	return 0;
}

/* The checksum counts its own field as spaces.  Some old programs added signed bytes. */
int tar_header_check(const struct tar_block *header)
{
	const unsigned char *bytes = (const unsigned char *)header;
	size_t begin = offsetof(struct tar_block, checksum);
	size_t end = begin + sizeof(header->checksum);
	bool is_zero = true;
	int64_t expected;
	long plain = 0;
	long with_signs = 0;

	for (size_t i = 0; i < sizeof(*header); i++) {
		unsigned char byte = i >= begin && i < end ? ' ' : bytes[i];

		is_zero = is_zero && !bytes[i];
		plain += byte;
		with_signs += (signed char)byte;
	}
	if (is_zero)
		return 0;
	if (decode_number(header->checksum, sizeof(header->checksum), &expected, NULL) < 0)
		return -EBADMSG;
	return expected == plain || expected == with_signs ? 1 : -EBADMSG;
}

int tar_header_size(const struct tar_block *header, uint64_t *ret, struct error *err)
{
	return decode_count(header->size, sizeof(header->size), ret, err);
}

static int decode_type(char type, enum tar_type *ret, struct error *err)
{
	static const char types[] = {
		[TAR_FILE] = '0',        [TAR_HARD_LINK] = '1',    [TAR_SYMLINK] = '2',
		[TAR_CHAR_DEVICE] = '3', [TAR_BLOCK_DEVICE] = '4', [TAR_DIR] = '5',
		[TAR_FIFO] = '6',
	};

	/* '7' is a file in one piece on disk. */
	if (type == '\0' || type == '7')
		type = '0';
	for (size_t i = 0; i < sizeof(types); i++)
		if (types[i] == type) {
			*ret = (enum tar_type)i;
			return 0;
		}
	if (type == 'S')
		return error_set(err, -EOPNOTSUPP, "the archive has sparse files");
	return error_set(err, -EBADMSG, "the archive has an entry of an unknown type");
}

static char *decode_path(const struct tar_block *header)
{
	bool is_posix = memcmp(header->magic, "ustar\0", 6) == 0;
	/* Of star: two times follow the prefix, and the block ends in "tar". */
	bool is_star = is_posix && memcmp(header->padding + 8, "tar\0", 4) == 0;
	size_t prefix = is_posix ? strnlen(header->prefix, is_star ? 131 : sizeof(header->prefix))
				 : 0;
	int name = (int)strnlen(header->name, sizeof(header->name));

	if (prefix == 0)
		return xstrndup(header->name, (size_t)name);
	return xasprintf("%.*s/%.*s", (int)prefix, header->prefix, name, header->name);
}

int tar_header_decode(const struct tar_block *header, struct tar_entry *ret, struct error *err)
{
	int64_t mode = 0;
	int r = decode_type(header->type, &ret->type, err);

	if (r == 0)
		r = decode_number(header->mode, sizeof(header->mode), &mode, err);
	if (r == 0)
		r = decode_count(header->uid, sizeof(header->uid), &ret->uid, err);
	if (r == 0)
		r = decode_count(header->gid, sizeof(header->gid), &ret->gid, err);
	if (r == 0)
		r = tar_header_size(header, &ret->size, err);
	if (r == 0)
		r = decode_number(header->mtime, sizeof(header->mtime), &ret->mtime, err);
	if (r < 0)
		return r;
	ret->mode = (mode_t)(mode & 07777);
	ret->path = decode_path(header);
	ret->target = xstrndup(header->target, strnlen(header->target, sizeof(header->target)));
	return 0;
}

static int parse_count(const char *text, uint64_t *ret, struct error *err)
{
	unsigned long long value;

	if (parse_number(text, 0, NUMBER_MAX, &value, NULL) < 0)
		return refuse_number(err);
	*ret = value;
	return 0;
}

/* Seconds with a fraction: "-1.5" is 1.5 seconds before 1970. */
static int parse_time(const char *text, struct tar_pax *pax, struct error *err)
{
	bool is_negative = *text == '-';
	const char *point = strchr(text, '.');
	cleanup_free char *whole = NULL;
	unsigned ns = 0;
	uint64_t seconds = 0;
	int r;

	text += is_negative;
	whole = xstrndup(text, point ? (size_t)(point - text) : strlen(text));
	r = parse_count(whole, &seconds, err);
	if (r < 0)
		return r;
	for (unsigned place = 100000000; point && *++point; place /= 10) {
		if (!isdigit((unsigned char)*point))
			return refuse_number(err);
		ns += place * (unsigned)(*point - '0');
	}
	pax->has_mtime = true;
	pax->mtime = is_negative ? -(int64_t)seconds : (int64_t)seconds;
	pax->mtime_ns = ns;
	if (is_negative && ns) {
		pax->mtime--;
		pax->mtime_ns = 1000000000 - ns;
	}
	return 0;
}

static int add_xattr(struct tar_pax *pax, const char *name, const char *value, size_t len,
		     struct error *err)
{
	struct tar_xattr *xattr = NULL;

	if (!*name || strlen(name) > 255 || len > XATTR_VALUE_MAX)
		return error_set(err, -EBADMSG, "an extended attribute in the archive is too long");
	for (size_t i = 0; i < pax->xattr_count; i++)
		if (strcmp(pax->xattrs[i].name, name) == 0)
			xattr = &pax->xattrs[i];
	if (!xattr && pax->xattr_count == XATTRS_MAX)
		return error_set(err, -EBADMSG, "a file of the archive has too many attributes");
	if (!xattr) {
		pax->xattrs = xrealloc(pax->xattrs, pax->xattr_count + 1, sizeof(*pax->xattrs));
		xattr = &pax->xattrs[pax->xattr_count++];
		*xattr = (struct tar_xattr){ .name = xstrdup(name) };
	}
	free(xattr->value);
	xattr->value = xstrndup("", 0);
	xattr->len = len;
	if (len > 0) {
		xattr->value = xrealloc(xattr->value, len, 1);
		memcpy(xattr->value, value, len);
	}
	return 0;
}

static int set_name(char **place, const char *value, size_t len, struct error *err)
{
	if (memchr(value, '\0', len))
		return error_set(err, -EBADMSG, "a path in the archive has a NUL");
	free(*place);
	*place = xstrndup(value, len);
	return 0;
}

/* One record; VALUE ends with a NUL that LEN does not count. */
static int apply_record(struct tar_pax *pax, const char *key, const char *value, size_t len,
			struct error *err)
{
	if (strcmp(key, "path") == 0)
		return set_name(&pax->path, value, len, err);
	if (strcmp(key, "linkpath") == 0)
		return set_name(&pax->target, value, len, err);
	if (strncmp(key, XATTR_PREFIX, strlen(XATTR_PREFIX)) == 0)
		return add_xattr(pax, key + strlen(XATTR_PREFIX), value, len, err);
	if (strncmp(key, "GNU.sparse.", 11) == 0)
		return error_set(err, -EOPNOTSUPP, "the archive has sparse files");
	if (strcmp(key, "mtime") == 0)
		return parse_time(value, pax, err);
	if (strcmp(key, "size") == 0) {
		pax->has_size = true;
		return parse_count(value, &pax->size, err);
	}
	if (strcmp(key, "uid") == 0) {
		pax->has_uid = true;
		return parse_count(value, &pax->uid, err);
	}
	if (strcmp(key, "gid") == 0) {
		pax->has_gid = true;
		return parse_count(value, &pax->gid, err);
	}
	return 0;
}

/* The record at TEXT, "LENGTH KEY=VALUE\n"; returns its length. */
static ssize_t parse_record(const char *text, size_t len, struct tar_pax *pax, struct error *err)
{
	const char *space = memchr(text, ' ', MIN(len, (size_t)8));
	cleanup_free char *key = NULL;
	cleanup_free char *value = NULL;
	cleanup_free char *number = NULL;
	unsigned long long size;
	const char *equals;
	const char *end;
	int r;

	number = space ? xstrndup(text, (size_t)(space - text)) : xstrdup("");
	if (parse_number(number, 4, len, &size, NULL) < 0 || text[size - 1] != '\n' ||
	    text + size - 1 <= space)
		return error_set(err, -EBADMSG, "a PAX header of the archive is damaged");
	end = text + size - 1;
	equals = memchr(space, '=', (size_t)(end - space));
	if (!equals || memchr(space, '\0', (size_t)(equals - space)))
		return error_set(err, -EBADMSG, "a PAX header of the archive is damaged");
	key = xstrndup(space + 1, (size_t)(equals - space - 1));
	/* Values may contain NULs. */
	value = xmalloc((size_t)(end - equals));
	memcpy(value, equals + 1, (size_t)(end - equals - 1));
	value[end - equals - 1] = '\0';
	r = apply_record(pax, key, value, (size_t)(end - equals - 1), err);
	return r < 0 ? r : (ssize_t)size;
}

int tar_pax_parse(const char *text, size_t len, struct tar_pax *pax, struct error *err)
{
	while (len > 0) {
		ssize_t size = parse_record(text, len, pax, err);

		if (size < 0)
			return (int)size;
		text += size;
		len -= (size_t)size;
	}
	return 0;
}

void tar_pax_release(struct tar_pax *pax)
{
	free(pax->path);
	free(pax->target);
	for (size_t i = 0; i < pax->xattr_count; i++) {
		free(pax->xattrs[i].name);
		free(pax->xattrs[i].value);
	}
	free(pax->xattrs);
	*pax = (struct tar_pax){ .path = NULL };
}
