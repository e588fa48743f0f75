/*
 * Reading minikube's config.json: one table of fields for the cluster, one for its Kubernetes.
 *
 * Keys that are in neither table are reported in a warning, like those that are not supported.
 */

#include "describe/import-fields.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "describe/choices.h"
#include "record/cni.h"
#include "record/options.h"
#include "record/setting-check.h"
#include "record/spec.h"

#define MIB_MAX          (1 << 30)
#define MIN_MEMORY_MIB   1024
#define SHOWN_MAX        60
#define NS_PER_SECOND    INT64_C(1000000000)
#define USUAL_PORT       8443
#define NO_VMS           "it belongs to a driver of minikube's"
#define NOT_IN_A_PROFILE "use the option of 'manykube start'"

struct field {
	const char *key;
	/* Converts the value, and checks its type; NULL: the field is left out. */
	int (*take)(const struct field *field, const json_t *value, struct import *import,
		    struct error *err);
	size_t offset;     /* in struct cluster_options */
	const char *usual; /* a JSON list of values that minikube writes itself; "*": any */
	const char *why;   /* why it is left out; NULL: there is no counterpart */
	bool honoured;     /* the usual values are not left out: they apply here anyway, or are
			      read separately */
};

char *import_show(const json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII);

	if (!text)
		abort();
	if (strlen(text) > SHOWN_MAX)
		memcpy(text + SHOWN_MAX - 3, "...", 4);
	return text;
}

static int bad_value(struct error *err, const char *key, const char *wanted)
{
	return error_set(err, -EBADMSG, "'%s' is not %s", key, wanted);
}

static void leave_out(struct import *import, const char *key, const json_t *value, const char *why)
{
	cleanup_free char *shown = import_show(value);

	strlist_addf(&import->warnings, "%s %s is ignored: %s", key, shown,
		     why ? why : "not supported");
}

/* The same for a value that nobody has chosen, which gets no sentence of its own. */
static void leave_default(struct import *import, const char *key, const json_t *value)
{
	cleanup_free char *shown = import_show(value);
	cleanup_free char *text = xasprintf("%s %s", key, shown);

	/* Several nodes may have the same one. */
	if (!strlist_has(&import->defaults, text))
		strlist_add(&import->defaults, text);
}

/* The key may be anything, so it is escaped, too. */
static void leave_unknown(struct import *import, const char *key, const json_t *value)
{
	json_auto_t *text = json_string(key);
	cleanup_free char *shown = import_show(text);

	leave_out(import, shown, value, NULL);
}

/* Go's empty values, which nobody has chosen. */
static bool is_empty(const json_t *value)
{
	return json_is_null(value) || json_is_false(value) ||
	       (json_is_string(value) && json_string_length(value) == 0) ||
	       (json_is_number(value) && json_number_value(value) == 0) ||
	       (json_is_array(value) && json_array_size(value) == 0) ||
	       (json_is_object(value) && json_object_size(value) == 0);
}

static bool is_usual(const struct field *field, const json_t *value)
{
	json_auto_t *usual = NULL;
	json_t *one;
	size_t i;

	if (!field->usual)
		return false;
	if (strcmp(field->usual, "*") == 0)
		return true;
	usual = json_loads(field->usual, 0, NULL);
	json_array_foreach(usual, i, one)
		if (json_equal(one, value))
			return true;
	return false;
}

/* Whether `start` accepts WORD for the option at OFFSET. */
static bool is_sound(size_t offset, bool in_list, const char *word, struct error *why)
{
	cleanup_with(strlist_release) struct strlist list = STRLIST_INIT;
	struct cluster_options options = { 0 };

	strlist_add(&list, word);
	if (in_list)
		*(struct strlist *)((char *)&options + offset) = list;
	else
		*(const char **)((char *)&options + offset) = word;
	return choices_check(&options, why) == 0;
}

static void add_import_word(struct import *import, const struct field *field, const json_t *shown,
			    const char *word)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	if (is_sound(field->offset, true, word, &why))
		strlist_add((struct strlist *)((char *)&import->options + field->offset), word);
	else
		leave_out(import, field->key, shown, why.text);
}

