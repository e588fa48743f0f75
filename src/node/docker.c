/* The Docker daemon of a node. */

#include "node/docker.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/kube.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "base/user.h"
#include "data/inet.h"
#include "data/pki.h"
#include "driver/driver.h"
#include "node/cluster-node.h"
#include "node/http-proxy.h"
#include "node/import-images.h"
#include "node/node-files.h"
#include "node/registries.h"
#include "record/ports.h"
#include "record/spec.h"

#define PEM_LIMIT (1 << 16)
#define ASK_MS    5000

#define AUTHORITY_DAYS 3650
#define CLIENT_DAYS    365

#define NODE_DOCKERD     "/etc/manykube/dockerd"
#define NODE_DOCKERD_ENV "/etc/manykube/docker/environment"
#define NODE_PEM         "/etc/manykube/docker"
#define NODE_KEEPER      "/etc/manykube/keep-images"
#define NODE_IMAGES      "/etc/manykube/images"

#define ORGANIZATION "manykube"

char *docker_client_dir(const struct profile *profile)
{
	return xasprintf("%s/docker", profile->dir);
}

static int read_pem(const struct profile *profile, const char *name, struct strbuf *ret,
		    struct error *err)
{
	cleanup_free char *dir = docker_client_dir(profile);
	cleanup_free char *path = xasprintf("%s/%s", dir, name);

	return file_read(path, PEM_LIMIT, ret, err);
}

/* Write the LEN bytes at PEM to the file NAME; FOR_USER: the user can read it, too. */
static int put_pem(const struct profile *profile, const char *name, const char *pem, size_t len,
		   bool for_user, struct error *err)
{
	cleanup_free char *dir = docker_client_dir(profile);
	cleanup_free char *path = xasprintf("%s/%s", dir, name);
	int r = file_put(path, pem, len, 0600, err);

	if (r == 0 && for_user)
		r = user_may_read(path, err);
	return r < 0 ? error_reason(err, r, &reason_host_config) : 0;
}

/* Whether the certificate in the file NAME is valid for long enough. */
static bool is_current(const struct profile *profile, const char *name)
{
	cleanup_with(strbuf_release) struct strbuf pem = STRBUF_INIT;
	struct pki_times times;

	return read_pem(profile, name, &pem, NULL) == 0 &&
	       pki_read_times(pem.text, &times, NULL) == 0 &&
	       !pki_is_ending(&times, clock_wall_seconds());
}

static int make_authority(const struct profile *profile, struct error *err)
{
	cleanup_free char *name = xasprintf("Docker of %s", profile->name);
	cleanup_free char *pem = NULL;
	int r = pki_make_authority(name, ORGANIZATION, AUTHORITY_DAYS, &pem, err);

	return r < 0 ? r : put_pem(profile, "authority.pem", pem, strlen(pem), false, err);
}

/* The certificate without its key is what clients get.  A client that another authority signed is
 * made anew, so the certificate of the authority is written last. */
static int sign_client(const struct profile *profile, const char *authority, struct error *err)
{
	cleanup_free char *pem = NULL;
	const char *key = pki_find_key(authority);
	int r = pki_sign_client(authority, authority, "docker", ORGANIZATION, CLIENT_DAYS, &pem,
				err);

	if (r < 0)
		return r;
	if (!key || !pki_find_key(pem))
		return error_set(err, -EBADMSG, "the authority for Docker is damaged");
	r = put_pem(profile, "key.pem", pki_find_key(pem), strlen(pki_find_key(pem)), true, err);
	if (r == 0)
		r = put_pem(profile, "cert.pem", pem, (size_t)(pki_find_key(pem) - pem), true, err);
	if (r == 0)
		r = put_pem(profile, "ca.pem", authority, (size_t)(key - authority), true, err);
	return r;
}

/* Whether the client's certificates are those of AUTHORITY. */
static bool has_client(const struct profile *profile, const char *authority)
{
	cleanup_with(strbuf_release) struct strbuf ca = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf key = STRBUF_INIT;

	return is_current(profile, "cert.pem") && read_pem(profile, "ca.pem", &ca, NULL) == 0 &&
	       read_pem(profile, "key.pem", &key, NULL) == 0 && ca.len > 0 &&
	       strncmp(authority, ca.text, ca.len) == 0;
}

int docker_make_client(const struct profile *profile, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf authority = STRBUF_INIT;
	cleanup_free char *dir = docker_client_dir(profile);
	int r = file_make_dirs(dir, 0700, err);

	if (r == 0)
		r = user_may_read(dir, err);
	if (r == 0 && !is_current(profile, "authority.pem"))
		r = make_authority(profile, err);
	if (r == 0)
		r = read_pem(profile, "authority.pem", &authority, err);
	if (r < 0 || has_client(profile, authority.text))
		return r;
	return sign_client(profile, authority.text, err);
}

