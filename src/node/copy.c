/*
 * Copying files and directories between this host and nodes.
 *
 * On the side of a node, all work is done by programs that run in the node, so that links, owners
 * and limits are those of the node.  Their output is not trusted.
 *
 *  1. tar packs the source there, and tar unpacks it into a new directory at the target.
 *  2. The result is renamed to the target's name or, if that is an existing directory, merged into
 *     it; on the host by copy-host.c, which follows no links of the archive and uses the user's
 *     rights.
 */

#include "node/copy.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "node/cluster-node.h"
#include "node/copy-host.h"
#include "node/copy-path.h"
#include "node/copy-size.h"
#include "node/copy-stream.h"

#define OUTPUT_LIMIT   (64 << 10)
#define WORDS_MOST     300
#define SILENT_SECONDS (10 * 60) /* of a node */

/* Until when to wait for the end of a program on NODE; on the host, as long as it takes. */
#define PATIENCE(node) ((node) ? clock_now_ms() + SILENT_SECONDS * INT64_C(1000) : 0)

/* More than tar needs on the host: what it keeps of an archive, the node chooses. */
#define MEMORY_MOST (UINT64_C(256) << 20)

/* The programs that a signal has to end, so that we can clean up. */
static struct {
	pid_t owner;
	volatile pid_t running[2];
	volatile sig_atomic_t interrupted;
} work;

static void on_signal(arg_unused int signal)
{
	/* Forked children that have not called exec yet share this. */
	if (getpid() != work.owner)
		_exit(128 + signal);
	work.interrupted = 1;
	for (size_t i = 0; i < ARRAY_SIZE(work.running); i++)
		if (work.running[i] > 0)
			(void)kill(work.running[i], SIGTERM);
}

/* "node-2:/tmp/x", or just the path on the host. */
static char *show_place(const struct cluster_node *node, const char *path)
{
	return node ? xasprintf("%s:%s", node->spec.name, path) : xstrdup(path);
}

static int missing(const struct copy_end *at, const char *path, const char *why, struct error *err)
{
	cleanup_free char *shown = show_place(at->node, path);

	return error_because(err, at->node ? &reason_node_path : &reason_host_path, -ENOENT,
			     "'%s' %s", shown, why);
}

static int unfit(const struct copy_end *at, const char *path, const char *why, struct error *err)
{
	cleanup_free char *shown = show_place(at->node, path);

	return error_because(err, &reason_copy, -EINVAL, "'%s' %s", shown, why);
}

static int spawn_at(const struct cluster_node *node, char *const *argv,
		    const struct process_options *options, struct process *ret, struct error *err)
{
	return node ? node->driver->spawn(&node->spec, argv, options, ret, err)
		    : process_spawn(argv, options, ret, err);
}

/* The output of a program in FD, without the last line break. */
static char *take_output(int fd)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (lseek(fd, 0, SEEK_SET) < 0 || file_read_fd(fd, OUTPUT_LIMIT, &text, NULL) < 0)
		return xstrdup("");
	if (text.len > 0 && text.text[text.len - 1] == '\n')
		text.text[text.len - 1] = '\0';
	return strbuf_take(&text);
}

static int interrupted(struct error *err)
{
	error_because(err, &reason_interrupted, -EINTR, "interrupted by a signal");
	return error_hint(err, -EINTR, "nothing was copied: run the same command again");
}

/* Describe the failure of a program by the first line of its output in SAID. */
static int program_error(const char *program, int said, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf shown = STRBUF_INIT;
	cleanup_free char *text = take_output(said);
	size_t len = strlen(program);
	const char *words = text;

	if (work.interrupted)
		return interrupted(err);
	/* tar prints how much it could still write. */
	if (strstr(text, strerror(ENOSPC)) || strstr(text, strerror(EDQUOT)) ||
	    strstr(text, "Wrote only ")) {
		error_because(err, &reason_storage, -ENOSPC, "there is no space left");
		return error_hint(err, -ENOSPC, "free some space, or copy less");
	}
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(words, program, len) == 0 && strncmp(words + len, ": ", 2) == 0)
		words += len + 2;
	strbuf_add_printable(&shown, words, strnlen(words, WORDS_MOST));
	return error_because(err, &reason_copy, -EIO, "%s",
			     shown.len ? shown.text : "it was killed");
}

