/* flannel in the cache, in nodes and in the API. */

#include "cni/flannel.h"

#include <fcntl.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "cni/objects.h"
#include "image/oci.h"
#include "node/import-images.h"
#include "payload/apart.h"
#include "payload/cache.h"

#define IMAGE "docker.io/flannel/flannel:" FLANNEL_VERSION

static const struct apart flannel = {
	.id = COMPONENT_FLANNEL,
	.release = &flannel_release,
	.title = "flannel",
	.name = "flannel",
	.program = "flanneld",
	.command = "start --cni=flannel",
};

static int image_paths(char **ret_archive, char **ret_id, struct error *err)
{
	int r = cache_path("flannel-" FLANNEL_VERSION, "/image.tar", ret_archive, err);

	return r < 0 ? r : cache_path("flannel-" FLANNEL_VERSION, "/image.id", ret_id, err);
}

/* The image is complete if its id is there. */
static int make_image(const char *program, const char *archive, const char *id_path,
		      struct error *err)
{
	cleanup_with(oci_image_release) struct oci_image image = OCI_IMAGE_INIT;
	char id[SHA256_HEX_SIZE];
	int r = work_add_busybox(&image, err);

	if (r < 0)
		return r;
	image.name = IMAGE;
	image.arch = oci_host_arch();
	strlist_add(&image.environment, "PATH=/usr/sbin:/usr/bin:/sbin:/bin:/opt/bin");
	strlist_add(&image.entrypoint, "/opt/bin/flanneld");
	oci_image_add_file(&image, "/opt/bin/flanneld", program, 0755);
	oci_image_add_dir(&image, "/tmp", 01777);
	r = oci_image_write(&image, archive, id, err);
	return r < 0 ? r : file_put(id_path, id, strlen(id), 0644, err);
}

int flannel_ensure(const struct payload_source *source, struct observer *observer,
		   struct error *err)
{
	cleanup_free char *program = NULL;
	cleanup_free char *archive = NULL;
	cleanup_free char *id = NULL;
	int r = apart_ensure(&flannel, source, observer, &program, err);

	if (r == 0)
		r = image_paths(&archive, &id, err);
	if (r == 0 && !file_exists(id))
		r = make_image(program, archive, id, err);
	return r < 0 ? error_prefix(err, r, "cannot get flannel") : 0;
}

int flannel_check_host(struct error *err)
{
	if (file_exists("/proc/sys/net/bridge/bridge-nf-call-iptables"))
		return 0;
	(void)error_because(err, &reason_host_config, -ENOTSUP,
			    "flannel needs the kernel module br_netfilter, which is not loaded");
	return error_hint(err, -ENOTSUP, "run 'modprobe br_netfilter' as root");
}

int flannel_give_image(const struct profile *profile, const struct node *node, struct error *err)
{
	static char script[] =
#include "import-flannel.sh.inc"
		;
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_with(strbuf_release) struct strbuf id = STRBUF_INIT;
	cleanup_free char *log = xasprintf("%s/logs/images-%s.log", profile->dir, node->name);
	cleanup_free char *archive = NULL;
	cleanup_free char *id_path = NULL;
	cleanup_fd int fd = -1;
	int r = image_paths(&archive, &id_path, err);

	if (r == 0)
		r = file_read(id_path, SHA256_HEX_SIZE, &id, err);
	if (r == 0)
		r = cluster_node_open(profile, node, &at, err);
	if (r < 0)
		return r;
	fd = open(archive, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, "cannot open '%s'", archive);
	return images_feed(&at, ARGV("sh", "-ec", script, "import", IMAGE, id.text), archive, fd,
			   log, err);
}

static json_t *make_objects(const struct profile *profile)
{
	static const char manifest[] =
#include "flannel.yaml.inc"
		;
	const struct strbuf_value values[] = {
		{ "POD_SUBNET", profile->pod_subnet },
		{ "BACKEND", profile->cni_backend ?: "host-gw" },
		{ "IMAGE", IMAGE },
		{ NULL },
	};
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	json_t *list = json_array();
	int r;

	strbuf_add_filled(&text, manifest, values);
	r = objects_parse("flannel.yaml", text.text, text.len, list, NULL);
	assert(r == 0);
	return list;
}

int flannel_install(const struct profile *profile, struct error *err)
{
	json_auto_t *list = make_objects(profile);

	return objects_apply(profile, list, err);
}

int flannel_uninstall(const struct profile *profile, struct error *err)
{
	json_auto_t *list = make_objects(profile);

	return objects_delete(profile, list, err);
}
