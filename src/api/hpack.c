#include "api/hpack.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/macro.h"

/* Headers 1 to 61 are those of the static table. */
#define STATIC_MOST 61

#define SYMBOL_BITS_MOST 30

/* How many symbols have a code of that many bits.  The code is canonical: codes of one length
 * follow each other in the order of `symbols`. */
static const uint8_t symbol_counts[SYMBOL_BITS_MOST + 1] = {
	0, 0, 0, 0, 0, 10, 26, 32, 6,  0, 5,  3,  2,  6, 2, 3,
	0, 0, 0, 3, 8, 13, 26, 29, 12, 4, 15, 19, 29, 0, 3,
};

static const uint8_t symbols[256] = {
	48,  49,  50,  97,  99,  101, 105, 111, 115, 116, 32,  37,  45,  46,  47,  51,  52,  53,
	54,  55,  56,  57,  61,  65,  95,  98,  100, 102, 103, 104, 108, 109, 110, 112, 114, 117,
	58,  66,  67,  68,  69,  70,  71,  72,  73,  74,  75,  76,  77,  78,  79,  80,  81,  82,
	83,  84,  85,  86,  87,  89,  106, 107, 113, 118, 119, 120, 121, 122, 38,  42,  44,  59,
	88,  90,  33,  34,  40,  41,  63,  39,  43,  124, 35,  62,  0,   36,  64,  91,  93,  126,
	94,  125, 60,  96,  123, 92,  195, 208, 128, 130, 131, 162, 184, 194, 224, 226, 153, 161,
	167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230, 129, 132, 133, 134, 136, 146, 154,
	156, 160, 163, 164, 169, 170, 173, 178, 181, 185, 186, 187, 189, 190, 196, 198, 228, 232,
	233, 1,   135, 137, 138, 139, 140, 141, 143, 147, 149, 150, 151, 152, 155, 157, 158, 165,
	166, 168, 174, 175, 180, 182, 183, 188, 191, 197, 231, 239, 9,   142, 144, 145, 148, 159,
	171, 206, 215, 225, 236, 237, 199, 207, 234, 235, 192, 193, 200, 201, 202, 205, 210, 213,
	218, 219, 238, 240, 242, 243, 255, 203, 204, 211, 212, 214, 221, 222, 223, 241, 244, 245,
	246, 247, 248, 250, 251, 252, 253, 254, 2,   3,   4,   5,   6,   7,   8,   11,  12,  14,
	15,  16,  17,  18,  19,  20,  21,  23,  24,  25,  26,  27,  28,  29,  30,  31,  127, 220,
	249, 10,  13,  22,
};

static void add_length(struct strbuf *block, size_t len)
{
	if (len < 127) {
		strbuf_add_char(block, (char)len);
		return;
	}
	strbuf_add_char(block, 127);
	for (len -= 127; len >= 128; len >>= 7)
		strbuf_add_char(block, (char)(len | 128));
	strbuf_add_char(block, (char)len);
}

void hpack_add(struct strbuf *block, const char *name, const char *value)
{
	strbuf_add_char(block, 0); /* a literal that no table keeps */
	add_length(block, strlen(name));
	strbuf_add(block, name);
	add_length(block, strlen(value));
	strbuf_add(block, value);
}

/* Read an integer that begins in the low BITS of the next byte. */
static int read_integer(struct hpack *block, unsigned bits, size_t *ret)
{
	const size_t full = ((size_t)1 << bits) - 1;
	size_t value;

	if (block->len == 0)
		return -EBADMSG;
	value = *block->data++ & full;
	block->len--;
	for (unsigned shift = 0; value >= full; shift += 7) {
		unsigned char byte;

		/* No block is so long that more would be right. */
		if (block->len == 0 || shift > 21)
			return -EBADMSG;
		byte = *block->data++;
		block->len--;
		value += (size_t)(byte & 127) << shift;
		if (!(byte & 128))
			break;
	}
	*ret = value;
	return 0;
}

/* Append the text that is coded in the LEN bytes of DATA. */
static int decode_huffman(const unsigned char *data, size_t len, struct strbuf *text)
{
	uint32_t code = 0;
	uint32_t first = 0; /* the first code of this length */
	unsigned index = 0; /* of its symbol */
	unsigned bits = 0;
	bool ones = true;

	for (size_t i = 0; i < len * 8; i++) {
		const uint32_t bit = data[i / 8] >> (7 - i % 8) & 1;

		code = code << 1 | bit;
		first <<= 1;
		ones = ones && bit;
		if (++bits > SYMBOL_BITS_MOST)
			return -EBADMSG;
		if (code - first >= symbol_counts[bits]) {
			index += symbol_counts[bits];
			first += symbol_counts[bits];
			continue;
		}
		strbuf_add_char(text, (char)symbols[index + code - first]);
		code = first = index = bits = 0;
		ones = true;
	}
	/* What is left is padding: the beginning of a code that is all ones. */
	return bits < 8 && ones ? 0 : -EBADMSG;
}

static int read_text(struct hpack *block, struct strbuf *text)
{
	const bool is_huffman = block->len > 0 && *block->data & 128;
	const unsigned char *data;
	size_t len;
	int r = read_integer(block, 7, &len);

	if (r < 0 || len > block->len)
		return -EBADMSG;
	data = block->data;
	block->data += len;
	block->len -= len;
	if (is_huffman)
		return decode_huffman(data, len, text);
	strbuf_add_mem(text, data, len);
	return 0;
}

/* Skip changes of the size of the table: only none at all is right. */
static int skip_sizes(struct hpack *block)
{
	size_t size;

	while (block->len > 0 && (*block->data & 0xe0) == 0x20)
		if (read_integer(block, 5, &size) < 0 || size > 0)
			return -EBADMSG;
	return 0;
}

int hpack_next(struct hpack *block, struct strbuf *name, struct strbuf *value)
{
	unsigned char kind;
	size_t index;

	strbuf_reset(name);
	strbuf_reset(value);
	if (skip_sizes(block) < 0)
		return -EBADMSG;
	if (block->len == 0)
		return 0;
	kind = *block->data;
	if (read_integer(block,
			 kind & 128  ? 7
			 : kind & 64 ? 6
				     : 4,
			 &index) < 0 ||
	    index > STATIC_MOST)
		return -EBADMSG;
	if (kind & 128)
		return index ? 1 : -EBADMSG;
	if ((index == 0 && read_text(block, name) < 0) || read_text(block, value) < 0)
		return -EBADMSG;
	return 1;
}
