#include "image/store.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "host/namespace.h"
#include "image-maker.h"
#include "image/oci.h"
#include "image/reader.h"
#include "test.h"

static char *store_path(void)
{
	return xasprintf("%s/images", test_dir());
}

static void make_layer(struct strbuf *tar, const char *path, const char *text)
{
	tar_maker_add(tar, &(struct tar_member){
				   .path = path, .text = text, .uid = 1000, .mode = 04755 });
	tar_maker_end(tar);
}

static int add_fd(int fd, struct image_list *ret, struct error *err)
{
	cleanup_free char *store = store_path();
	struct image_source source = { .fd = fd, .shown = "a.tar", .reserve = 1 };

	return image_store_add(store, &source, ret, err);
}

static int add(const struct strbuf *tar, struct image_list *ret, struct error *err)
{
	cleanup_free char *path = image_maker_write("a.tar", tar);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	return add_fd(fd, ret, err);
}

static void add_well(const struct strbuf *tar, struct image_list *ret)
{
	struct error err = ERROR_INIT;

	if (add(tar, ret, &err) < 0)
		test_fail(__FILE__, __LINE__, "adding failed: %s", err.text);
}

static void assert_refused(const struct strbuf *tar, const struct reason *reason, const char *part)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_free char *store = store_path();
	cleanup_free char *blobs = xasprintf("%s/blobs", store);
	cleanup_free char *layers = xasprintf("%s/layers", store);
	struct error err = ERROR_INIT;

	ASSERT(add(tar, &list, &err) < 0);
	if (!strstr(err.text, part))
		test_fail(__FILE__, __LINE__, "'%s' does not say '%s'", err.text, part);
	if (err.reason != reason)
		test_fail(__FILE__, __LINE__, "'%s' has the reason %s", err.text,
			  err.reason ? err.reason->word : "none");
	error_clear(&err);
	/* Empty directories can be removed, others not. */
	ASSERT_INT(rmdir(blobs), 0);
	ASSERT_INT(rmdir(layers), 0);
	ASSERT_INT(rmdir(store), 0);
}

/* Adding TAR must fail as PART says, after other images were added. */
static void assert_refused_later(const struct strbuf *tar, const struct reason *reason,
				 const char *part)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list stored = IMAGE_LIST_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *store = store_path();

	ASSERT(add(tar, &list, &err) < 0);
	ASSERT(err.reason == reason);
	if (!strstr(err.text, part))
		test_fail(__FILE__, __LINE__, "'%s' does not say '%s'", err.text, part);
	ASSERT_INT(image_store_read(store, &stored, NULL), 0);
	ASSERT_INT(stored.count, 1);
}

static size_t count_entries(const char *name)
{
	cleanup_free char *path = xasprintf("%s/images/%s", test_dir(), name);
	cleanup_dir DIR *dir = opendir(path);
	size_t count = 0;

	ASSERT(dir);
	while (readdir(dir))
		count++;
	return count - 2;
}

/* An image with two layers, in the two kinds of archives. */
struct sample {
	struct strbuf layers[2];
	struct image_maker image;
	struct strbuf oci;
	struct strbuf docker;
};

static void make_sample(struct sample *sample, const char *name)
{
	struct strbuf entries = STRBUF_INIT;

	*sample = (struct sample){ .layers = { STRBUF_INIT, STRBUF_INIT },
				   .image = { .name = name },
				   .oci = STRBUF_INIT,
				   .docker = STRBUF_INIT };
	make_layer(&sample->layers[0], "bin/tool", "program");
	make_layer(&sample->layers[1], "etc/.wh.old", "");
	for (size_t i = 0; i < 2; i++)
		image_maker_layer(&sample->image, &sample->layers[i], &sample->layers[i]);
	image_maker_oci(&sample->image, &sample->oci, &entries);
	image_maker_index(&sample->oci, &entries);
	image_maker_docker(&sample->image, &sample->docker);
	strbuf_release(&entries);
}

/* Make the archives again after a change of SAMPLE's image. */
static void make_again(struct sample *sample)
{
	struct strbuf entries = STRBUF_INIT;

	strbuf_reset(&sample->oci);
	strbuf_reset(&sample->docker);
	image_maker_oci(&sample->image, &sample->oci, &entries);
	image_maker_index(&sample->oci, &entries);
	image_maker_docker(&sample->image, &sample->docker);
	strbuf_release(&entries);
}

static void release_sample(struct sample *sample)
{
	strbuf_release(&sample->layers[0]);
	strbuf_release(&sample->layers[1]);
	strbuf_release(&sample->oci);
	strbuf_release(&sample->docker);
}

