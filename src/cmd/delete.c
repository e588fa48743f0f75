/* `delete`: remove a cluster and everything created for it. */

#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cluster/cluster.h"
#include "cmd/command.h"
#include "cmd/every.h"
#include "cmd/interrupt.h"
#include "data/settings.h"
#include "home/purge.h"
#include "kubeconfig/context.h"
#include "kubeconfig/kubeconfig.h"

static struct {
	bool all;
	bool purge;
	const char *output;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_FLAG(0, "all", &arg.all, "delete all clusters"),
	OPT_FLAG(
		0, "purge", &arg.purge,
		"also remove your settings and, if no other user has a cluster, all Kubernetes versions"),
	OPT_EVENTS(&arg.output),
	OPT_END,
};

static bool is_there(const char *name)
{
	cleanup_free char *dir = NULL;

	return profile_dir(name, &dir, NULL) == 0 && file_exists(dir);
}

static void forget_active(const char *name)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	if (profile_forget_active(name, &why) < 0)
		log_warning("%s", why.text);
}

/* Whether the current context of kubectl is the one of the cluster NAME. */
static bool is_current(const char *name)
{
	cleanup_free char *kubeconfig = NULL;
	cleanup_free char *current = NULL;

	if (kubeconfig_path(&kubeconfig, NULL) == 0)
		current = kubeconfig_current(kubeconfig);
	return current && strcmp(current, name) == 0;
}

/* After the cluster that kubectl used is gone: have it use the active one, as `profile NAME` would,
 * if there is one. */
static void choose_active(bool quiet)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;
	const char *name;
	int r;

	if (settings_load(&settings, NULL) < 0)
		return;
	name = settings_get(&settings, SETTING_PROFILE) ?: PROFILE_DEFAULT_NAME;
	if (profile_load(name, &profile, NULL) < 0)
		return;
	r = context_choose(&profile, &why);
	if (r < 0)
		log_warning("%s", why.text);
	else if (r > 0 && !quiet)
		say_done("kubectl now uses the active cluster, \"%s\".", name);
}

static int delete_locked(const char *name, bool quiet, struct error *err)
{
	cleanup_with(progress_freep) struct progress *progress = progress_new(quiet, log_verbosity);
	bool was_there = is_there(name);
	bool was_current = is_current(name);
	int r;

	/* The name may be mistyped; but remains of a cluster whose record is lost are removed
	 * anyway. */
	if (!was_there)
		log_warning("no cluster '%s' found; removing any remains of it", name);
	r = cluster_delete(name, progress_observer(progress), err);
	progress_free(take_ptr(progress));
	if (r < 0)
		return r;
	forget_active(name);
	if (!quiet)
		say_done("%s of the \"%s\" cluster.",
			 was_there ? "Removed all traces" : "Nothing is left", name);
	if (was_current && !arg.all)
		choose_active(quiet);
	return 0;
}

static int delete_one(const char *name, bool quiet, struct error *err)
{
	cleanup_fd int lock = -1;
	int r;

	interrupt_explain("run the same command again to remove the rest");
	r = profile_lock(name, "manykube delete", &lock, err);
	if (r < 0)
		return r;
	r = delete_locked(name, quiet, err);
	profile_remove_lock(name);
	return r;
}

/* A purge must not remove files that other clusters need. */
static int check_purge(const struct strlist *names, const char *deleted, struct error *err)
{
	const char *name;

	strlist_for_each(name, names) {
		if (arg.all || strcmp(name, deleted) == 0)
			continue;
		error_because(err, &reason_usage, -EINVAL,
			      "--purge would remove files that cluster '%s' needs", name);
		return error_hint(err, -EINVAL, "use --all --purge to delete all clusters, too");
	}
	return purge_check(err);
}

static int purge_home(bool quiet, struct error *err)
{
	cleanup_free char *home = NULL;
	int r = path_state(&home, err);

	if (r == 0)
		r = purge(err);
	if (r == 0 && !quiet && !file_exists(home))
		say_done("Successfully purged manykube directory located at %s", home);
	return r;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	bool quiet = ctx->quiet && !events_on_stdout();
	int r = profile_list_dirs(&names, err);

	if (r == 0 && arg.purge)
		r = check_purge(&names, ctx->profile_name, err);
	if (r < 0)
		return r;
	if (arg.all && names.count == 0 && !quiet)
		say_done("There is no cluster to delete.");
	if (arg.all)
		r = every_cluster(&names, "deleted", delete_one, quiet, err);
	else if (!arg.purge || is_there(ctx->profile_name))
		r = delete_one(ctx->profile_name, quiet, err);
	return r == 0 && arg.purge ? purge_home(quiet, err) : r;
}

const struct command cmd_delete = {
	.name = "delete",
	.elsewhere = "destroy|down|remove|rm",
	.summary = "remove a cluster, its nodes and all their data",
	.description = "Works in any state: running, stopped, incomplete or damaged. Parts that "
		       "are already gone are not an error. The cache of Kubernetes versions is "
		       "kept unless --purge is given and no other user has a cluster. With "
		       "several clusters, --purge requires --all. If kubectl used the cluster, it "
		       "uses the active one ('manykube profile') from now on, or none if that does "
		       "not exist.",
	.examples = "manykube delete\n"
		    "manykube delete -p dev\n"
		    "manykube delete --all --purge\n",
	/* It locks the clusters that it deletes by itself; they need not be the cluster of -p. */
	.flags = COMMAND_NEEDS_ROOT | COMMAND_AUDITED,
	.options = options,
	.events = &arg.output,
	.run = run,
};
