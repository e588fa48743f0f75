/*
 * Checks that the programs of Kubernetes accept their arguments and configuration.
 *
 * The programs of a control plane parse all arguments and feature gates before they handle
 * --version, and then exit.  A kubelet does not.  So it is told to watch a lock file without being
 * given one: it reports that error once it has parsed and checked everything else.
 */

#include "kubeadm/arguments.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "kubeadm/kubeadm.h"
#include "node/cluster-node.h"
#include "node/trouble.h"

/* A user id that neither a node nor a user has. */
#define CHECK_UID    0xfffbffffu
#define CHECK_MS     20000
#define OUTPUT_BYTES (1 << 20)

/* How a kubelet's errors about its arguments and configuration begin.  Other errors are ignored:
 * they may occur because it does not run in its node. */
static const char *const complaints[] = {
	"failed to parse kubelet flag: ",
	"failed to set feature gates from initial flags-based config: ",
	"failed to validate kubelet flags: ",
	"failed to validate kubelet configuration, error: ",
	"panic: ",
	"failed to merge global and in-flight KubeletConfiguration while setting defaults, error: ",
	NULL,
};

/* Run the program with descriptor FD and ARGV; RET_WORDS gets its last line, NULL if there is none
 * or if the program took too long. */
static int run_program(int fd, char *const *argv, const char *input, char **ret_words,
		       struct error *err)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_fd int in = memfd_create("configuration", MFD_CLOEXEC);
	cleanup_fd int out = memfd_create("output", MFD_CLOEXEC);
	const struct process_options options = { .stdin_fd = in,
						 .stdout_fd = out,
						 .stderr_fd = out,
						 .dir = "/",
						 .dies_with_us = true,
						 .confined_uid = CHECK_UID };
	int r;

	if (in < 0 || out < 0)
		return error_sys(err, "cannot create a file in memory");
	r = file_write_all(in, input, strlen(input));
	/* The interpreter of a script opens the descriptor again, so it must survive exec. */
	if (r < 0 || lseek(in, 0, SEEK_SET) < 0 || fcntl(fd, F_SETFD, 0) < 0)
		return error_sys(err, "cannot prepare to run '%s'", argv[0]);
	r = process_spawn(argv, &options, &process, err);
	if (r == 0)
		r = process_wait(&process, clock_now_ms() + CHECK_MS, err);
	if (r <= 0)
		return r;
	if (lseek(out, 0, SEEK_SET) < 0)
		return error_sys(err, "cannot read the output of '%s'", argv[0]);
	r = file_read_fd(out, OUTPUT_BYTES, &text, err);
	if (r == 0)
		*ret_words = trouble_last_words(text.text);
	return r;
}

/* Run the program NAME of PAYLOAD, or at PATH unless that is NULL, with ARGUMENTS (name and value
 * each), LAST and the input INPUT.  RET_WORDS gets its last line, NULL if there is none. */
static void run_with_arguments(const struct payload *payload, const char *name, const char *path,
			       const json_t *arguments, char *const *last, const char *input,
			       char **ret_words)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_fd int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	const json_t *argument;
	size_t i;

	*ret_words = NULL;
	if (!path && payload_open_program(payload, name, &fd, &why) < 0)
		log_debug("%s", why.text);
	if (fd < 0)
		return;
	/* Directories above the program may not be accessible to the user id that it runs as. */
	strlist_addf(&argv, "/proc/self/fd/%d", fd);
	json_array_foreach(arguments, i, argument) {
		strlist_addf(&argv, "--%s=%s", json_string_value(json_object_get(argument, "name")),
			     json_string_value(json_object_get(argument, "value")));
	}
	strlist_add_all(&argv, last);
	if (run_program(fd, argv.items, input, ret_words, &why) < 0)
		log_debug("cannot check the arguments of %s: %s", name, why.text);
}

/* The error in WORDS without the text around it, for the caller to free. */
static char *trim_words(const char *words)
{
	cleanup_free char *copy = xstrdup(*words == '"' ? words + 1 : words);
	const char *begin = copy;
	const char *rest = strstr(copy, ", path: &TypeMeta");
	size_t len;

	for (size_t i = 0; complaints[i]; i++)
		if (strncmp(begin, complaints[i], strlen(complaints[i])) == 0)
			begin += strlen(complaints[i]);
	if (strncmp(begin, "Error: ", 7) == 0)
		begin += 7;
	len = rest && rest > begin ? (size_t)(rest - begin) : strlen(begin);
	if (len > 0 && begin[len - 1] == '"')
		len--;
	return xstrndup(begin, len);
}