static void assert_sample(const struct sample *sample, const struct image *image)
{
	cleanup_free char *store = store_path();
	cleanup_free char *layer = image_store_layer(store, &image->layers[0]);
	cleanup_free char *tool = xasprintf("%s/bin/tool", layer);
	struct stat st;

	ASSERT_INT(image->layer_count, 2);
	ASSERT_STR(image->layers[0].diff_id, sample->image.diffs[0]);
	ASSERT_STR(image->layers[0].chain_id, image->layers[0].diff_id);
	ASSERT(strcmp(image->layers[1].chain_id, image->layers[1].diff_id) != 0);
	ASSERT_STR(image->arch, oci_host_arch());
	ASSERT_INT(stat(tool, &st), 0);
	ASSERT_INT(st.st_uid, 1000);
	ASSERT_INT(st.st_mode & 07777, 04755);
	for (size_t i = 0; i < 2; i++) {
		cleanup_free char *blob = image_store_blob(store, &image->layers[i].blob);
		char digest[SHA256_HEX_SIZE];

		ASSERT_OK(sha256_of_file(blob, digest, &err));
		ASSERT_STR(digest, image->layers[i].blob.digest);
		ASSERT_INT(stat(blob, &st), 0);
		ASSERT_INT(st.st_uid, 0);
	}
}

TEST(an_oci_layout_is_added_and_recognised)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list again = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list stored = IMAGE_LIST_INIT;
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *store = store_path();
	cleanup_free char *layer = NULL;
	struct stat before;
	struct stat after;

	make_sample(&sample, "app");
	add_well(&sample.oci, &list);
	ASSERT_INT(list.count, 1);
	ASSERT_STR(list.items[0].names.items[0], "docker.io/library/app:latest");
	assert_sample(&sample, &list.items[0]);
	ASSERT_INT(count_entries("blobs"), 4);
	ASSERT_INT(count_entries("layers"), 2);
	ASSERT_INT(count_entries("."), 3);

	layer = image_store_layer(store, &list.items[0].layers[0]);
	ASSERT_INT(stat(layer, &before), 0);
	add_well(&sample.oci, &again);
	ASSERT_INT(stat(layer, &after), 0);
	ASSERT_INT(before.st_ino, after.st_ino);
	ASSERT_STR(again.items[0].manifest.digest, list.items[0].manifest.digest);
	ASSERT_OK(image_store_read(store, &stored, &err));
	ASSERT_INT(stored.count, 1);
	ASSERT_STR(stored.items[0].layers[1].chain_id, list.items[0].layers[1].chain_id);
}

TEST(an_archive_of_docker_is_added)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list again = IMAGE_LIST_INIT;
	cleanup_with(release_sample) struct sample sample;

	make_sample(&sample, "me/app:1");
	add_well(&sample.docker, &list);
	ASSERT_INT(list.count, 1);
	ASSERT_STR(list.items[0].names.items[0], "docker.io/me/app:1");
	assert_sample(&sample, &list.items[0]);
	ASSERT_INT(count_entries("blobs"), 4);
	add_well(&sample.docker, &again);
	ASSERT_STR(again.items[0].manifest.digest, list.items[0].manifest.digest);
	ASSERT_INT(count_entries("blobs"), 4);
}

TEST(an_image_may_have_no_name)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *id = NULL;

	make_sample(&sample, NULL);
	add_well(&sample.docker, &list);
	ASSERT_INT(list.items[0].names.count, 0);
	id = xasprintf("sha256:%.12s", list.items[0].config.digest);
	ASSERT(image_list_find(&list, id) == &list.items[0]);
}

static void assert_added_through(const char *whole, const char *layer)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(strbuf_release) struct strbuf packed = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf archive = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf plain = STRBUF_INIT;
	cleanup_free char *dir = NULL;
	struct strbuf entries = STRBUF_INIT;
	struct image_maker image = { .name = layer };
	struct strbuf tar = STRBUF_INIT;

	make_layer(&plain, "file", "text");
	image_maker_compress(layer, &plain, &packed);
	image_maker_layer(&image, &packed, &plain);
	image_maker_oci(&image, &tar, &entries);
	image_maker_index(&tar, &entries);
	image_maker_compress(whole, &tar, &archive);
	add_well(&archive, &list);
	dir = xasprintf("%s/images/layers/%s/file", test_dir(), image.diffs[0]);
	ASSERT(file_exists(dir));
	ASSERT_STR(list.items[0].layers[0].blob.digest, image.blobs[0]);
	strbuf_release(&tar);
	strbuf_release(&entries);
}

TEST(archives_and_layers_may_be_compressed)
{
	assert_added_through("gzip", "zstd");
	assert_added_through("zstd", "gzip");
	ASSERT_INT(count_entries("layers"), 1);
}

