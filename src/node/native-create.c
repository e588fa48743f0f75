/* What a native node keeps. */

#include "node/native-create.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "node/native-disk.h"
#include "payload/payload.h"

static char *below(const struct node_spec *spec, const char *name)
{
	return xasprintf("%s/%s", spec->folder, name);
}

/*
 * A node shares those files of the image store that it can't write, by their owner; of the
 * others, the databases among them, it gets its own.  On a disk of its own it has copies of all.
 */
static bool is_own(arg_unused const char *name, const struct stat *st)
{
	return st->st_uid != PAYLOAD_SHARED_UID;
}

static int create_images(const struct node_spec *spec, struct error *err)
{
	cleanup_free char *store = xasprintf("%s/store", spec->payload);
	cleanup_free char *target = below(spec, "var/lib/containerd");
	cleanup_free char *making = below(spec, "var/lib/containerd.part");
	int r;

	if (file_exists(target))
		return 0;
	r = file_remove_tree(making, err);
	if (r == 0)
		r = file_link_tree(store, making, is_own, err);
	if (r == 0 && rename(making, target) < 0)
		r = error_sys(err, "cannot make '%s'", target);
	return r;
}

int native_create(const struct node_spec *spec, struct error *err)
{
	static const struct {
		const char *name;
		mode_t mode;
	} folders[] = {
		{ "etc", 0755 },
		{ "usr", 0755 },
		{ "usr-work", 0755 },
		{ "run", 0755 },
		{ "root", 0700 },
		{ "home", 0755 },
		{ "srv", 0755 },
		{ "mnt", 0755 },
		{ "var", 0755 },
		{ "var/lib", 0755 },
		{ "var/lib/kubelet", 0750 },
		{ "var/lib/etcd", 0700 },
		{ "var/log", 0755 },
		{ "var/log/pods", 0755 },
		{ "var/log/containers", 0755 },
		{ "var/tmp", 01777 },
		{ "var/cache", 0755 },
	};
	cleanup_free char *run = below(spec, "var/run");
	int r = native_disk_up(spec, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		cleanup_free char *path = below(spec, folders[i].name);

		r = file_make_dirs(path, 0755, err);
		if (r < 0)
			return r;
		if (chmod(path, folders[i].mode) < 0)
			return error_sys(err, "cannot set the mode of '%s'", path);
	}
	if (symlink("/run", run) < 0 && errno != EEXIST)
		return error_sys(err, "cannot make the link '%s'", run);
	return create_images(spec, err);
}
