/* Writing the images of a payload from programs. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "image/oci.h"
#include "payload/libraries.h"
#include "payload/work.h"

#define SEARCH_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define BUSYBOX     "docker.io/library/busybox:latest"

/* An image that consists of programs of one component. */
struct recipe {
	const char *name; /* a template for component_expand() */
	enum component_id component;
	const char *programs; /* separated by blanks */
	const char *dir;      /* their directory in the image */
	const char *entrypoint;
};

static const struct recipe recipes[] = {
	{ "registry.k8s.io/kube-apiserver:{version}", COMPONENT_KUBERNETES, "kube-apiserver",
	  "/usr/local/bin", NULL },
	{ "registry.k8s.io/kube-controller-manager:{version}", COMPONENT_KUBERNETES,
	  "kube-controller-manager", "/usr/local/bin", NULL },
	{ "registry.k8s.io/kube-scheduler:{version}", COMPONENT_KUBERNETES, "kube-scheduler",
	  "/usr/local/bin", NULL },
	{ "registry.k8s.io/kube-proxy:{version}", COMPONENT_KUBERNETES, "kube-proxy",
	  "/usr/local/bin", NULL },
	{ "registry.k8s.io/coredns/coredns:{version}", COMPONENT_COREDNS, "coredns", "",
	  "/coredns" },
	{ "registry.k8s.io/etcd", COMPONENT_ETCD, "etcd etcdctl etcdutl", "/usr/local/bin", NULL },
	{ "docker.io/rancher/local-path-provisioner:{version}", COMPONENT_LOCAL_PATH,
	  "local-path-provisioner", "/usr/bin", "/usr/bin/local-path-provisioner" },
};

/* The archive of registry.k8s.io/coredns/coredns:v1 is coredns-v1.tar. */
static char *archive_name(const char *image)
{
	const char *slash = strrchr(image, '/');
	char *name = xasprintf("%s.tar", slash ? slash + 1 : image);

	*strchr(name, ':') = '-';
	return name;
}

static char *recipe_image(const struct work *work, const struct recipe *recipe)
{
	/* Tags of etcd's images differ from its versions. */
	if (recipe->component == COMPONENT_ETCD)
		return xasprintf("%s:%s", recipe->name, work->release->etcd_image_tag);
	return component_expand(recipe->name, work->release->versions[recipe->component],
				work->arch, NULL);
}

static char *pause_image(const struct work *work)
{
	return xasprintf("registry.k8s.io/pause:%s", work->release->pause);
}

static void list(const char *image, struct strlist *names, struct strlist *archives)
{
	cleanup_free char *archive = archive_name(image);

	strlist_add(names, image);
	strlist_add(archives, archive);
}

void work_list_images(const struct work *work, struct strlist *ret_names,
		      struct strlist *ret_archives)
{
	cleanup_free char *pause = pause_image(work);

	for (size_t i = 0; i < ARRAY_SIZE(recipes); i++) {
		cleanup_free char *image = recipe_image(work, &recipes[i]);

		if (work->missing[recipes[i].component])
			continue;
		list(image, ret_names, ret_archives);
	}
	list(pause, ret_names, ret_archives);
	list(BUSYBOX, ret_names, ret_archives);
}

void work_list_archives(const struct work *work, enum component_id id, struct strlist *ret_archives)
{
	for (size_t i = 0; i < ARRAY_SIZE(recipes); i++) {
		cleanup_free char *image = recipe_image(work, &recipes[i]);
		cleanup_free char *archive = archive_name(image);

		if (recipes[i].component == id)
			strlist_add(ret_archives, archive);
	}
}

char *work_image_id(const struct work *work, const char *archive)
{
	cleanup_with(strbuf_release) struct strbuf id = STRBUF_INIT;
	cleanup_free char *stamp = work_path(work, "work/images/%s", archive);

	if (file_read(stamp, 4096, &id, NULL) < 0 || !sha256_is_hex(id.text))
		return NULL;
	return xasprintf("sha256:%s", id.text);
}

/* Add PROGRAM of the host at PATH, and the libraries that it loads at the same paths as on the
 * host.
 */
static int add_host_program(struct oci_image *image, const char *path, const char *program,
			    struct error *err)
{
	cleanup_with(strlist_release) struct strlist needed = STRLIST_INIT;
	const char *library;
	int r = libraries_of(program, &needed, err);

	if (r < 0)
		return r;
	oci_image_add_file(image, path, program, 0755);
	strlist_for_each(library, &needed)
		oci_image_add_file(image, library, library, 0755);
	return 0;
}

/* kube-proxy needs nft, and uses conntrack if it is installed. */
static int add_proxy_tools(struct oci_image *image, struct error *err)
{
	cleanup_free char *nft = process_find("nft");
	cleanup_free char *conntrack = process_find("conntrack");
	int r;

	if (!nft)
		return error_because(err, &reason_host_missing_tool, -ENOENT,
				     "the program 'nft' was not found");
	r = add_host_program(image, "/usr/sbin/nft", nft, err);
	if (r == 0 && conntrack)
		r = add_host_program(image, "/usr/sbin/conntrack", conntrack, err);
	return r;
}

/* Write IMAGE as NAME, then write its id to a file that marks it as complete. */
static int write_image(struct work *work, struct oci_image *image, const char *name,
		       struct error *err)
{
	cleanup_free char *base = archive_name(name);
	cleanup_free char *archive = work_path(work, "images/%s", base);
	cleanup_free char *stamp = work_path(work, "work/images/%s", base);
	char id[SHA256_HEX_SIZE];
	int r;

