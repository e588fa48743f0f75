/* `kubectl`: run the cluster's own kubectl against the cluster. */

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/path.h"
#include "base/user.h"
#include "cmd/command.h"
#include "kubeadm/members.h"
#include "kubeconfig/context.h"
#include "network/front-door.h"
#include "payload/payload.h"
#include "record/world.h"

static int find_kubectl(const struct profile *profile, char **ret_path, struct error *err)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	const char *version = profile->kubernetes_version ? profile->kubernetes_version : "";
	int r = payload_open(version, &payload, err);

	if (r == -ENOENT) {
		error_because(err, &reason_download, r,
			      "the kubectl of Kubernetes %s is not in the cache", version);
		return error_hint(
			err, r,
			"'manykube start --download-only --kubernetes-version=%s' fetches it again",
			version);
	}
	if (r < 0)
		return r;
	*ret_path = xasprintf("%s/bin/kubectl", payload.dir);
	return 0;
}

/* Whether the user who called sudo can read PATH, so that root is not needed. */
static bool user_can_read(const char *path)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_fd int fd = -1;

	if (user_enter(&rights, NULL) < 0)
		return false;
	fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	return fd >= 0;
}

/*
 * kubectl takes preferences from HOME, writes its cache there and follows links, so root must not
 * run it with another user's home: under sudo it gets the rights and the home of the caller or,
 * where only root can read KUBECONFIG, those of root.
 */
static int settle_rights(const char *kubeconfig, struct error *err)
{
	cleanup_with(user_release) struct user user = USER_INIT;
	cleanup_free char *home = NULL;
	const struct passwd *root;
	int r;

	user_find(&user);
	if (!user.is_other)
		return 0;
	if (!user_can_read(kubeconfig)) {
		root = getpwuid(geteuid());
		r = setenv("HOME", root ? root->pw_dir : "/", 1);
		return r < 0 ? error_sys(err, "cannot set HOME") : 0;
	}
	r = path_home(&home, err);
	if (r < 0)
		return r;
	if (setenv("HOME", home, 1) < 0 || user_become(&user) < 0)
		return error_sys(err, "cannot act as the user %d", (int)user.uid);
	return 0;
}

static int run(struct command_context *ctx, struct error *err)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	cleanup_free char *kubeconfig = xasprintf("%s/kubeconfig", ctx->profile->dir);
	cleanup_free char *kubectl = NULL;
	cleanup_with(kube_freep) struct kube *admin = NULL;
	int r;

	r = context_open(ctx->profile, &admin, err);
	if (r == 0)
		r = cluster_open_front_door(ctx->profile, err);
	/* Only now: other programs use the front door, too. */
	if (r == 0)
		r = find_kubectl(ctx->profile, &kubectl, err);
	/* kubectl would wait for minutes. */
	if (r == 0)
		r = cluster_need_awake(ctx->profile, err);
	if (r < 0)
		return r;
	/* kubectl would only say that something timed out. */
	if (geteuid() == 0 && world->front_door_hangs(ctx->profile))
		log_warning("the front door of cluster '%s' does not answer; 'manykube start' "
			    "repairs it",
			    ctx->profile_name);
	if (setenv("KUBECONFIG", kubeconfig, 1) < 0)
		return error_sys(err, "cannot set KUBECONFIG");
	r = settle_rights(kubeconfig, err);
	if (r < 0)
		return r;
	strlist_add(&argv, "kubectl");
	strlist_add_all(&argv, ctx->argv);

	/* Ignored signals stay ignored after exec; kubectl must end when its reader does. */
	(void)signal(SIGPIPE, SIG_DFL);
	execv(kubectl, argv.items);
	return error_sys(err, "cannot run '%s'", kubectl);
}

const struct command cmd_kubectl = {
	.name = "kubectl",
	.operands = "[--] [ARGUMENT]...",
	.summary = "run the cluster's own version of kubectl",
	.description =
		"Runs kubectl of the cluster's Kubernetes version with the cluster's kubeconfig. "
		"The arguments and the exit status are kubectl's. Under sudo, kubectl runs with "
		"your rights, not root's. Put -- before arguments that start with a dash. If "
		"manykube is called through a link named kubectl, it runs this command.",
	.flags = COMMAND_NEEDS_CLUSTER | COMMAND_PASSES_REST | COMMAND_KEEPS_FILES |
		 COMMAND_FOREIGN_OPTIONS,
	.examples = "manykube kubectl get pods -A\n"
		    "manykube kubectl -p dev -- --namespace kube-system get pods\n"
		    "ln -s \"$(command -v manykube)\" ~/bin/kubectl\n",
	.run = run,
};
