/* YAML is refused with a place, or becomes a tree that can be written and read again. */

#include <string.h>

#include "base/cleanup.h"
#include "data/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(yaml_value_release) struct yaml_value value = YAML_VALUE_INIT;
	cleanup_with(yaml_value_release) struct yaml_value again = YAML_VALUE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	json_auto_t *json = NULL;
	json_auto_t *json_again = NULL;
	cleanup_free char *text = NULL;
	unsigned line, column;

	if (yaml_read("file", (const char *)data, size, &value, &err) < 0) {
		if (sscanf(err.text, "file:%u:%u: ", &line, &column) != 2 || !line || !column)
			abort();
		return 0;
	}
	json = yaml_to_json(&value);
	text = yaml_print(json);
	if (yaml_read("text", text, strlen(text), &again, NULL) < 0)
		abort();
	json_again = yaml_to_json(&again);
	if (!json_equal(json, json_again))
		abort();
	return 0;
}