static int take_string(const struct field *field, const json_t *value, struct import *import,
		       struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	const char *text = json_string_value(value);

	if (!text)
		return bad_value(err, field->key, "a string");
	if (is_sound(field->offset, false, text, &why))
		*(const char **)((char *)&import->options + field->offset) = text;
	else
		leave_out(import, field->key, value, why.text);
	return 0;
}

static int each_word(const struct field *field, const json_t *value, struct import *import,
		     void (*use)(struct import *, const struct field *, const json_t *,
				 const char *),
		     struct error *err)
{
	json_t *item;
	size_t i;

	if (!json_is_array(value))
		return bad_value(err, field->key, "a list");
	json_array_foreach(value, i, item) {
		if (!json_is_string(item))
			return bad_value(err, field->key, "a list of strings");
		use(import, field, item, json_string_value(item));
	}
	return 0;
}

static int take_words(const struct field *field, const json_t *value, struct import *import,
		      struct error *err)
{
	return each_word(field, value, import, add_import_word, err);
}

/* As in Docker, a single number is a port of the node, published at any port of the host. */
static void add_port(struct import *import, const struct field *field, const json_t *shown,
		     const char *word)
{
	if (strchr(word, ':'))
		add_import_word(import, field, shown, word);
	else
		leave_out(import, field->key, shown, "no host port given");
}

static int take_ports(const struct field *field, const json_t *value, struct import *import,
		      struct error *err)
{
	return each_word(field, value, import, add_port, err);
}

/* Whether the path exists is checked at registration: this only parses. */
static void add_mount(struct import *import, const struct field *field, const json_t *shown,
		      const char *word)
{
	cleanup_with(spec_release_mount) struct node_mount mount = { NULL };
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	if (spec_parse_mount(word, &mount, &why) == 0)
		strlist_add(&import->options.mounts, word);
	else
		leave_out(import, field->key, shown, why.text);
}

static int take_mounts(const struct field *field, const json_t *value, struct import *import,
		       struct error *err)
{
	return each_word(field, value, import, add_mount, err);
}

/* It always names a directory; 'Mount', if that key exists, tells whether it is used. */
static int take_mount(const struct field *field, const json_t *value, struct import *import,
		      struct error *err)
{
	if (!json_is_string(value))
		return bad_value(err, field->key, "a string");
	if (json_is_false(json_object_get(import->root, "Mount")))
		leave_default(import, field->key, value);
	else
		add_mount(import, field, value, json_string_value(value));
	return 0;
}

static int take_gates(const struct field *field, const json_t *value, struct import *import,
		      struct error *err)
{
	cleanup_with(strlist_release) struct strlist gates = STRLIST_INIT;
	const char *gate;

	if (!json_is_string(value))
		return bad_value(err, field->key, "a string");
	strlist_split(&gates, json_string_value(value), ',');
	strlist_for_each(gate, &gates) {
		json_auto_t *shown = json_string(gate);

		add_import_word(import, field, shown, gate);
	}
	return 0;
}

static int take_extra(const struct field *field, const json_t *value, struct import *import,
		      struct error *err)
{
	json_t *item;
	size_t i;

	if (!json_is_array(value))
		return bad_value(err, field->key, "a list");
	json_array_foreach(value, i, item) {
		static const struct field pods = { .key = "ExtraOptions",
						   .offset = offsetof(struct cluster_options,
								      pod_subnet) };
		cleanup_free char *word = NULL;
		const char *component;
		const char *key;
		const char *text;

		if (json_unpack(item, "{s:s, s:s, s:s}", "Component", &component, "Key", &key,
				"Value", &text) < 0)
			return bad_value(err, field->key, "a list of Component, Key and Value");
		word = xasprintf("%s.%s=%s", component, key, text);
		if (strcmp(component, "kubeadm") == 0 && strcmp(key, "pod-network-cidr") == 0)
			(void)take_string(&pods, json_object_get(item, "Value"), import, err);
		else
			add_import_word(import, field, item, word);
	}
	return 0;
}

