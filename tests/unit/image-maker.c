#include "image-maker.h"

#include <fcntl.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"
#include "image/oci.h"
#include "test.h"

void image_maker_blob(struct strbuf *tar, const void *data, size_t len,
		      char ret_digest[SHA256_HEX_SIZE])
{
	char digest[SHA256_HEX_SIZE];
	cleanup_free char *path = NULL;

	sha256_of(data, len, digest);
	path = xasprintf("blobs/sha256/%s", digest);
	tar_maker_add(tar, &(struct tar_member){ .path = path, .text = data, .len = len });
	if (ret_digest)
		memcpy(ret_digest, digest, sizeof(digest));
}

void image_maker_layer(struct image_maker *image, const struct strbuf *blob,
		       const struct strbuf *plain)
{
	ASSERT(image->count < MAKER_LAYERS_MAX);
	sha256_of(blob->text, blob->len, image->blobs[image->count]);
	sha256_of(plain->text, plain->len, image->diffs[image->count]);
	image->layers[image->count++] = blob;
}

static void write_config(const struct image_maker *image, struct strbuf *ret)
{
	strbuf_addf(ret,
		    "{\"architecture\":\"%s\",\"os\":\"linux\",\"rootfs\":{\"type\":\"layers\","
		    "\"diff_ids\":[",
		    image->arch ? image->arch : oci_host_arch());
	for (size_t i = 0; i < image->count; i++)
		strbuf_addf(ret, "%s\"sha256:%s\"", i ? "," : "", image->diffs[i]);
	strbuf_add(ret, "]}}");
}

void image_maker_oci(const struct image_maker *image, struct strbuf *tar, struct strbuf *entries)
{
	cleanup_with(strbuf_release) struct strbuf config = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf manifest = STRBUF_INIT;
	char digest[SHA256_HEX_SIZE];

	write_config(image, &config);
	image_maker_blob(tar, config.text, config.len, digest);
	strbuf_addf(&manifest,
		    "{\"schemaVersion\":2,\"config\":{\"mediaType\":"
		    "\"application/vnd.oci.image.config.v1+json\",\"digest\":\"sha256:%s\","
		    "\"size\":%zu},\"layers\":[",
		    digest, config.len);
	for (size_t i = 0; i < image->count; i++) {
		cleanup_free char *path = xasprintf("blobs/sha256/%s", image->blobs[i]);

		strbuf_addf(&manifest,
			    "%s{\"mediaType\":\"%s\","
			    "\"digest\":\"sha256:%s\",\"size\":%zu}",
			    i ? "," : "",
			    image->layer_type ? image->layer_type
					      : "application/vnd.oci.image.layer.v1.tar",
			    image->blobs[i], image->layers[i]->len);
		tar_maker_add(tar, &(struct tar_member){ .path = path,
							 .text = image->layers[i]->text,
							 .len = image->layers[i]->len });
	}
	strbuf_add(&manifest, "]}");
	image_maker_blob(tar, manifest.text, manifest.len, digest);
	strbuf_addf(entries,
		    "%s{\"mediaType\":\"application/vnd.oci.image.manifest.v1+json\","
		    "\"digest\":\"sha256:%s\",\"size\":%zu",
		    entries->len ? "," : "", digest, manifest.len);
	if (image->name)
		strbuf_addf(entries, ",\"annotations\":{\"io.containerd.image.name\":\"%s\"}",
			    image->name);
	strbuf_add(entries, "}");
}

void image_maker_index(struct strbuf *tar, const struct strbuf *entries)
{
	cleanup_free char *index = xasprintf("{\"schemaVersion\":2,\"manifests\":[%s]}",
					     entries->text);

	tar_maker_add(tar, &(struct tar_member){ .path = "oci-layout", .text = "{}" });
	tar_maker_add(tar, &(struct tar_member){ .path = "index.json", .text = index });
	tar_maker_end(tar);
}

void image_maker_docker(const struct image_maker *image, struct strbuf *tar)
{
	cleanup_with(strbuf_release) struct strbuf config = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf manifest = STRBUF_INIT;
	cleanup_free char *config_path = NULL;
	char digest[SHA256_HEX_SIZE];

	write_config(image, &config);
	sha256_of(config.text, config.len, digest);
	config_path = xasprintf("%s.json", digest);
	tar_maker_add(tar, &(struct tar_member){ .path = config_path, .text = config.text });
	strbuf_addf(&manifest, "[{\"Config\":\"%s\",\"RepoTags\":", config_path);
	if (image->name)
		strbuf_addf(&manifest, "[\"%s\"],\"Layers\":[", image->name);
	else
		strbuf_add(&manifest, "null,\"Layers\":[");
	for (size_t i = 0; i < image->count; i++) {
		cleanup_free char *path = xasprintf("layer-%zu/layer.tar", i);

		strbuf_addf(&manifest, "%s\"%s\"", i ? "," : "", path);
		tar_maker_add(tar, &(struct tar_member){ .path = path,
							 .text = image->layers[i]->text,
							 .len = image->layers[i]->len });
	}
	strbuf_add(&manifest, "]}]");
	tar_maker_add(tar, &(struct tar_member){ .path = "manifest.json", .text = manifest.text });
	tar_maker_end(tar);
}

char *image_maker_write(const char *name, const struct strbuf *text)
{
	char *path = xasprintf("%s/%s", test_dir(), name);

	ASSERT_OK(file_put(path, text->text, text->len, 0644, &err));
	return path;
}

void image_maker_compress(const char *program, const struct strbuf *text, struct strbuf *ret)
{
	size_t room = text->len + 65536;
	z_stream z = { .next_in = (Bytef *)text->text, .avail_in = (uInt)text->len };
	char *to = strbuf_grow(ret, room);

	if (strcmp(program, "zstd") == 0) {
		strbuf_grown(ret, ZSTD_compress(to, room, text->text, text->len, 1));
		return;
	}
	ASSERT_INT(deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_out = (Bytef *)to;
	z.avail_out = (uInt)room;
	ASSERT_INT(deflate(&z, Z_FINISH), Z_STREAM_END);
	strbuf_grown(ret, z.total_out);
	(void)deflateEnd(&z);
}
