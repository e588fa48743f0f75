/* The user's kubeconfig: reading and replacing the file. */

#include "kubeconfig/kubeconfig.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/strlist.h"
#include "base/user.h"
#include "kubeconfig/kubeconfig-scan.h"

/* Enough for thousands of clusters. */
#define KUBECONFIG_LIMIT (16 << 20)

int kubeconfig_paths(struct strlist *ret_paths, struct error *err)
{
	const char *variable = getenv("KUBECONFIG");
	cleanup_free char *home = NULL;
	int r;

	if (variable)
		strlist_split(ret_paths, variable, ':');
	if (ret_paths->count > 0)
		return 0;
	r = path_home(&home, err);
	if (r == 0)
		strlist_addf(ret_paths, "%s/.kube/config", home);
	return r;
}

int kubeconfig_path(char **ret_path, struct error *err)
{
	cleanup_with(strlist_release) struct strlist files = STRLIST_INIT;
	int r = kubeconfig_paths(&files, err);

	if (r == 0)
		*ret_path = xstrdup(files.items[0]);
	return r;
}

static char *dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

/* The target of PATH, which may be a dangling link, so that the link itself is kept. */
static char *follow_links(const char *path)
{
	char *real = realpath(path, NULL);
	cleanup_free char *dir = NULL;
	cleanup_free char *target = NULL;
	ssize_t len;

	if (real)
		return real;
	target = xmalloc(PATH_MAX);
	len = readlink(path, target, PATH_MAX - 1);
	if (len <= 0)
		return xstrdup(path);
	target[len] = '\0';
	if (target[0] == '/')
		return take_ptr(target);
	dir = dir_of(path);
	return xasprintf("%s/%s", dir, target);
}

/* Create the directory of PATH if it is missing, and lock it against concurrent edits. */
static int lock_dir(const char *path, int *ret_fd, struct error *err)
{
	cleanup_free char *dir = dir_of(path);
	cleanup_fd int fd = -1;
	int r;

	if (!file_exists(dir)) {
		r = file_make_dirs(dir, 0700, err);
		if (r < 0)
			return r;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "cannot open the directory '%s'", dir);
	r = file_lock_or_warn(fd, dir, FILE_LOCK_MS, err);
	if (r < 0)
		return error_prefix(err, r, "cannot change '%s'", path);
	*ret_fd = take_fd(fd);
	return 0;
}

/* Replace the file PATH, keeping its owner if permitted. */
static int write_back(const char *path, const struct strbuf *text, struct error *err)
{
	struct stat old;
	bool existed = stat(path, &old) == 0;
	int r = file_replace(path, text->text, text->len, 0600, err);

	/* With the rights of the user, the new file already belongs to them. */
	if (r < 0 || !existed || old.st_uid == geteuid() || setfsuid((uid_t)-1) != 0)
		return r;
	if (lchown(path, old.st_uid, old.st_gid) < 0)
		return error_sys(err, "cannot give '%s' back to user %u", path, old.st_uid);
	return 0;
}

static int explain(const char *path, int code, struct error *err)
{
	if (err && err->text) {
		char *text = xasprintf("%s:%s", path, err->text);

		free(err->text);
		err->text = text;
	}
	error_reason(err, code, &reason_host_config);
	return error_hint(err, code,
			  "the file was not changed: correct or remove it, or set KUBECONFIG to "
			  "another file");
}

/* The file is not accessible, or not a regular file. */
static int explain_access(const char *path, int code, struct error *err)
{
	error_prefix(err, code, "cannot change the kubeconfig '%s'", path);
	error_reason(err, code, &reason_host_config);
	return error_hint(err, code, "set KUBECONFIG to a writable file");
}

