/* What the watcher of a cluster is to do. */

#include "watch/config.h"

#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "data/inet.h"

void watch_config_add_node(struct watch_config *config, const char *name, struct in_addr address,
			   const char *pods, const char *pods6)
{
	config->nodes = xrealloc(config->nodes, config->node_count + 1, sizeof(*config->nodes));
	config->nodes[config->node_count++] = (struct watch_node){
		.name = xstrdup(name),
		.address = address,
		.pods = pods ? xstrdup(pods) : NULL,
		.pods6 = pods6 ? xstrdup(pods6) : NULL,
	};
}

static void add_address(json_t *object, const char *key, struct in_addr address)
{
	cleanup_free char *text = inet_print_address(address);

	(void)json_object_set_new(object, key, json_string(text));
}

char *watch_config_print(const struct watch_config *config)
{
	json_auto_t *root = json_pack("{s:s, s:b}", "server", config->server, "policies",
				      (int)config->policies);
	json_t *nodes = json_array();

	add_address(root, "first", config->first);
	add_address(root, "last", config->last);
	for (size_t i = 0; i < config->node_count; i++) {
		json_t *node = json_pack("{s:s}", "name", config->nodes[i].name);

		add_address(node, "address", config->nodes[i].address);
		if (config->nodes[i].pods)
			(void)json_object_set_new(node, "pods", json_string(config->nodes[i].pods));
		if (config->nodes[i].pods6)
			(void)json_object_set_new(node, "pods6",
						  json_string(config->nodes[i].pods6));
		(void)json_array_append_new(nodes, node);
	}
	(void)json_object_set_new(root, "nodes", nodes);
	return json_dumps(root, JSON_INDENT(2));
}

static int read_address(const json_t *object, const char *key, struct in_addr *ret)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? inet_parse_address(text, ret, NULL) : -EINVAL;
}

static int read_config(const json_t *root, struct watch_config *ret)
{
	const char *server = json_string_value(json_object_get(root, "server"));
	json_t *node;
	size_t i;

	if (!server || read_address(root, "first", &ret->first) < 0 ||
	    read_address(root, "last", &ret->last) < 0)
		return -EBADMSG;
	ret->server = xstrdup(server);
	ret->policies = json_is_true(json_object_get(root, "policies"));
	json_array_foreach(json_object_get(root, "nodes"), i, node) {
		const char *name = json_string_value(json_object_get(node, "name"));
		struct in_addr address;

		if (!name || read_address(node, "address", &address) < 0)
			return -EBADMSG;
		watch_config_add_node(ret, name, address,
				      json_string_value(json_object_get(node, "pods")),
				      json_string_value(json_object_get(node, "pods6")));
	}
	return 0;
}

int watch_config_parse(const char *text, size_t len, struct watch_config *ret, struct error *err)
{
	json_auto_t *root = json_loadb(text, len, 0, NULL);
	struct watch_config config = WATCH_CONFIG_INIT;

	if (read_config(root, &config) < 0) {
		watch_config_release(&config);
		return error_set(err, -EBADMSG, "'%s' is damaged", WATCH_CONFIG);
	}
	*ret = config;
	return 0;
}

int watch_configure(const char *dir, const struct watch_config *config, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/" WATCH_CONFIG, dir);
	cleanup_free char *text = watch_config_print(config);

	return file_put(path, text, strlen(text), 0644, err);
}

void watch_config_release(struct watch_config *config)
{
	for (size_t i = 0; i < config->node_count; i++) {
		free(config->nodes[i].name);
		free(config->nodes[i].pods);
		free(config->nodes[i].pods6);
	}
	free(config->nodes);
	free(config->server);
	*config = WATCH_CONFIG_INIT;
}
