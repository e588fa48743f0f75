/* A node's /etc. */

#include "node/node-files.h"

#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/below.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "driver/tree.h"
#include "node/base-image.h"
#include "node/registries.h"
#include "record/ports.h"

char *node_folder(const struct profile *profile, const struct node *node)
{
	return xasprintf("%s/nodes/%s", profile->folder, node->name);
}

char *node_tree(const struct profile *profile, const struct node *node)
{
	cleanup_free char *folder = node_folder(profile, node);

	return node_tree_path(folder);
}

char *node_tree_relative(const struct profile *profile, const struct node *node)
{
	cleanup_free char *tree = node_tree(profile, node);

	return xstrdup(tree + strlen(profile->folder) + 1);
}

/* NODE's /etc as the host sees it. */
static char *etc_of(const struct profile *profile, const struct node *node)
{
	cleanup_free char *tree = node_tree(profile, node);

	return xasprintf("%s/etc", tree);
}

int node_read(const struct profile *profile, const struct node *node, const char *path,
	      struct strbuf *ret, struct error *err)
{
	cleanup_free char *etc = etc_of(profile, node);

	return below_read(etc, path, 1 << 20, ret, err);
}

int node_put(const struct profile *profile, const struct node *node, const char *path,
	     const char *text, mode_t mode, struct error *err)
{
	cleanup_free char *etc = etc_of(profile, node);

	return below_put(etc, path, text, mode, err);
}

bool node_has(const struct profile *profile, const struct node *node, const char *path)
{
	cleanup_free char *etc = etc_of(profile, node);
	cleanup_fd int fd = -1;

	return below_open(etc, path, 0, &fd, NULL) == 0;
}

int node_rename(const struct profile *profile, const struct node *node, const char *from,
		const char *to, struct error *err)
{
	cleanup_free char *etc = etc_of(profile, node);
	cleanup_fd int from_fd = -1;
	cleanup_fd int to_fd = -1;
	const char *from_name;
	const char *to_name;
	int r = below_open_parent(etc, from, &from_fd, &from_name, err);

	if (r == 0)
		r = below_open_parent(etc, to, &to_fd, &to_name, err);
	if (r == 0 && renameat(from_fd, from_name, to_fd, to_name) < 0)
		r = error_sys(err, "cannot replace '%s/%s'", etc, to);
	return r;
}

void node_unlink(const struct profile *profile, const struct node *node, const char *path)
{
	cleanup_free char *etc = etc_of(profile, node);
	cleanup_fd int fd = -1;
	const char *name;

	if (below_open_parent(etc, path, &fd, &name, NULL) == 0)
		(void)unlinkat(fd, name, 0);
}

int node_open_kube(const struct profile *profile, const struct node *node, const char *path,
		   struct kube **ret_kube, struct error *err)
{
	cleanup_free char *etc = etc_of(profile, node);
	cleanup_free char *opened = NULL;
	cleanup_fd int fd = -1;
	int r = below_open(etc, path, 0, &fd, err);

	if (r < 0)
		return r;
	opened = xasprintf("/proc/self/fd/%d", fd);
	return kube_open(opened, ret_kube, err);
}

static int put(const struct profile *profile, const struct node *node, const char *path,
	       const char *text, struct error *err)
{
	return node_put(profile, node, path, text, 0644, err);
}

static int make_folders(const struct profile *profile, const struct node *node, struct error *err)
{
	/* Without kubernetes/manifests a worker's kubelet complains every second. */
	static const char *const folders[] = { "manykube", "containerd", "cni/net.d",
					       "alternatives", "kubernetes/manifests" };
	cleanup_free char *etc = etc_of(profile, node);
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(folders); i++)
		r = below_make_folder(etc, folders[i], 0755, NULL, err);
	return r;
}

