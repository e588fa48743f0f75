/* Registering a cluster of minikube: its networks and nodes, without starting anything. */

#include "plan/register.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "describe/import-fields.h"
#include "plan/plan.h"
#include "record/limits.h"
#include "record/options.h"
#include "record/spec.h"
#include "record/world.h"

static void keep_existing_mounts(struct import *import)
{
	struct strlist kept = STRLIST_INIT;
	const char *word;

	strlist_for_each(word, &import->options.mounts) {
		cleanup_with(spec_release_mount) struct node_mount mount = { NULL };

		if (spec_parse_mount(word, &mount, NULL) == 0 && file_exists(mount.host))
			strlist_add(&kept, word);
		else
			strlist_addf(&import->warnings,
				     "the mount '%s' is left out: this host has no such file or "
				     "directory",
				     word);
	}
	strlist_release(&import->options.mounts);
	import->options.mounts = kept;
}

static int plan_cluster(struct import *import, const char *name, struct plan *ret,
			struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r;

	if (import->options.pod_subnet && plan_profile(name, &import->options, ret, &why) == 0)
		return 0;
	/* The network may be in use meanwhile, most likely by minikube itself. */
	if (why.reason == &reason_subnet_taken) {
		strlist_addf(&import->warnings, "%s; another one is used", why.text);
		import->options.pod_subnet = NULL;
	}
	r = plan_profile(name, &import->options, ret, err);
	if (r < 0 && err && err->reason == &reason_port_taken)
		(void)error_hint(
			err, r,
			"stop the program that uses the port: perhaps the minikube cluster, "
			"with 'minikube stop'");
	return r;
}

/* The plan has one node: set its name, and add the others. */
static int plan_nodes(struct import *import, struct profile *profile, struct error *err)
{
	int r = 0;

	setting_set_word(&profile->nodes[0].name, import->nodes[0].name);
	if (!import->nodes[0].worker && profile->nodes[0].worker) {
		profile->nodes[0].worker = false;
		strlist_add(&profile->nodes[0].taints, CONTROL_PLANE_TAINT);
	}
	for (size_t i = 1; r == 0 && i < import->node_count; i++) {
		const struct import_node *had = &import->nodes[i];
		struct node_options options = { .name = had->name,
						.kubernetes_version = had->version,
						.control_plane = had->control_plane,
						.no_schedule = !had->worker };
		struct node *node;

		r = plan_node(profile, &options, &node, err);
	}
	return r;
}

static void compare_addresses(struct import *import, const struct profile *profile)
{
	cleanup_with(strlist_release) struct strlist changed = STRLIST_INIT;
	cleanup_free char *text = NULL;

	for (size_t i = 0; i < import->node_count; i++) {
		const char *had = import->nodes[i].address;
		json_auto_t *value = had ? json_string(had) : NULL;
		cleanup_free char *shown = value ? import_show(value) : NULL;

		if (had && strcmp(had, profile->nodes[i].address) != 0)
			strlist_addf(&changed, "%s %s instead of %s", profile->nodes[i].name,
				     profile->nodes[i].address, shown);
	}
	text = strlist_join(&changed, ", ");
	if (changed.count)
		strlist_addf(&import->warnings, "nodes have new addresses: %s", text);
}

static int check_is_new(const char *name, struct error *err)
{
	cleanup_free char *dir = NULL;
	int r = profile_dir(name, &dir, err);

	if (r < 0 || !file_exists(dir))
		return r;
	(void)error_because(err, &reason_usage, -EEXIST, "cluster '%s' already exists", name);
	return error_hint(err, -EEXIST, "import it under another name with -p NAME");
}

int import_register(struct import *import, const char *name, struct profile *ret, struct error *err)
{
	cleanup_with(plan_release) struct plan plan = PLAN_INIT;
	cleanup_fd int lock = -1;
	int r = check_is_new(name, err);

	if (r < 0)
		return r;
	keep_existing_mounts(import);
	r = world->network_lock(&lock, err);
	if (r == 0)
		r = plan_cluster(import, name, &plan, err);
	if (r == 0)
		r = plan_nodes(import, &plan.profile, err);
	if (r == 0)
		r = profile_save(&plan.profile, err);
	if (r < 0)
		return r;
	compare_addresses(import, &plan.profile);
	*ret = plan.profile;
	plan.profile = PROFILE_INIT;
	return 0;
}
