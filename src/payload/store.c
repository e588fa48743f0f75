/*
 * The prepared image store: a containerd root with all images imported and unpacked, which is
 * hard-linked into nodes.
 *
 * containerd runs in its own mount namespace with a new /run, so its mounts and sockets disappear
 * with it, however it ends.
 */
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "payload/work.h"

#define START_TIMEOUT_MS 60000
#define READY_POLL_MS    50
#define STOP_TIMEOUT_MS  30000
#define SOCKET           "/run/manykube/containerd.sock"

/* A running containerd. */
struct daemon {
	struct process process;
	char *address; /* its socket, as seen from our mount namespace */
	char *ctr;
	char *log;
};

#define DAEMON_INIT ((struct daemon){ .process = PROCESS_INIT })

static void daemon_release(struct daemon *daemon)
{
	process_release(&daemon->process);
	free(daemon->address);
	free(daemon->ctr);
	free(daemon->log);
}

static char *last_line(const char *path)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	const char *line;

	if (file_read(path, 64 << 20, &text, NULL) < 0)
		return xstrdup("");
	strbuf_trim_end(&text);
	line = strrchr(text.text, '\n');
	return xstrdup(line ? line + 1 : text.text);
}

static int write_config(const char *path, const char *root, struct error *err)
{
	static const char config[] =
#include "store.toml.inc"
		;
	const struct strbuf_value values[] = { { "ROOT", root }, { "SOCKET", SOCKET }, { NULL } };
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_add_filled(&text, config, values);
	return file_put(path, text.text, text.len, 0644, err);
}

/* In the child, between fork and exec: enter a private mount namespace, and die with PARENT. */
static _Noreturn void become_daemon(char *const *argv, int log, pid_t parent, int report)
{
	sigset_t none;
	int problem;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	/* A separate process group: Ctrl-C reaches only us, and we stop containerd properly. */
	(void)setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
	    unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0 ||
	    dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
		goto failed;
	(void)execve(argv[0], argv, environ);
failed:
	problem = errno;
	(void)!write(report, &problem, sizeof(problem));
	_exit(127);
}