TEST(a_layer_may_be_empty)
{
	static const char *const programs[] = { NULL, "gzip", "zstd" };

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
		cleanup_with(strbuf_release) struct strbuf plain = STRBUF_INIT;
		cleanup_with(strbuf_release) struct strbuf packed = STRBUF_INIT;
		cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
		struct image_maker image = { .name = "app" };

		tar_maker_end(&plain);
		if (programs[i])
			image_maker_compress(programs[i], &plain, &packed);
		image_maker_layer(&image, programs[i] ? &packed : &plain, &plain);
		image_maker_docker(&image, &tar);
		add_well(&tar, &list);
		ASSERT_INT(count_entries("layers"), 1);
	}
}

TEST(a_layer_has_only_padding_after_its_end)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_free char *zeros = xcalloc(1 << 20, 1);

	for (unsigned mib = 1; mib <= 17; mib += 16) {
		cleanup_with(strbuf_release) struct strbuf packed = STRBUF_INIT;
		cleanup_with(strbuf_release) struct strbuf plain = STRBUF_INIT;
		cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
		struct image_maker image = { .name = "app" };

		make_layer(&plain, "file", "text");
		for (unsigned i = 0; i < mib; i++)
			strbuf_add_mem(&plain, zeros, 1 << 20);
		image_maker_compress("zstd", &plain, &packed);
		image_maker_layer(&image, &packed, &plain);
		image_maker_docker(&image, &tar);
		if (mib == 1)
			add_well(&tar, &list);
		else
			assert_refused_later(&tar, &reason_image, "too much follows its end");
	}
}

TEST(a_layer_of_docker_may_be_compressed)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(strbuf_release) struct strbuf packed = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf plain = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
	struct image_maker image = { .name = "app" };

	make_layer(&plain, "file", "text");
	image_maker_compress("gzip", &plain, &packed);
	image_maker_layer(&image, &packed, &plain);
	image_maker_docker(&image, &tar);
	add_well(&tar, &list);
	ASSERT_STR(list.items[0].layers[0].blob.digest, image.blobs[0]);
	ASSERT_STR(list.items[0].layers[0].blob.type,
		   "application/vnd.oci.image.layer.v1.tar+gzip");
}

TEST(a_pipe_is_read)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(release_sample) struct sample sample;
	int ends[2];
	pid_t pid;

	make_sample(&sample, "app");
	ASSERT_INT(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0)
		_exit(file_write_all(ends[1], sample.docker.text, sample.docker.len) < 0);
	(void)close(ends[1]);
	ASSERT_OK(add_fd(ends[0], &list, &err));
	assert_sample(&sample, &list.items[0]);
	(void)waitpid(pid, NULL, 0);
}

TEST(a_directory_is_read)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *dir = xasprintf("%s/layout", test_dir());
	cleanup_free char *archive = NULL;
	cleanup_fd int fd = -1;

	make_sample(&sample, "app");
	archive = image_maker_write("layout.tar", &sample.oci);
	ASSERT_OK(file_make_dirs(dir, 0700, &err));
	ASSERT_INT(process_run(ARGV("tar", "-xf", archive, "-C", dir), NULL, NULL), 0);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ASSERT_OK(add_fd(fd, &list, &err));
	assert_sample(&sample, &list.items[0]);
}

TEST(a_name_moves_to_the_newer_image)
{
	cleanup_with(image_list_release) struct image_list first = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list second = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list stored = IMAGE_LIST_INIT;
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *store = store_path();

	make_sample(&sample, "app");
	add_well(&sample.oci, &first);
	sample.image.count = 1;
	make_again(&sample);
	add_well(&sample.oci, &second);
	ASSERT_OK(image_store_read(store, &stored, &err));
	ASSERT_INT(stored.count, 1);
	ASSERT_STR(stored.items[0].manifest.digest, second.items[0].manifest.digest);
	ASSERT(image_list_find(&stored, "app") == &stored.items[0]);

	ASSERT_INT(count_entries("layers"), 2);
	ASSERT_OK(image_store_clean(store, NULL, &err));
	ASSERT_INT(count_entries("layers"), 1);
	ASSERT_INT(count_entries("blobs"), 3);
}

TEST(an_image_has_a_bounded_number_of_names)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list stored = IMAGE_LIST_INIT;
	cleanup_with(strbuf_release) struct strbuf names = STRBUF_INIT;
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *store = store_path();
	size_t end;

	strbuf_add(&names, "app:0");
	for (unsigned i = 1; i < IMAGE_NAMES_MAX; i++)
		strbuf_addf(&names, "\",\"app:%u", i);
	end = names.len;
	strbuf_add(&names, "\",\"app:last");
	make_sample(&sample, names.text);
	assert_refused(&sample.docker, &reason_image, "more than 256 names");
	names.text[end] = '\0';
	make_again(&sample);
	add_well(&sample.docker, &list);
	ASSERT_INT(list.items[0].names.count, IMAGE_NAMES_MAX);
	/* One more by another archive, and by tagging it. */
	sample.image.name = "other";
	make_again(&sample);
	assert_refused_later(&sample.docker, &reason_usage, "more than 256 names");
	ASSERT_INT(image_list_name(&list, 0, "docker.io/library/other:latest"), 0);
	ASSERT_INT(image_store_write(store, &list, NULL), -EINVAL);
	ASSERT_OK(image_store_read(store, &stored, &err));
	ASSERT_INT(stored.items[0].names.count, IMAGE_NAMES_MAX);
}

