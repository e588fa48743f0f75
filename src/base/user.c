/* The user on whose behalf root works. */

#include "base/user.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

static bool is_entered;

static bool is_somebody_else(void)
{
	return geteuid() == 0 && path_person_uid() != 0;
}

/* Find the groups of USER, whose entry in the user database is ENTRY; without one, only its gid. */
static void find_groups(const struct passwd *entry, struct user *user)
{
	int count = 0;

	if (entry)
		(void)getgrouplist(entry->pw_name, user->gid, NULL, &count);
	user->groups = xcalloc((size_t)count + 1, sizeof(*user->groups));
	user->groups[0] = user->gid;
	if (!entry || getgrouplist(entry->pw_name, user->gid, user->groups, &count) < 0)
		count = 1;
	user->group_count = (size_t)count;
}

void user_find(struct user *ret)
{
	struct user user = { .uid = path_person_uid(), .gid = path_person_gid() };

	user.is_other = is_somebody_else();
	find_groups(user.is_other ? getpwuid(user.uid) : NULL, &user);
	*ret = user;
}

void user_find_by_uid(uid_t uid, struct user *ret)
{
	const struct passwd *entry = getpwuid(uid);
	struct user user = { .uid = uid, .gid = entry ? entry->pw_gid : uid };

	user.is_other = uid != geteuid();
	find_groups(entry, &user);
	*ret = user;
}

bool user_is_in(const struct user *user, gid_t gid)
{
	for (size_t i = 0; i < user->group_count; i++)
		if (user->groups[i] == gid)
			return true;
	return false;
}

void user_release(struct user *user)
{
	free(user->groups);
	*user = USER_INIT;
}

int user_become(const struct user *user)
{
	if (!user->is_other)
		return 0;
	return setgroups(user->group_count, user->groups) < 0 ||
			       setresgid(user->gid, user->gid, user->gid) < 0 ||
			       setresuid(user->uid, user->uid, user->uid) < 0
		       ? -1
		       : 0;
}

static int save_groups(struct user_rights *rights, struct error *err)
{
	rights->group_count = getgroups(0, NULL);
	if (rights->group_count < 0)
		return error_sys(err, "cannot list our groups");
	rights->groups = xcalloc((size_t)rights->group_count + 1, sizeof(gid_t));
	rights->group_count = getgroups(rights->group_count, rights->groups);
	return rights->group_count < 0 ? error_sys(err, "cannot list our groups") : 0;
}

/* Take the rights of USER for files, unless they or our own groups, which are in RIGHTS, cannot be
 * had: in a user namespace, ids may be missing and setgroups() may be denied. */
static int take_rights(const struct user *user, const struct user_rights *rights)
{
	if (setgroups((size_t)rights->group_count, rights->groups) < 0)
		return -1;
	(void)setfsgid(user->gid);
	(void)setfsuid(user->uid);
	if (setfsuid((uid_t)-1) == (int)user->uid && setfsgid((gid_t)-1) == (int)user->gid &&
	    setgroups(user->group_count, user->groups) == 0)
		return 0;
	(void)setfsuid(geteuid());
	(void)setfsgid(getegid());
	if (rights->dumpable == 1)
		(void)prctl(PR_SET_DUMPABLE, 1);
	return -1;
}

int user_enter(struct user_rights *ret, struct error *err)
{
	cleanup_with(user_release) struct user user = USER_INIT;
	struct user_rights rights = USER_RIGHTS_INIT;
	int r;

	if (is_entered || !is_somebody_else())
		return 0;
	user_find(&user);
	r = save_groups(&rights, err);
	if (r < 0) {
		free(rights.groups);
		return r;
	}
	/* setfsuid() makes the process undumpable, and its own /proc files unreadable. */
	rights.dumpable = prctl(PR_GET_DUMPABLE);
	if (take_rights(&user, &rights) < 0) {
		free(rights.groups);
		return error_set(err, -EPERM, "cannot take the rights of user %u", user.uid);
	}
	rights.active = true;
	is_entered = true;
	*ret = rights;
	return 0;
}

void user_leave(struct user_rights *rights)
{
	int before = errno;

	if (!rights->active)
		return;
	(void)setfsuid(geteuid());
	(void)setfsgid(getegid());
	/* Continuing with the wrong rights is worse than aborting. */
	if (setfsuid((uid_t)-1) != (int)geteuid() || setfsgid((gid_t)-1) != (int)getegid() ||
	    setgroups((size_t)rights->group_count, rights->groups) < 0)
		abort();
	if (rights->dumpable == 1)
		(void)prctl(PR_SET_DUMPABLE, 1);
	free(rights->groups);
	*rights = USER_RIGHTS_INIT;
	is_entered = false;
	/* This runs as a cleanup: the caller may still need errno. */
	errno = before;
}

