/* A cluster's file is refused with a place, or what it says can be written and read again. */

#include <string.h>

#include "base/cleanup.h"
#include "describe/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct cluster_file_before name = { .usual_name = "usual" };
	cleanup_with(cluster_file_release) struct cluster_file file = CLUSTER_FILE_INIT;
	cleanup_with(cluster_file_release) struct cluster_file again = CLUSTER_FILE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	json_auto_t *json = NULL;
	json_auto_t *json_again = NULL;
	cleanup_free char *text = NULL;
	unsigned line, column;

	if (cluster_file_parse("f", (const char *)data, size, &name, &file, &err) < 0) {
		if (sscanf(err.text, "f:%u:%u: ", &line, &column) != 2 || !err.reason)
			abort();
		return 0;
	}
	json = cluster_file_to_json(&file);
	text = yaml_print(json);
	if (cluster_file_parse("g", text, strlen(text), &name, &again, &err) < 0) {
		fprintf(stderr, "%s\nin\n%s", err.text, text);
		abort();
	}
	json_again = cluster_file_to_json(&again);
	if (!json_equal(json, json_again))
		abort();
	return 0;
}
