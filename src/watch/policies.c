/* The watcher's part in network policies. */

#include "watch/policies.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "policy/engine.h"
#include "watch/frame.h"
#include "watch/reflector.h"

/* Events come in bursts, and much of what changes in pods does not matter here. */
static const int64_t settle_ms = 20;
static const int64_t rest_ms = 200;

enum {
	PODS,
	NAMESPACES,
	POLICIES,
	KINDS
};

static const struct reflector_kind kinds[KINDS] = {
	[PODS] = { "/api/v1/pods", policy_read_pod, policy_free_pod },
	[NAMESPACES] = { "/api/v1/namespaces", policy_read_namespace, policy_free_namespace },
	[POLICIES] = { "/apis/networking.k8s.io/v1/networkpolicies", policy_read_policy,
		       policy_free_policy },
};

struct policies {
	struct loop *loop;
	const struct watch_config *config;
	int fd;
	void (*failed)(void *data);
	void *data;
	struct reflector *reflectors[KINDS];
	struct loop_source *update;
	int64_t updated_ms;
	char **sent;     /* the models, by node */
	bool *held_back; /* whether the last model of a node was too large */
};

static const void **list_objects(const struct reflector *reflector, size_t *ret_count)
{
	const void **objects;

	*ret_count = reflector_count(reflector);
	objects = xcalloc(*ret_count + 1, sizeof(void *));
	for (size_t i = 0; i < *ret_count; i++)
		objects[i] = reflector_at(reflector, i, NULL);
	return objects;
}

static void send_model(struct policies *policies, size_t number,
		       const struct policy_objects *objects)
{
	const struct watch_node *node = &policies->config->nodes[number];
	cleanup_with(policy_ranges_release) struct policy_ranges ranges = POLICY_RANGES_INIT;
	cleanup_with(policy_model_release) struct policy_model model = POLICY_MODEL_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *name = xasprintf("policy %s", node->name);
	struct policy_range range;

	if (node->pods && policy_range_parse_block(node->pods, &range))
		policy_ranges_add(&ranges, &range);
	if (node->pods6 && policy_range_parse_block(node->pods6, &range))
		policy_ranges_add(&ranges, &range);
	policy_compile(objects, node->name, &ranges, &model);
	if (!policy_model_is_too_large(&model) && !policy_model_is_empty(&model))
		policy_model_print(&model, &text);
	/* The keeper would refuse it and end us, again and again. */
	if (policy_model_is_too_large(&model) || text.len > FRAME_MOST) {
		if (!policies->held_back[number])
			log_warning(
				"the network policies for node '%s' are too large: those that it "
				"has stay, until there are fewer pods, policies or ports",
				node->name);
		policies->held_back[number] = true;
		return;
	}
	policies->held_back[number] = false;
	if (policies->sent[number] && strcmp(policies->sent[number], text.text) == 0)
		return;
	if (frame_send(policies->fd, name, text.text, text.len, NULL) < 0)
		policies->failed(policies->data);
	free(policies->sent[number]);
	policies->sent[number] = strbuf_take(&text);
}

static int on_update(void *data, arg_unused struct error *err)
{
	struct policies *policies = data;
	struct policy_objects objects;
	cleanup_free const void **pods = NULL;
	cleanup_free const void **namespaces = NULL;
	cleanup_free const void **all = NULL;

	loop_remove(take_ptr(policies->update));
	/* Rules are never derived from a part of the objects. */
	for (size_t i = 0; i < KINDS; i++)
		if (!reflector_is_complete(policies->reflectors[i]))
			return 0;
	policies->updated_ms = clock_now_ms();
	pods = list_objects(policies->reflectors[PODS], &objects.pod_count);
	namespaces = list_objects(policies->reflectors[NAMESPACES], &objects.namespace_count);
	all = list_objects(policies->reflectors[POLICIES], &objects.policy_count);
	objects.pods = (const struct policy_pod *const *)pods;
	objects.namespaces = (const struct policy_namespace *const *)namespaces;
	objects.policies = (const struct policy *const *)all;
	for (size_t i = 0; i < policies->config->node_count; i++)
		send_model(policies, i, &objects);
	return 0;
}

static void update_later(void *data)
{
	struct policies *policies = data;
	int64_t delay_ms = policies->updated_ms + rest_ms - clock_now_ms();

	if (!policies->update)
		(void)loop_add_timer(policies->loop, (unsigned)MAX(delay_ms, settle_ms), 0,
				     on_update, policies, &policies->update, NULL);
}

struct policies *policies_new(struct loop *loop, const struct https_target *target,
			      const struct watch_config *config, int fd, void (*failed)(void *data),
			      void *data)
{
	struct policies *policies = xcalloc(1, sizeof(*policies));

	*policies = (struct policies){ .loop = loop,
				       .config = config,
				       .fd = fd,
				       .failed = failed,
				       .data = data,
				       .sent = xcalloc(config->node_count + 1, sizeof(char *)),
				       .held_back = xcalloc(config->node_count + 1, sizeof(bool)) };
	for (size_t i = 0; i < KINDS; i++)
		policies->reflectors[i] = reflector_new(loop, target, &kinds[i], update_later,
							policies);
	return policies;
}

void policies_check(struct policies *policies)
{
	for (size_t i = 0; i < KINDS; i++)
		reflector_check(policies->reflectors[i]);
}
