/* What can be read has nodes with proper names of their own, and warnings without control
 * characters.
 */

#include <string.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "describe/choices.h"
#include "describe/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(import_release) struct import import = IMPORT_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	const char *warning;

	if (import_parse((const char *)data, size, &import, &err) < 0)
		return 0;
	(void)import_choose_version(&import, NULL, &err);
	if (import.node_count == 0)
		abort();
	for (size_t i = 0; i < import.node_count; i++) {
		if (!parse_is_dns_label(import.nodes[i].name))
			abort();
		for (size_t j = 0; j < i; j++)
			if (strcmp(import.nodes[i].name, import.nodes[j].name) == 0)
				abort();
	}
	strlist_for_each(warning, &import.warnings)
		for (; *warning; warning++)
			if ((unsigned char)*warning < ' ')
				abort();
	/* Whether the host has them is not known yet. */
	strlist_release(&import.options.mounts);
	if (choices_check(&import.options, &err) < 0)
		abort();
	return 0;
}