TEST(what_is_in_use_is_not_cleaned)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list none = IMAGE_LIST_INIT;
	cleanup_with(strlist_release) struct strlist kept = STRLIST_INIT;
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *store = store_path();
	cleanup_free char *leftover = xasprintf("%s/incoming.abcdef", store);

	make_sample(&sample, "app");
	add_well(&sample.oci, &list);
	ASSERT_OK(image_store_write(store, &none, &err));
	ASSERT_OK(file_make_dirs(leftover, 0700, &err));
	strlist_add(&kept, sample.image.diffs[1]);
	ASSERT_OK(image_store_clean(store, &kept, &err));
	ASSERT_INT(count_entries("layers"), 1);
	ASSERT_INT(count_entries("blobs"), 1);
	ASSERT_INT(count_entries("."), 3);
}

TEST(what_killed_commands_left_is_removed)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *left = xasprintf("%s/images/incoming.abcdef/layers/new-0", test_dir());

	ASSERT_OK(file_make_dirs(left, 0700, &err));
	make_sample(&sample, "app");
	add_well(&sample.oci, &list);
	ASSERT_INT(count_entries("."), 3);
}

TEST(an_exported_image_can_be_added_elsewhere)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list again = IMAGE_LIST_INIT;
	cleanup_with(strbuf_release) struct strbuf saved = STRBUF_INIT;
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *store = store_path();
	cleanup_free char *path = xasprintf("%s/saved.tar", test_dir());
	cleanup_free char *moved = xasprintf("%s.moved", store);
	cleanup_fd int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	make_sample(&sample, "app");
	add_well(&sample.docker, &list);
	ASSERT_OK(image_store_export(store, &list, fd, &err));
	ASSERT_OK(file_read(path, 1 << 20, &saved, &err));
	ASSERT_INT(rename(store, moved), 0);
	add_well(&saved, &again);
	ASSERT_INT(again.count, 1);
	ASSERT_STR(again.items[0].manifest.digest, list.items[0].manifest.digest);
	ASSERT_STR(again.items[0].names.items[0], "docker.io/library/app:latest");
	assert_sample(&sample, &again.items[0]);
}

TEST(what_is_no_image_archive_is_refused)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	assert_refused(&text, &reason_usage, "it is empty");
	strbuf_add(&text, "hello");
	assert_refused(&text, &reason_usage, "not a tar archive");
	strbuf_reset(&text);
	tar_maker_end(&text);
	assert_refused(&text, &reason_usage, "neither index.json nor manifest.json");
	strbuf_reset(&text);
	make_layer(&text, "some/file", "text");
	assert_refused(&text, &reason_usage, "neither index.json nor manifest.json");
}

TEST(damaged_archives_leave_nothing)
{
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *name = NULL;

	make_sample(&sample, "app");
	sample.oci.len = sample.oci.len / 2 + 100;
	assert_refused(&sample.oci, &reason_image, "truncated");

	/* The digest of a layer is not that of its name. */
	release_sample(&sample);
	make_sample(&sample, "app");
	sample.layers[1].text[0] ^= 1;
	tar_maker_seal(&sample.layers[1], 0);
	make_again(&sample);
	name = xasprintf("the layer sha256:%s: its contents have the digest",
			 sample.image.blobs[1]);
	assert_refused(&sample.oci, &reason_image, name);
	free(name);
	name = xasprintf("the layer 'layer-1/layer.tar': its digest is sha256:");
	assert_refused(&sample.docker, &reason_image, name);

	/* The contents are not even an archive. */
	sample.layers[1].text[0] ^= 3;
	make_again(&sample);
	assert_refused(&sample.docker, &reason_image, name);
	free(name);
	name = xasprintf("the layer sha256:%s: its contents have the digest",
			 sample.image.blobs[1]);
	assert_refused(&sample.oci, &reason_image, name);
}

TEST(a_wrong_diff_id_is_refused)
{
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *name = NULL;

	make_sample(&sample, "app");
	sample.image.diffs[0][5] ^= 1;
	make_again(&sample);
	name = xasprintf("the layer sha256:%s: unpacked, its digest", sample.image.blobs[0]);
	assert_refused(&sample.oci, &reason_image, name);
	free(name);
	name = xasprintf("the layer 'layer-0/layer.tar': its digest is sha256:%s, but the "
			 "configuration says sha256:%s",
			 sample.image.blobs[0], sample.image.diffs[0]);
	assert_refused(&sample.docker, &reason_image, name);
}

