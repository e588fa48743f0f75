/*
 * Where containerd on a node gets images from, and how programs on a node reach the cluster's
 * registry: containerd asks the host for localhost:PORT, and the agent forwards that port to the
 * host for all other programs (agent/relay.h).
 */

#include "node/registries.h"

#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "node/cluster-node.h"
#include "record/spec.h"

/* The first line of our files; others are left alone. */
#define DIR        "/etc/containerd/certs.d"
#define MOST_NAMES 1000
#define OURS       "# Written by manykube at every start.\n"

/* The processes of the agent's service (agent/relay.h), and the file that it waits for. */
#define RELAY      "registry-relay"
#define RELAY_FILE "/etc/manykube/registry"

static void add_words(struct strlist *list, const struct strlist *words)
{
	if (words->count)
		strlist_add_all(list, words->items);
}

void registries_of_node(const struct profile *profile, const struct node *node, struct profile *ret)
{
	*ret = *profile;
	ret->insecure_registries = STRLIST_INIT;
	ret->registry_mirrors = STRLIST_INIT;
	/* The first mirror is asked first. */
	add_words(&ret->insecure_registries, &node->insecure_registries);
	add_words(&ret->insecure_registries, &profile->insecure_registries);
	add_words(&ret->registry_mirrors, &node->registry_mirrors);
	add_words(&ret->registry_mirrors, &profile->registry_mirrors);
}

void registries_release(struct profile *told)
{
	strlist_release(&told->insecure_registries);
	strlist_release(&told->registry_mirrors);
}

void registries_list(const struct profile *profile, struct strlist *ret_names)
{
	const char *word;

	if (profile->registry_port)
		strlist_addf(ret_names, "localhost:%u", profile->registry_port);
	strlist_for_each(word, &profile->insecure_registries)
		if (!strlist_has(ret_names, word))
			strlist_add(ret_names, word);
	strlist_for_each(word, &profile->registry_mirrors) {
		cleanup_with(spec_release_pair) struct pair_spec mirror = PAIR_SPEC_INIT;

		if (spec_parse_mirror(word, &mirror, NULL) == 0 &&
		    !strlist_has(ret_names, mirror.key))
			strlist_add(ret_names, mirror.key);
	}
}

/* Whether the certificate of URL's host is not verified.  Without TLS there is no certificate, and
 * containerd would try TLS if skip_verify were set. */
static bool is_insecure(const struct profile *profile, const char *url)
{
	const char *host = strstr(url, "://") + 3;
	cleanup_free char *name = xstrndup(host, strcspn(host, "/"));

	return strncmp(url, "https://", 8) == 0 && strlist_has(&profile->insecure_registries, name);
}

/* Whether NAME is the cluster's own registry. */
static bool is_own(const struct profile *profile, const char *name)
{
	cleanup_free char *own = xasprintf("localhost:%u", profile->registry_port);

	return profile->registry_port && strcmp(name, own) == 0;
}

/* A table of the host URL, unless one of the URLs TOLD is it: containerd drops a file that has a
 * table twice, and with it all mirrors. */
static void tell_host(const char *url, const char *lines, struct strlist *told, struct strbuf *out)
{
	if (strlist_has(told, url))
		return;
	strlist_add(told, url);
	strbuf_addf(out, "[host.\"%s\"]\n%s", url, lines);
}

char *registries_text(const struct profile *profile, const char *name)
{
	/* Docker's registry has another host name than its images. */
	bool is_docker = strcmp(name, "docker.io") == 0;
	cleanup_with(strlist_release) struct strlist told = STRLIST_INIT;
	struct strbuf out = STRBUF_INIT;
	const char *word;

	if (is_own(profile, name))
		return xasprintf(OURS "server = \"http://%s:%u\"\n", profile->gateway,
				 profile->registry_port);
	strbuf_addf(&out, OURS "server = \"https://%s\"\n",
		    is_docker ? "registry-1.docker.io" : name);
	strlist_for_each(word, &profile->registry_mirrors) {
		cleanup_with(spec_release_pair) struct pair_spec mirror = PAIR_SPEC_INIT;

		if (spec_parse_mirror(word, &mirror, NULL) < 0 || strcmp(mirror.key, name) != 0)
			continue;
		tell_host(
			mirror.value,
			is_insecure(profile, mirror.value)
				? "  capabilities = [\"pull\", \"resolve\"]\n  skip_verify = true\n"
				: "  capabilities = [\"pull\", \"resolve\"]\n",
			&told, &out);
	}
	/* Like Docker: TLS with any certificate, or else plain HTTP. */
	if (strlist_has(&profile->insecure_registries, name)) {
		cleanup_free char *https = xasprintf("https://%s", name);
		cleanup_free char *http = xasprintf("http://%s", name);

		tell_host(https, "  skip_verify = true\n", &told, &out);
		tell_host(http, "", &told, &out);
	}
	return strbuf_take(&out);
}

/* Remove the files of an earlier start for registries that are not in NAMES. */
static int remove_stale(const struct cluster_node *at, const struct strlist *names,
			struct error *err)
{
	const struct node_files *files = at->driver->files;
	cleanup_with(strlist_release) struct strlist there = STRLIST_INIT;
	const char *name;
	int r = 0;

	(void)files->list(&at->spec, DIR, MOST_NAMES, &there, NULL);
	strlist_for_each(name, &there) {
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
		cleanup_free char *file = xasprintf(DIR "/%s/hosts.toml", name);

		if (r < 0 || strlist_has(names, name) ||
		    files->read(&at->spec, file, 0, 65536, &text, NULL) < 0 ||
		    strncmp(text.text, OURS, strlen(OURS)) != 0)
			continue;
		/* Without the file, its directory has no effect. */
		r = files->remove(&at->spec, file, err);
	}
	return r;
}

/* Have the agent forward the registry's port, or not any more. */
static int write_relay(const struct profile *profile, const struct cluster_node *at,
		       struct error *err)
{
	const struct node_files *files = at->driver->files;
	cleanup_with(strbuf_release) struct strbuf had = STRBUF_INIT;
	cleanup_free char *text = xasprintf("RELAY_ARGS=\"%u %s\"\n", profile->registry_port,
					    profile->gateway);
	bool is_there = files->read(&at->spec, RELAY_FILE, 0, 4096, &had, NULL) == 0;
	int r;

	if (profile->registry_port ? is_there && strcmp(had.text, text) == 0 : !is_there)
		return 0;
	r = profile->registry_port
		    ? files->put(&at->spec, RELAY_FILE, text, strlen(text), 0644, err)
		    : files->remove(&at->spec, RELAY_FILE, err);
	/* The agent starts it again with the new arguments if the file exists. */
	if (r == 0 && is_there && at->driver->query(&at->spec) == NODE_RUNNING)
		(void)at->driver->signal(&at->spec, RELAY, SIGTERM);
	return r;
}

int registries_write(const struct profile *profile, const struct node *node, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(registries_release) struct profile told = PROFILE_INIT;
	const char *name;
	int r = cluster_node_open(profile, node, &at, err);

	registries_of_node(profile, node, &told);
	registries_list(&told, &names);
	if (r == 0)
		r = remove_stale(&at, &names, err);
	strlist_for_each(name, &names) {
		cleanup_free char *file = xasprintf(DIR "/%s/hosts.toml", name);
		cleanup_free char *text = registries_text(&told, name);

		if (r == 0)
			r = at.driver->files->put(&at.spec, file, text, strlen(text), 0644, err);
	}
	return r < 0 ? r : write_relay(profile, &at, err);
}
