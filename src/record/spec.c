/* Parsing and checking of the words that users write for settings. */

#include "record/spec.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/path.h"
#include "data/inet.h"

#define NAME_MOST   63 /* limit for the name and the value of a label */
#define PREFIX_MOST 253

const char *const extra_components[] = {
	"apiserver", "controller-manager", "etcd", "kubeadm", "kubelet", "proxy", "scheduler", NULL
};

static int wrong_form(struct error *err, const char *text, const char *what, const char *example)
{
	return error_because(err, &reason_usage, -EINVAL, "'%s' is not %s, for instance %s", text,
			     what, example);
}

/* Parse PORT, a part of TEXT. */
static int parse_port_number(const char *text, const char *port, unsigned *ret, struct error *err)
{
	unsigned long long number;

	if (parse_number(port, 1, 65535, &number, NULL) < 0)
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s': '%s' is not a port between 1 and 65535", text, port);
	*ret = (unsigned)number;
	return 0;
}

int spec_parse_port(const char *text, struct port_spec *ret, struct error *err)
{
	cleanup_with(strlist_release) struct strlist parts = STRLIST_INIT;
	const char *node = strchr(text, '@');
	cleanup_free char *ports = xstrndup(text, strcspn(text, "@"));
	const char *slash = strchr(ports, '/');
	cleanup_free char *plain = xstrndup(ports, strcspn(ports, "/"));
	struct port_spec port = { .address.s_addr = htonl(INADDR_LOOPBACK),
				  .node = node ? node + 1 : NULL };
	bool has_address;
	int r;

	if (slash && strcmp(slash, "/tcp") != 0)
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s': only TCP ports can be forwarded, not '%s'", text,
				     slash + 1);
	strlist_split(&parts, plain, ':');
	if (parts.count < 1 || parts.count > 3 || strstr(plain, "::") || *plain == ':' ||
	    plain[strlen(plain) - 1] == ':')
		return wrong_form(err, text, "[ADDRESS:]HOST-PORT[:NODE-PORT][@NODE]",
				  "8080:30080");
	if (node && spec_check_node_name(node + 1, err) < 0)
		return error_prefix(err, -EINVAL, "'%s'", text);
	has_address = parts.count == 3 || (parts.count == 2 && strchr(parts.items[0], '.'));
	if (has_address && inet_parse_address(parts.items[0], &port.address, err) < 0) {
		(void)error_prefix(err, -EINVAL, "'%s'", text);
		return error_reason(err, -EINVAL, &reason_usage);
	}
	r = parse_port_number(text, parts.items[has_address], &port.host_port, err);
	if (r == 0)
		r = parse_port_number(text, parts.items[parts.count - 1], &port.node_port, err);
	if (r == 0)
		*ret = port;
	return r;
}

/* Whether a mount at PATH would hide files that the node needs. */
static bool is_needed_by_node(const char *path)
{
	static const char *const own[] = { "/",      "/bin",          "/dev",     "/etc",  "/lib",
					   "/lib64", "/opt/manykube", "/opt/cni", "/proc", "/run",
					   "/sbin",  "/sys",          "/tmp",     "/usr",  "/var" };
	static const char *const whole[] = { "/dev/", "/proc/", "/sys/", "/opt/manykube/" };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strcmp(path, own[i]) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++)
		if (strncmp(path, whole[i], strlen(whole[i])) == 0)
			return true;
	return false;
}

/* Whether PATH is absolute and has no "//", "/./" or "/../"; it may end with one slash. */
static bool is_plain_path(const char *path)
{
	return path[0] == '/' && !strstr(path, "//") && !strstr(path, "/./") &&
	       !strstr(path, "/../") &&
	       (strlen(path) < 2 || strcmp(path + strlen(path) - 2, "/.")) &&
	       (strlen(path) < 3 || strcmp(path + strlen(path) - 3, "/.."));
}

static void trim_slashes(char *path)
{
	for (size_t len = strlen(path); len > 1 && path[len - 1] == '/'; len--)
		path[len - 1] = '\0';
}