TEST(sizes_and_types_are_checked)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(release_sample) struct sample sample;
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf entries = STRBUF_INIT;
	char *size;

	make_sample(&sample, "app");
	image_maker_oci(&sample.image, &tar, &entries);
	size = strstr(entries.text, "\"size\":");
	size[strlen("\"size\":")] ^= 1;
	image_maker_index(&tar, &entries);
	assert_refused(&tar, &reason_image, "is said to be");

	sample.image.layer_type = "application/vnd.oci.image.layer.v1.tar+gzip+encrypted";
	make_again(&sample);
	assert_refused(&sample.oci, &reason_image, "is not that of a layer");
	sample.image.layer_type = "application/vnd.docker.image.rootfs.diff.tar.gzip";
	make_again(&sample);
	add_well(&sample.oci, &list);
}

TEST(what_is_known_in_parts_is_verified_as_a_whole)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(strbuf_release) struct strbuf packed = STRBUF_INIT;
	cleanup_with(release_sample) struct sample sample;
	cleanup_with(release_sample) struct sample other;

	make_sample(&sample, "app");
	add_well(&sample.oci, &list);
	/* Blob and contents are known, but not of each other. */
	make_sample(&other, "other");
	memcpy(other.image.diffs[0], sample.image.diffs[1], SHA256_HEX_SIZE);
	make_again(&other);
	assert_refused_later(&other.oci, &reason_image, "unpacked, its digest");
	/* The contents are known, but those of the blob are damaged. */
	image_maker_compress("gzip", &sample.layers[0], &packed);
	packed.text[packed.len - 6] ^= 1;
	sample.image.count = 0;
	image_maker_layer(&sample.image, &packed, &sample.layers[0]);
	make_again(&sample);
	assert_refused_later(&sample.oci, &reason_image, sample.image.blobs[0]);
}

TEST(a_missing_layer_is_named)
{
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *name = NULL;

	make_sample(&sample, "app");
	sample.image.blobs[1][0] = sample.image.blobs[1][0] == 'a' ? 'b' : 'a';
	strbuf_reset(&sample.oci);
	make_again(&sample);
	/* Its member has the wrong name, too. */
	name = xasprintf("sha256:%s", sample.image.blobs[1]);
	assert_refused(&sample.oci, &reason_image, name);
}

TEST(a_layer_that_leads_out_is_refused)
{
	cleanup_with(release_sample) struct sample sample;

	make_sample(&sample, "app");
	strbuf_reset(&sample.layers[0]);
	make_layer(&sample.layers[0], "../../victim", "x");
	sample.image.count = 0;
	image_maker_layer(&sample.image, &sample.layers[0], &sample.layers[0]);
	make_again(&sample);
	assert_refused(&sample.oci, &reason_image, "leads out of the layer");
}

TEST(no_space_is_a_reason_of_its_own)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *store = store_path();
	cleanup_free char *path = NULL;
	cleanup_fd int fd = -1;
	struct image_source source = { .shown = "a.tar", .reserve = UINT64_C(1) << 60 };
	struct error err = ERROR_INIT;

	make_sample(&sample, "app");
	path = image_maker_write("a.tar", &sample.oci);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	source.fd = fd;
	ASSERT_INT(image_store_add(store, &source, &list, &err), -ENOSPC);
	ASSERT(err.reason == &reason_storage);
	ASSERT_INT(count_entries("layers"), 0);
	error_clear(&err);
}

static char *warning;

static void keep_warning(const char *text)
{
	free(warning);
	warning = xstrdup(text);
}

TEST(an_image_for_another_machine_is_added_with_a_warning)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(release_sample) struct sample sample;

	log_show_warnings_with(keep_warning);
	make_sample(&sample, "app");
	sample.image.arch = "s390x";
	make_again(&sample);
	add_well(&sample.oci, &list);
	ASSERT_STR(list.items[0].arch, "s390x");
	ASSERT(warning && strstr(warning, "s390x"));
}

