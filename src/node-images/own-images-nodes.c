/* The user's own images: giving the nodes of a cluster what is in its store. */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/jobs.h"
#include "image/store.h"
#include "node-images/node-images.h"
#include "node-images/own-images-store.h"
#include "node-images/own-images.h"
#include "node/cluster-node.h"
#include "node/node-files.h"
#include "record/world.h"

#define LIST_MAX_BYTES (1 << 20)

static const char step[] = "loading images";

/* What one node is to get. */
struct delivery {
	const struct profile *profile;
	const struct node *node;
	struct image_list wanted; /* the images point into the store's list */
	struct strlist gone;      /* names to remove */
	bool has_news;            /* the node did not get all of it before */
	struct job job;
};

static void delivery_release(struct delivery *delivery)
{
	free(delivery->wanted.items);
	strlist_release(&delivery->gone);
}

void own_images_outcome_release(struct own_images_outcome *outcome)
{
	strlist_release(&outcome->ready);
	strlist_release(&outcome->waiting);
	strlist_release(&outcome->failed);
}

/* The file with the names that NODE got from the store, for the caller to free. */
static char *record_path(const struct profile *profile, const struct node *node)
{
	/* In a directory that is removed with the node. */
	cleanup_free char *dir = node_dir(profile, node);

	return xasprintf("%s/own-images", dir);
}

/* The names that DELIVERY brings. */
static void list_names(const struct delivery *delivery, struct strlist *ret)
{
	const char *name;

	for (size_t i = 0; i < delivery->wanted.count; i++) {
		const struct image *image = &delivery->wanted.items[i];

		strlist_for_each(name, &image->names)
			strlist_add(ret, name);
		strlist_addf(ret, "sha256:%s", image->config.digest);
	}
}

/* Find out what NODE is to get of STORE, and what it got earlier and must give back. */
static void plan_delivery(const struct profile *profile, const struct node *node,
			  const struct image_list *store, struct delivery *ret)
{
	cleanup_free char *path = record_path(profile, node);
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist had = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;

	*ret = (struct delivery){ .profile = profile, .node = node, .job = JOB_INIT };
	ret->wanted.items = xcalloc(store->count + 1, sizeof(*ret->wanted.items));
	for (size_t i = 0; i < store->count; i++)
		if (image_is_for(&store->items[i], node->name))
			ret->wanted.items[ret->wanted.count++] = store->items[i];
	(void)file_read(path, LIST_MAX_BYTES, &text, NULL);
	strlist_split(&had, text.text, '\n');
	list_names(ret, &names);
	strlist_for_each(name, &had)
		if (*name && !strlist_has(&names, name))
			strlist_add(&ret->gone, name);
	ret->has_news = ret->gone.count > 0;
	strlist_for_each(name, &names)
		ret->has_news |= !strlist_has(&had, name);
}

/* Record what the node has now, before (with what it gives back) and after it was changed. */
static int record_delivery(const struct delivery *delivery, bool done, struct error *err)
{
	cleanup_free char *path = record_path(delivery->profile, delivery->node);
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	const char *name;

	list_names(delivery, &names);
	if (!done)
		strlist_for_each(name, &delivery->gone)
			strlist_add(&names, name);
	strlist_for_each(name, &names)
		strbuf_addf(&text, "%s\n", name);
	return file_put(path, text.text, text.len, 0644, err);
}

/* For nodes that cannot use the store itself: have them import an archive made of it. */
static int import_instead(const struct delivery *delivery, struct error *err)
{
	cleanup_free char *dir = own_images_dir(delivery->profile);
	cleanup_fd int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	int r;

	error_clear(err);
	if (fd < 0)
		return error_sys(err, "cannot make a file in '%s'", dir);
	r = image_store_export(dir, &delivery->wanted, fd, err);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = error_sys(err, "cannot read an archive again");
	return r < 0 ? r
		     : node_images_import(delivery->profile, delivery->node, "the images", fd, err);
}

static int deliver(const void *arg, struct error *err)
{
	const struct delivery *delivery = arg;
	int r = 0;

	if (delivery->wanted.count)
		r = node_images_install(delivery->profile, delivery->node, &delivery->wanted, err);
	if (r == -ENOTSUP)
		r = import_instead(delivery, err);
	if (r < 0 || delivery->gone.count == 0)
		return r;
	r = node_images_remove(delivery->profile, delivery->node, &delivery->gone, err);
	return r == -ENOENT ? 0 : r;
}

