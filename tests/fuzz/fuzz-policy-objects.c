/* Objects of a hostile control plane: a list of pods, namespaces and policies. */
#include <stdlib.h>
#include <string.h>

#include "policy/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST 64

static size_t read_all(const json_t *list, void *(*read)(const json_t *), void **ret)
{
	size_t count = 0;
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item) {
		void *object = count < MOST ? read(item) : NULL;

		if (object)
			ret[count++] = object;
	}
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *root = json_loadb((const char *)data, size, 0, NULL);
	struct policy_ranges none = POLICY_RANGES_INIT;
	struct policy_model again;
	struct policy_model model;
	struct strbuf text = STRBUF_INIT;
	void *pods[MOST];
	void *namespaces[MOST];
	void *policies[MOST];
	struct policy_objects objects = {
		.pods = (const struct policy_pod *const *)pods,
		.namespaces = (const struct policy_namespace *const *)namespaces,
		.policies = (const struct policy *const *)policies,
	};

	objects.pod_count = read_all(json_object_get(root, "pods"), policy_read_pod, pods);
	objects.namespace_count = read_all(json_object_get(root, "namespaces"),
					   policy_read_namespace, namespaces);
	objects.policy_count = read_all(json_object_get(root, "policies"), policy_read_policy,
					policies);
	policy_compile(&objects, "n", &none, &model);
	/* The keeper accepts it, whatever the objects are. */
	policy_model_print(&model, &text);
	assert(policy_model_parse(text.text, text.len, &again, NULL) == 0);
	policy_model_release(&again);
	policy_model_release(&model);
	strbuf_release(&text);
	for (size_t i = 0; i < objects.pod_count; i++)
		policy_free_pod(pods[i]);
	for (size_t i = 0; i < objects.namespace_count; i++)
		policy_free_namespace(namespaces[i]);
	for (size_t i = 0; i < objects.policy_count; i++)
		policy_free_policy(policies[i]);
	json_decref(root);
	return 0;
}
