/* A scenario is refused with a place, or all of its steps have words. */

#include "base/cleanup.h"
#include "scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(scenario_release) struct scenario scenario = SCENARIO_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	const struct scenario_step *step;
	unsigned line, column;

	if (scenario_parse("f", (const char *)data, size, &scenario, &err) < 0) {
		if (sscanf(err.text, "f:%u:%u: ", &line, &column) != 2 || !err.reason)
			abort();
		return 0;
	}
	if (scenario.count == 0)
		abort();
	scenario_for_each(step, &scenario) {
		cleanup_free char *words = scenario_step_words(&scenario, step);

		if (!*words || (step->act == SCENARIO_FAIL && step->failure.nodes.count == 0))
			abort();
	}
	return 0;
}