/* End the job of DELIVERY and add its node to RET. */
static void end_delivery(struct delivery *delivery, struct own_images_outcome *ret)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r = job_end(&delivery->job, &why);

	if (r == 0)
		r = record_delivery(delivery, true, &why);
	if (r == 0)
		strlist_add(&ret->ready, delivery->node->name);
	else
		strlist_addf(&ret->failed, "%s: %s", delivery->node->name, why.text);
}

static int fail_spread(const struct own_images_outcome *outcome, struct error *err)
{
	cleanup_free char *failed = strlist_join(&outcome->failed, "; ");
	cleanup_free char *ready = strlist_join(&outcome->ready, ", ");

	if (strstr(failed, strerror(ENOSPC)) || strstr(failed, strerror(EDQUOT))) {
		(void)error_because(err, &reason_storage, -ENOSPC,
				    "not all nodes have the images: %s", failed);
		return error_hint(err, -ENOSPC,
				  "%s%s; free space on the disks of the others first, then the "
				  "same command completes them",
				  outcome->ready.count ? "complete: " : "no node is complete",
				  ready);
	}
	(void)error_because(err, &reason_node_failed, -EIO, "not all nodes have the images: %s",
			    failed);
	return error_hint(err, -EIO,
			  "%s%s; the same command, or 'manykube start', completes the others",
			  outcome->ready.count ? "complete: " : "no node is complete", ready);
}

/* Layers of images that were removed can go once no container uses them, which only running nodes
 * can tell. */
static void clean_store(const struct profile *profile, const char *dir,
			const struct own_images_outcome *outcome)
{
	cleanup_with(strlist_release) struct strlist used = STRLIST_INIT;
	const struct node *node;
	const char *digest;

	if (outcome->waiting.count || outcome->failed.count)
		return;
	profile_for_each_node(node, profile) {
		cleanup_with(
			node_image_list_release) struct node_image_list list = NODE_IMAGE_LIST_INIT;

		if (!cluster_node_is_awake(profile, node) ||
		    node_images_list(profile, node, &list, NULL) < 0)
			return;
		strlist_for_each(digest, &list.used_layers)
			strlist_add(&used, digest);
		strlist_for_each(digest, &list.used_blobs)
			strlist_add(&used, digest);
	}
	(void)image_store_clean(dir, &used, NULL);
}

/* Plan the deliveries to all nodes that can take them; returns their number. */
static size_t plan_deliveries(const struct profile *profile, const struct strlist *nodes,
			      const struct image_list *store, struct delivery *all,
			      struct own_images_outcome *ret)
{
	const struct node *node;
	size_t count = 0;

	profile_for_each_node(node, profile) {
		if (nodes && !strlist_has(nodes, node->name))
			continue;
		if (!cluster_node_is_awake(profile, node))
			strlist_add(&ret->waiting, node->name);
		else if (node_images_is_hung(profile, node))
			strlist_addf(&ret->failed, "%s: its containerd does not answer",
				     node->name);
		else
			plan_delivery(profile, node, store, &all[count++]);
	}
	return count;
}

static int begin_deliveries(struct delivery *all, size_t count, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		r = record_delivery(&all[i], false, err);
		if (r == 0)
			r = job_begin(deliver, &all[i], &all[i].job, err);
	}
	return r;
}

int own_images_spread(const struct profile *profile, const struct strlist *nodes,
		      struct observer *observer, struct own_images_outcome *ret, struct error *err)
{
	cleanup_with(image_list_release) struct image_list store = IMAGE_LIST_INIT;
	cleanup_free struct delivery *all = xcalloc(profile->node_count + 1, sizeof(*all));
	cleanup_free char *dir = own_images_dir(profile);
	struct observer *watcher = NULL;
	size_t count;
	int r = own_images_read(profile, &store, err);

	if (r < 0 || !file_exists(dir))
		return r;
	count = plan_deliveries(profile, nodes, &store, all, ret);
	/* What a node got before is only checked. */
	for (size_t i = 0; i < count; i++)
		watcher = all[i].has_news ? observer : watcher;
	observe_begin(watcher, step, NULL);
	r = begin_deliveries(all, count, err);
	for (size_t i = 0; i < count; i++) {
		if (all[i].job.pid > 0)
			end_delivery(&all[i], ret);
		delivery_release(&all[i]);
	}
	if (r == 0 && ret->failed.count)
		r = fail_spread(ret, err);
	observe_end(watcher, step, NULL, r == 0);
	if (r < 0)
		return r;
	world->after(step);
	clean_store(profile, dir, ret);
	return 0;
}