int spec_parse_mount(const char *text, struct node_mount *ret, struct error *err)
{
	static const char how[] = "HOST-PATH:NODE-PATH[:ro]";
	const char *colon = strchr(text, ':');
	const char *mode = colon ? strchr(colon + 1, ':') : NULL;
	cleanup_free char *host = NULL;
	cleanup_free char *node = NULL;

	if (!colon || colon == text || !colon[1] || colon[1] == ':' ||
	    (mode && strcmp(mode, ":ro") != 0 && strcmp(mode, ":rw") != 0))
		return wrong_form(err, text, how, "/home/me/src:/src");
	host = xstrndup(text, (size_t)(colon - text));
	node = mode ? xstrndup(colon + 1, (size_t)(mode - colon - 1)) : xstrdup(colon + 1);
	trim_slashes(host);
	trim_slashes(node);
	if (!is_plain_path(host))
		return error_because(
			err, &reason_usage, -EINVAL,
			"'%s': '%s' is not an absolute path without '.' and '..' on this host",
			text, host);
	if (!is_plain_path(node))
		return error_because(
			err, &reason_usage, -EINVAL,
			"'%s': '%s' is not an absolute path without '.' and '..' in a node", text,
			node);
	if (is_needed_by_node(node))
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s': a node needs its own '%s'; mount to another directory",
				     text, node);
	*ret = (struct node_mount){
		.host = take_ptr(host),
		.node = take_ptr(node),
		.read_only = mode && strcmp(mode, ":ro") == 0,
	};
	return 0;
}

void spec_release_mount(struct node_mount *mount)
{
	free(mount->host);
	free(mount->node);
	*mount = (struct node_mount){ NULL };
}

void spec_release_pair(struct pair_spec *pair)
{
	free(pair->key);
	free(pair->value);
	*pair = PAIR_SPEC_INIT;
}

/* Split TEXT at the first '='; without one, the value is "". */
static struct pair_spec split_pair(const char *text)
{
	size_t len = strcspn(text, "=");

	return (struct pair_spec){ .key = xstrndup(text, len),
				   .value = xstrdup(text[len] ? text + len + 1 : "") };
}

/* The syntax of label values and of the last part of a qualified name in Kubernetes. */
static bool is_label_word(const char *text)
{
	size_t len = strlen(text);

	if (len > NAME_MOST)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool edge = i == 0 || i == len - 1;

		if (!isalnum((unsigned char)text[i]) && (edge || !strchr("-_.", text[i])))
			return false;
	}
	return true;
}

static bool is_dns_name(const char *text)
{
	cleanup_with(strlist_release) struct strlist labels = STRLIST_INIT;
	const char *label;

	strlist_split(&labels, text, '.');
	if (labels.count == 0 || strlen(text) > PREFIX_MOST || strstr(text, "..") || *text == '.' ||
	    text[strlen(text) - 1] == '.')
		return false;
	strlist_for_each(label, &labels)
		if (!parse_is_dns_label(label))
			return false;
	return true;
}

static bool is_label_key(const char *key)
{
	const char *slash = strchr(key, '/');
	cleanup_free char *prefix = slash ? xstrndup(key, (size_t)(slash - key)) : NULL;
	const char *name = slash ? slash + 1 : key;

	return (!prefix || is_dns_name(prefix)) && *name && is_label_word(name);
}

static int check_label(const char *text, const struct pair_spec *label, struct error *err)
{
	if (!is_label_key(label->key))
		return error_because(
			err, &reason_usage, -EINVAL,
			"'%s': '%s' is not a valid key: use letters, digits, '-', '_' and '.', "
			"with an optional prefix of a DNS name and '/'",
			text, label->key);
	if (!is_label_word(label->value))
		return error_because(
			err, &reason_usage, -EINVAL,
			"'%s': '%s' is not a valid value: use up to %d letters, digits, '-', '_' and '.'",
			text, label->value, NAME_MOST);
	return 0;
}

char *spec_parse_removal(const char *word)
{
	size_t len = strlen(word);

	/* With '=', the '-' belongs to the value. */
	if (len < 2 || word[len - 1] != '-' || strchr(word, '='))
		return NULL;
	return xstrndup(word, len - 1);
}

