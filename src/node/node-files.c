/* A node's /etc. */

#include "node/node-files.h"

#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "balancer/balancer.h"
#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "node/base-image.h"
#include "node/cluster-node.h"
#include "node/docker.h"
#include "node/http-proxy.h"
#include "node/registries.h"
#include "record/cni.h"
#include "record/ports.h"

#define FILE_BYTES (1 << 20)

/* Limit for files of a base; the largest are the certificates and the loader's cache. */
#define BASE_FILE_BYTES (64 << 20)

char *node_dir(const struct profile *profile, const struct node *node)
{
	return xasprintf("%s/nodes/%s", profile->dir, node->name);
}

/* PATH as an absolute path in the node, for the caller to free. */
static char *path_in_node(const char *path)
{
	return *path == '/' ? xstrdup(path) : xasprintf("/etc/%s", path);
}

int node_read(const struct profile *profile, const struct node *node, const char *path,
	      struct strbuf *ret, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_free char *full = path_in_node(path);
	int r = cluster_node_open(profile, node, &at, err);

	return r < 0 ? r : at.driver->files->read(&at.spec, full, 0, FILE_BYTES, ret, err);
}

static int put_data(const struct profile *profile, const struct node *node, const char *path,
		    const struct strbuf *data, mode_t mode, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_free char *full = path_in_node(path);
	int r = cluster_node_open(profile, node, &at, err);

	return r < 0 ? r : at.driver->files->put(&at.spec, full, data->text, data->len, mode, err);
}

int node_put(const struct profile *profile, const struct node *node, const char *path,
	     const char *text, mode_t mode, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf data = STRBUF_INIT;

	strbuf_add(&data, text);
	return put_data(profile, node, path, &data, mode, err);
}

bool node_has(const struct profile *profile, const struct node *node, const char *path)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_free char *full = path_in_node(path);
	struct node_file_info info;

	/* Node root can have anything there that cannot be looked at, such as a link or a lease. */
	return cluster_node_open(profile, node, &at, NULL) == 0 &&
	       at.driver->files->look(&at.spec, full, &info, NULL) != -ENOENT;
}

int node_rename(const struct profile *profile, const struct node *node, const char *from,
		const char *to, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_free char *full_from = path_in_node(from);
	cleanup_free char *full_to = path_in_node(to);
	int r = cluster_node_open(profile, node, &at, err);

	return r < 0 ? r : at.driver->files->rename(&at.spec, full_from, full_to, err);
}

void node_unlink(const struct profile *profile, const struct node *node, const char *path)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_free char *full = path_in_node(path);

	if (cluster_node_open(profile, node, &at, NULL) == 0)
		(void)at.driver->files->remove(&at.spec, full, NULL);
}

int node_make_directory(const struct profile *profile, const struct node *node, const char *path,
			mode_t mode, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_free char *full = path_in_node(path);
	int r = cluster_node_open(profile, node, &at, err);

	return r < 0 ? r : at.driver->files->make_directory(&at.spec, full, mode, err);
}

int node_open_kube(const struct profile *profile, const struct node *node, const char *path,
		   struct kube **ret_kube, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = node_read(profile, node, path, &text, err);

	return r < 0 ? r : kube_parse(text.text, path, ret_kube, err);
}

static int put_file(const struct profile *profile, const struct node *node, const char *path,
		    const char *text, struct error *err)
{
	return node_put(profile, node, path, text, 0644, err);
}

static int make_dirs(const struct profile *profile, const struct node *node, struct error *err)
{
	/* Without kubernetes/manifests, a worker's kubelet logs an error every second. */
	static const char *const dirs[] = { "manykube", "containerd", "cni/net.d", "alternatives",
					    "kubernetes/manifests" };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(dirs); i++)
		r = node_make_directory(profile, node, dirs[i], 0755, err);
	return r;
}

/* Copy the files in /etc that the node's /usr needs: the loader's cache, certificates,
 * alternatives.  BASE is the directory that both come from, "" for the host. */
static int copy_from_base(const struct profile *profile, const struct node *node, const char *base,
			  struct error *err)
{
	static const char *const files[] = {
		"os-release",
		"ld.so.cache",
		"ld.so.conf",
		"protocols",
		"services",
		"nsswitch.conf",
		"bash.bashrc",
		"profile",
		"netconfig",
		"mke2fs.conf",
		"ssl/certs/ca-certificates.crt",
		"ssl/openssl.cnf",
		"pki/tls/certs/ca-bundle.crt",
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_with(strbuf_release) struct strbuf data = STRBUF_INIT;
		cleanup_free char *name = xasprintf("etc/%s", files[i]);
		cleanup_free char *from = NULL;
		cleanup_fd int fd = -1;
		struct stat st;
		int r;

		/* Links in a base must not lead to files of this host. */
		if (below_find(*base ? base : "/", name, &fd, &from, NULL) < 0)
			continue;
		r = fstat(fd, &st) < 0 ? error_sys(err, "cannot examine '%s'", name)
				       : file_read(from, BASE_FILE_BYTES, &data, err);
		if (r == 0)
			r = put_data(profile, node, files[i], &data, st.st_mode & 07777, err);
		if (r < 0)
			return error_prefix(err, r, "copying '/%s'", name);
	}
	return 0;
}

