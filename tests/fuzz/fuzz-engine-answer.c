/* What a container engine says of itself, of containers, and in lists: words have no control
 * characters, and numbers are in their bounds. */

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "engine/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_word(const char *word)
{
	for (; word && *word; word++)
		if ((unsigned char)*word < ' ')
			abort();
}

static void read_container(const char *text, size_t size)
{
	cleanup_with(
		engine_container_release) struct engine_container container = ENGINE_CONTAINER_INIT;

	if (engine_read_container(text, size, &container, NULL) < 0)
		return;
	if (!*container.id || container.pid < 0 || container.exit_status < 0 ||
	    container.exit_status > 255 || (container.pid && !container.running))
		abort();
	check_word(container.id);
	check_word(container.image);
	check_word(container.problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(engine_info_release) struct engine_info info = ENGINE_INFO_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *text = (const char *)data;
	const char *name;

	if (engine_read_version(text, size, &info, NULL) == 0) {
		check_word(info.version);
		check_word(info.api);
		(void)engine_api_is(info.api, "1.41");
	}
	if (engine_read_info(text, size, &info, NULL) == 0)
		check_word(info.kernel);
	read_container(text, size);
	(void)engine_read_list(text, size, &names, NULL);
	strlist_for_each(name, &names)
		if (!*name || strpbrk(name, "?#% \n"))
			abort();
	return 0;
}