/* An index of two platforms, of which the archive may lack the blobs of one, and an attestation. */
TEST(the_image_for_this_machine_is_chosen)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(release_sample) struct sample sample;
	struct strbuf entries = STRBUF_INIT;
	struct strbuf top = STRBUF_INIT;
	struct strbuf tar = STRBUF_INIT;
	cleanup_free char *nested = NULL;
	char digest[SHA256_HEX_SIZE];

	make_sample(&sample, NULL);
	sample.image.arch = "s390x";
	image_maker_oci(&sample.image, &tar, &entries);
	sample.image.arch = NULL;
	image_maker_oci(&sample.image, &tar, &entries);
	memset(digest, 'a', sizeof(digest) - 1);
	digest[sizeof(digest) - 1] = '\0';
	strbuf_addf(&entries,
		    ",{\"mediaType\":\"m\",\"digest\":\"sha256:%s\",\"size\":5,"
		    "\"platform\":{\"architecture\":\"unknown\",\"os\":\"unknown\"}}",
		    digest);
	strbuf_addf(&entries, ",{\"mediaType\":\"m\",\"digest\":\"sha256:%s\",\"size\":5}", digest);
	nested = xasprintf("{\"schemaVersion\":2,\"manifests\":[%s]}", entries.text);
	image_maker_blob(&tar, nested, strlen(nested), digest);
	strbuf_addf(&top,
		    "{\"mediaType\":\"application/vnd.oci.image.index.v1+json\","
		    "\"digest\":\"sha256:%s\",\"size\":%zu,\"annotations\":"
		    "{\"org.opencontainers.image.ref.name\":\"localhost/app:1\"}}",
		    digest, strlen(nested));
	image_maker_index(&tar, &top);
	add_well(&tar, &list);
	ASSERT_INT(list.count, 1);
	ASSERT_STR(list.items[0].arch, oci_host_arch());
	ASSERT_STR(list.items[0].names.items[0], "localhost/app:1");
	strbuf_release(&tar);
	strbuf_release(&top);
	strbuf_release(&entries);
}

/* What /proc says of PID; the caller frees it. */
static char *status_of_child(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d/status", (int)pid);
	struct strbuf text = STRBUF_INIT;

	if (file_read(path, 65536, &text, NULL) < 0)
		strbuf_reset(&text);
	return strbuf_take(&text);
}

/* The only child of PID, which may still be changing; 0 if there is none. */
static pid_t child_of(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d/task/%d/children", (int)pid, (int)pid);
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int child = 0;

	if (file_read(path, 4096, &text, NULL) < 0 || sscanf(text.text, "%d", &child) != 1)
		return 0;
	return (pid_t)child;
}

static size_t count_descriptors(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d/fd", (int)pid);
	cleanup_dir DIR *dir = opendir(path);
	size_t count = 0;

	while (dir && readdir(dir))
		count++;
	return count - 2;
}

TEST(the_reader_has_given_up_all_rights)
{
	cleanup_free char *status = NULL;
	int64_t deadline = clock_now_ms() + 10000;
	unsigned uid = NAMESPACE_UID_FIRST + READER_SLOT * NAMESPACE_IDS;
	cleanup_free char *line = xasprintf("Uid:\t%u\t%u\t%u\t%u\n", uid, uid, uid, uid);
	int ends[2];
	pid_t reader = 0;
	int end = -1;
	pid_t pid;

	ASSERT_INT(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		struct image_list list = IMAGE_LIST_INIT;

		(void)close(ends[1]);
		_exit(add_fd(ends[0], &list, NULL) == -EINVAL ? 0 : 1);
	}
	/* It waits for the archive once it has given them up. */
	(void)close(ends[0]);
	while (!status || !strstr(status, "Seccomp:\t2") ||
	       !strstr(status, "CapBnd:\t0000000000000000")) {
		ASSERT(clock_now_ms() < deadline);
		(void)poll(NULL, 0, 10);
		free(status);
		reader = child_of(pid);
		status = reader ? status_of_child(reader) : NULL;
	}
	(void)poll(NULL, 0, 50);
	ASSERT(strstr(status, line));
	ASSERT(strstr(status, "NoNewPrivs:\t1"));
	ASSERT(strstr(status, "Groups:\t \n"));
	/* Three of /dev/null, archive, result, directory, and the file it copies the archive to. */
	ASSERT_INT(count_descriptors(reader), 7);
	(void)close(ends[1]);
	ASSERT_INT(waitpid(pid, &end, 0), pid);
	ASSERT_INT(WEXITSTATUS(end), 0);
}

