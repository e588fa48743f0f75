/*
 * Reusing components of other payloads in the cache that have the same version.
 *
 * Programs for nodes are hard-linked; programs are never written in place.  Programs for images
 * exist only in images, so the images are hard-linked, and their ids are recorded to mark them as
 * complete.
 */

#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "payload/work.h"

/* The first object in LIST whose member KEY is VALUE, or NULL. */
static const json_t *find_by_key(const json_t *list, const char *key, const char *value)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *object = json_array_get(list, i);
		const char *text = json_string_value(json_object_get(object, key));

		if (text && strcmp(text, value) == 0)
			return object;
	}
	return NULL;
}

/* The origin of component ID in the payload described by JSON, if it has the wanted version and
 * that origin is allowed; else NULL. */
static const char *origin_of(const struct work *work, enum component_id id, const json_t *json)
{
	const json_t *part = find_by_key(json_object_get(json, "components"), "name",
					 components[id].name);
	const char *version = json_string_value(json_object_get(part, "version"));
	const char *from = json_string_value(json_object_get(part, "from"));
	const char *arch = json_string_value(json_object_get(json, "arch"));

	if (!version || !from || !arch || strcmp(arch, work->arch) != 0 ||
	    strcmp(version, work->release->versions[id]) != 0)
		return NULL;
	if (strcmp(from, "download") == 0)
		return work->source.no_download ? NULL : "download";
	return strcmp(from, "source") == 0 && !work->source.no_build ? "source" : NULL;
}

static bool link_file(const struct work *work, const char *dir, const char *below, const char *name)
{
	cleanup_free char *from = xasprintf("%s/%s/%s", dir, below, name);
	cleanup_free char *to = work_path(work, "%s/%s", below, name);

	(void)unlink(to);
	return link(from, to) == 0;
}

static bool take_programs(const struct work *work, enum component_id id, const char *dir)
{
	for (const struct program *program = components[id].programs; program->name; program++)
		if (program->use & (USE_NODE | USE_CNI) &&
		    !link_file(work, dir, program->use & USE_CNI ? "cni" : "bin", program->name))
			return false;
	return true;
}

static bool take_images(const struct work *work, enum component_id id, const char *dir,
			const json_t *json)
{
	static const char algorithm[] = "sha256:";
	cleanup_with(strlist_release) struct strlist archives = STRLIST_INIT;
	const char *archive;

	work_list_archives(work, id, &archives);
	strlist_for_each(archive, &archives) {
		const json_t *image = find_by_key(json_object_get(json, "images"), "archive",
						  archive);
		const char *image_id = json_string_value(json_object_get(image, "id"));
		cleanup_free char *stamp = work_path(work, "work/images/%s", archive);

		if (!image_id || strncmp(image_id, algorithm, strlen(algorithm)) != 0 ||
		    !link_file(work, dir, "images", archive))
			return false;
		image_id += strlen(algorithm);
		if (file_put(stamp, image_id, strlen(image_id), 0644, NULL) < 0)
			return false;
	}
	return true;
}

const char *work_reuse(struct work *work, enum component_id id)
{
	for (const struct release *other = releases; other->version; other++) {
		cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
		cleanup_free char *path = NULL;
		json_auto_t *json = NULL;
		const char *origin;

		if (other == work->release || payload_open(other->version, &payload, NULL) < 0)
			continue;
		path = xasprintf("%s/payload.json", payload.dir);
		json = json_load_file(path, 0, NULL);
		origin = origin_of(work, id, json);
		if (!origin || !take_programs(work, id, payload.dir) ||
		    !take_images(work, id, payload.dir, json))
			continue;
		log_debug("reusing %s %s from '%s'", components[id].name,
			  work->release->versions[id], payload.dir);
		return origin;
	}
	return NULL;
}
