#include "driver/mount-owner.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "test.h"

/* Ids that nobody has. */
#define OWNER 1234567
#define OTHER 1234568

static void assert_map(const struct mount_id *ids, size_t count, unsigned base,
		       const char *expected)
{
	cleanup_free char *map = mount_owner_map(ids, count, base);

	ASSERT_STR(map, expected);
}

TEST(the_owner_is_root_and_all_others_have_ids_that_nobody_has)
{
	assert_map((struct mount_id[]){ { 1000, 0 } }, 1, 0x10800000,
		   "1000 276824064 1\n268435457 276824065 8388607\n");
}

TEST(groups_of_the_owner_keep_their_numbers)
{
	assert_map((struct mount_id[]){ { 1000, 0 }, { 100, 100 }, { 4, 4 } }, 3, 0x10800000,
		   "1000 276824064 1\n100 276824164 1\n4 276824068 1\n"
		   "268435457 276824065 3\n268435461 276824069 95\n"
		   "268435557 276824165 8388507\n");
}

TEST(what_a_user_of_a_node_made_is_mapped_once)
{
	assert_map((struct mount_id[]){ { 0x10000005, 0 } }, 1, 0x10800000,
		   "268435461 276824064 1\n268435457 276824065 4\n"
		   "268435462 276824070 8388602\n");
}

/* A directory for tests that everybody can reach, for the caller to free. */
static char *make_shared(uid_t uid, gid_t gid)
{
	char *path = xasprintf("%s/shared", test_dir());

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_INT(chmod(test_dir(), 0755), 0);
	ASSERT_OK(file_make_dirs(path, 0755, &err));
	ASSERT_INT(chown(path, uid, gid), 0);
	return path;
}

static int find(const char *path, struct mount_owner *ret, struct error *err)
{
	cleanup_fd int fd = open(path, O_PATH | O_CLOEXEC);

	return mount_owner_find(fd, path, ret, err);
}

TEST(node_root_is_the_owner_of_what_is_mounted)
{
	cleanup_with(mount_owner_release) struct mount_owner owner = MOUNT_OWNER_INIT;
	cleanup_free char *path = make_shared(OWNER, OWNER);

	ASSERT_OK(find(path, &owner, &err));
	ASSERT(!owner.same);
	ASSERT_INT(owner.user.uid, OWNER);
	ASSERT_INT(owner.gid, OWNER);
}

TEST(a_group_of_which_the_owner_is_no_member_is_refused)
{
	struct mount_owner owner = MOUNT_OWNER_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *path = make_shared(OWNER, OTHER);

	ASSERT_INT(find(path, &owner, &why), -EINVAL);
	ASSERT(strstr(why.text, path));
	ASSERT(why.reason == &reason_usage && why.hint);
}

/* Whether another user can get to PATH and run set-user-ID programs there. */
static bool is_open_to_others(const char *path)
{
	struct statvfs fs;
	pid_t pid;
	int status;

	ASSERT_INT(statvfs(path, &fs), 0);
	pid = fork();
	if (pid == 0)
		_exit(setuid(OTHER) == 0 && access(path, X_OK) == 0 ? 0 : 1);
	ASSERT(waitpid(pid, &status, 0) == pid);
	return status == 0 && !(fs.f_flag & ST_NOSUID);
}

TEST(nobody_becomes_root_by_what_nodes_leave_in_a_directory_of_roots)
{
	struct mount_owner owner = MOUNT_OWNER_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *path = make_shared(0, 0);
	cleanup_free char *socket = xasprintf("%s/socket", path);

	if (!is_open_to_others(path))
		test_skip("the tests' directory is out of reach for others");
	ASSERT_INT(find(path, &owner, &why), -EINVAL);
	ASSERT(strstr(why.text, "belongs to root"));
	ASSERT_INT(mount_owner_check(path, NULL), -EINVAL);
	/* The node could open the directory itself to others, but none above it. */
	ASSERT_INT(chmod(path, 0700), 0);
	ASSERT_INT(mount_owner_check(path, NULL), -EINVAL);
	ASSERT_INT(chmod(test_dir(), 0700), 0);
	ASSERT_OK(find(path, &owner, &err));
	ASSERT(owner.same);
	ASSERT_INT(chmod(test_dir(), 0755), 0);
	ASSERT_INT(mknod(socket, S_IFSOCK | 0666, 0), 0);
	ASSERT_OK(mount_owner_check(socket, &err));
}