static int spawn_daemon(struct daemon *daemon, char *const *argv, struct error *err)
{
	cleanup_fd int log = open(daemon->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	cleanup_fd int report_read = -1;
	cleanup_fd int report_write = -1;
	pid_t parent = getpid();
	int report[2];
	int problem;

	if (log < 0)
		return error_sys(err, "cannot open '%s'", daemon->log);
	if (pipe2(report, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	report_read = report[0];
	report_write = report[1];
	daemon->process.pid = fork();
	if (daemon->process.pid < 0)
		return error_sys(err, "cannot start '%s'", argv[0]);
	if (daemon->process.pid == 0)
		become_daemon(argv, log, parent, report_write);
	(void)close(take_fd(report_write));
	if (read(report_read, &problem, sizeof(problem)) == sizeof(problem)) {
		errno = problem;
		return error_sys(err, "cannot start '%s' in a mount namespace", argv[0]);
	}
	daemon->process.pidfd = pidfd_open(daemon->process.pid, 0);
	if (daemon->process.pidfd < 0)
		return error_sys(err, "cannot watch process %d", (int)daemon->process.pid);
	daemon->address = xasprintf("/proc/%d/root" SOCKET, (int)daemon->process.pid);
	return 0;
}

/* Run ctr with ARGV after the options for address and namespace; its output goes to the log. */
static int run_ctr(struct daemon *daemon, char *const *argv, struct error *err)
{
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	struct process_options options = { .output = daemon->log,
					   .no_stdin = true,
					   .dies_with_us = true };

	strlist_add(&all, daemon->ctr);
	strlist_add(&all, "--address");
	strlist_add(&all, daemon->address);
	strlist_add_all(&all, ARGV("--connect-timeout", "5s", "--namespace", "k8s.io"));
	strlist_add_all(&all, argv);
	return process_run(all.items, &options, err);
}

static int wait_until_ready(struct daemon *daemon, struct error *err)
{
	int64_t deadline = clock_now_ms() + START_TIMEOUT_MS;

	for (;;) {
		cleanup_free char *said = NULL;
		int r;

		/* Wait for the socket in short steps: ctr would retry only once per second. */
		while (!file_exists(daemon->address) && clock_now_ms() < deadline &&
		       process_wait(&daemon->process, clock_now_ms() + 20, NULL) == -ETIMEDOUT)
			;
		if (daemon->process.pid < 0) {
			said = last_line(daemon->log);
			r = error_set(err, -EIO, "containerd exited at once: %s", said);
			return error_hint(err, r,
					  "if overlayfs is the problem, put the cache on another "
					  "file system with MANYKUBE_CACHE; the log is '%s'",
					  daemon->log);
		}
		r = run_ctr(daemon, ARGV("version"), err);
		if (r <= 0)
			return r;
		if (!clock_poll(deadline, READY_POLL_MS))
			return error_set(err, -ETIMEDOUT, "containerd does not answer, see '%s'",
					 daemon->log);
	}
}

static int start_daemon(struct work *work, const char *root, struct daemon *ret, struct error *err)
{
	cleanup_with(daemon_release) struct daemon daemon = DAEMON_INIT;
	cleanup_free char *program = work_path(work, "bin/containerd");
	cleanup_free char *config = work_path(work, "work/containerd.toml");
	int r = write_config(config, root, err);

	if (r < 0)
		return r;
	daemon.ctr = work_path(work, "bin/ctr");
	daemon.log = work_path(work, "work/containerd.log");
	r = spawn_daemon(&daemon, ARGV(program, "--config", config), err);
	if (r == 0)
		r = wait_until_ready(&daemon, err);
	if (r < 0)
		return r;
	*ret = daemon;
	daemon = DAEMON_INIT;
	return 0;
}

static int stop_daemon(struct daemon *daemon, struct error *err)
{
	int r;

	if (kill(daemon->process.pid, SIGTERM) < 0)
		return error_sys(err, "cannot stop containerd");
	r = process_wait(&daemon->process, clock_now_ms() + STOP_TIMEOUT_MS, err);
	return r < 0 ? error_prefix(err, r, "stopping containerd") : 0;
}

/* Run ctr with ARGV for the image NAME; -EIO with its last line of output if it fails. */
static int ctr_for_image(struct daemon *daemon, char *const *argv, const char *name,
			 struct error *err)
{
	cleanup_free char *said = NULL;
	int r = run_ctr(daemon, argv, err);

	if (r <= 0)
		return r;
	said = last_line(daemon->log);
	return error_set(err, -EIO, "containerd cannot import '%s': %s", name, said);
}

/*
 * Import an image as the CRI plugin would: with its label, with the image's id as a second name,
 * and for pause with the pin that keeps the kubelet from removing it.  Otherwise containerd would
 * do that on each node at its first start.
 */
static int import_image(struct work *work, struct daemon *daemon, const char *name,
			const char *archive, struct error *err)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	cleanup_free char *id = work_image_id(work, archive);
	cleanup_free char *name_copy = xstrdup(name);
	int r;

	assert(id);
	work_tell_all(work, "unpacking image %s", name);
	strlist_add_all(&argv, ARGV("images", "import", "--snapshotter", "overlayfs", "--label",
				    "io.cri-containerd.image=managed"));
	if (strstr(name, "/pause:"))
		strlist_add_all(&argv, ARGV("--label", "io.cri-containerd.pinned=pinned"));
	strlist_addf(&argv, "%s/images/%s", work->dir, archive);
	r = ctr_for_image(daemon, argv.items, name, err);
	if (r < 0)
		return r;
	return ctr_for_image(
		daemon, ARGV("images", "tag", "--local", "--skip-reference-check", name_copy, id),
		name, err);
}

/* Remove containerd's identity, which must differ between nodes. */
static int remove_identity(const char *root, struct error *err)
{
	cleanup_free char *dir = xasprintf("%s/io.containerd.grpc.v1.introspection", root);

	return file_remove_tree(dir, err);
}

/* Smaller files are copied into every node, so that programs there can change them. */
#define SHARED_MIN_BYTES (4 << 20)

static int share_if_large(const char *path, const struct stat *st, int type,
			  arg_unused struct FTW *ftw)
{
	size_t len = strlen(path);

	if (type != FTW_F || st->st_size < SHARED_MIN_BYTES ||
	    (len > 3 && strcmp(path + len - 3, ".db") == 0))
		return 0;
	return lchown(path, PAYLOAD_SHARED_UID, PAYLOAD_SHARED_UID) < 0 ||
			       chmod(path, (st->st_mode & 0555) | 0444) < 0
		       ? -1
		       : 0;
}

/* Give the large files to an owner that no node has: see PAYLOAD_SHARED_UID. */
static int share_large_files(const char *root, struct error *err)
{
	if (nftw(root, share_if_large, 16, FTW_PHYS) != 0)
		return error_sys(err, "cannot change the owners of files in '%s'", root);
	return 0;
}

/* The ids of all images, one per line; they identify the contents of the store. */
static char *list_ids(const struct work *work, const struct strlist *archives)
{
	cleanup_with(strlist_release) struct strlist ids = STRLIST_INIT;
	const char *archive;

	strlist_for_each(archive, archives) {
		cleanup_free char *id = work_image_id(work, archive);

		strlist_add(&ids, id ? id : "");
	}
	return strlist_join(&ids, "\n");
}

/* Import all images into the new containerd root ROOT. */
static int fill(struct work *work, const char *root, const struct strlist *names,
		const struct strlist *archives, struct error *err)
{
	cleanup_with(daemon_release) struct daemon daemon = DAEMON_INIT;
	int r = file_remove_tree(root, err);

	if (r == 0)
		r = file_make_dirs(root, 0711, err);
	if (r == 0)
		r = start_daemon(work, root, &daemon, err);
	for (size_t i = 0; r == 0 && i < names->count; i++) {
		r = import_image(work, &daemon, names->items[i], archives->items[i], err);
		work->images_done++;
	}
	if (r == 0)
		r = stop_daemon(&daemon, err);
	if (r == 0)
		r = remove_identity(root, err);
	if (r == 0)
		r = share_large_files(root, err);
	return r < 0 ? error_prefix(err, r, "preparing the image store") : 0;
}

int work_make_store(struct work *work, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist archives = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf held = STRBUF_INIT;
	cleanup_free char *store = work_path(work, "store");
	cleanup_free char *fresh = work_path(work, "work/store");
	cleanup_free char *stamp = work_path(work, "work/store-images");
	cleanup_free char *ids = NULL;
	int r;

	if (strchr(fresh, '\''))
		return error_set(err, -EINVAL, "the path of the cache must not contain a quote: %s",
				 fresh);
	work_list_images(work, &names, &archives);
	ids = list_ids(work, &archives);
	if (file_exists(store) && file_read(stamp, 1 << 16, &held, NULL) == 0 &&
	    strcmp(held.text, ids) == 0)
		return 0;
	r = file_remove_tree(store, err);
	if (r == 0)
		r = fill(work, fresh, &names, &archives, err);
	if (r == 0)
		r = file_put(stamp, ids, strlen(ids), 0644, err);
	if (r == 0 && rename(fresh, store) < 0)
		r = error_sys(err, "cannot rename to '%s'", store);
	return r;
}