int docker_share_program(const struct profile *profile, const char *path, struct error *err)
{
	cleanup_free char *dir = xasprintf("%s/shared/bin", profile->dir);
	cleanup_free char *to = xasprintf("%s/dockerd", dir);
	cleanup_free char *fresh = xasprintf("%s.new", to);
	struct stat from_st;
	struct stat to_st;
	int r = file_make_dirs(dir, 0755, err);

	if (r < 0)
		return r;
	if (stat(path, &from_st) < 0)
		return error_sys(err, "cannot examine '%s'", path);
	if (stat(to, &to_st) == 0 &&
	    ((to_st.st_dev == from_st.st_dev && to_st.st_ino == from_st.st_ino) ||
	     (to_st.st_size == from_st.st_size && to_st.st_mtime >= from_st.st_mtime)))
		return 0;
	(void)unlink(fresh);
	if (link(path, fresh) < 0) {
		r = file_copy(path, fresh, err);
		if (r == 0 && chmod(fresh, 0755) < 0)
			r = error_sys(err, "cannot change '%s'", fresh);
	}
	if (r == 0 && rename(fresh, to) < 0)
		r = error_sys(err, "cannot rename to '%s'", to);
	return r;
}

/* The address of the bridge for containers, which must not be in a network of the cluster; for the
 * caller to free. */
static char *choose_bridge(const struct profile *profile)
{
	static const char *const candidates[] = { "172.31.250.0/24", "172.30.250.0/24",
						  "192.168.250.0/24", "10.250.250.0/24" };
	const char *const taken[] = { profile->subnet, profile->pod_subnet,
				      profile->service_subnet };
	struct in_addr first = { 0 };
	struct subnet subnet = { .prefix = 24 };
	cleanup_free char *text = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		bool is_free = inet_parse_subnet(candidates[i], &subnet, NULL) == 0;

		for (size_t j = 0; j < ARRAY_SIZE(taken); j++) {
			struct subnet other;

			is_free &= !taken[j] || inet_parse_subnet(taken[j], &other, NULL) < 0 ||
				   !inet_overlap(&subnet, &other);
		}
		if (is_free)
			break;
	}
	(void)inet_nth_address(&subnet, 1, &first, NULL);
	text = inet_print_address(first);
	return xasprintf("%s/%u", text, subnet.prefix);
}

/* Add what the settings say of registries.  The daemon has mirrors only of docker.io, and
 * refuses those with a path. */
static void add_registries(const struct profile *profile, struct strlist *arguments)
{
	const char *word;

	strlist_for_each(word, &profile->insecure_registries)
		strlist_addf(arguments, "--insecure-registry=%s", word);
	strlist_for_each(word, &profile->registry_mirrors) {
		cleanup_with(spec_release_pair) struct pair_spec mirror = PAIR_SPEC_INIT;

		if (spec_parse_mirror(word, &mirror, NULL) == 0 &&
		    strcmp(mirror.key, "docker.io") == 0 &&
		    !strchr(strstr(mirror.value, "://") + 3, '/'))
			strlist_addf(arguments, "--registry-mirror=%s", mirror.value);
	}
}

char *docker_arguments(const struct profile *profile, const struct node *node)
{
	static const char fixed[] =
#include "dockerd.args.inc"
		;
	cleanup_free char *bridge = choose_bridge(profile);
	cleanup_free char *port = xasprintf("%d", DOCKER_PORT);
	const struct strbuf_value values[] = {
		{ "ADDRESS", node->address }, { "PORT", port }, { "BRIDGE", bridge }, { NULL }
	};
	cleanup_with(strbuf_release) struct strbuf lines = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist used = STRLIST_INIT;
	cleanup_with(registries_release) struct profile told = PROFILE_INIT;
	const char *word;

	registries_of_node(profile, node, &told);
	strbuf_add_filled(&lines, fixed, values);
	strlist_split(&words, lines.text, '\n');
	strlist_for_each(word, &words)
		if (*word)
			strlist_add(&used, word);
	add_registries(&told, &used);
	/* The last one of a single-valued option counts. */
	strlist_for_each(word, &node->docker_opt)
		strlist_addf(&used, "--%s", word);
	return strlist_join(&used, " ");
}

/* Sign a certificate for NODE and write it there, with its key. */
static int write_certificates(const struct profile *profile, const struct node *node,
			      struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf authority = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf ca = STRBUF_INIT;
	cleanup_free char *pem = NULL;
	int r = docker_make_client(profile, err);

	if (r == 0)
		r = read_pem(profile, "authority.pem", &authority, err);
	if (r == 0)
		r = read_pem(profile, "ca.pem", &ca, err);
	if (r == 0)
		r = pki_sign_server(authority.text, authority.text, node->address, ORGANIZATION,
				    AUTHORITY_DAYS, &pem, err);
	if (r == 0)
		r = node_make_directory(profile, node, NODE_PEM, 0700, err);
	if (r == 0)
		r = node_put(profile, node, NODE_PEM "/ca.pem", ca.text, 0600, err);
	/* dockerd reads both parts from one file. */
	return r < 0 ? r : node_put(profile, node, NODE_PEM "/server.pem", pem, 0600, err);
}

