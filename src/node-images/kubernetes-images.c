/* Kubernetes' own images in nodes that have been in use. */

#include "node-images/kubernetes-images.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "node/import-images.h"
#include "payload/payload.h"

static bool has_image(const struct node_image_list *list, const char *name, const char *id)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].name, name) == 0)
			return strncmp(id, "sha256:", 7) == 0 &&
			       strcmp(list->items[i].config, id + 7) == 0;
	return false;
}

const char *kubernetes_images_find_wrong(const struct node *node,
					 const struct node_image_list *list,
					 const struct strlist *names, const struct strlist *ids)
{
	for (size_t i = 0; i < names->count && i < ids->count; i++)
		if (images_are_for(node, names->items[i]) && *ids->items[i] &&
		    !has_image(list, names->items[i], ids->items[i]))
			return names->items[i];
	return NULL;
}

static int repair_node(const struct profile *profile, const struct payload *payload,
		       const struct node_images_task *task, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist ids = STRLIST_INIT;
	const char *wrong;
	int r = payload_image_ids(payload, &names, &ids, err);

	/* It has told what it cannot do elsewhere. */
	if (r < 0 || task->result < 0)
		return r;
	wrong = kubernetes_images_find_wrong(task->node, &task->list, &names, &ids);
	if (!wrong)
		return 0;
	log_warning("on node '%s', '%s' was not Kubernetes' own image; it is again",
		    task->node->name, wrong);
	return images_import(profile, task->node, payload, err);
}

int kubernetes_images_repair(const struct profile *profile, const struct strlist *nodes,
			     struct error *err)
{
	const struct node_images_request request = { .verb = NODE_IMAGES_LIST };
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_free struct node_images_task *tasks = xcalloc(profile->node_count + 1,
							      sizeof(*tasks));
	const struct node *node;
	size_t count = 0;
	int r;

	/* In the middle of an upgrade, nodes need different ones.  The payload may have been
	 * removed from the cache while the cluster ran. */
	if (profile->upgrading_from ||
	    payload_open(profile->kubernetes_version, &payload, NULL) < 0)
		return 0;
	profile_for_each_node(node, profile) {
		const struct node_driver *driver = node->driver ? node_driver_find(node->driver)
								: node_driver_default();

		/* What VMs tell of their images does not always have the IDs. */
		if (!strlist_has(nodes, node->name) || !driver || !driver->call ||
		    !cluster_node_is_awake(profile, node))
			continue;
		tasks[count++] = (struct node_images_task){ .node = node };
	}
	node_images_run(profile, &request, tasks, count);
	r = 0;
	for (size_t i = 0; i < count; i++) {
		if (r == 0)
			r = repair_node(profile, &payload, &tasks[i], err);
		node_images_task_release(&tasks[i]);
	}
	return r;
}
