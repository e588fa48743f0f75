/*
 * For developers: a cluster made the way the documentation has it, on the same kind of nodes,
 * for tools/bench.sh to compare with:
 *
 *	by-the-book PROFILE NODES
 *
 * Images are imported into every node; `kubeadm init` does all its phases but preflight, with
 * its default keys; the controller-manager gives out podCIDRs; the network between pods comes
 * after init; the workers join by token discovery with the hash of the CA, all at once.  Where
 * the documentation leaves it open, the faster way is taken.
 *
 * The profile is one like any other: `manykube delete` removes the cluster.
 */

#include <fcntl.h>
#include <glob.h>
#include <string.h>
#include <sys/wait.h>

#include "api/kube.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "data/inet.h"
#include "kubeadm/kubeadm.h"
#include "network/network.h"
#include "node/cluster-node.h"
#include "node/node-files.h"
#include "payload/payload.h"
#include "plan/plan.h"
#include "record/options.h"
#include "record/ports.h"

#define LIMIT_MS   240000
#define POLL_MS    50
#define REQUEST_MS 10000
#define CONFIG     "/etc/manykube/kubeadm.yaml"

/* Behind this, init tells the hash that workers know the CA by. */
#define HASH_OPTION "--discovery-token-ca-cert-hash "

struct book {
	struct profile profile;
	struct payload payload;
	struct cluster_node *at;   /* one per node */
	struct process *processes; /* one per node */
	bool *connected;           /* one per node: it has a CNI */
	struct kube *kube;
	char *token;
	char *hash;
	int64_t deadline;
	int64_t step_begun;
};

static void release_book(struct book *book)
{
	for (size_t i = 0; book->at && i < book->profile.node_count; i++) {
		process_release(&book->processes[i]);
		cluster_node_release(&book->at[i]);
	}
	free(book->at);
	free(book->processes);
	free(book->connected);
	free(book->token);
	free(book->hash);
	if (book->kube)
		kube_free(book->kube);
	payload_release(&book->payload);
	profile_release(&book->profile);
}

/* The lines that `start -v` writes. */
static void say_step(struct book *book, const char *words)
{
	int64_t now = clock_now_ms();

	fprintf(stderr, "* %s (%.1fs)\n", words, (double)(now - book->step_begun) / 1000);
	book->step_begun = now;
}

/* An empty image store, made first, keeps the driver from putting the prepared one there. */
static int start_node(struct book *book, size_t i, struct error *err)
{
	struct cluster_node *at = &book->at[i];
	const struct node *node = &book->profile.nodes[i];
	cleanup_free char *store = NULL;
	int r = cluster_node_open(&book->profile, node, at, err);

	if (r < 0)
		return r;
	store = xasprintf("%s/var/lib/containerd", at->dir);
	r = file_make_dirs(store, 0755, err);
	if (r == 0)
		r = at->driver->create(&at->spec, err);
	if (r == 0)
		r = node_files_write(&book->profile, node, &book->payload, err);
	if (r == 0)
		r = at->driver->start(&at->spec, err);
	return r;
}

static int plan(struct book *book, const char *name, unsigned nodes, struct error *err)
{
	struct cluster_options options = { .nodes = nodes, .offline = true, .given.offline = true };
	cleanup_free char *logs = NULL;
	cleanup_fd int lock = -1;
	struct plan plan = PLAN_INIT;
	int r = payload_resolve_version("stable", &options.kubernetes_version, err);

	if (r == 0)
		r = payload_open(options.kubernetes_version, &book->payload, err);
	if (r == 0)
		r = network_lock(&lock, err);
	if (r == 0)
		r = plan_profile(name, &options, &plan, err);
	if (r < 0)
		return r;
	book->profile = plan.profile;
	/* Until the network between pods is made, nobody has one. */
	setting_set_word(&book->profile.cni, "none");
	logs = xasprintf("%s/logs", book->profile.dir);
	r = profile_save(&book->profile, err);
	if (r == 0)
		r = file_make_dirs(logs, 0755, err);
	if (r == 0)
		r = network_up(&book->profile, err);
	return r;
}