	image->name = name;
	image->arch = work->arch;
	strlist_add(&image->environment, SEARCH_PATH);
	oci_image_add_dir(image, "/tmp", 01777);
	work_tell_all(work, "writing image %s", name);
	r = oci_image_write(image, archive, id, err);
	return r < 0 ? r : file_put(stamp, id, strlen(id), 0644, err);
}

static int make_from_recipe(struct work *work, const struct recipe *recipe, const char *name,
			    struct error *err)
{
	cleanup_with(oci_image_release) struct oci_image image = OCI_IMAGE_INIT;
	cleanup_with(strlist_release) struct strlist programs = STRLIST_INIT;
	const char *program;
	int r = 0;

	strlist_split(&programs, recipe->programs, ' ');
	strlist_for_each(program, &programs) {
		cleanup_free char *path = xasprintf("%s/%s", recipe->dir, program);
		cleanup_free char *file = work_path(work, "work/programs/%s", program);

		oci_image_add_file(&image, path, file, 0755);
	}
	if (recipe->entrypoint)
		strlist_add(&image.entrypoint, recipe->entrypoint);
	if (strcmp(recipe->programs, "kube-proxy") == 0)
		r = add_proxy_tools(&image, err);
	return r < 0 ? r : write_image(work, &image, name, err);
}

/* The path of manykube-pause, which the caller frees; -ENOENT if it is not installed. */
static int find_pause(char **ret_path, struct error *err)
{
	cleanup_free char *libexec = NULL;
	cleanup_free char *program = NULL;
	int r = path_libexec(&libexec, err);

	if (r < 0)
		return r;
	program = xasprintf("%s/manykube-pause", libexec);
	if (!file_exists(program))
		return error_because(err, &reason_host_config, -ENOENT,
				     "manykube's program '%s' is missing", program);
	*ret_path = take_ptr(program);
	return 0;
}

static int make_pause(struct work *work, const char *name, struct error *err)
{
	cleanup_with(oci_image_release) struct oci_image image = OCI_IMAGE_INIT;
	cleanup_free char *program = NULL;
	int r = find_pause(&program, err);

	if (r < 0)
		return r;
	oci_image_add_file(&image, "/pause", program, 0755);
	strlist_add(&image.entrypoint, "/pause");
	return write_image(work, &image, name, err);
}

int work_add_busybox(struct oci_image *image, struct error *err)
{
	cleanup_with(strlist_release) struct strlist applets = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf listing = STRBUF_INIT;
	cleanup_free char *busybox = process_find("busybox");
	const char *applet;
	int r;

	if (!busybox)
		return error_set(err, -ENOENT, "there is no program 'busybox'");
	r = process_capture(ARGV(busybox, "--list"), NULL, &listing, err);
	if (r != 0)
		return r < 0 ? r
			     : error_set(err, -EIO, "'%s --list' exited with status %d", busybox,
					 r);
	r = add_host_program(image, "/bin/busybox", busybox, err);
	if (r < 0)
		return r;
	strlist_split(&applets, listing.text, '\n');
	strlist_for_each(applet, &applets) {
		cleanup_free char *path = xasprintf("/bin/%s", applet);

		oci_image_add_link(image, path, "busybox");
	}
	return 0;
}

static int make_busybox(struct work *work, const char *name, struct error *err)
{
	cleanup_with(oci_image_release) struct oci_image image = OCI_IMAGE_INIT;
	int r = work_add_busybox(&image, err);

	if (r < 0)
		return r;
	oci_image_add_text(&image, "/etc/passwd",
			   "root:x:0:0:root:/root:/bin/sh\n"
			   "nobody:x:65534:65534:nobody:/:/bin/false\n",
			   0644);
	oci_image_add_text(&image, "/etc/group", "root:x:0:\nnobody:x:65534:\n", 0644);
	oci_image_add_dir(&image, "/root", 0700);
	strlist_add(&image.command, "sh");
	return write_image(work, &image, name, err);
}

static int make_image(struct work *work, const char *name, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(recipes); i++) {
		cleanup_free char *image = recipe_image(work, &recipes[i]);

		if (strcmp(image, name) == 0)
			return make_from_recipe(work, &recipes[i], name, err);
	}
	if (strcmp(name, BUSYBOX) == 0)
		return make_busybox(work, name, err);
	return make_pause(work, name, err);
}

int work_make_images(struct work *work, struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist archives = STRLIST_INIT;

	work_list_images(work, &names, &archives);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_free char *id = work_image_id(work, archives.items[i]);
		int r = id ? 0 : make_image(work, names.items[i], err);

		if (r < 0)
			return r;
		work->images_done++;
	}
	return 0;
}

int work_check_host(struct error *err)
{
	static const struct {
		const char *program;
		const char *why;
		const char *package;
	} needs[] = {
		{ "nft", "kube-proxy needs it", "nftables" },
		{ "busybox", "creating volumes needs it", "busybox-static" },
		{ "ldd", "writing images needs it to find libraries", "libc-bin" },
		{ "tar", "unpacking release archives needs it", "tar" },
		{ "gzip", "unpacking release archives needs it", "gzip" },
	};
	cleanup_free char *pause = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		cleanup_free char *path = process_find(needs[i].program);
		int r;

		if (path)
			continue;
		r = error_because(err, &reason_host_missing_tool, -ENOENT,
				  "there is no program '%s'; %s", needs[i].program, needs[i].why);
		return error_hint(err, r, "install the package '%s'", needs[i].package);
	}
	return find_pause(&pause, err);
}