static int refuse_argument(const char *name, const char *words, struct error *err)
{
	cleanup_free char *trimmed = trim_words(words);

	(void)error_because(err, &reason_usage, -EINVAL, "%s: %s", name, trimmed);
	return error_hint(err, -EINVAL,
			  "nothing was changed; correct --feature-gates or --extra-config, or the "
			  "fields of the cluster's file, and run the command again");
}

static bool is_complaint(const char *words)
{
	words += *words == '"';
	for (size_t i = 0; complaints[i]; i++)
		if (strncmp(words, complaints[i], strlen(complaints[i])) == 0)
			return true;
	return false;
}

/* Whether the user has given arguments for COMPONENT. */
static bool has_user_arguments(const struct strlist *extra_config, const char *component)
{
	size_t len = strlen(component);
	const char *word;

	strlist_for_each(word, extra_config)
		if (strncmp(word, component, len) == 0 && word[len] == '.')
			return true;
	return false;
}

static bool has_kubelet_settings(const struct profile *profile, const struct node *node)
{
	return profile->feature_gates.count > 0 || node->feature_gates.count > 0 ||
	       node->extra_config.count > 0 || profile->kubeadm_patches.count > 0 ||
	       has_user_arguments(&profile->extra_config, "kubelet");
}

/* The kubelet at PATH and its arguments as text, to find equal ones.  node-ip, which always
 * differs, is left out. */
static char *describe_kubelet(const char *path, const json_t *arguments)
{
	struct strbuf out = STRBUF_INIT;
	const json_t *argument;
	size_t i;

	strbuf_add(&out, path ? path : "");
	json_array_foreach(arguments, i, argument) {
		const char *name = json_string_value(json_object_get(argument, "name"));

		if (strcmp(name, "node-ip") != 0)
			strbuf_addf(&out, " --%s=%s", name,
				    json_string_value(json_object_get(argument, "value")));
	}
	return strbuf_take(&out);
}

static int check_kubelet(const struct profile *profile, const struct node *node,
			 const struct payload *payload, struct strlist *checked, struct error *err)
{
	json_auto_t *arguments = kubeadm_kubelet_arguments(profile, node);
	json_auto_t *config = kubeadm_kubelet_file(profile, profile_primary(profile));
	cleanup_free char *path = cluster_node_own_kubelet(profile, node);
	cleanup_free char *description = describe_kubelet(path, arguments);
	cleanup_free char *file = json_dumps(config, 0);
	cleanup_free char *words = NULL;

	if (strlist_has(checked, description))
		return 0;
	run_with_arguments(payload, "kubelet", path, arguments,
			   ARGV("--config=/dev/stdin", "--exit-on-lock-contention"), file, &words);
	if (words && is_complaint(words))
		return refuse_argument("kubelet", words, err);
	strlist_add(checked, description);
	return 0;
}

static int check_control_plane(const struct profile *profile, const struct node *node,
			       const struct payload *payload, struct error *err)
{
	static const struct {
		const char *program;
		const char *component;
		const char *field;
	} programs[] = {
		{ "kube-apiserver", "apiserver", "apiServer" },
		{ "kube-controller-manager", "controller-manager", "controllerManager" },
		{ "kube-scheduler", "scheduler", "scheduler" },
	};
	json_auto_t *config = kubeadm_cluster_config(profile, node);

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		const json_t *part = json_object_get(config, programs[i].field);
		cleanup_free char *words = NULL;

		if (profile->feature_gates.count == 0 && profile->kubeadm_patches.count == 0 &&
		    !has_user_arguments(&profile->extra_config, programs[i].component))
			continue;
		run_with_arguments(payload, programs[i].program, NULL,
				   json_object_get(part, "extraArgs"), ARGV("--version"), "",
				   &words);
		if (words)
			return refuse_argument(programs[i].program, words, err);
	}
	return 0;
}

int arguments_check(const struct profile *profile, const struct node *node,
		    const struct payload *payload, struct strlist *checked, struct error *err)
{
	int r = 0;

	if (has_kubelet_settings(profile, node))
		r = check_kubelet(profile, node, payload, checked, err);
	if (r == 0 && node->primary)
		r = check_control_plane(profile, node, payload, err);
	return r;
}
