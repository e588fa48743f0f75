/* The cluster in the user's kubeconfig. */

#include "kubeconfig/context.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/user.h"
#include "kubeconfig/kubeconfig.h"

#define PEM_LIMIT (1 << 20)

char *context_server(const struct profile *profile)
{
	return xasprintf("https://127.0.0.1:%u", profile->api_port);
}

/* Write PEM to the file NAME in the profile's directory, readable for root and the user. */
static int put_pem(const struct profile *profile, const char *name, const char *pem,
		   char **ret_path, struct error *err)
{
	cleanup_free char *path = xasprintf("%s/%s", profile->dir, name);
	cleanup_with(strbuf_release) struct strbuf old = STRBUF_INIT;
	int r = file_read(path, PEM_LIMIT, &old, NULL);

	if (r < 0 || strcmp(old.text, pem) != 0) {
		r = file_put(path, pem, strlen(pem), 0600, err);
		if (r == 0)
			r = user_may_read(path, err);
		if (r < 0)
			return error_reason(err, r, &reason_host_config);
	}
	*ret_path = take_ptr(path);
	return 0;
}

static int put_context(const struct profile *profile, const struct kube *admin,
		       enum kubeconfig_flags flags, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_free char *server = context_server(profile);
	cleanup_free char *kubeconfig = NULL;
	cleanup_free char *ca = NULL;
	cleanup_free char *cert = NULL;
	cleanup_free char *key = NULL;
	struct kubeconfig_entry entry = { profile->name,    server,          kube_ca(admin),
					  kube_cert(admin), kube_key(admin), flags };
	int r = kubeconfig_path(&kubeconfig, err);

	if (r == 0 && !profile->embed_certs) {
		r = put_pem(profile, "ca.crt", kube_ca(admin), &ca, err);
		if (r == 0)
			r = put_pem(profile, "client.crt", kube_cert(admin), &cert, err);
		if (r == 0)
			r = put_pem(profile, "client.key", kube_key(admin), &key, err);
		entry.ca = ca;
		entry.cert = cert;
		entry.key = key;
		entry.flags |= KUBECONFIG_BY_PATH;
	}
	if (r == 0)
		r = user_enter(&rights, err);
	return r < 0 ? r : kubeconfig_merge(kubeconfig, &entry, err);
}

int context_check(struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_free char *path = NULL;
	int r = kubeconfig_path(&path, err);

	if (r == 0)
		r = user_enter(&rights, err);
	return r < 0 ? r : kubeconfig_check(path, err);
}

int context_put(const struct profile *profile, const struct kube *admin, struct error *err)
{
	return put_context(profile, admin, profile->keep_context ? KUBECONFIG_KEEP_CURRENT : 0,
			   err);
}

/* Whether a start has ever finished.  Before that, the cluster has no kubeconfig of its own. */
static bool was_started(const struct profile *profile)
{
	const struct node *primary = profile_primary(profile);

	return primary && primary->phase == NODE_JOINED;
}

int context_open(const struct profile *profile, struct kube **ret_admin, struct error *err)
{
	cleanup_free char *own = xasprintf("%s/kubeconfig", profile->dir);
	int r = kube_open(own, ret_admin, err);

	if (r == 0)
		return 0;
	if (r == -EACCES)
		return error_reason(err, r, &reason_host_config);
	if (r == -ENOENT && !was_started(profile)) {
		error_because(err, &reason_api_not_running, r,
			      "cluster '%s' was never started completely", profile->name);
		return error_hint(err, r, "'manykube start' continues");
	}
	if (r == -ENOENT)
		error_because(err, &reason_host_config, r,
			      "the kubeconfig of cluster '%s' is missing: '%s'", profile->name,
			      own);
	else
		error_prefix(err, error_reason(err, r, &reason_host_config),
			     "the kubeconfig of cluster '%s' is damaged", profile->name);
	return error_hint(err, r, "'manykube start' writes it again");
}

int context_update(const struct profile *profile, struct error *err)
{
	cleanup_with(kube_freep) struct kube *admin = NULL;
	int r = context_open(profile, &admin, err);

	return r < 0 ? r : put_context(profile, admin, 0, err);
}

int context_choose(const struct profile *profile, struct error *err)
{
	cleanup_free char *server = context_server(profile);
	cleanup_free char *kubeconfig = NULL;
	cleanup_free char *current = NULL;
	int r = kubeconfig_path(&kubeconfig, err);

	if (r < 0)
		return r;
	current = kubeconfig_current(kubeconfig);
	if (current && strcmp(current, profile->name) == 0)
		return 1;
	if (profile->keep_context ||
	    kubeconfig_points_at(kubeconfig, profile->name, server) == KUBECONFIG_NONEXISTENT)
		return 0;
	r = context_update(profile, err);
	return r < 0 ? r : 1;
}

int context_remove(const char *name, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_with(strlist_release) struct strlist files = STRLIST_INIT;
	int r = kubeconfig_paths(&files, err);

	if (r == 0)
		r = user_enter(&rights, err);
	if (r < 0)
		return r;
	/* Only the first file is written to, but the user may have moved the entries to another
	 * one. */
	for (size_t i = 1; i < files.count; i++) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		if (kubeconfig_remove(files.items[i], name, &why) < 0)
			log_warning("%s", why.text);
	}
	return kubeconfig_remove(files.items[0], name, err);
}