/* What the node's /usr needs of the /etc beside it to work: the loader's cache, certificates,
 * alternatives.  BASE is where both are from, "" for this host's. */
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
	cleanup_free char *etc = etc_of(profile, node);

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		cleanup_free char *name = xasprintf("etc/%s", files[i]);
		cleanup_free char *from = NULL;
		cleanup_free char *to = NULL;
		cleanup_fd int fd = -1;
		cleanup_fd int parent = -1;
		const char *last;
		int r;

		/* Whoever made the base is not to have files of this host copied by links. */
		if (below_find(*base ? base : "/", name, &fd, &from, NULL) < 0)
			continue;
		r = below_open_parent(etc, files[i], &parent, &last, err);
		if (r < 0)
			return r;
		to = xasprintf("/proc/self/fd/%d/%s", parent, last);
		r = file_copy(from, to, err);
		if (r < 0)
			return error_prefix(err, r, "in '%s'", etc);
	}
	return 0;
}

/* The choices between programs that nodes and people on them use; a host has hundreds more. */
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
	cleanup_free char *etc = etc_of(profile, node);
	cleanup_fd int folder = -1;
	int r = below_make_folder(etc, "alternatives", 0755, &folder, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *from = xasprintf("%s/etc/alternatives/%s", base, names[i]);
		char target[PATH_MAX];
		ssize_t len = readlink(from, target, sizeof(target) - 1);

		if (len < 0)
			continue;
		target[len] = '\0';
		if (symlinkat(target, folder, names[i]) < 0 && errno != EEXIST)
			return error_sys(err, "cannot make the link 'alternatives/%s' in '%s'",
					 names[i], etc);
	}
	return 0;
}

static int write_people(const struct profile *profile, const struct node *node, struct error *err)
{
	int r = put(profile, node, "passwd",
		    "root:x:0:0:root:/root:/bin/bash\n"
		    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		    err);

	if (r == 0)
		r = put(profile, node, "group", "root:x:0:\ntty:x:5:\nnogroup:x:65534:\n", err);
	return r;
}

/* kube-proxy needs some names of protocols, and a small host may have none. */
static int write_protocols(const struct profile *profile, const struct node *node,
			   struct error *err)
{
	if (node_has(profile, node, "protocols"))
		return 0;
	return put(profile, node, "protocols",
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
	return put(profile, node, "machine-id", text, err);
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
	return put(profile, node, "hosts", out.text, err);
}

static int write_names(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_free char *hostname = xasprintf("%s\n", node->name);
	cleanup_free char *resolver = xasprintf("nameserver %s\n", profile->gateway);
	int r = put(profile, node, "hostname", hostname, err);

	if (r == 0)
		r = put(profile, node, "resolv.conf", resolver, err);
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
	return put(profile, node, "containerd/config.toml", text.text, err);
}

/* The statement of the agent's configuration that gives a service the variables of NODE, or
 * nothing. They may be secrets, so no command line has them. */
static char *environment_of(const struct node *node)
{
	struct strbuf out = STRBUF_INIT;
	const char *word;

	strlist_for_each(word, &node->env) {
		strbuf_add(&out, "  environment \"");
		for (const char *p = word; *p; p++)
			strbuf_addf(&out, "%s%c", *p == '"' || *p == '\\' ? "\\" : "", *p);
		strbuf_add(&out, "\"\n");
	}
	return strbuf_take(&out);
}

/* The kubelet waits for the file that kubeadm writes last. */
static int write_agent(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_free char *environment = environment_of(node);
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

/* The default CNI: pods get addresses of the node's podCIDR, the routes between nodes are ours. */
static int write_cni(const struct profile *profile, const struct node *node, struct error *err)
{
	static const char config[] =
#include "cni.conflist.inc"
		;
	const struct strbuf_value values[] = { { "POD_CIDR", node->pod_cidr }, { NULL } };
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (strcmp(profile->cni, "none") == 0)
		return 0;
	strbuf_add_filled(&text, config, values);
	return put(profile, node, "cni/net.d/10-manykube.conflist", text.text, err);
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

	/* What is lost is not ours to tell of here. */
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

int node_files_write(const struct profile *profile, const struct node *node,
		     const struct payload *payload, struct error *err)
{
	cleanup_free char *folder = base_folder(profile, node);
	const char *base = folder ? folder : "";
	int r = make_folders(profile, node, err);

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
		r = registries_write(profile, node, err);
	if (r == 0)
		r = write_agent(profile, node, err);
	if (r == 0)
		r = write_cni(profile, node, err);
	return r < 0 ? error_prefix(err, r, "cannot prepare node '%s'", node->name) : 0;
}