/* The first layer closes `home` and the second one puts a file there, without an entry for it. */
TEST(directories_without_an_entry_are_those_of_the_layer_below)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	struct strbuf layers[] = { STRBUF_INIT, STRBUF_INIT, STRBUF_INIT };
	struct image_maker image = { .name = "app" };
	struct strbuf tar = STRBUF_INIT;
	struct stat st;

	tar_maker_add(&layers[0],
		      &(struct tar_member){
			      .path = "home/", .type = '5', .uid = 7, .mode = 01770, .mtime = 5 });
	tar_maker_add(&layers[0], &(struct tar_member){ .path = "gone/", .type = '5', .uid = 7 });
	tar_maker_end(&layers[0]);
	tar_maker_add(&layers[1], &(struct tar_member){ .path = "home/file" });
	tar_maker_add(&layers[1], &(struct tar_member){ .path = ".wh.gone" });
	tar_maker_end(&layers[1]);
	tar_maker_add(&layers[2], &(struct tar_member){ .path = "home/new/other" });
	tar_maker_add(&layers[2], &(struct tar_member){ .path = "gone/file" });
	tar_maker_end(&layers[2]);
	for (size_t i = 0; i < 3; i++)
		image_maker_layer(&image, &layers[i], &layers[i]);
	image_maker_docker(&image, &tar);
	add_well(&tar, &list);
	for (size_t i = 1; i < 3; i++) {
		cleanup_free char *home = xasprintf("%s/images/layers/%s/home", test_dir(),
						    image.diffs[i]);

		ASSERT_INT(stat(home, &st), 0);
		ASSERT_INT(st.st_uid, 7);
		ASSERT_INT(st.st_mode & 07777, 01770);
		ASSERT_INT(st.st_mtime, 5);
	}
	{
		cleanup_free char *gone = xasprintf("%s/images/layers/%s/gone", test_dir(),
						    image.diffs[2]);

		ASSERT_INT(stat(gone, &st), 0);
		ASSERT_INT(st.st_uid, 0);
	}
	for (size_t i = 0; i < 3; i++)
		strbuf_release(&layers[i]);
	strbuf_release(&tar);
}

/* An image of two layers: the member LOWER, and the members UPPER, which ends with one without a
 * path. */
static void make_pair(const struct tar_member *lower, const struct tar_member *upper,
		      struct strbuf *ret)
{
	struct strbuf layers[] = { STRBUF_INIT, STRBUF_INIT };
	struct image_maker image = { .name = "app" };

	tar_maker_add(&layers[0], lower);
	tar_maker_end(&layers[0]);
	for (; upper->path; upper++)
		tar_maker_add(&layers[1], upper);
	tar_maker_end(&layers[1]);
	for (size_t i = 0; i < 2; i++)
		image_maker_layer(&image, &layers[i], &layers[i]);
	strbuf_reset(ret);
	image_maker_docker(&image, ret);
	strbuf_release(&layers[0]);
	strbuf_release(&layers[1]);
}

TEST(files_behind_a_link_of_a_layer_below_are_refused)
{
	static const struct tar_member link = { .path = "bin", .type = '2', .target = "usr/bin" };
	static const struct tar_member dir = { .path = "bin/", .type = '5' };
	static const struct tar_member behind[] = { { .path = "bin/new/extra" }, { NULL } };
	static const struct tar_member replaced[] = { { .path = "bin/", .type = '5' },
						      { .path = "bin/extra" },
						      { NULL } };
	static const struct tar_member hidden[] = { { .path = ".wh..wh..opq" },
						    { .path = "bin/extra" },
						    { NULL } };
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list other = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list third = IMAGE_LIST_INIT;
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;

	make_pair(&link, behind, &tar);
	assert_refused(&tar, &reason_image, "has files in 'bin', but that is a symbolic link");
	make_pair(&dir, behind, &tar);
	add_well(&tar, &list);
	/* The layer is known now, but not above this one. */
	make_pair(&link, behind, &tar);
	assert_refused_later(&tar, &reason_image, "has files in 'bin'");
	make_pair(&link, replaced, &tar);
	add_well(&tar, &other);
	make_pair(&link, hidden, &tar);
	add_well(&tar, &third);
}

/* An image with the contents DIGIT. */
static struct image make_contents(char digit)
{
	struct image image = IMAGE_INIT;

	memset(image.manifest.digest, digit, SHA256_HEX_SIZE - 1);
	memset(image.config.digest, digit + 1, SHA256_HEX_SIZE - 1);
	image.manifest.type = xstrdup("application/vnd.oci.image.manifest.v1+json");
	image.config.type = xstrdup("application/vnd.oci.image.config.v1+json");
	image.arch = xstrdup("amd64");
	return image;
}

/* Which of the nodes "one", "two" and "later" have NAME, as "12l". */
static const char *whose(const struct image_list *list, const char *name)
{
	static char text[4];
	const struct image *image = image_list_find(list, name);

	(void)snprintf(text, sizeof(text), "%s%s%s", image && image_is_for(image, "one") ? "1" : "",
		       image && image_is_for(image, "two") ? "2" : "",
		       image && image_is_for(image, "later") ? "l" : "");
	return text;
}

#define NAME(text) "docker.io/library/" text

