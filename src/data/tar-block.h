/* The header of a member of a tar archive in the format ustar. */
#pragma once

#include <string.h>

#include "base/macro.h"

#define TAR_BLOCK 512

struct tar_block {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8];
	char type;
	char target[100];
	char magic[6];
	char version[2];
	char user[32];
	char group[32];
	char device_major[8];
	char device_minor[8];
	char prefix[155];
	char padding[12];
};

static_assert(sizeof(struct tar_block) == TAR_BLOCK, "a tar header is one block");

/* Fill FIELD with octal digits, except its last byte, which stays NUL. */
static inline void tar_set_octal(char *field, size_t size, uint64_t value)
{
	for (size_t i = size - 1; i-- > 0; value >>= 3)
		field[i] = (char)('0' + (value & 7));
}

/* Set BLOCK's checksum, which is that of the other fields. */
static inline void tar_set_checksum(struct tar_block *block)
{
	const unsigned char *bytes = (const unsigned char *)block;
	unsigned sum = 0;

	/* It is computed with spaces in its place. */
	memset(block->checksum, ' ', sizeof(block->checksum));
	for (size_t i = 0; i < sizeof(*block); i++)
		sum += bytes[i];
	tar_set_octal(block->checksum, sizeof(block->checksum) - 1, sum);
	block->checksum[6] = '\0';
}