/* Run ARGV on NODE and return its exit status; its output goes to RET_OUTPUT (may be NULL), and
 * what it says of errors to the file SAID: a node writes nothing to our terminal. */
static int run_at(const struct cluster_node *node, char *const *argv, char **ret_output, int said,
		  struct error *err)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	cleanup_fd int printed = memfd_create("output", MFD_CLOEXEC);
	struct process_options options = { .no_stdin = true,
					   .stdout_fd = printed,
					   .stderr_fd = said,
					   .stdout_most = OUTPUT_LIMIT,
					   .stderr_most = OUTPUT_LIMIT };
	bool was_interrupted = work.interrupted;
	int r;

	if (printed < 0 || said < 0)
		return error_sys(err, "cannot create a file for the output of '%s'", argv[0]);
	r = spawn_at(node, argv, &options, &process, err);
	if (r == 0) {
		work.running[0] = process.pid;
		/* A signal that came while the program was being started has not reached it.  An
		 * earlier signal must not stop the cleanup, but a new one must. */
		if (work.interrupted && !was_interrupted)
			(void)kill(process.pid, SIGTERM);
		r = process_wait(&process, PATIENCE(node), err);
		work.running[0] = 0;
	}
	if (r != 0 && work.interrupted)
		return interrupted(err);
	if (r == 0 && ret_output)
		*ret_output = take_output(printed);
	return r;
}

/* Like run_at() for a program that must succeed. */
static int run_checked_at(const struct cluster_node *node, char *const *argv, char **ret_output,
			  struct error *err)
{
	cleanup_fd int said = memfd_create("errors", MFD_CLOEXEC);
	int r = run_at(node, argv, ret_output, said, err);

	return r > 0 ? program_error(argv[0], said, err) : r;
}

/* The kind of PATH, links followed; a negative errno only if that cannot be determined. */
static int kind_at(const struct cluster_node *node, const char *path, struct error *err)
{
	static const struct {
		char *test;
		enum copy_kind kind;
	} tests[] = { { "-d", COPY_DIR }, { "-f", COPY_FILE }, { "-e", COPY_OTHER } };
	cleanup_fd int said = -1;

	if (!node)
		return copy_host_kind(path, err);
	said = memfd_create("errors", MFD_CLOEXEC);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		cleanup_free char *copy = xstrdup(path);
		int r = run_at(node, ARGV("test", tests[i].test, copy), NULL, said, err);

		if (r <= 0)
			return r < 0 ? r : (int)tests[i].kind;
	}
	return COPY_MISSING;
}

static int real_path(const struct cluster_node *node, char **path, struct error *err)
{
	char *real = node ? NULL : realpath(*path, NULL);
	int r = 0;

	if (node)
		r = run_checked_at(node, ARGV("realpath", "-e", "--", *path), &real, err);
	else if (!real)
		r = error_sys(err, "cannot look at '%s'", *path);
	if (r < 0)
		return r;
	free(*path);
	*path = real;
	return 0;
}

/* The place where an archive is unpacked. */
struct unpacking {
	const struct cluster_node *node;
	const char *path;             /* on the node */
	const struct copy_host *host; /* its scratch directory, if NODE is NULL */
	bool add_to_dirs;             /* existing directories are kept and added to */
};

static int spawn_unpack(const struct unpacking *to, int archive, int said, struct process *ret,
			struct error *err)
{
	cleanup_free char *target = xasprintf("--directory=%s", to->node ? to->path : ".");
	/* tar prints nothing to its standard output, but a node's tar may be anything. */
	struct process_options options = { .stdin_fd = archive,
					   .stdout_fd = said,
					   .stderr_fd = said,
					   .stdout_most = OUTPUT_LIMIT / 2,
					   .stderr_most = OUTPUT_LIMIT / 2 };
	bool add = to->add_to_dirs;

	if (!to->node) {
		options.dir = to->host->scratch_path;
		options.user = &to->host->user;
		options.only_dir = geteuid() == 0;
		options.memory_most = MEMORY_MOST;
	}
	/* Nothing from a node may grant rights on the host. */
	return spawn_at(to->node,
			ARGV("tar", "--extract", "--file=-", "--blocking-factor=512",
			     to->node ? "--same-permissions" : "--no-same-permissions",
			     add ? "--same-owner" : "--no-same-owner",
			     add ? "--no-overwrite-dir" : "--overwrite-dir", target),
			&options, ret, err);
}

