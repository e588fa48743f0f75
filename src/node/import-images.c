/* Kubernetes' own images in the image stores of running nodes. */

#include "node/import-images.h"

#include <fcntl.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "node/cluster-node.h"

#define IMPORT_SECONDS 300

/* Workers do not need these images. */
static bool is_for_control_planes(const char *name)
{
	static const char *const parts[] = { "/etcd:", "/kube-apiserver:",
					     "/kube-controller-manager:", "/kube-scheduler:" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(name, parts[i]))
			return true;
	return false;
}

bool images_are_for(const struct node *node, const char *name)
{
	return node->control_plane || !is_for_control_planes(name);
}

int images_feed(const struct cluster_node *at, char *const *argv, const char *archive, int fd,
		const char *log, struct error *err)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	struct process_options options = { .stdin_fd = fd, .output = log };
	int r = at->driver->spawn(&at->spec, argv, &options, &process, err);

	if (r == 0)
		r = process_wait(&process, clock_now_ms() + IMPORT_SECONDS * 1000, err);
	return r > 0 ? error_because(err, &reason_node_failed, -EIO,
				     "node '%s' cannot import '%s'; see '%s'", at->spec.name,
				     archive, log)
		     : r;
}

/* Run containerd's import on NODE with ARCHIVE as standard input, and label its images. */
static int import_archive(const struct cluster_node *at, const char *name, const char *id,
			  const char *archive, const char *log, struct error *err)
{
	static char script[] =
#include "import-image.sh.inc"
		;
	cleanup_free char *word = xstrdup(name);
	cleanup_free char *id_word = xstrdup(id);
	char *pinned = strstr(name, "/pause:") ? "io.cri-containerd.pinned=pinned" : "";
	cleanup_fd int fd = open(archive, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_sys(err, "cannot open '%s'", archive);
	return images_feed(at, ARGV("sh", "-ec", script, "import", word, pinned, id_word), archive,
			   fd, log, err);
}

int images_import(const struct profile *profile, const struct node *node,
		  const struct payload *payload, struct error *err)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist archives = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist same = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist ids = STRLIST_INIT;
	cleanup_free char *log = xasprintf("%s/logs/images-%s.log", profile->dir, node->name);
	int r = payload_images(payload, &names, &archives, err);

	if (r == 0)
		r = payload_image_ids(payload, &same, &ids, err);
	if (r == 0)
		r = cluster_node_open(profile, node, &at, err);
	for (size_t i = 0; r == 0 && i < names.count; i++)
		if (images_are_for(node, names.items[i]))
			r = import_archive(&at, names.items[i], ids.items[i], archives.items[i],
					   log, err);
	return r;
}
