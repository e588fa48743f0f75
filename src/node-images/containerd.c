/* Calls of a node's containerd. */

#include "node-images/containerd.h"

#include <string.h>
#include <sys/random.h>

#include "base/alloc.h"
#include "base/clock.h"

#define POLL_MS       50
#define LEASE_SECONDS 3600

#define CONTENT   "containerd.services.content.v1.Content/"
#define IMAGES    "containerd.services.images.v1.Images/"
#define LEASES    "containerd.services.leases.v1.Leases/"
#define SNAPSHOTS "containerd.services.snapshots.v1.Snapshots/"

#define SNAPSHOTTER "overlayfs"

#define LABEL_MANAGED "io.cri-containerd.image"
#define LABEL_PINNED  "io.cri-containerd.pinned"

/* containerd.services.content.v1.WriteAction */
#define ACTION_COMMIT 2

static int call(struct containerd *containerd, const char *method, const struct strbuf *request,
		struct strbuf *ret_answer, struct error *err)
{
	return grpc_call(containerd->grpc, method, &containerd->metadata, request, ret_answer, err);
}

int containerd_open(struct grpc *grpc, int64_t deadline_ms, struct containerd *ret,
		    struct error *err)
{
	struct containerd containerd = { .grpc = grpc };
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	int r;

	strlist_add(&containerd.metadata, "containerd-namespace: k8s.io");
	for (;;) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		r = call(&containerd, "containerd.services.version.v1.Version/Version", &request,
			 NULL, &why);
		/* One that is being killed may still have accepted the connection. */
		if ((r != -ECONNREFUSED && r != -ECONNRESET && r != -EAGAIN) ||
		    !clock_poll(deadline_ms, POLL_MS)) {
			if (r < 0)
				r = error_move(err, r, &why);
			break;
		}
	}
	if (r == 0)
		*ret = containerd;
	else
		containerd_release(&containerd);
	return r;
}

void containerd_release(struct containerd *containerd)
{
	strlist_release(&containerd->metadata);
}

int containerd_take_lease(struct containerd *containerd, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	cleanup_free char *expiry = clock_rfc3339(clock_wall_seconds() + LEASE_SECONDS);
	uint64_t number;
	int r;

	if (*containerd->lease)
		return 0;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return error_sys(err, "cannot get random bytes");
	(void)snprintf(containerd->lease, sizeof(containerd->lease), "manykube-%016llx",
		       (unsigned long long)number);
	protobuf_add_text(&request, 1, containerd->lease);
	protobuf_add_pair(&request, 3, "containerd.io/gc.expire", expiry);
	r = call(containerd, LEASES "Create", &request, NULL, err);
	if (r < 0)
		containerd->lease[0] = 0;
	else
		strlist_addf(&containerd->metadata, "containerd-lease: %s", containerd->lease);
	return r;
}

int containerd_drop_lease(struct containerd *containerd, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	cleanup_free char *header = xasprintf("containerd-lease: %s", containerd->lease);
	int r;

	if (!*containerd->lease)
		return 0;
	strlist_remove(&containerd->metadata, header);
	protobuf_add_text(&request, 1, containerd->lease);
	containerd->lease[0] = 0;
	r = call(containerd, LEASES "Delete", &request, NULL, err);
	return r == -ENOENT ? 0 : r;
}

/* Set LABELS of the blob DIGEST, keeping others. */
static int label_blob(struct containerd *containerd, const char *digest,
		      const struct strlist *labels, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf info = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf mask = STRBUF_INIT;

	protobuf_add_text(&info, 1, digest);
	for (size_t i = 0; i + 1 < labels->count; i += 2) {
		cleanup_free char *path = xasprintf("labels.%s", labels->items[i]);

		protobuf_add_pair(&info, 5, labels->items[i], labels->items[i + 1]);
		protobuf_add_text(&mask, 1, path);
	}
	protobuf_add_message(&request, 1, &info);
	protobuf_add_message(&request, 2, &mask);
	return call(containerd, CONTENT "Update", &request, NULL, err);
}

int containerd_put_blob(struct containerd *containerd, const char *hex, uint64_t size,
			const struct strlist *labels, struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	cleanup_free char *digest = xasprintf("sha256:%s", hex);
	cleanup_free char *ref = xasprintf("%s-%s", containerd->lease, hex);
	int r;

	/* One message opens and commits the write: for a blob that exists, containerd counts all of
	 * it as written, so what is left to write begins at its end. */
	protobuf_add_number(&request, 1, ACTION_COMMIT);
	protobuf_add_text(&request, 2, ref);
	protobuf_add_number(&request, 3, size);
	protobuf_add_text(&request, 4, digest);
	protobuf_add_number(&request, 5, size);
	for (size_t i = 0; i + 1 < labels->count; i += 2)
		protobuf_add_pair(&request, 7, labels->items[i], labels->items[i + 1]);
	r = call(containerd, CONTENT "Write", &request, NULL, &why);
	if (r == -EEXIST)
		return label_blob(containerd, digest, labels, err);
	return r < 0 ? error_move(err, r, &why) : 0;
}