static int start_nodes(struct book *book, struct error *err)
{
	size_t count = book->profile.node_count;
	int r = 0;

	book->at = xcalloc(count, sizeof(*book->at));
	book->processes = xcalloc(count, sizeof(*book->processes));
	book->connected = xcalloc(count, sizeof(*book->connected));
	for (size_t i = 0; i < count; i++)
		book->processes[i] = PROCESS_INIT;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = start_node(book, i, err);
	return r;
}

/* Begin ARGV on the Ith node; INPUT (may be NULL) is the file that it reads. */
static int begin(struct book *book, size_t i, char *const *argv, const char *input,
		 struct error *err)
{
	struct cluster_node *at = &book->at[i];
	cleanup_fd int input_fd = input ? open(input, O_RDONLY | O_CLOEXEC) : -1;
	cleanup_free char *log = xasprintf("%s/logs/%s.log", book->profile.dir, at->spec.name);
	struct process_options options = { .output = log, .no_stdin = !input };

	if (input && input_fd < 0)
		return error_sys(err, "cannot open '%s'", input);
	if (input)
		options.stdin_fd = input_fd;
	return at->driver->spawn(&at->spec, argv, &options, &book->processes[i], err);
}

static int finish(struct book *book, size_t i, const char *what, struct error *err)
{
	int status = process_wait(&book->processes[i], book->deadline, err);

	if (status > 0)
		return error_set(err, -EIO, "%s failed on node '%s'; see '%s/logs/%s.log'", what,
				 book->at[i].spec.name, book->profile.dir, book->at[i].spec.name);
	return status;
}

/* The same program on every node at once. */
static int run_everywhere(struct book *book, char *const *argv, const char *input, const char *what,
			  struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < book->profile.node_count; i++)
		r = begin(book, i, argv, input, err);
	for (size_t i = 0; r == 0 && i < book->profile.node_count; i++)
		r = finish(book, i, what, err);
	return r;
}

static int wait_for_containerd(struct book *book, struct error *err)
{
	int r;

	do {
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		r = run_everywhere(book, ARGV("ctr", "version"), NULL, "ctr version", &why);
		if (r < 0)
			clock_rest_ms(POLL_MS);
	} while (r < 0 && clock_now_ms() < book->deadline);
	return r < 0 ? error_set(err, r, "containerd did not start") : 0;
}

static int import_images(struct book *book, struct error *err)
{
	cleanup_free char *pattern = xasprintf("%s/images/*.tar", book->payload.dir);
	glob_t found = { 0 };
	int r = wait_for_containerd(book, err);

	if (r == 0 && glob(pattern, 0, NULL, &found) != 0)
		r = error_set(err, -ENOENT, "there are no images at '%s'", pattern);
	for (size_t i = 0; r == 0 && i < found.gl_pathc; i++)
		r = run_everywhere(book, ARGV("ctr", "-n", "k8s.io", "images", "import", "-"),
				   found.gl_pathv[i], "ctr images import", err);
	globfree(&found);
	return r;
}

static void add_registration(struct strbuf *out, const struct node *node)
{
	strbuf_addf(out,
		    "nodeRegistration:\n"
		    "  name: %s\n"
		    "  criSocket: unix:///run/containerd/containerd.sock\n"
		    "  imagePullPolicy: IfNotPresent\n"
		    "  kubeletExtraArgs:\n"
		    "  - name: node-ip\n"
		    "    value: %s\n",
		    node->name, node->address);
}

static int put_config(struct book *book, const struct node *node, const char *text,
		      struct error *err)
{
	return node_put(&book->profile, node, "manykube/kubeadm.yaml", text, 0600, err);
}

/* Nothing but what such nodes need: the kubelet's and kube-proxy's settings
 * are our own clusters'. */