/* Copy only the alternatives that nodes and their users need; a host has hundreds more. */
static int copy_alternatives(const struct profile *profile, const struct node *node,
			     const char *base, struct error *err)
{
	static const char *const names[] = {
		"iptables",
		"iptables-save",
		"iptables-restore",
		"ip6tables",
		"ip6tables-save",
		"ip6tables-restore",
		"arptables",
		"ebtables",
		"awk",
		"nc",
		"which",
		"pager",
		"editor",
		"vi",
	};
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(names); i++) {
		cleanup_free char *from = xasprintf("%s/etc/alternatives/%s", base, names[i]);
		cleanup_free char *to = xasprintf("/etc/alternatives/%s", names[i]);
		char target[PATH_MAX];
		ssize_t len = readlink(from, target, sizeof(target) - 1);

		if (len < 0)
			continue;
		target[len] = '\0';
		r = at.driver->files->link(&at.spec, target, to, err);
	}
	return r;
}

static int write_people(const struct profile *profile, const struct node *node, struct error *err)
{
	int r = put_file(profile, node, "passwd",
			 "root:x:0:0:root:/root:/bin/bash\n"
			 "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
			 err);

	if (r == 0)
		r = put_file(profile, node, "group", "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n",
			     err);
	return r;
}

/* kube-proxy needs the names of some protocols, and a minimal host may have none. */
static int write_protocols(const struct profile *profile, const struct node *node,
			   struct error *err)
{
	if (node_has(profile, node, "protocols"))
		return 0;
	return put_file(profile, node, "protocols",
			"icmp 1 ICMP\ntcp 6 TCP\nudp 17 UDP\nsctp 132 SCTP\n", err);
}

static int write_machine_id(const struct profile *profile, const struct node *node,
			    struct error *err)
{
	unsigned char random[16];
	char text[34];

	if (node_has(profile, node, "machine-id"))
		return 0;
	while (getrandom(random, sizeof(random), 0) != sizeof(random))
		;
	for (size_t i = 0; i < sizeof(random); i++)
		(void)snprintf(text + 2 * i, 3, "%02x", random[i]);
	text[32] = '\n';
	text[33] = '\0';
	return put_file(profile, node, "machine-id", text, err);
}

int node_files_write_hosts(const struct profile *profile, const struct node *node,
			   struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	const struct node *other;

	strbuf_add(&out, "127.0.0.1 localhost\n::1 localhost ip6-localhost\n");
	strbuf_addf(&out, "%s %s host.manykube.internal\n", profile->gateway, FRONT_DOOR_NAME);
	profile_for_each_node(other, profile)
		strbuf_addf(&out, "%s %s\n", other->address, other->name);
	profile_for_each_node(other, profile)
		if (other->address6)
			strbuf_addf(&out, "%s %s\n", other->address6, other->name);
	return put_file(profile, node, "hosts", out.text, err);
}

static int write_names(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_free char *hostname = xasprintf("%s\n", node->name);
	cleanup_free char *resolver = xasprintf("nameserver %s\n", profile->gateway);
	int r = put_file(profile, node, "hostname", hostname, err);

	if (r == 0)
		r = put_file(profile, node, "resolv.conf", resolver, err);
	if (r == 0)
		r = node_files_write_hosts(profile, node, err);
	return r;
}

static int write_containerd(const struct profile *profile, const struct node *node,
			    const struct payload *payload, struct error *err)
{
	static const char config[] =
#include "containerd.toml.inc"
		;
	const struct strbuf_value values[] = { { "PAUSE_IMAGE", payload->pause_image }, { NULL } };
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_add_filled(&text, config, values);
	return put_file(profile, node, "containerd/config.toml", text.text, err);
}

/* The statement in the agent's configuration that sets the environment variables of NODE for a
 * service, or "".  Variables may be secrets, so they are not put on command lines. */
static char *environment_of(const struct profile *profile, const struct node *node)
{
	cleanup_with(strlist_release) struct strlist variables = STRLIST_INIT;
	struct strbuf out = STRBUF_INIT;
	const char *word;

	http_proxy_environment(profile, &node->env, &variables);
	strlist_for_each(word, &variables) {
		strbuf_add(&out, "  environment \"");
		for (const char *p = word; *p; p++)
			strbuf_addf(&out, "%s%c", *p == '"' || *p == '\\' ? "\\" : "", *p);
		strbuf_add(&out, "\"\n");
	}
	return strbuf_take(&out);
}