/* An integer in 0..MAX. */
static int take_number(const struct field *field, const json_t *value, json_int_t max,
		       json_int_t *ret, struct error *err)
{
	if (!json_is_integer(value))
		return bad_value(err, field->key, "a whole number");
	*ret = json_integer_value(value);
	if (*ret < 0 || *ret > max)
		return bad_value(err, field->key, "in the range of such a number");
	return 0;
}

static int take_cpus(const struct field *field, const json_t *value, struct import *import,
		     struct error *err)
{
	json_int_t number = 0;
	int r = take_number(field, value, UINT_MAX, &number, err);

	import->options.cpus = (unsigned)number;
	return r;
}

static int take_memory(const struct field *field, const json_t *value, struct import *import,
		       struct error *err)
{
	json_int_t mib = 0;
	int r = take_number(field, value, MIB_MAX, &mib, err);

	if (r == 0 && mib < MIN_MEMORY_MIB)
		leave_out(import, field->key, value,
			  "a node needs at least 1024; it gets all memory of the host");
	else if (r == 0)
		import->options.memory_bytes = (uint64_t)mib << 20;
	return r;
}

static int take_disk(const struct field *field, const json_t *value, struct import *import,
		     struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	json_int_t mib = 0;
	int r = take_number(field, value, MIB_MAX, &mib, err);

	if (r == 0 && setting_check_disk((uint64_t)mib << 20, &why) < 0)
		leave_out(import, field->key, value, why.text);
	else if (r == 0)
		import->options.disk_bytes = (uint64_t)mib << 20;
	return r;
}

/* The port of the API on a node becomes that on 127.0.0.1, if it was chosen by the user. */
static int take_port(const struct field *field, const json_t *value, struct import *import,
		     struct error *err)
{
	json_int_t port = 0;
	int r = take_number(field, value, 65535, &port, err);

	if (r == 0 && port == USUAL_PORT)
		leave_default(import, field->key, value);
	else if (r == 0)
		import->options.api_port = (unsigned)port;
	return r;
}

static int take_expiration(const struct field *field, const json_t *value, struct import *import,
			   struct error *err)
{
	json_int_t ns = 0;
	int r = take_number(field, value, INT64_MAX, &ns, err);

	if (r == 0 && (ns < NS_PER_SECOND || ns / NS_PER_SECOND > UINT_MAX))
		leave_out(import, field->key, value, "too long for a certificate");
	else if (r == 0)
		import->options.cert_seconds = (unsigned)(ns / NS_PER_SECOND);
	return r;
}

static int take_flag(const struct field *field, const json_t *value, struct import *import,
		     struct error *err)
{
	size_t at = field->offset - offsetof(struct cluster_options, flags);

	if (!json_is_boolean(value))
		return bad_value(err, field->key, "true or false");
	*(bool *)((char *)&import->options.flags + at) = json_is_true(value);
	*(bool *)((char *)&import->options.given + at) = true;
	return 0;
}

static int take_cni(const struct field *field, const json_t *value, struct import *import,
		    struct error *err)
{
	const char *word = json_string_value(value);

	if (!word)
		return bad_value(err, field->key, "a string");
	if (!*word)
		return 0;
	/* A manifest there would be read again, maybe much later. */
	if (cni_kind(word) == CNI_MANIFESTS)
		leave_out(import, field->key, value,
			  "pods use manykube's own network; 'manykube network set' changes it");
	else if (cni_kind(word) != CNI_AUTO)
		import->options.cni = cni_name(word);
	return 0;
}

static int take_version(const struct field *field, const json_t *value, struct import *import,
			struct error *err)
{
	if (!json_is_string(value))
		return bad_value(err, field->key, "a string");
	import->kubernetes_version = json_string_value(value);
	return 0;
}

/* Storage needs no addon here. */
static int take_addons(const struct field *field, const json_t *value, struct import *import,
		       struct error *err)
{
	const char *addon;
	json_t *on;

