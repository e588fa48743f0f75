/*
 * For developers and tests: images in the running nodes of a cluster, without the store's list.
 *
 *	node-images PROFILE install FILE    FILE: [{"names": [...], "manifest": DESCRIPTOR,
 *"config": DESCRIPTOR, "layers": [DESCRIPTOR with diffId and chainId]}] node-images PROFILE
 *list|tag FROM TO|remove NAME...
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "node-images/node-images.h"

static void copy_hex(char ret[SHA256_HEX_SIZE], const json_t *json, const char *member)
{
	const char *text = json_string_value(json_object_get(json, member));

	(void)snprintf(ret, SHA256_HEX_SIZE, "%s", text && strlen(text) > 7 ? text + 7 : "");
}

static struct image_blob read_blob(const json_t *json)
{
	struct image_blob blob = {
		.type = xstrdup(json_string_value(json_object_get(json, "mediaType")) ?: ""),
		.size = (uint64_t)json_integer_value(json_object_get(json, "size")),
	};

	copy_hex(blob.digest, json, "digest");
	return blob;
}

/* Memory is freed by the end of the program. */
static struct image read_image(const json_t *json)
{
	const json_t *layers = json_object_get(json, "layers");
	const json_t *names = json_object_get(json, "names");
	struct image image = { .names = STRLIST_INIT };

	image.manifest = read_blob(json_object_get(json, "manifest"));
	image.config = read_blob(json_object_get(json, "config"));
	image.layer_count = json_array_size(layers);
	image.layers = xcalloc(image.layer_count + 1, sizeof(*image.layers));
	for (size_t i = 0; i < json_array_size(names); i++)
		strlist_add(&image.names, json_string_value(json_array_get(names, i)));
	for (size_t i = 0; i < image.layer_count; i++) {
		image.layers[i].blob = read_blob(json_array_get(layers, i));
		copy_hex(image.layers[i].diff_id, json_array_get(layers, i), "diffId");
		copy_hex(image.layers[i].chain_id, json_array_get(layers, i), "chainId");
	}
	return image;
}

static int read_request(char **argv, struct node_images_request *ret)
{
	static struct image_list wanted;
	static struct strlist names;
	json_t *file;

	if (strcmp(argv[0], "install") == 0 && argv[1]) {
		file = json_load_file(argv[1], 0, NULL);
		wanted.count = json_array_size(file);
		wanted.items = xcalloc(wanted.count + 1, sizeof(*wanted.items));
		for (size_t i = 0; i < wanted.count; i++)
			wanted.items[i] = read_image(json_array_get(file, i));
		*ret = (struct node_images_request){ .wanted = &wanted };
	} else if (strcmp(argv[0], "list") == 0) {
		*ret = (struct node_images_request){ .verb = NODE_IMAGES_LIST };
	} else if (strcmp(argv[0], "tag") == 0 && argv[1] && argv[2]) {
		*ret = (struct node_images_request){ .verb = NODE_IMAGES_TAG,
						     .from = argv[1],
						     .to = argv[2] };
	} else if (strcmp(argv[0], "remove") == 0) {
		strlist_add_all(&names, argv + 1);
		*ret = (struct node_images_request){ .verb = NODE_IMAGES_REMOVE, .names = &names };
	} else {
		return -EINVAL;
	}
	return 0;
}

static void print_task(const struct node_images_task *task)
{
	const struct node_image_list *list = &task->list;

	for (size_t i = 0; i < list->count; i++)
		printf("%s %s %.12s %.12s %llu %s%s\n", task->node->name, list->items[i].name,
		       list->items[i].digest, list->items[i].config,
		       (unsigned long long)list->items[i].size,
		       list->items[i].managed ? "managed" : "",
		       list->items[i].pinned ? ",pinned" : "");
	for (size_t i = 0; i < list->used_layers.count; i++)
		printf("%s layer %s\n", task->node->name, list->used_layers.items[i]);
	for (size_t i = 0; i < list->used_blobs.count; i++)
		printf("%s blob %s\n", task->node->name, list->used_blobs.items[i]);
	if (task->result < 0)
		printf("%s failed: %d %s\n", task->node->name, task->result, task->err.text);
}

int main(int argc, char **argv)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	struct node_images_request request;
	struct node_images_task *tasks;
	int status = EXIT_SUCCESS;
	int64_t begun;

	if (argc < 3 || read_request(argv + 2, &request) < 0 ||
	    profile_load(argv[1], &profile, &err) < 0) {
		fprintf(stderr, "node-images: %s\n", err.text ? err.text : "wrong arguments");
		return EXIT_FAILURE;
	}
	tasks = xcalloc(profile.node_count, sizeof(*tasks));
	for (size_t i = 0; i < profile.node_count; i++)
		tasks[i].node = &profile.nodes[i];
	begun = clock_now_ms();
	node_images_run(&profile, &request, tasks, profile.node_count);
	fprintf(stderr, "%lld ms\n", (long long)(clock_now_ms() - begun));
	for (size_t i = 0; i < profile.node_count; i++) {
		print_task(&tasks[i]);
		if (tasks[i].result < 0)
			status = EXIT_FAILURE;
		node_images_task_release(&tasks[i]);
	}
	free(tasks);
	return status;
}