int containerd_has_snapshot(struct containerd *containerd, const char *hex, struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	cleanup_free char *chain = xasprintf("sha256:%s", hex);
	int r;

	protobuf_add_text(&request, 1, SNAPSHOTTER);
	protobuf_add_text(&request, 2, chain);
	r = call(containerd, SNAPSHOTS "Stat", &request, NULL, &why);
	if (r == -ENOENT)
		return 0;
	return r < 0 ? error_move(err, r, &why) : 1;
}

/* The directory for changes of the mount MESSAGE, for the caller to free; NULL if it has none. */
static char *find_upper(struct protobuf message)
{
	static const char option[] = "upperdir=";
	cleanup_free char *source = NULL;
	struct protobuf_field field;

	while (protobuf_next(&message, &field) > 0) {
		cleanup_free char *text = field.is_bytes ? protobuf_text(&field) : NULL;

		if (!text)
			continue;
		if (field.number == 4 && strncmp(text, option, strlen(option)) == 0)
			return xstrdup(text + strlen(option));
		if (field.number == 2 && *text == '/') {
			free(source);
			source = take_ptr(text);
		}
	}
	return take_ptr(source);
}

static char *snapshot_key(const struct containerd *containerd, const char *hex)
{
	return xasprintf("%s-%s", containerd->lease, hex);
}

/* The labels that containerd's own unpacker sets. */
static void add_snapshot_labels(struct strbuf *request, const char *hex)
{
	cleanup_free char *chain = xasprintf("sha256:%s", hex);

	protobuf_add_pair(request, 4, "containerd.io/snapshot.ref", chain);
}

int containerd_prepare_snapshot(struct containerd *containerd, const char *hex, const char *parent,
				char **ret_dir, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf answer = STRBUF_INIT;
	cleanup_free char *key = snapshot_key(containerd, hex);
	cleanup_free char *below = parent ? xasprintf("sha256:%s", parent) : NULL;
	struct protobuf_field field;
	struct protobuf rest;
	char *dir = NULL;
	int r;

	protobuf_add_text(&request, 1, SNAPSHOTTER);
	protobuf_add_text(&request, 2, key);
	protobuf_add_text(&request, 3, below);
	add_snapshot_labels(&request, hex);
	r = call(containerd, SNAPSHOTS "Prepare", &request, &answer, err);
	if (r < 0)
		return r;
	rest = (struct protobuf){ answer.text, answer.len };
	while (!dir && protobuf_next(&rest, &field) > 0)
		if (protobuf_has_bytes(&field, 1))
			dir = find_upper(field.bytes);
	if (!dir)
		return error_set(err, -EBADMSG, "containerd prepared a snapshot without a place");
	*ret_dir = dir;
	return 0;
}

int containerd_commit_snapshot(struct containerd *containerd, const char *hex, struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	cleanup_free char *key = snapshot_key(containerd, hex);
	cleanup_free char *chain = xasprintf("sha256:%s", hex);
	int r;

	protobuf_add_text(&request, 1, SNAPSHOTTER);
	protobuf_add_text(&request, 2, chain);
	protobuf_add_text(&request, 3, key);
	add_snapshot_labels(&request, hex);
	r = call(containerd, SNAPSHOTS "Commit", &request, NULL, &why);
	/* Somebody else has unpacked the same; ours goes with the lease. */
	if (r == -EEXIST)
		return 0;
	return r < 0 ? error_move(err, r, &why) : 0;
}

int containerd_list_images(struct containerd *containerd, struct containerd_images *ret,
			   struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf answer = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	int r = call(containerd, IMAGES "List", &request, &answer, err);

	return r < 0 ? r
		     : containerd_parse_images((struct protobuf){ answer.text, answer.len }, ret,
					       err);
}

int containerd_put_image(struct containerd *containerd, const struct containerd_image *image,
			 struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf target = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf value = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf mask = STRBUF_INIT;
	int r;

	protobuf_add_text(&target, 1, image->type);
	protobuf_add_text(&target, 2, image->digest);
	protobuf_add_number(&target, 3, image->size);
	protobuf_add_text(&value, 1, image->name);
	protobuf_add_pair(&value, 2, LABEL_MANAGED, "managed");
	if (image->pinned)
		protobuf_add_pair(&value, 2, LABEL_PINNED, "pinned");
	protobuf_add_message(&value, 3, &target);
	protobuf_add_message(&request, 1, &value);
	r = call(containerd, IMAGES "Create", &request, NULL, &why);
	if (r != -EEXIST)
		return r < 0 ? error_move(err, r, &why) : 0;
	protobuf_add_text(&mask, 1, "target");
	protobuf_add_text(&mask, 1, "labels." LABEL_MANAGED);
	protobuf_add_message(&request, 2, &mask);
	return call(containerd, IMAGES "Update", &request, NULL, err);
}

int containerd_delete_image(struct containerd *containerd, const char *name, bool sync,
			    struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf request = STRBUF_INIT;

	protobuf_add_text(&request, 1, name);
	protobuf_add_number(&request, 2, sync);
	return call(containerd, IMAGES "Delete", &request, NULL, err);
}