TEST(each_name_has_its_own_nodes)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list again = IMAGE_LIST_INIT;
	cleanup_with(image_release) struct image image = make_contents('a');
	cleanup_with(strlist_release) struct strlist one = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist two = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;
	cleanup_free char *store = store_path();

	strlist_add(&one, "one");
	strlist_add(&two, "two");
	strlist_add(&all, "one");
	strlist_add(&all, "two");
	image_list_give(&list, &image, NAME("app:1"), NULL);
	image_list_give(&list, &image, NAME("web:1"), NULL);
	ASSERT_INT(list.count, 1);
	/* The same contents under another name, for one node. */
	image_list_give(&list, &image, NAME("same:9"), &two);
	ASSERT_STR(whose(&list, "same:9"), "2");
	ASSERT_STR(whose(&list, "app:1"), "12l");
	/* One name leaves a node; nodes added later still get it. */
	image_list_take(&list, 0, NAME("web:1"), &two, &all);
	ASSERT_STR(whose(&list, "web:1"), "1l");
	ASSERT_STR(whose(&list, "app:1"), "12l");
	ASSERT_OK(file_make_dirs(store, 0755, &err));
	ASSERT_OK(image_store_write(store, &list, &err));
	ASSERT_OK(image_store_read(store, &again, &err));
	ASSERT_STR(whose(&again, "web:1"), "1l");
	ASSERT_STR(whose(&again, "same:9"), "2");
	/* It comes back there, and for all. */
	image_list_give(&again, &image, NAME("web:1"), &two);
	ASSERT_STR(whose(&again, "web:1"), "12l");
	image_list_give(&again, &image, NAME("same:9"), &one);
	ASSERT_STR(whose(&again, "same:9"), "12");
	image_list_give(&again, &image, NAME("same:9"), NULL);
	ASSERT_STR(whose(&again, "same:9"), "12l");
	ASSERT_INT(again.count, 1);
}

TEST(a_name_that_no_node_has_is_forgotten)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(image_release) struct image image = make_contents('a');
	cleanup_with(image_release) struct image other = make_contents('c');
	cleanup_with(strlist_release) struct strlist one = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist two = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist all = STRLIST_INIT;

	strlist_add(&one, "one");
	strlist_add(&two, "two");
	strlist_add(&all, "one");
	strlist_add(&all, "two");
	image_list_give(&list, &image, NAME("app:1"), NULL);
	image_list_give(&list, &other, NAME("single:1"), &two);
	image_list_take(&list, 0, NAME("app:1"), &one, &all);
	ASSERT_STR(whose(&list, "app:1"), "2l");
	image_list_take(&list, 1, NAME("app:1"), &two, &all);
	ASSERT(!image_list_find(&list, "app:1"));
	/* Other contents take a name over. */
	image_list_give(&list, &image, NAME("single:1"), NULL);
	ASSERT_INT(list.count, 1);
	ASSERT_STR(whose(&list, "single:1"), "12l");
	/* By ID: of the configuration, and of the manifest as `image ls` shows it. */
	ASSERT(image_list_find(&list, "sha256:bbbbbbbbbbbb") == &list.items[0]);
	ASSERT(image_list_find(&list, "sha256:aaaaaaaaaaaa") == &list.items[0]);
	ASSERT(!image_list_find(&list, "sha256:aaaaaaaaaaa"));
	image_list_take(&list, 0, NULL, &all, &all);
	ASSERT_INT(list.count, 0);
}

static bool busybox_is_there(void *arg, const struct image *image, const char *name)
{
	(void)arg;
	(void)image;
	return strcmp(name, NAME("busybox:latest")) == 0;
}

TEST(what_is_there_without_the_store_is_not_stored)
{
	cleanup_with(image_list_release) struct image_list list = IMAGE_LIST_INIT;
	cleanup_with(image_list_release) struct image_list stored = IMAGE_LIST_INIT;
	cleanup_with(release_sample) struct sample sample;
	cleanup_free char *store = store_path();
	cleanup_free char *path = NULL;
	cleanup_fd int fd = -1;
	struct image_source source = { .shown = "a.tar",
				       .reserve = 1,
				       .is_there = busybox_is_there };

	make_sample(&sample, "busybox");
	path = image_maker_write("a.tar", &sample.docker);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	source.fd = fd;
	ASSERT_OK(image_store_add(store, &source, &list, &err));
	ASSERT_INT(list.count, 1);
	ASSERT_OK(image_store_read(store, &stored, &err));
	ASSERT_INT(stored.count, 0);
	ASSERT_INT(count_entries("blobs"), 0);
}

TEST(another_compression_is_refused_with_those_that_work)
{
	cleanup_with(strbuf_release) struct strbuf xz = STRBUF_INIT;

	strbuf_add(&xz, "\xfd"
			"7zXZ");
	for (int i = 0; i < 1024; i++)
		strbuf_add(&xz, "text");
	assert_refused(&xz, &reason_usage, "compressed with gzip or zstd");
}