/* How the programs of a copy are connected. */
struct tars {
	struct process pack;
	struct process unpack;
	int pack_said;
	int unpack_said;
	/* Two pipes on the way to this host, where we count the bytes; else both are the same. */
	int packed[2];
	int unpacked[2];
};

#define TARS_INIT ((struct tars){ PROCESS_INIT, PROCESS_INIT, -1, -1, { -1, -1 }, { -1, -1 } })

static void close_pipe(int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			(void)close(take_fd(ends[i]));
}

static void release_tars(struct tars *tars)
{
	work.running[0] = work.running[1] = 0;
	process_release(&tars->pack);
	process_release(&tars->unpack);
	close_pipe(tars->packed);
	close_pipe(tars->unpacked);
	cleanup_fd_(&tars->pack_said);
	cleanup_fd_(&tars->unpack_said);
}

static int spawn_tars(const struct copy_end *from, const char *name, const struct unpacking *to,
		      struct tars *tars, struct error *err)
{
	cleanup_free char *packed = strcmp(name, ".") == 0 ? xstrdup(name)
							   : xasprintf("./%s", name);
	cleanup_free char *source = xasprintf("--directory=%s", from->path);
	cleanup_with(user_release) struct user user = USER_INIT;
	struct process_options out = { .stderr_most = OUTPUT_LIMIT, .no_stdin = true };
	int r;

	tars->pack_said = memfd_create("errors", MFD_CLOEXEC);
	tars->unpack_said = memfd_create("errors", MFD_CLOEXEC);
	if (pipe2(tars->packed, O_CLOEXEC) < 0 ||
	    (!to->node && pipe2(tars->unpacked, O_CLOEXEC) < 0))
		return error_sys(err, "cannot create a pipe");
	out.stderr_fd = tars->pack_said;
	out.stdout_fd = tars->packed[1];
	if (!from->node) {
		user_find(&user);
		out.user = &user;
	}
	r = spawn_at(from->node,
		     ARGV("tar", "--create", "--file=-", "--format=gnu", "--sparse",
			  "--blocking-factor=512", source, "--", packed),
		     &out, &tars->pack, err);
	if (r < 0)
		return r;
	(void)close(take_fd(tars->packed[1]));
	r = spawn_unpack(to, to->node ? tars->packed[0] : tars->unpacked[0], tars->unpack_said,
			 &tars->unpack, err);
	if (r < 0)
		return r;
	work.running[0] = tars->pack.pid;
	work.running[1] = tars->unpack.pid;
	return 0;
}

/* Pack NAME in the directory FROM with tar, and unpack it at TO. */
static int pipe_tar(const struct copy_end *from, const char *name, const struct unpacking *to,
		    struct error *err)
{
	cleanup_with(release_tars) struct tars tars = TARS_INIT;
	int packed_status;
	int r = spawn_tars(from, name, to, &tars, err);

	if (r < 0)
		return r;
	if (!to->node) {
		(void)close(take_fd(tars.unpacked[0]));
		r = copy_stream(tars.packed[0], tars.unpacked[1], &tars.pack, to->host->scratch, 0,
				SILENT_SECONDS, &work.interrupted, err);
	}
	if (r == -EINTR)
		return interrupted(err);
	if (r < 0)
		return r == -ENOSPC ? error_hint(err, r, "free some space, or copy less") : r;
	close_pipe(tars.packed);
	close_pipe(tars.unpacked);
	r = process_wait(&tars.unpack, 0, err);
	work.running[1] = 0;
	packed_status = process_wait(&tars.pack, PATIENCE(from->node), err);
	work.running[0] = 0;
	if (r < 0 || packed_status < 0)
		return r < 0 ? r : packed_status;
	/* A failure of the packer causes one of the unpacker, unless the unpacker ended first.
	 * Status 1 means that a file changed meanwhile. */
	if (packed_status == 2)
		return program_error("tar", tars.pack_said, err);
	if (r > 0 || packed_status > 1)
		return program_error("tar", tars.unpack_said, err);
	return 0;
}

static int missing_dir(const struct copy_end *at, const char *dir, struct error *err)
{
	missing(at, dir, "is not a directory", err);
	if (at->node)
		return error_hint(err, -ENOENT,
				  "create it with 'manykube ssh %s -- mkdir --parents %s'",
				  at->node->spec.name, dir);
	return error_hint(err, -ENOENT, "create it first");
}