int spec_parse_label(const char *text, struct pair_spec *ret, struct error *err)
{
	cleanup_with(spec_release_pair) struct pair_spec label = split_pair(text);
	int r = check_label(text, &label, err);

	if (r < 0)
		return r;
	*ret = label;
	label = PAIR_SPEC_INIT;
	return 0;
}

int spec_parse_gate(const char *text, struct pair_spec *ret, struct error *err)
{
	cleanup_with(spec_release_pair) struct pair_spec gate = split_pair(text);
	bool is_name = isalpha((unsigned char)gate.key[0]);

	for (const char *p = gate.key; *p; p++)
		is_name = is_name && isalnum((unsigned char)*p);
	if (!is_name || (strcmp(gate.value, "true") != 0 && strcmp(gate.value, "false") != 0))
		return wrong_form(err, text, "NAME=true or NAME=false",
				  "InPlacePodVerticalScaling=true");
	*ret = gate;
	gate = PAIR_SPEC_INIT;
	return 0;
}

static bool has_host(const char *url)
{
	const char *host = strncmp(url, "https://", 8) == 0  ? url + 8
			   : strncmp(url, "http://", 7) == 0 ? url + 7
							     : "";

	/* With '=', the word is a registry written as a URL, followed by its mirror. */
	return *host && *host != '/' && !strpbrk(host, "\"\\ \t\n") &&
	       !memchr(host, '=', strcspn(host, "/"));
}

int spec_parse_mirror(const char *text, struct pair_spec *ret, struct error *err)
{
	const char *equals = strchr(text, '=');
	const char *scheme = strstr(text, "://");
	bool is_named = equals && scheme && equals < scheme;
	const char *url = is_named ? equals + 1 : text;
	cleanup_with(spec_release_pair) struct pair_spec mirror = {
		.key = is_named ? xstrndup(text, (size_t)(equals - text)) : xstrdup("docker.io"),
		.value = xstrdup(url),
	};

	if (!has_host(url) || spec_check_registry(mirror.key, NULL) < 0)
		return wrong_form(
			err, text, "a mirror of the form [REGISTRY=]URL",
			"https://mirror.example.com or quay.io=https://mirror.example.com");
	trim_slashes(mirror.value);
	*ret = mirror;
	mirror = PAIR_SPEC_INIT;
	return 0;
}

int spec_parse_taint(const char *text, struct taint_spec *ret, struct error *err)
{
	static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute" };
	const char *colon = strrchr(text, ':');
	cleanup_free char *label = xstrndup(text, colon ? (size_t)(colon - text) : strlen(text));
	bool known = false;
	int r;

	for (size_t i = 0; colon && i < ARRAY_SIZE(effects); i++)
		known = known || strcmp(colon + 1, effects[i]) == 0;
	if (!known)
		return wrong_form(err, text,
				  "KEY[=VALUE]:NoSchedule, PreferNoSchedule or NoExecute",
				  "dedicated=db:NoSchedule");
	r = spec_parse_label(label, &ret->label, err);
	if (r == 0)
		ret->effect = xstrdup(colon + 1);
	return r;
}

void spec_release_taint(struct taint_spec *taint)
{
	spec_release_pair(&taint->label);
	free(taint->effect);
	*taint = TAINT_SPEC_INIT;
}

static const char *find_component(const char *word)
{
	/* kube-proxy and proxy are the same component; likewise for the others. */
	if (strncmp(word, "kube-", 5) == 0)
		word += 5;
	for (const char *const *known = extra_components; *known; known++)
		if (strcmp(*known, word) == 0)
			return *known;
	return NULL;
}