/* The agent starts the kubelet when the file that kubeadm writes last exists. */
static int write_agent(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_free char *environment = environment_of(profile, node);
	static const char config[] =
#include "agent.conf.inc"
		;
	const struct strbuf_value values[] = { { "ENVIRONMENT", environment },
					       { "KUBELET", NODE_KUBELET },
					       { NULL } };
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_add_filled(&text, config, values);
	return node_put(profile, node, "manykube/agent.conf", text.text, 0600, err);
}

/*
 * Pods get addresses from the node's podCIDR; routes between nodes are set up by manykube.  The
 * name of the network and its leases are the same whatever the plugin: so a pod of one can be
 * removed by the other, and no address is given twice while a network is changed.
 *
 * The ports of a bridge are isolated, and the node answers for all pods (cni/bridge-node.sh): so
 * also what pods of one node send each other is routed, and passes kube-proxy and network policies.
 */
#define CNI_LINK_PLUGIN "\"type\": \"ptp\",\n      \"ipMasq\": false"
#define CNI_BRIDGE_PLUGIN                                                                  \
	"\"type\": \"bridge\",\n      \"bridge\": \"cni0\",\n      \"isGateway\": true,\n" \
	"      \"portIsolation\": true"

int node_files_write_cni(const struct profile *profile, const struct node *node, struct error *err)
{
	static const char config[] =
#include "cni.conflist.inc"
		;
	cleanup_free char *further = node->pod_cidr6 ? xasprintf(", [ { \"subnet\": \"%s\" } ]",
								 node->pod_cidr6)
						     : xstrdup("");
	bool is_bridge = cni_kind(profile->cni) == CNI_BRIDGE;
	const struct strbuf_value values[] = {
		{ "PLUGIN", is_bridge ? CNI_BRIDGE_PLUGIN : CNI_LINK_PLUGIN },
		{ "POD_CIDR", node->pod_cidr },
		{ "FURTHER_RANGES", further },
		{ "FURTHER_ROUTES", node->pod_cidr6 ? ", { \"dst\": \"::/0\" }" : "" },
		{ NULL },
	};
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (!cni_has_our_routes(profile->cni)) {
		node_unlink(profile, node, NODE_CNI_OURS);
		return 0;
	}
	strbuf_add_filled(&text, config, values);
	return put_file(profile, node, NODE_CNI_OURS, text.text, err);
}

int node_files_use_own_api(const struct profile *profile, const struct node *node,
			   struct error *err)
{
	static const char path[] = "kubernetes/kubelet.conf";
	cleanup_with(strbuf_release) struct strbuf before = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf after = STRBUF_INIT;
	cleanup_free char *door = xasprintf("server: https://%s:%d\n", FRONT_DOOR_NAME,
					    FRONT_DOOR_PORT);
	const char *found;
	int r;

	/* A missing file is reported elsewhere. */
	if (!node_has(profile, node, path))
		return 0;
	r = node_read(profile, node, path, &before, err);
	if (r < 0)
		return r;
	found = strstr(before.text, door);
	if (!found)
		return 0;
	strbuf_add_mem(&after, before.text, (size_t)(found - before.text));
	strbuf_addf(&after, "server: https://%s:%d\n", node->address, API_SERVER_PORT);
	strbuf_add(&after, found + strlen(door));
	return node_put(profile, node, path, after.text, 0600, err);
}

int node_files_write_registries(const struct profile *profile, const struct node *node,
				struct error *err)
{
	struct profile told = *profile;

	/* Without the front door, whoever listens at the registry's port would be the registry. */
	if (!balancer_holds_for_registry(profile->dir, profile->gateway, profile->registry_port))
		told.registry_port = 0;
	return registries_write(&told, node, err);
}

int node_files_write(const struct profile *profile, const struct node *node,
		     const struct payload *payload, struct error *err)
{
	cleanup_free char *dir = base_dir(profile, node);
	const char *base = dir ? dir : "";
	int r = make_dirs(profile, node, err);

	if (r == 0)
		r = base_make(profile, node, err);
	if (r == 0)
		r = copy_from_base(profile, node, base, err);
	if (r == 0)
		r = copy_alternatives(profile, node, base, err);
	if (r == 0)
		r = write_protocols(profile, node, err);
	if (r == 0)
		r = write_people(profile, node, err);
	if (r == 0)
		r = write_machine_id(profile, node, err);
	if (r == 0)
		r = write_names(profile, node, err);
	if (r == 0)
		r = write_containerd(profile, node, payload, err);
	if (r == 0)
		r = node_files_write_registries(profile, node, err);
	if (r == 0)
		r = write_agent(profile, node, err);
	if (r == 0)
		r = node_files_write_cni(profile, node, err);
	if (r == 0)
		r = docker_update_files(profile, node, payload, err);
	return r < 0 ? error_prefix(err, r, "cannot prepare node '%s'", node->name) : 0;
}