static int write_environment(const struct profile *profile, const struct node *node,
			     struct error *err)
{
	cleanup_with(strlist_release) struct strlist variables = STRLIST_INIT;
	cleanup_free char *lines = NULL;
	cleanup_free char *text = NULL;

	http_proxy_environment(profile, &node->docker_env, &variables);
	lines = strlist_join(&variables, "\n");
	text = xasprintf("%s\n", lines);
	return node_put(profile, node, NODE_DOCKERD_ENV, text, 0600, err);
}

char *docker_kept_images(const struct node *node, const struct payload *payload, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist ids = STRLIST_INIT;
	struct strbuf text = STRBUF_INIT;

	if (payload_image_ids(payload, &names, &ids, err) < 0)
		return NULL;
	for (size_t i = 0; i < names.count; i++)
		if (images_are_for(node, names.items[i]))
			strbuf_addf(&text, "%s %s\n", names.items[i], ids.items[i]);
	return strbuf_take(&text);
}

/* Write the service that adds Kubernetes' own images again, and what they are. */
static int write_keeper(const struct profile *profile, const struct node *node,
			const struct payload *payload, struct error *err)
{
	static const char script[] =
#include "keep-images.sh.inc"
		;
	cleanup_free char *text = docker_kept_images(node, payload, err);
	int r = text ? node_put(profile, node, NODE_IMAGES, text, 0644, err) : -EBADMSG;

	return r < 0 ? r : node_put(profile, node, NODE_KEEPER, script, 0755, err);
}

int docker_write_files(const struct profile *profile, const struct node *node,
		       const struct payload *payload, struct error *err)
{
	cleanup_free char *arguments = NULL;
	cleanup_free char *text = NULL;
	int r;

	if (!node->docker) {
		if (node_has(profile, node, NODE_DOCKERD))
			node_unlink(profile, node, NODE_DOCKERD);
		if (node_has(profile, node, NODE_KEEPER))
			node_unlink(profile, node, NODE_KEEPER);
		return 0;
	}
	arguments = docker_arguments(profile, node);
	text = xasprintf("DOCKERD_ARGS=\"%s\"\n", arguments);
	r = write_certificates(profile, node, err);
	if (r == 0)
		r = write_environment(profile, node, err);
	if (r == 0)
		r = write_keeper(profile, node, payload, err);
	/* The agent starts the daemon when this file exists. */
	return r < 0 ? r : node_put(profile, node, NODE_DOCKERD, text, 0644, err);
}

int docker_update_files(const struct profile *profile, const struct node *node,
			const struct payload *payload, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf before = STRBUF_INIT;
	cleanup_free char *arguments = node->docker ? docker_arguments(profile, node) : NULL;
	bool had = node->docker && node_read(profile, node, NODE_DOCKERD, &before, NULL) == 0;
	int r = docker_write_files(profile, node, payload, err);

	if (r == 0 && had && !strstr(before.text, arguments) &&
	    cluster_node_state(profile, node) == NODE_RUNNING)
		r = docker_end(profile, node, err);
	return r;
}

int docker_end(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	int r = cluster_node_open(profile, node, &at, err);

	if (r < 0)
		return r;
	(void)at.driver->signal(&at.spec, "keep-images", SIGTERM);
	(void)at.driver->signal(&at.spec, "dockerd", SIGTERM);
	return 0;
}

int docker_read_client(const struct profile *profile, struct strbuf *ca, struct strbuf *cert,
		       struct strbuf *key, struct error *err)
{
	int r = read_pem(profile, "ca.pem", ca, err);

	if (r == 0)
		r = read_pem(profile, "cert.pem", cert, err);
	return r < 0 ? r : read_pem(profile, "key.pem", key, err);
}

int docker_ask(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(kube_freep) struct kube *client = NULL;
	cleanup_with(strbuf_release) struct strbuf ca = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf cert = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf key = STRBUF_INIT;
	cleanup_free char *server = xasprintf("https://%s:%d", node->address, DOCKER_PORT);
	json_auto_t *answer = NULL;
	int r = docker_read_client(profile, &ca, &cert, &key, err);

	if (r == 0)
		r = kube_new(server, ca.text, cert.text, key.text, &client, err);
	return r < 0 ? r : kube_request(client, KUBE_GET, "/version", NULL, ASK_MS, &answer, err);
}