static int init(struct book *book, struct error *err)
{
	const struct profile *profile = &book->profile;
	const struct node *primary = &profile->nodes[0];
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_free char *ours = kubeadm_init_config(profile, primary, book->token);
	const char *components = strstr(ours, "---\napiVersion: kubelet.config.k8s.io");
	int r;

	assert(components);
	strbuf_addf(&out,
		    "apiVersion: kubeadm.k8s.io/v1beta4\n"
		    "kind: InitConfiguration\n"
		    "bootstrapTokens:\n"
		    "- token: %s\n"
		    "localAPIEndpoint:\n"
		    "  advertiseAddress: %s\n",
		    book->token, primary->address);
	add_registration(&out, primary);
	strbuf_addf(&out,
		    "---\n"
		    "apiVersion: kubeadm.k8s.io/v1beta4\n"
		    "kind: ClusterConfiguration\n"
		    "kubernetesVersion: %s\n"
		    "networking:\n"
		    "  podSubnet: %s\n"
		    "  serviceSubnet: %s\n"
		    "  dnsDomain: %s\n",
		    profile->kubernetes_version, profile->pod_subnet, profile->service_subnet,
		    profile->dns_domain);
	strbuf_add(&out, components);
	r = put_config(book, primary, out.text, err);
	if (r == 0)
		r = begin(book, 0,
			  ARGV("kubeadm", "init", "--config", CONFIG, "--skip-phases=preflight"),
			  NULL, err);
	return r < 0 ? r : finish(book, 0, "kubeadm init", err);
}

/* What init told the person to run on the workers. */
static int read_hash(struct book *book, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf log = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/logs/%s.log", book->profile.dir,
					    book->profile.nodes[0].name);
	const char *found;
	int r = file_read(path, 16 << 20, &log, err);

	if (r < 0)
		return r;
	found = strstr(log.text, HASH_OPTION);
	if (!found)
		return error_set(err, -EBADMSG, "kubeadm init did not tell the hash of the CA");
	found += strlen(HASH_OPTION);
	book->hash = xstrndup(found, strcspn(found, " \n\\"));
	return 0;
}

static int begin_join(struct book *book, size_t i, struct error *err)
{
	const struct node *node = &book->profile.nodes[i];
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	int r;

	strbuf_addf(&out,
		    "apiVersion: kubeadm.k8s.io/v1beta4\n"
		    "kind: JoinConfiguration\n"
		    "discovery:\n"
		    "  bootstrapToken:\n"
		    "    apiServerEndpoint: %s:%d\n"
		    "    token: %s\n"
		    "    caCertHashes: [\"%s\"]\n",
		    book->profile.nodes[0].address, API_SERVER_PORT, book->token, book->hash);
	add_registration(&out, node);
	r = put_config(book, node, out.text, err);
	if (r == 0)
		r = begin(book, i,
			  ARGV("kubeadm", "join", "--config", CONFIG, "--skip-phases=preflight"),
			  NULL, err);
	return r;
}

/* Give the Ith node the pods' network CIDR, and every other node the way there. */
static int connect_node(struct book *book, size_t i, const char *cidr, struct error *err)
{
	struct node *node = &book->profile.nodes[i];
	struct subnet pods;
	int r = inet_parse_subnet(cidr, &pods, err);

	if (r < 0)
		return r;
	free(node->pod_cidr);
	node->pod_cidr = xstrdup(cidr);
	r = node_files_write(&book->profile, node, &book->payload, err);
	for (size_t j = 0; r == 0 && j < book->profile.node_count; j++)
		if (j != i)
			r = book->at[j].driver->route(&book->at[j].spec, pods.address, pods.prefix,
						      book->at[i].spec.address, false, err);
	book->connected[i] = r == 0;
	return r;
}

/* Look at all nodes, and connect those that have got a podCIDR; gives how many are Ready. */
static int connect_nodes(struct book *book, unsigned *ret_ready, struct error *err)
{
	json_auto_t *list = NULL;
	json_t *object;
	size_t at;
	int r = kube_request(book->kube, KUBE_GET, "/api/v1/nodes", NULL, REQUEST_MS, &list, err);

	*ret_ready = 0;
	json_array_foreach(json_object_get(list, "items"), at, object) {
		const char *name = json_string_value(
			json_object_get(json_object_get(object, "metadata"), "name"));
		const char *cidr = json_string_value(
			json_object_get(json_object_get(object, "spec"), "podCIDR"));
		struct node *node = name ? profile_find_node(&book->profile, name) : NULL;
		size_t i = node ? (size_t)(node - book->profile.nodes) : 0;

		if (r == 0 && node && cidr && !book->connected[i])
			r = connect_node(book, i, cidr, err);
		*ret_ready += kube_node_is_ready(object);
	}
	return r;
}