/* The path of the copy of SOURCE, which is a KIND, and the kind of what exists there now. */
static int find_target(const struct copy_end *to, const char *source, enum copy_kind kind,
		       char **ret_path, enum copy_kind *ret_there, struct error *err)
{
	cleanup_free char *path = xstrdup(to->path);
	cleanup_free char *name = copy_last_name(source);
	cleanup_free char *dir = NULL;
	int there = kind_at(to->node, path, err);

	if (there == COPY_DIR && *name) {
		free(path);
		path = xasprintf("%s/%s", to->path, name);
		there = kind_at(to->node, path, err);
	} else if (there == COPY_MISSING && path[strlen(path) - 1] == '/' && kind != COPY_DIR) {
		return missing_dir(to, path, err);
	}
	if (there < 0)
		return there;
	while (strlen(path) > 1 && path[strlen(path) - 1] == '/')
		path[strlen(path) - 1] = '\0';
	if (there == COPY_OTHER)
		return unfit(to, path, "is neither a file nor a directory", err);
	if (there != COPY_MISSING && there != (int)kind)
		return unfit(to, path,
			     there == COPY_DIR ? "is a directory, the source is a file"
					       : "is a file, the source is a directory",
			     err);
	if (there != COPY_MISSING) {
		int r = real_path(to->node, &path, err);

		if (r < 0)
			return r;
	}
	dir = copy_directory_of(path);
	if (there == COPY_MISSING) {
		int r = kind_at(to->node, dir, err);

		if (r < 0)
			return r;
		if (r != COPY_DIR)
			return missing_dir(to, dir, err);
	}
	*ret_path = take_ptr(path);
	*ret_there = (enum copy_kind)there;
	return 0;
}

/* Fail if SOURCE, a real path, is TARGET or contains it. */
static int check_apart(const struct copy_end *to, const char *source, const char *target,
		       enum copy_kind there, struct error *err)
{
	cleanup_free char *real = there == COPY_MISSING ? copy_directory_of(target)
							: xstrdup(target);
	size_t len = strlen(source);
	int r = real_path(to->node, &real, err);

	if (r < 0)
		return r;
	if (strncmp(real, source, len) == 0 && (real[len] == '/' || real[len] == '\0'))
		return error_because(err, &reason_usage, -EINVAL, "cannot copy '%s' into itself",
				     source);
	return 0;
}

/* What another node packed must be of the requested KIND and must not be a link; nor may the target
 * contain links, from an earlier copy, that lead elsewhere. */
static int check_fresh(const struct cluster_node *node, char *fresh, char *target,
		       enum copy_kind kind, struct error *err)
{
	static char script[] =
#include "check-fresh.sh.inc"
		;

	return run_checked_at(
		node,
		ARGV("sh", "-ec", script, "sh", fresh, target, kind == COPY_DIR ? "-d" : "-f"),
		NULL, err);
}

/* Rename NAME in the new directory SCRATCH of NODE to TARGET. */
static int put_in_place(const struct cluster_node *node, const char *scratch, const char *name,
			char *target, enum copy_kind there, struct error *err)
{
	cleanup_free char *fresh = xasprintf("%s/%s", scratch, name);
	const struct copy_end from = { node, fresh };
	const struct unpacking to = { .node = node, .path = target, .add_to_dirs = true };

	if (there == COPY_DIR)
		return pipe_tar(&from, ".", &to, err);
	return run_checked_at(node,
			      ARGV("mv", "--force", "--no-target-directory", "--", fresh, target),
			      NULL, err);
}

/* Unpack NAME of FROM, which is a KIND, on NODE beside TARGET, and rename it. */
static int transfer_to_node(const struct copy_end *from, const char *name,
			    const struct cluster_node *node, char *target, enum copy_kind kind,
			    enum copy_kind there, struct error *err)
{
	cleanup_free char *beside = copy_directory_of(target);
	cleanup_free char *pattern = xasprintf("%s/.manykube-cp.XXXXXX", beside);
	cleanup_free char *scratch = NULL;
	cleanup_free char *fresh = NULL;
	struct unpacking unpacked = { .node = node };
	int r = run_checked_at(node, ARGV("mktemp", "-d", "--", pattern), &scratch, err);