	if (!json_is_object(value))
		return bad_value(err, field->key, "an object");
	json_object_foreach((json_t *)(uintptr_t)value, addon, on) {
		json_auto_t *name = json_string(addon);

		if (!json_is_boolean(on))
			return bad_value(err, field->key, "an object of true and false");
		if (json_is_true(on) && strcmp(addon, "default-storageclass") != 0 &&
		    strcmp(addon, "storage-provisioner") != 0)
			leave_out(import, field->key, name,
				  "install it with kubectl once the cluster is up");
	}
	return 0;
}

#define AT(member) .offset = offsetof(struct cluster_options, member)
/* clang-format off */
static const struct field cluster_fields[] = {
	{ "Name",                    .usual = "*", .honoured = true }, /* these are read apart from the others */
	{ "Nodes",                   .usual = "*", .honoured = true },
	{ "KubernetesConfig",        .usual = "*", .honoured = true },
	{ "Addons",                  take_addons },
	{ "APIServerPort",           take_port },
	{ "CertExpiration",          take_expiration },
	{ "ContainerVolumeMounts",   take_mounts },
	{ "CPUs",                    take_cpus },
	{ "DiskSize",                take_disk,  .usual = "[20000]" },
	{ "DockerEnv",               take_words, AT(docker_env) },
	{ "DockerOpt",               take_words, AT(docker_opt) },
	{ "EmbedCerts",              take_flag,  AT(embed_certs) },
	{ "ExposedPorts",            take_ports, AT(ports) },
	{ "InsecureRegistry",        take_words, AT(insecure_registries) },
	{ "KeepContext",             take_flag,  AT(keep_context) },
	{ "Memory",                  take_memory },
	{ "MountString",             take_mount },
	{ "RegistryMirror",          take_words, AT(registry_mirrors) },

	/* Values that minikube writes by itself are nobody's choice. */
	{ "AutoPauseInterval",       .usual = "[60000000000]" },
	{ "BinaryMirror",            .why = NOT_IN_A_PROFILE },
	{ "Driver",                  .why = "nodes are built from namespaces of this host" },
	{ "GenericSSHPort",          .usual = "[22]", .why = NO_VMS },
	{ "HostDNSResolver",         .usual = "[true]", .why = NO_VMS },
	{ "HostOnlyCIDR",            .usual = "[\"192.168.59.1/24\", \"192.168.99.1/24\"]", .why = NO_VMS },
	{ "HostOnlyNicType",         .usual = "[\"virtio\"]", .why = NO_VMS },
	{ "KicBaseImage",            .usual = "*" }, /* goes with the driver */
	{ "KVMNetwork",              .usual = "[\"default\"]", .why = NO_VMS },
	{ "KVMNUMACount",            .usual = "[1]", .why = NO_VMS },
	{ "KVMQemuURI",              .usual = "[\"qemu:///system\"]", .why = NO_VMS },
	{ "MinikubeISO",             .usual = "*" }, /* likewise */
	{ "Mount",                   .usual = "*", .honoured = true }, /* see take_mount() */
	{ "Mount9PVersion",          .usual = "[\"9p2000.L\"]" },
	{ "MountGID",                .usual = "[\"docker\"]" },
	{ "MountMSize",              .usual = "[262144]" },
	{ "MountType",               .usual = "[\"9p\"]" },
	{ "MountUID",                .usual = "[\"docker\"]" },
	{ "MultiNodeRequested",      .usual = "*", .honoured = true }, /* the nodes tell it */
	{ "NatNicType",              .usual = "[\"virtio\"]", .why = NO_VMS },
	{ "Network",                 .why = "the cluster gets its own network" },
	{ "NFSSharesRoot",           .usual = "[\"/nfsshares\"]" },
	{ "SocketVMnetClientPath",   .usual = "*" }, /* for macOS, as is the next */
	{ "SocketVMnetPath",         .usual = "*" },
	{ "SSHPort",                 .usual = "[22]", .why = NO_VMS },
	{ "SSHUser",                 .usual = "[\"root\"]", .why = NO_VMS },
	{ "StartHostTimeout",        .usual = "[360000000000]", .why = NOT_IN_A_PROFILE },
	{ "StaticIP",                .why = "the cluster gets a free network with new addresses" },
	{ "Subnet",                  .why = "the cluster gets a free network with new addresses" },
	{ "UUID",                    .usual = "*" }, /* of a virtual machine */
	{ "VerifyComponents",        .usual = "[{\"apiserver\": true, \"system_pods\": true}]",
				     .why = NOT_IN_A_PROFILE },
	{ "VMDriver",                .why = "nodes are built from namespaces of this host" },
	{ NULL },
};

