/* The manifests of a pod network that the user has given. */

#include "cni/manifests.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/user.h"
#include "cni/objects.h"
#include "data/sha256.h"
#include "payload/download.h"
#include "record/cni.h"

#define FILE_BYTES (4 << 20)
#define FILES_MOST 100

/* DIR/cni/HASH/NN.yaml, with the hash of the word: a change of the network has two of them. */
static char *all_dir(const struct profile *profile)
{
	return xasprintf("%s/cni", profile->dir);
}

static char *stored_dir(const struct profile *profile)
{
	char hash[SHA256_HEX_SIZE];

	sha256_of(profile->cni, strlen(profile->cni), hash);
	return xasprintf("%s/cni/%.16s", profile->dir, hash);
}

void cni_manifests_release(struct cni_manifests *manifests)
{
	strlist_release(&manifests->names);
	strlist_release(&manifests->texts);
}

/* Add TEXT of the file NAME after checking it. */
static int add_text(struct cni_manifests *manifests, const char *name, const struct strbuf *text,
		    struct error *err)
{
	json_auto_t *objects = json_array();
	int r = objects_parse(name, text->text, text->len, objects, err);

	if (r < 0)
		return r;
	if (json_array_size(objects) == 0)
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is no manifest: it has no object", name);
	strlist_add(&manifests->names, name);
	strlist_add(&manifests->texts, text->text);
	return 0;
}

static int read_file(struct cni_manifests *manifests, const char *path, struct error *err)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct stat st;
	int r = user_enter(&rights, err); /* the user may read the copy */

	if (r < 0)
		return r;
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is no file or directory with manifests", path);
	r = file_read(path, FILE_BYTES, &text, err);
	return r < 0 ? error_reason(err, r, &reason_usage) : add_text(manifests, path, &text, err);
}

static bool is_manifest(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && *name != '.' &&
	       (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

static int list_directory(const char *path, struct strlist *ret, struct error *err)
{
	cleanup_dir DIR *stream = opendir(path);
	struct dirent *entry;

	if (!stream)
		return error_sys(err, "cannot read the directory '%s'", path);
	while ((entry = readdir(stream)))
		if (is_manifest(entry->d_name))
			strlist_addf(ret, "%s/%s", path, entry->d_name);
	strlist_sort(ret);
	if (ret->count > 0 && ret->count <= FILES_MOST)
		return 0;
	return error_because(err, &reason_usage, -EINVAL,
			     ret->count ? "'%s' has more than %d manifests"
					: "'%s' has no file that ends in .yaml, .yml or .json",
			     path, FILES_MOST);
}

static int read_local(const char *path, struct cni_manifests *ret, struct error *err)
{
	cleanup_with(strlist_release) struct strlist files = STRLIST_INIT;
	struct stat st;
	const char *file;
	int r = 0;

	if (stat(path, &st) < 0)
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' does not exist on this host", path);
	if (S_ISDIR(st.st_mode))
		r = list_directory(path, &files, err);
	else
		strlist_add(&files, path);
	strlist_for_each(file, &files)
		if (r == 0)
			r = read_file(ret, file, err);
	return r;
}

static int fetch(const char *url, bool offline, struct cni_manifests *ret, struct error *err)
{
	const struct download download = { .url = url,
					   .limit_bytes = FILE_BYTES,
					   .plain_http = strncmp(url, "http:", 5) == 0 };
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r;

	if (offline) {
		(void)error_because(err, &reason_download, -ENOENT,
				    "--cni=%s is not fetched for an offline cluster", url);
		return error_hint(err, -ENOENT, "download it, and give the file: --cni=FILE");
	}
	r = download_text(&download, &text, err);
	if (r < 0)
		return error_reason(err, error_prefix(err, r, "cannot fetch '%s'", url),
				    &reason_download);
	return add_text(ret, url, &text, err);
}

int cni_manifests_read(const char *word, bool offline, struct cni_manifests *ret, struct error *err)
{
	cleanup_with(cni_manifests_release) struct cni_manifests manifests = CNI_MANIFESTS_INIT;
	int r = cni_is_url(word) ? fetch(word, offline, &manifests, err)
				 : read_local(word, &manifests, err);

	if (r < 0)
		return r;
	*ret = manifests;
	manifests = CNI_MANIFESTS_INIT;
	return 0;
}

int cni_manifests_check(const char *word, struct error *err)
{
	cleanup_with(cni_manifests_release) struct cni_manifests manifests = CNI_MANIFESTS_INIT;
	int r = cni_check(word, err);

	return r < 0 || !cni_is_place(word) || cni_is_url(word) ? r
								: read_local(word, &manifests, err);
}

bool cni_manifests_are_stored(const struct profile *profile)
{
	cleanup_free char *dir = stored_dir(profile);

	return file_exists(dir);
}

int cni_manifests_store(const struct profile *profile, const struct cni_manifests *manifests,
			struct error *err)
{
	cleanup_free char *dir = stored_dir(profile);
	cleanup_free char *part = xasprintf("%s.part", dir);
	int r = file_remove_tree(part, err);

	if (r == 0)
		r = file_make_dirs(part, 0755, err);
	for (size_t i = 0; r == 0 && i < manifests->texts.count; i++) {
		cleanup_free char *path = xasprintf("%s/%03zu.yaml", part, i);
		const char *text = manifests->texts.items[i];

		r = file_put(path, text, strlen(text), 0644, err);
	}
	if (r == 0)
		r = file_remove_tree(dir, err);
	if (r == 0 && rename(part, dir) < 0)
		r = error_sys(err, "cannot rename to '%s'", dir);
	return r;
}

static int load_objects(const char *dir, json_t *list, struct error *err)
{
	cleanup_with(strlist_release) struct strlist files = STRLIST_INIT;
	const char *file;
	int r = list_directory(dir, &files, err);

	strlist_for_each(file, &files) {
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

		if (r == 0)
			r = file_read(file, FILE_BYTES, &text, err);
		if (r == 0)
			r = objects_parse(file, text.text, text.len, list, err);
	}
	return r;
}

int cni_manifests_apply(const struct profile *profile, struct error *err)
{
	cleanup_free char *dir = stored_dir(profile);
	json_auto_t *list = json_array();
	int r = load_objects(dir, list, err);

	return r < 0 ? r : objects_apply(profile, list, err);
}

/* Delete the objects of the manifests in DIR, and then these. */
static int remove_from(const struct profile *profile, const char *dir, struct error *err)
{
	json_auto_t *list = json_array();
	size_t len = strlen(dir);
	int r = len > 5 && strcmp(dir + len - 5, ".part") == 0 ? 0 : load_objects(dir, list, err);

	if (r == 0)
		r = objects_delete(profile, list, err);
	return r < 0 ? r : file_remove_tree(dir, err);
}

int cni_manifests_remove(const struct profile *profile, struct error *err)
{
	cleanup_free char *all = all_dir(profile);
	cleanup_free char *own = stored_dir(profile);
	cleanup_dir DIR *stream = opendir(all);
	struct dirent *entry;
	int r = 0;

	while (r == 0 && stream && (entry = readdir(stream))) {
		cleanup_free char *dir = xasprintf("%s/%s", all, entry->d_name);

		if (entry->d_name[0] == '.' ||
		    (cni_kind(profile->cni) == CNI_MANIFESTS && strcmp(dir, own) == 0))
			continue;
		r = remove_from(profile, dir, err);
	}
	return r;
}
