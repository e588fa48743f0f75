/* What a hostile watcher could send as the policies of a node: what is accepted is printed and
 * read again as the same, and its rules consist of known letters. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.:;,-+={}@! \n";
	struct policy_model again = POLICY_MODEL_INIT;
	struct policy_model model = POLICY_MODEL_INIT;
	struct strbuf text = STRBUF_INIT;
	struct strbuf more = STRBUF_INIT;
	char *rules;

	if (policy_model_parse((const char *)data, size, &model, NULL) < 0)
		return 0;
	policy_model_print(&model, &text);
	assert(policy_model_parse(text.text, text.len, &again, NULL) == 0);
	policy_model_print(&again, &more);
	assert(strcmp(text.text, more.text) == 0);
	rules = policy_model_render(&model, true);
	assert(rules[strspn(rules, letters)] == '\0');
	free(rules);
	policy_model_release(&model);
	policy_model_release(&again);
	strbuf_release(&text);
	strbuf_release(&more);
	return 0;
}
