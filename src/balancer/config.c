/* The front door's configuration: JSON in the profile's directory. */

#include <jansson.h>
#include <string.h>

#include "balancer/balancer.h"
#include "balancer/files.h"
#include "balancer/report.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "data/inet.h"
#include "data/inet6.h"
#include "data/words.h"
#include "host/endpoint.h"

void balancer_config_add_backend(struct balancer_config *config, const char *name,
				 const char *address)
{
	size_t count = config->backend_count + 1;

	config->backends = xrealloc(config->backends, count, sizeof(*config->backends));
	config->backends[count - 1] = (struct balancer_backend){
		.name = xstrdup(name),
		.address = xstrdup(address),
	};
	config->backend_count = count;
}

void balancer_config_add_origin(struct balancer_config *config, const char *address,
				const char *pods)
{
	size_t count = config->origin_count + 1;

	config->origins = xrealloc(config->origins, count, sizeof(*config->origins));
	config->origins[count - 1] = (struct balancer_origin){
		.address = xstrdup(address),
		.pods = pods ? xstrdup(pods) : NULL,
	};
	config->origin_count = count;
}

struct balancer_forward *balancer_config_add_forward(struct balancer_config *config)
{
	size_t count = config->forward_count + 1;

	config->forwards = xrealloc(config->forwards, count, sizeof(*config->forwards));
	config->forwards[count - 1] = (struct balancer_forward){ NULL };
	config->forward_count = count;
	return &config->forwards[count - 1];
}

void balancer_config_release(struct balancer_config *config)
{
	for (size_t i = 0; i < config->backend_count; i++) {
		free(config->backends[i].name);
		free(config->backends[i].address);
	}
	free(config->backends);
	for (size_t i = 0; i < config->forward_count; i++) {
		free(config->forwards[i].listen);
		strlist_release(&config->forwards[i].to);
	}
	free(config->forwards);
	for (size_t i = 0; i < config->origin_count; i++) {
		free(config->origins[i].address);
		free(config->origins[i].pods);
	}
	free(config->origins);
	strlist_release(&config->networks);
	strlist_release(&config->listen);
	strlist_release(&config->dns_upstream);
	free(config->dns_listen);
	strlist_release(&config->host_ports);
	free(config->registry.program);
	free(config->registry.data);
	strlist_release(&config->registry.listen);
	free(config->bridge);
	free(config->rules);
	*config = BALANCER_CONFIG_INIT;
}

static int check_endpoint(const char *text, struct error *err)
{
	struct endpoint endpoint;

	return endpoint_parse(text, &endpoint, err);
}

/* Add the strings in ARRAY (may be NULL) to LIST, without duplicates. */
static int parse_words(json_t *array, const char *key, struct strlist *list, struct error *err)
{
	json_t *item;
	size_t i;

	if (array && !json_is_array(array))
		return error_set(err, -EINVAL, "'%s' is not a list", key);
	json_array_foreach(array, i, item) {
		const char *text = json_string_value(item);

		if (!text)
			return error_set(err, -EINVAL, "'%s' must contain only strings", key);
		if (!strlist_has(list, text))
			strlist_add(list, text);
	}
	return 0;
}

static int parse_addresses(json_t *array, const char *key, struct strlist *list, struct error *err)
{
	int r = parse_words(array, key, list, err);
	const char *text;

	if (r < 0)
		return r;
	strlist_for_each(text, list) {
		r = check_endpoint(text, err);
		if (r < 0)
			return error_prefix(err, r, "'%s'", key);
	}
	return 0;
}

/* Whether NAME can be a word in a report. */
static bool is_word(const char *name)
{
	return name[0] && strlen(name) <= REPORT_NAME_MAX &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789-._")] == '\0';
}

static int parse_backends(json_t *array, struct balancer_config *config, struct error *err)
{
	json_t *item;
	size_t i;

	if (array && !json_is_array(array))
		return error_set(err, -EINVAL, "'backends' is not a list");
	json_array_foreach(array, i, item) {
		const char *name = NULL;
		const char *address = NULL;
		int r;

		if (json_unpack(item, "{s:s, s:s}", "name", &name, "address", &address) < 0)
			return error_set(err, -EINVAL, "a backend needs a name and an address");
		if (!is_word(name))
			return error_set(err, -EINVAL, "'%s' is not a valid name for a backend",
					 name);
		r = check_endpoint(address, err);
		if (r < 0)
			return error_prefix(err, r, "backend '%s'", name);
		balancer_config_add_backend(config, name, address);
	}
	return 0;
}