int user_open(const char *path, int flags, int *ret_fd, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	int fd;
	int r = user_enter(&rights, err);

	if (r < 0)
		return r;
	/* A pipe that sudo created belongs to root, so the user could not open it. */
	if (strcmp(path, "/dev/stdin") == 0)
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC | flags);
	if (fd >= 0) {
		*ret_fd = fd;
		return 0;
	}
	r = error_sys(err, "cannot open the file '%s'", path);
	if (r == -EACCES && rights.active)
		return error_hint(err, r, "under sudo, files are read with the rights of user %u",
				  path_person_uid());
	return r;
}

/* Make the directory NAME for the user in ABOVE, a directory that only root can write to. */
static int make_for_user(const char *above, const char *name, struct error *err)
{
	cleanup_fd int parent = open(above, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int fd = -1;
	struct stat st;

	if (parent < 0 || fstat(parent, &st) < 0)
		return error_sys(err, "cannot open the directory '%s'", above);
	/* If the user could write to ABOVE, NAME could be replaced before the fchown(). */
	if (st.st_uid != 0 || st.st_mode & 022)
		return error_set(err, -EACCES, "user %u may not write to '%s'", path_person_uid(),
				 above);
	if (mkdirat(parent, name, 0700) < 0)
		return error_sys(err, "cannot make the directory '%s/%s'", above, name);
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fchown(fd, path_person_uid(), path_person_gid()) < 0)
		return error_sys(err, "cannot give '%s/%s' to user %u", above, name,
				 path_person_uid());
	return 0;
}

int user_make_directory(const char *path, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	const char *slash = strrchr(path, '/');
	cleanup_free char *above = NULL;
	int r;

	if (file_exists(path))
		return 0;
	if (slash && slash != path) {
		above = xstrndup(path, (size_t)(slash - path));
		r = user_make_directory(above, err);
		if (r < 0)
			return r;
	}
	r = user_enter(&rights, err);
	if (r < 0)
		return r;
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	if (errno != EACCES || !rights.active)
		return error_sys(err, "cannot make the directory '%s'", path);
	user_leave(&rights);
	return make_for_user(above ? above : "/", slash ? slash + 1 : path, err);
}

/* Whether GID is the user's private group: it has the user's name and no other members. */
static bool is_private_group(gid_t gid)
{
	struct passwd *user = getpwuid(path_person_uid());
	cleanup_free char *name = user ? xstrdup(user->pw_name) : NULL;
	struct group *group = name ? getgrgid(gid) : NULL;

	if (!group || strcmp(group->gr_name, name) != 0)
		return false;
	for (char **member = group->gr_mem; *member; member++)
		if (strcmp(*member, name) != 0)
			return false;
	return true;
}

static int set_list(int fd, unsigned owner, unsigned user)
{
	const struct {
		struct posix_acl_xattr_header header;
		struct posix_acl_xattr_entry entries[5];
	} list = {
		{ htole32(POSIX_ACL_XATTR_VERSION) },
		{
			{ htole16(ACL_USER_OBJ), htole16((uint16_t)owner),
			  htole32((uint32_t)ACL_UNDEFINED_ID) },
			{ htole16(ACL_USER), htole16((uint16_t)user), htole32(path_person_uid()) },
			{ htole16(ACL_GROUP_OBJ), 0, htole32((uint32_t)ACL_UNDEFINED_ID) },
			{ htole16(ACL_MASK), htole16((uint16_t)user),
			  htole32((uint32_t)ACL_UNDEFINED_ID) },
			{ htole16(ACL_OTHER), 0, htole32((uint32_t)ACL_UNDEFINED_ID) },
		},
	};

	return fsetxattr(fd, "system.posix_acl_access", &list, sizeof(list), 0);
}

int user_may_read(const char *path, struct error *err)
{
	cleanup_fd int fd = -1;
	gid_t gid = path_person_gid();
	unsigned rights;
	struct stat st;

	if (!is_somebody_else())
		return 0;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return error_sys(err, "cannot open '%s'", path);
	rights = S_ISDIR(st.st_mode) ? 05 : 04;
	if (set_list(fd, (st.st_mode >> 6) & 07, rights) == 0)
		return 0;
	if (errno != EOPNOTSUPP)
		return error_sys(err, "cannot let user %u read '%s'", path_person_uid(), path);
	if (!is_private_group(gid))
		return 0;
	if (fchown(fd, (uid_t)-1, gid) < 0 ||
	    fchmod(fd, (st.st_mode & 0700) | (mode_t)(rights << 3)) < 0)
		return error_sys(err, "cannot let user %u read '%s'", path_person_uid(), path);
	return 0;
}
