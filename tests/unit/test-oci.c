#include <jansson.h>

#include "base/file.h"
#include "base/process.h"
#include "image/oci.h"
#include "test.h"

#define NAME "registry.example/tool:v1"

/* Write a sample image and unpack its archive into the directory `out`. */
static char *write_sample(const char *name, char id[SHA256_HEX_SIZE])
{
	cleanup_with(oci_image_release) struct oci_image image = OCI_IMAGE_INIT;
	cleanup_free char *file = xasprintf("%s/program", test_dir());
	char *archive = xasprintf("%s/%s", test_dir(), name);

	ASSERT_OK(file_put(file, "program", 7, 0600, &err));
	image.name = NAME;
	image.arch = "amd64";
	strlist_add(&image.entrypoint, "/usr/bin/tool");
	strlist_add(&image.environment, "PATH=/usr/bin");
	oci_image_add_file(&image, "/usr/bin/tool", file, 0755);
	oci_image_add_link(&image, "/usr/bin/alias", "tool");
	oci_image_add_text(&image, "etc/passwd", "root:x:0:0::/:\n", 0644);
	oci_image_add_dir(&image, "/tmp", 01777);
	oci_image_add_dir(&image, "/usr", 0700); /* there already: stays as it is */
	ASSERT_OK(oci_image_write(&image, archive, id, &err));
	return archive;
}

static char *unpack(char *archive, const char *name)
{
	char *out = xasprintf("%s/%s", test_dir(), name);

	ASSERT_OK(file_make_dirs(out, 0755, &err));
	ASSERT_INT(process_run(ARGV("tar", "-xpf", archive, "-C", out), NULL, NULL), 0);
	return out;
}

static json_t *load(const char *dir, const char *path)
{
	cleanup_free char *file = xasprintf("%s/%s", dir, path);
	json_t *json = json_load_file(file, 0, NULL);

	ASSERT(json);
	return json;
}

/* Load the blob sha256:… and check that its contents are what its name says. */
static char *blob_path(const char *layout, const char *digest)
{
	char real[SHA256_HEX_SIZE];
	char *path;

	ASSERT(strncmp(digest, "sha256:", 7) == 0);
	path = xasprintf("%s/blobs/sha256/%s", layout, digest + 7);
	ASSERT_OK(sha256_of_file(path, real, &err));
	ASSERT_STR(real, digest + 7);
	return path;
}

TEST(writes_a_layout_whose_digests_are_right)
{
	char id[SHA256_HEX_SIZE];
	cleanup_free char *archive = write_sample("a.tar", id);
	cleanup_free char *layout = unpack(archive, "layout");
	json_auto_t *index = load(layout, "index.json");
	json_auto_t *manifest = NULL;
	json_auto_t *config = NULL;
	cleanup_free char *manifest_path = NULL;
	cleanup_free char *config_path = NULL;
	cleanup_free char *layer_path = NULL;
	cleanup_free char *root = NULL;
	cleanup_free char *tool = NULL;
	const char *digest, *name, *config_digest, *layer_digest, *diff, *entry;
	struct stat st;

	ASSERT_INT(json_unpack(index, "{s:[{s:s, s:{s:s}}]}", "manifests", "digest", &digest,
			       "annotations", "io.containerd.image.name", &name),
		   0);
	ASSERT_STR(name, NAME);
	manifest_path = blob_path(layout, digest);
	manifest = json_load_file(manifest_path, 0, NULL);
	ASSERT_INT(json_unpack(manifest, "{s:{s:s}, s:[{s:s}]}", "config", "digest", &config_digest,
			       "layers", "digest", &layer_digest),
		   0);
	ASSERT_STR(config_digest + 7, id);
	config_path = blob_path(layout, config_digest);
	layer_path = blob_path(layout, layer_digest);
	config = json_load_file(config_path, 0, NULL);
	ASSERT_INT(json_unpack(config, "{s:{s:[s]}, s:{s:[s]}}", "config", "Entrypoint", &entry,
			       "rootfs", "diff_ids", &diff),
		   0);
	ASSERT_STR(entry, "/usr/bin/tool");
	ASSERT_STR(diff, layer_digest);

	root = unpack(layer_path, "root");
	tool = xasprintf("%s/usr/bin/alias", root);
	ASSERT_INT(stat(tool, &st), 0);
	ASSERT_INT(st.st_size, 7);
	ASSERT_INT(st.st_mode & 07777, 0755);
}

TEST(writes_the_same_archive_every_time)
{
	char id[SHA256_HEX_SIZE];
	cleanup_free char *a = write_sample("a.tar", id);
	cleanup_free char *b = write_sample("b.tar", id);
	char digest_a[SHA256_HEX_SIZE];
	char digest_b[SHA256_HEX_SIZE];

	ASSERT_OK(sha256_of_file(a, digest_a, &err));
	ASSERT_OK(sha256_of_file(b, digest_b, &err));
	ASSERT_STR(digest_a, digest_b);
}

TEST(leaves_nothing_behind_when_a_file_is_missing)
{
	cleanup_with(oci_image_release) struct oci_image image = OCI_IMAGE_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *archive = xasprintf("%s/x.tar", test_dir());
	cleanup_free char *temp = xasprintf("%s.new", archive);

	image.name = NAME;
	image.arch = "amd64";
	oci_image_add_file(&image, "/x", "/nowhere", 0755);
	ASSERT_INT(oci_image_write(&image, archive, NULL, &err), -ENOENT);
	ASSERT_STR(err.text, "image '" NAME "': cannot open '/nowhere': No such file or directory");
	ASSERT(!file_exists(archive));
	ASSERT(!file_exists(temp));
}