	if (r < 0)
		return r;
	unpacked.path = scratch;
	fresh = xasprintf("%s/%s", scratch, name);
	r = pipe_tar(from, name, &unpacked, err);
	if (r == 0 && from->node)
		r = check_fresh(node, fresh, target, kind, err);
	if (r == 0)
		r = put_in_place(node, scratch, name, target, there, err);
	(void)run_checked_at(node, ARGV("rm", "-rf", "--", scratch), NULL, NULL);
	return r;
}

/* Likewise on this host; in TARGET itself if it is an existing directory. */
static int transfer_to_host(const struct copy_end *from, const char *name, const char *target,
			    enum copy_kind kind, enum copy_kind there, struct error *err)
{
	cleanup_with(copy_host_release) struct copy_host host = COPY_HOST_INIT;
	cleanup_free char *dir = there == COPY_DIR ? xstrdup(target) : copy_directory_of(target);
	cleanup_free char *last = copy_last_name(target);
	const struct unpacking unpacked = { .host = &host };
	int r = copy_host_open(dir, &host, err);

	if (r == 0)
		r = pipe_tar(from, name, &unpacked, err);
	if (r == 0)
		r = copy_host_place(&host, name, kind, there == COPY_DIR ? NULL : last, err);
	return r;
}

static int transfer(const struct copy_end *from, const char *source, const struct copy_end *to,
		    char *target, enum copy_kind kind, enum copy_kind there, struct error *err)
{
	cleanup_free char *dir = copy_directory_of(source);
	cleanup_free char *name = copy_last_name(source);
	cleanup_free char *shown = show_place(to->node, target);
	const struct copy_end packed = { from->node, dir };
	int r = to->node ? transfer_to_node(&packed, name, to->node, target, kind, there, err)
			 : transfer_to_host(&packed, name, target, kind, there, err);

	return r < 0 ? error_prefix(err, r, "cannot copy to '%s'", shown) : 0;
}

/* kind_at() or, if RESOLVE, real_path() of the source, with the user's rights on the host. */
static int look_at_source(const struct copy_end *from, char **path, bool resolve, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	int r = from->node ? 0 : user_enter(&rights, err);

	if (r < 0)
		return r;
	return resolve ? real_path(from->node, path, err) : kind_at(from->node, *path, err);
}

/* find_target() with the rights of the user, for paths on the host. */
static int find_target_as_user(const struct copy_end *to, const char *source, enum copy_kind kind,
			       char **ret_path, enum copy_kind *ret_there, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	int r = to->node ? 0 : user_enter(&rights, err);

	return r < 0 ? r : find_target(to, source, kind, ret_path, ret_there, err);
}

/* Settings for all programs that are run from now on. */
static void prepare_unpacking(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	work.owner = getpid();
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)setenv("LC_ALL", "C", 1);
	/* Modes are kept, and no archive of a node can create a device on the host. */
	(void)umask(0);
	(void)prctl(PR_CAPBSET_DROP, CAP_MKNOD, 0, 0, 0);
}

int copy_path(const struct copy_end *from, const struct copy_end *to, struct error *err)
{
	cleanup_free char *source = xstrdup(from->path);
	cleanup_free char *target = NULL;
	enum copy_kind there = COPY_MISSING;
	int kind;
	int r;

	prepare_unpacking();
	kind = look_at_source(from, &source, false, err);
	if (kind < 0)
		return kind;
	if (kind == COPY_MISSING)
		return missing(from, source, "does not exist", err);
	if (kind == COPY_OTHER)
		return unfit(from, source, "is neither a file nor a directory", err);
	r = find_target_as_user(to, source, (enum copy_kind)kind, &target, &there, err);
	if (r == 0)
		r = look_at_source(from, &source, true, err);
	if (r == 0 && kind == COPY_FILE)
		r = copy_check_size(from, source, err);
	if (r < 0)
		return r;
	/* The answer of a node may be anything. */
	if (source[0] != '/' || strcmp(source, "/") == 0)
		return unfit(from, source, "is the root directory, which cannot be copied", err);
	if (from->node && to->node && strcmp(from->node->spec.name, to->node->spec.name) == 0) {
		r = check_apart(to, source, target, there, err);
		if (r < 0)
			return r;
	}
	return transfer(from, source, to, target, (enum copy_kind)kind, there, err);
}