int spec_parse_extra(const char *text, struct extra_spec *ret, struct error *err)
{
	const char *dot = strchr(text, '.');
	const char *equals = strchr(text, '=');
	cleanup_free char *component = NULL;
	const char *known;

	if (!dot || !equals || equals < dot || dot == text || equals == dot + 1)
		return wrong_form(err, text, "COMPONENT.KEY=VALUE", "kubelet.max-pods=50");
	component = xstrndup(text, (size_t)(dot - text));
	known = find_component(component);
	if (!known)
		return error_because(
			err, &reason_usage, -EINVAL,
			"'%s': unknown component '%s'; use apiserver, controller-manager, "
			"scheduler, etcd, kubelet, proxy or kubeadm",
			text, component);
	for (const char *p = dot + 1; p < equals; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_.", *p))
			return wrong_form(err, text, "COMPONENT.KEY=VALUE", "kubelet.max-pods=50");
	*ret = (struct extra_spec){ .component = known,
				    .key = xstrndup(dot + 1, (size_t)(equals - dot - 1)),
				    .value = xstrdup(equals + 1) };
	return 0;
}

void spec_release_extra(struct extra_spec *extra)
{
	free(extra->key);
	free(extra->value);
	*extra = EXTRA_SPEC_INIT;
}

bool spec_is_field(const char *key)
{
	for (const char *p = key; *p; p++)
		if (isupper((unsigned char)*p) || *p == '.')
			return true;
	return false;
}

int spec_check_kubelet_argument(const char *text, struct error *err)
{
	cleanup_with(spec_release_extra) struct extra_spec extra = EXTRA_SPEC_INIT;
	int r = spec_parse_extra(text, &extra, err);

	if (r < 0)
		return r;
	if (strcmp(extra.component, "kubelet") == 0 && !spec_is_field(extra.key))
		return 0;
	return error_because(err, &reason_usage, -EINVAL,
			     "'%s': a node can only have its own arguments of the kubelet, for "
			     "instance kubelet.max-pods=50",
			     text);
}

int spec_check_variable(const char *text, struct error *err)
{
	const char *equals = strchr(text, '=');
	bool good = equals && equals > text && !isdigit((unsigned char)*text);

	for (const char *p = text; good && p < equals; p++)
		good = isalnum((unsigned char)*p) || *p == '_';
	for (const char *p = text; good && *p; p++)
		good = (unsigned char)*p >= ' ';
	return good ? 0
		    : wrong_form(err, text, "NAME=VALUE on one line",
				 "HTTP_PROXY=http://proxy:3128");
}

int spec_check_registry(const char *text, struct error *err)
{
	const char *colon = strchr(text, ':');
	cleanup_free char *host = xstrndup(text, strcspn(text, ":"));
	unsigned port;

	if (!is_dns_name(host) || (colon && parse_port_number(text, colon + 1, &port, NULL) < 0))
		return wrong_form(err, text, "a registry of the form HOST[:PORT]",
				  "registry.local:5000");
	return 0;
}

int spec_check_dns_name(const char *text, struct error *err)
{
	return is_dns_name(text) ? 0 : wrong_form(err, text, "a DNS name", "cluster.local");
}

int spec_check_address(const char *text, struct error *err)
{
	struct in_addr address;
	int r = inet_parse_address(text, &address, err);

	return r < 0 ? error_reason(err, r, &reason_usage) : 0;
}

int spec_check_host_access(const char *text, struct error *err)
{
	cleanup_with(strlist_release) struct strlist ports = STRLIST_INIT;
	const char *port;
	unsigned number;

	if (strcmp(text, "all") == 0 || strcmp(text, "none") == 0)
		return 0;
	if (!*text || *text == ',' || strstr(text, ",,") || text[strlen(text) - 1] == ',')
		return wrong_form(err, text, "all, none or a list of ports", "8080,9090");
	strlist_split(&ports, text, ',');
	strlist_for_each(port, &ports)
		if (*port == '0' || parse_port_number(text, port, &number, NULL) < 0)
			return wrong_form(err, text, "all, none or a list of ports", "8080,9090");
	return 0;
}

int spec_check_node_name(const char *text, struct error *err)
{
	if (parse_is_dns_label(text))
		return 0;
	return error_because(
		err, &reason_usage, -EINVAL,
		"'%s' is not a valid node name: use 1 to 63 of a-z, 0-9 and '-', beginning "
		"and ending with a letter or digit",
		text);
}

int spec_check_runtime(const char *text, struct error *err)
{
	if (strcmp(text, "containerd") == 0 || strcmp(text, "auto") == 0)
		return 0;
	return error_because(
		err, &reason_usage, -EINVAL,
		"container runtime '%s' is not supported: nodes run containerd; images, pods and "
		"the output of kubectl are the same with it",
		text);
}
