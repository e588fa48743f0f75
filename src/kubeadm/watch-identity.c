/* The identity of the process that watches the cluster's API. */

#include "kubeadm/watch-identity.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "data/pki.h"
#include "node/node-files.h"
#include "watch/config.h"

/* The user and the group of manifests/watch-binding.yaml. */
#define USER  "manykube:watcher"
#define GROUP "manykube:watchers"
#define DAYS  365
#define MOST  65536

/* Whether the file PATH is valid for long enough, and trusts the authority CA. */
static bool is_good(const char *path, const char *ca)
{
	cleanup_with(strbuf_release) struct strbuf pem = STRBUF_INIT;
	struct pki_times times;

	return file_read(path, MOST, &pem, NULL) == 0 && strstr(pem.text, ca) &&
	       pki_read_times(pem.text, &times, NULL) == 0 &&
	       !pki_is_ending(&times, clock_wall_seconds());
}

int watch_identity_ensure(const struct profile *profile, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/" WATCH_IDENTITY, profile->dir);
	cleanup_with(strbuf_release) struct strbuf ca = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf key = STRBUF_INIT;
	const struct node *primary = profile_primary(profile);
	cleanup_free char *both = NULL;
	cleanup_free char *pem = NULL;
	int r;

	if (!primary)
		return error_set(err, -ENOENT, "the cluster has no primary control plane");
	r = node_read(profile, primary, "kubernetes/pki/ca.crt", &ca, err);
	if (r == 0 && is_good(path, ca.text))
		return 0;
	if (r == 0)
		r = node_read(profile, primary, "kubernetes/pki/ca.key", &key, err);
	if (r == 0)
		r = pki_sign_client(ca.text, key.text, USER, GROUP, DAYS, &pem, err);
	if (r < 0)
		return error_prefix(err, r, "cannot sign the watcher's certificate");
	both = xasprintf("%s%s", pem, ca.text);
	r = file_put(path, both, strlen(both), 0600, err);
	explicit_bzero(both, strlen(both));
	explicit_bzero(pem, strlen(pem));
	explicit_bzero(key.text, key.len);
	return r;
}