static const struct field kubernetes_fields[] = {
	{ "APIServerIPs",            take_words,  AT(api_ips) },
	{ "APIServerNames",          take_words,  AT(api_names) },
	{ "CNI",                     take_cni },
	{ "DNSDomain",               take_string, AT(dns_domain) },
	{ "ExtraOptions",            take_extra,  AT(extra_config) },
	{ "FeatureGates",            take_gates,  AT(feature_gates) },
	{ "ImageRepository",         take_string, AT(image_repository) },
	{ "KubernetesVersion",       take_version },
	{ "NodePort",                take_port },
	{ "ServiceCIDR",             take_string, AT(service_subnet) },

	{ "APIServerHAVIP",          .usual = "*" }, /* goes with further control planes */
	{ "APIServerName",           .usual = "[\"minikubeCA\"]" },
	{ "ClusterName",             .usual = "*", .honoured = true }, /* the name once more */
	{ "ContainerRuntime",        .usual = "[\"containerd\"]", .honoured = true,
				     .why = "nodes run containerd" },
	{ "CRISocket",               .usual = "*" }, /* goes with the runtime */
	{ "EnableDefaultCNI",        .usual = "*", .honoured = true }, /* there is always one */
	{ "Namespace",               .usual = "[\"default\"]", .honoured = true,
				     .why = "use 'kubectl config set-context'" },
	{ "NetworkPlugin",           .usual = "[\"cni\"]", .honoured = true },
	{ "NodeIP",                  .usual = "*", .honoured = true }, /* read with the nodes, as is the next */
	{ "NodeName",                .usual = "*", .honoured = true },
	{ "ShouldLoadCachedImages",  .usual = "*", .honoured = true }, /* images are always there */
	{ NULL },
};

/* What import.c does not read of a node. */
static const struct field node_fields[] = {
	{ "Name",                    .usual = "*", .honoured = true },
	{ "IP",                      .usual = "*", .honoured = true },
	{ "KubernetesVersion",       .usual = "*", .honoured = true },
	{ "ContainerRuntime",        .usual = "*", .honoured = true },
	{ "ControlPlane",            .usual = "*", .honoured = true },
	{ "Worker",                  .usual = "*", .honoured = true },
	{ "Port",                    .usual = "[8443]", .why = "manykube chooses the API "
							       "server's port" },
	{ NULL },
};
/* clang-format on */
#undef AT

static int take_fields(const struct field *fields, const json_t *object, struct import *import,
		       struct error *err)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)object, key, value) {
		const struct field *field = fields;
		int r = 0;

		while (field->key && strcmp(field->key, key) != 0)
			field++;
		if (is_empty(value) || (is_usual(field, value) && field->honoured))
			continue;
		if (is_usual(field, value))
			leave_default(import, key, value);
		else if (field->take)
			r = field->take(field, value, import, err);
		else if (field->key)
			leave_out(import, key, value, field->why);
		else
			leave_unknown(import, key, value);
		if (r < 0)
			return r;
	}
	return 0;
}

int import_take_fields(struct import *import, struct error *err)
{
	int r = take_fields(cluster_fields, import->root, import, err);

	if (r < 0)
		return r;
	r = take_fields(kubernetes_fields, json_object_get(import->root, "KubernetesConfig"),
			import, err);
	return r < 0 ? error_prefix(err, r, "KubernetesConfig") : 0;
}

void import_leave_node_fields(struct import *import, const json_t *node)
{
	/* Fields that are not taken can't fail. */
	(void)take_fields(node_fields, node, import, NULL);
}