/* Merge ENTRY or, if it is NULL, remove NAME; returns whether the file was changed. */
static int change_kubeconfig(const char *path, const char *name,
			     const struct kubeconfig_entry *entry, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf before = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf after = STRBUF_INIT;
	cleanup_free char *real = follow_links(path);
	cleanup_fd int lock = -1;
	int r;

	if (!entry && !file_exists(real))
		return 0;
	r = lock_dir(real, &lock, err);
	if (r == 0 && entry)
		r = file_check_replaceable(real, err);
	if (r < 0)
		return explain_access(path, r, err);
	r = file_read(real, KUBECONFIG_LIMIT, &before, err);
	if (r < 0 && r != -ENOENT)
		return explain_access(path, r, err);
	error_clear(err ? err : &(struct error){ NULL });

	if (entry)
		r = kubeconfig_merge_text(before.text, before.len, entry, &after, err);
	else
		r = kubeconfig_remove_text(before.text, before.len, name, &after, err);
	if (r < 0)
		return explain(real, r, err);
	if (after.len == before.len && memcmp(after.text, before.text, after.len) == 0)
		return 0;
	r = write_back(real, &after, err);
	return r < 0 ? explain_access(path, r, err) : 1;
}

/* Check that a file can be created beside PATH, or where its directory will be created. */
static int check_dir(const char *path, struct error *err)
{
	cleanup_free char *dir = dir_of(path);

	while (!file_exists(dir) && strchr(dir + 1, '/'))
		*strrchr(dir, '/') = '\0';
	/* AT_EACCESS: check with the effective user id. */
	return faccessat(AT_FDCWD, dir, W_OK, AT_EACCESS) < 0
		       ? error_sys(err, "cannot write to '%s'", dir)
		       : 0;
}

int kubeconfig_check(const char *path, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(scan_release) struct scan scan = SCAN_INIT;
	cleanup_free char *real = follow_links(path);
	int r = file_check_replaceable(real, err);

	if (r == 0)
		r = check_dir(real, err);
	if (r == 0 && file_exists(real))
		r = file_read(real, KUBECONFIG_LIMIT, &text, err);
	if (r < 0)
		return explain_access(path, r, err);
	r = kubeconfig_scan(text.text, text.len, &scan, err);
	return r < 0 ? explain(real, r, err) : 0;
}

int kubeconfig_merge(const char *path, const struct kubeconfig_entry *entry, struct error *err)
{
	return change_kubeconfig(path, entry->name, entry, err);
}

int kubeconfig_remove(const char *path, const char *name, struct error *err)
{
	int r = change_kubeconfig(path, name, NULL, err);

	return r < 0 ? r : 0;
}

/* Scan the user's kubeconfig PATH with the user's rights. */
static int scan_file(const char *path, struct scan *ret)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = user_enter(&rights, NULL);

	if (r == 0)
		r = file_read(path, KUBECONFIG_LIMIT, &text, NULL);

	if (r < 0)
		return r;
	return kubeconfig_scan(text.text, text.len, ret, NULL);
}

enum kubeconfig_state kubeconfig_points_at(const char *path, const char *name, const char *server)
{
	cleanup_with(scan_release) struct scan scan = SCAN_INIT;
	const struct scan_item *cluster;
	int r = scan_file(path, &scan);

	/* A file that exists but cannot be used does not count as missing. */
	if (r < 0 && r != -ENOENT)
		return KUBECONFIG_MISCONFIGURED;
	if (r < 0 || !scan_find(&scan.lists[KUBECONFIG_CONTEXTS], name))
		return KUBECONFIG_NONEXISTENT;
	cluster = scan_find(&scan.lists[KUBECONFIG_CLUSTERS], name);
	if (!cluster || !cluster->server || strcmp(cluster->server, server) != 0)
		return KUBECONFIG_MISCONFIGURED;
	return KUBECONFIG_CONFIGURED;
}

const char *kubeconfig_state_word(enum kubeconfig_state state)
{
	static const char *const words[] = {
		[KUBECONFIG_NONEXISTENT] = "Nonexistent",
		[KUBECONFIG_MISCONFIGURED] = "Misconfigured",
		[KUBECONFIG_CONFIGURED] = "Configured",
	};

	return words[state];
}

char *kubeconfig_current(const char *path)
{
	cleanup_with(scan_release) struct scan scan = SCAN_INIT;

	if (scan_file(path, &scan) < 0 || scan.current_style != SCAN_SCALAR || !*scan.current)
		return NULL;
	return take_ptr(scan.current);
}