static int parse_forwards(json_t *array, struct balancer_config *config, struct error *err)
{
	json_t *item;
	size_t i;

	if (array && !json_is_array(array))
		return error_set(err, -EINVAL, "'forwards' is not a list");
	json_array_foreach(array, i, item) {
		const char *listen = json_string_value(json_object_get(item, "listen"));
		struct balancer_forward *forward;
		int r;

		if (!listen)
			return error_set(err, -EINVAL, "a forward needs an address to listen on");
		r = check_endpoint(listen, err);
		if (r < 0)
			return error_prefix(err, r, "'forwards'");
		forward = balancer_config_add_forward(config);
		forward->listen = xstrdup(listen);
		r = parse_addresses(json_object_get(item, "to"), "to", &forward->to, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int parse_kept(json_t *kept, struct balancer_config *config, struct error *err)
{
	const char *bridge;
	const char *rules;

	if (!kept)
		return 0;
	if (json_unpack(kept, "{s:s, s:s}", "bridge", &bridge, "rules", &rules) < 0)
		return error_set(err, -EINVAL, "'firewall' needs a bridge and rules");
	config->bridge = xstrdup(bridge);
	config->rules = xstrdup(rules);
	return parse_words(json_object_get(kept, "ports"), "ports", &config->host_ports, err);
}

static int parse_registry(json_t *registry, struct balancer_config *config, struct error *err)
{
	const char *program;
	const char *data;

	if (!registry)
		return 0;
	if (json_unpack(registry, "{s:s, s:s}", "program", &program, "data", &data) < 0)
		return error_set(err, -EINVAL, "'registry' needs a program and a directory");
	config->registry.program = xstrdup(program);
	config->registry.data = xstrdup(data);
	return parse_addresses(json_object_get(registry, "listen"), "listen",
			       &config->registry.listen, err);
}

static int parse_origin(json_t *item, struct balancer_config *config, struct error *err)
{
	const char *address = json_string_value(json_object_get(item, "address"));
	const char *pods = json_string_value(json_object_get(item, "pods"));
	struct in_addr at;
	struct subnet subnet;
	int r;

	if (!address)
		return error_set(err, -EINVAL, "a node has no address");
	r = inet_parse_address(address, &at, err);
	if (r == 0 && pods)
		r = inet_parse_subnet(pods, &subnet, err);
	if (r < 0)
		return error_prefix(err, r, "'nodes'");
	balancer_config_add_origin(config, address, pods);
	return 0;
}

/* Parse nodes and networks, which configurations of earlier versions do not have. */
static int parse_origins(json_t *root, struct balancer_config *config, struct error *err)
{
	json_t *nodes = json_object_get(root, "nodes");
	struct subnet6 subnet6;
	const char *network;
	struct subnet subnet;
	json_t *item;
	size_t i;
	int r = parse_words(json_object_get(root, "networks"), "networks", &config->networks, err);

	if (r < 0)
		return r;
	strlist_for_each(network, &config->networks) {
		r = strchr(network, ':') ? inet6_parse_subnet(network, &subnet6, err)
					 : inet_parse_subnet(network, &subnet, err);
		if (r < 0)
			return error_prefix(err, r, "'networks'");
	}
	if (nodes && !json_is_array(nodes))
		return error_set(err, -EINVAL, "'nodes' is not a list");
	json_array_foreach(nodes, i, item) {
		r = parse_origin(item, config, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int parse_root(json_t *root, struct balancer_config *config, struct error *err)
{
	const char *dns_listen = json_string_value(json_object_get(root, "dns_listen"));
	int r;

	r = parse_addresses(json_object_get(root, "listen"), "listen", &config->listen, err);
	if (r < 0)
		return r;
	r = parse_addresses(json_object_get(root, "dns_upstream"), "dns_upstream",
			    &config->dns_upstream, err);
	if (r < 0)
		return r;
	r = parse_forwards(json_object_get(root, "forwards"), config, err);
	if (r < 0)
		return r;
	if (dns_listen) {
		r = check_endpoint(dns_listen, err);
		if (r < 0)
			return error_prefix(err, r, "'dns_listen'");
		config->dns_listen = xstrdup(dns_listen);
	}
	r = parse_origins(root, config, err);
	if (r < 0)
		return r;
	r = parse_kept(json_object_get(root, "firewall"), config, err);
	if (r < 0)
		return r;
	r = parse_registry(json_object_get(root, "registry"), config, err);
	if (r < 0)
		return r;
	return parse_backends(json_object_get(root, "backends"), config, err);
}

int balancer_config_parse(const char *text, size_t len, struct balancer_config *ret,
			  struct error *err)
{
	struct balancer_config config = BALANCER_CONFIG_INIT;
	json_error_t problem;
	json_auto_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &problem);
	int r;

	if (!root)
		return error_set(err, -EINVAL, "line %d: %s", problem.line, problem.text);
	if (!json_is_object(root))
		return error_set(err, -EINVAL, "not a JSON object");
	r = parse_root(root, &config, err);
	if (r < 0) {
		balancer_config_release(&config);
		return r;
	}
	*ret = config;
	return 0;
}

static json_t *origins_to_json(const struct balancer_config *config)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < config->origin_count; i++)
		(void)json_array_append_new(nodes, json_pack("{s:s, s:s*}", "address",
							     config->origins[i].address, "pods",
							     config->origins[i].pods));
	return nodes;
}

static json_t *config_to_json(const struct balancer_config *config)
{
	json_t *root = json_pack(
		"{s:o, s:o, s:o, s:s*, s:o, s:o, s:o}", "listen", words_to_json(&config->listen),
		"backends", json_array(), "forwards", json_array(), "dns_listen",
		config->dns_listen, "dns_upstream", words_to_json(&config->dns_upstream), "nodes",
		origins_to_json(config), "networks", words_to_json(&config->networks));
	json_t *backends = json_object_get(root, "backends");
	json_t *forwards = json_object_get(root, "forwards");

	for (size_t i = 0; i < config->backend_count; i++)
		(void)json_array_append_new(backends, json_pack("{s:s, s:s}", "name",
								config->backends[i].name, "address",
								config->backends[i].address));
	for (size_t i = 0; i < config->forward_count; i++)
		(void)json_array_append_new(
			forwards, json_pack("{s:s, s:o}", "listen", config->forwards[i].listen,
					    "to", words_to_json(&config->forwards[i].to)));
	return root;
}

char *balancer_config_print(const struct balancer_config *config)
{
	json_auto_t *root = config_to_json(config);
	char *text = json_dumps(root, JSON_COMPACT);

	return text ? text : xstrdup("{}");
}

int balancer_configure(const char *dir, const struct balancer_config *config, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, FRONT_DOOR_CONFIG);
	cleanup_free char *text = NULL;
	json_auto_t *root = config_to_json(config);

	if (config->bridge)
		(void)json_object_set_new(root, "firewall",
					  json_pack("{s:s, s:s, s:o}", "bridge", config->bridge,
						    "rules", config->rules, "ports",
						    words_to_json(&config->host_ports)));
	if (config->registry.program)
		(void)json_object_set_new(root, "registry",
					  json_pack("{s:s, s:s, s:o}", "program",
						    config->registry.program, "data",
						    config->registry.data, "listen",
						    words_to_json(&config->registry.listen)));
	text = json_dumps(root, JSON_INDENT(2));
	if (!text)
		return error_set(err, -EINVAL,
				 "cannot write the front door's configuration as JSON");
	return file_replace(path, text, strlen(text), 0644, err);
}

int front_door_read_config(const char *dir, struct balancer_config *ret, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, FRONT_DOOR_CONFIG);
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = file_read(path, 1 << 20, &text, err);

	if (r < 0)
		return r;
	r = balancer_config_parse(text.text, text.len, ret, err);
	return r < 0 ? error_prefix(err, r, "'%s'", path) : 0;
}