/* Whether a program on a node has ended without success; it can still be waited for. */
static bool has_failed(struct book *book, size_t i)
{
	siginfo_t end = { 0 };

	return book->processes[i].pid > 0 &&
	       waitid(P_PIDFD, (id_t)book->processes[i].pidfd, &end, WEXITED | WNOHANG | WNOWAIT) ==
		       0 &&
	       end.si_pid && (end.si_code != CLD_EXITED || end.si_status != 0);
}

/* Until COUNT nodes have a network and, if asked for, are Ready. */
static int connect_until(struct book *book, size_t count, bool all_ready, struct error *err)
{
	for (;;) {
		unsigned ready = 0;
		size_t connected = 0;
		int r = connect_nodes(book, &ready, err);

		if (r < 0)
			return r;
		for (size_t i = 0; i < book->profile.node_count; i++) {
			if (has_failed(book, i))
				return finish(book, i, "kubeadm join", err);
			connected += book->connected[i];
		}
		if (connected >= count && (!all_ready || ready >= count))
			return 0;
		if (clock_now_ms() > book->deadline)
			return error_set(err, -ETIMEDOUT, "not all nodes became ready");
		clock_rest_ms(POLL_MS);
	}
}

static int open_kube(struct book *book, struct error *err)
{
	/* From now on every node gets a CNI when its files are written. */
	setting_set_word(&book->profile.cni, "auto");
	return node_open_kube(&book->profile, &book->profile.nodes[0], "kubernetes/admin.conf",
			      &book->kube, err);
}

static int join_workers(struct book *book, struct error *err)
{
	int r = read_hash(book, err);

	for (size_t i = 1; r == 0 && i < book->profile.node_count; i++)
		r = begin_join(book, i, err);
	/* An agent of the network would be on a worker as soon as that has joined. */
	if (r == 0)
		r = connect_until(book, book->profile.node_count, false, err);
	for (size_t i = 1; r == 0 && i < book->profile.node_count; i++)
		r = finish(book, i, "kubeadm join", err);
	return r;
}

static int make(struct book *book, const char *name, unsigned nodes, struct error *err)
{
	static const struct {
		const char *words;
		int (*run)(struct book *book, struct error *err);
	} steps[] = {
		{ "Starting nodes", start_nodes },       { "Importing images", import_images },
		{ "Running kubeadm init", init },        { "Opening the API", open_kube },
		{ "Joining the workers", join_workers },
	};
	int r;

	book->deadline = clock_now_ms() + LIMIT_MS;
	book->step_begun = clock_now_ms();
	book->token = kubeadm_new_token();
	r = plan(book, name, nodes, err);
	if (r == 0)
		say_step(book, "Making the network");
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(steps); i++) {
		r = steps[i].run(book, err);
		if (r == 0)
			say_step(book, steps[i].words);
	}
	if (r == 0)
		r = connect_until(book, book->profile.node_count, true, err);
	if (r == 0)
		say_step(book, "Waiting for nodes");
	return r;
}

int main(int argc, char **argv)
{
	cleanup_with(release_book) struct book book = { .profile = PROFILE_INIT };
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	unsigned long long nodes = 0;
	int r;

	if (argc != 3) {
		fprintf(stderr, "by-the-book: say PROFILE and NODES\n");
		return EXIT_FAILURE;
	}
	r = parse_number(argv[2], 1, 20, &nodes, &err);
	if (r == 0)
		r = make(&book, argv[1], (unsigned)nodes, &err);
	if (r < 0) {
		fprintf(stderr, "by-the-book: %s\n", err.text);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
