#include <sys/wait.h>

#include "../fake/http-server.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "image/oci.h"
#include "payload/gomod.h"
#include "payload/libraries.h"
#include "payload/work.h"
#include "test.h"

#define RELEASE "mirror/dl.k8s.io/release/v1.36.3/bin/linux/"

static void put(const char *contents, const char *fmt, ...) printf_like(2, 3);

/* Write CONTENTS to a file of the test's folder, with the folders above it. */
static void put(const char *contents, const char *fmt, ...)
{
	cleanup_free char *name = NULL;
	cleanup_free char *path = NULL;
	cleanup_free char *folder = NULL;
	va_list ap;

	va_start(ap, fmt);
	name = xvasprintf(fmt, ap);
	va_end(ap);
	path = xasprintf("%s/%s", test_folder(), name);
	folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	ASSERT_OK(file_make_dirs(folder, 0755, &err));
	ASSERT_OK(file_put(path, contents, strlen(contents), 0755, &err));
}

#define SOME_ID "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* A payload.json that also has MORE, for the caller to free. */
static char *payload_json(const char *more)
{
	return xasprintf("{\"format\": %d, \"pauseImage\": \"p\", \"etcdVersion\": \"e\","
			 " \"corednsVersion\": \"c\"%s}",
			 PAYLOAD_FORMAT, more);
}

static void assert_file(const char *name, const char *contents)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/%s", test_folder(), name);

	ASSERT_OK(file_read(path, 1 << 20, &text, &err));
	ASSERT_STR(text.text, contents);
}

/* The host must have what payloads need; our own pause need not be installed. */
static void check_host(void)
{
	cleanup_free char *libexec = xasprintf("%s/libexec", test_folder());

	put("", "libexec/manykube-pause");
	(void)setenv("MANYKUBE_LIBEXEC", libexec, 1);
	if (work_check_host(NULL) < 0)
		test_skip("needs nft, busybox, ldd, tar and gzip");
}

static void begin_work(struct work *work, const char *mirror)
{
	work->release = release_find("v1.36.3");
	work->arch = oci_host_arch();
	work->step = xstrdup("testing");
	work->folder = xasprintf("%s/part", test_folder());
	work->source.binary_mirror = mirror;
	for (int id = 0; id < COMPONENT_COUNT; id++)
		put("", "part/work/get/%s/empty", components[id].name);
	put("", "part/work/download/empty");
}

/* The seven programs of Kubernetes, each holding its own name, with checksums. */
static void serve_kubernetes(void)
{
	const struct program *programs = components[COMPONENT_KUBERNETES].programs;

	for (const struct program *program = programs; program->name; program++) {
		char digest[SHA256_HEX_SIZE];

		sha256_of(program->name, strlen(program->name), digest);
		put(program->name, RELEASE "%s/%s", oci_host_arch(), program->name);
		put(digest, RELEASE "%s/%s.sha256", oci_host_arch(), program->name);
	}
}

static int download(enum component_id id, struct error *err)
{
	cleanup_with(fake_http_stop) struct fake_http server = FAKE_HTTP_INIT;
	cleanup_with(work_release) struct work work = WORK_INIT;
	cleanup_free char *folder = xasprintf("%s/mirror", test_folder());

	fake_http_start(folder, &server);
	begin_work(&work, server.url);
	return work_download(&work, id, err);
}

TEST(downloads_programs_and_checks_them)
{
	serve_kubernetes();
	ASSERT_OK(download(COMPONENT_KUBERNETES, &err));
	assert_file("part/work/get/kubernetes/kubelet", "kubelet");
	assert_file("part/work/get/kubernetes/kube-proxy", "kube-proxy");
}

TEST(resumes_a_broken_download)
{
	serve_kubernetes();
	put("3", RELEASE "%s/kubelet.break", oci_host_arch());
	ASSERT_OK(download(COMPONENT_KUBERNETES, &err));
	assert_file("part/work/get/kubernetes/kubelet", "kubelet");
}

TEST(gets_all_of_a_file_whose_first_part_was_of_another)
{
	serve_kubernetes();
	put("zzz", "part/work/download/kubelet.partial");
	ASSERT_OK(download(COMPONENT_KUBERNETES, &err));
	assert_file("part/work/get/kubernetes/kubelet", "kubelet");
}

TEST(refuses_a_wrong_checksum_and_keeps_nothing)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *kept = xasprintf("%s/part/work/download/kubelet", test_folder());

	serve_kubernetes();
	put("kubelet of somebody else", RELEASE "%s/kubelet", oci_host_arch());
	ASSERT_INT(download(COMPONENT_KUBERNETES, &err), -EBADMSG);
	ASSERT(strstr(err.text, "was published"));
	ASSERT(err.reason == &reason_download);
	ASSERT(!file_exists(kept));
}

TEST(can_do_without_what_the_server_lacks)
{
	serve_kubernetes();
	ASSERT_INT(download(COMPONENT_ETCD, NULL), -ENOENT);
	ASSERT_INT(download(COMPONENT_LOCAL_PATH, NULL), -ENOENT);
}

TEST(unpacks_an_archive)
{
	const char *arch = oci_host_arch();
	cleanup_free char *name = xasprintf("etcd-v3.6.8-linux-%s", arch);
	cleanup_free char *releases_ = xasprintf(
		"%s/mirror/github.com/etcd-io/etcd/releases/download/v3.6.8", test_folder());
	cleanup_free char *archive = xasprintf("%s/%s.tar.gz", releases_, name);
	cleanup_free char *sums = NULL;
	char digest[SHA256_HEX_SIZE];

	put("etcd!", "%s/etcd", name);
	put("etcdctl!", "%s/etcdctl", name);
	put("etcdutl!", "%s/etcdutl", name);
	ASSERT_OK(file_make_dirs(releases_, 0755, &err));
	ASSERT_INT(process_run(ARGV("tar", "-czf", archive, "-C", (char *)(uintptr_t)test_folder(),
				    name),
			       NULL, NULL),
		   0);
	ASSERT_OK(sha256_of_file(archive, digest, &err));
	sums = xasprintf("%s  other.tar.gz\n%s  %s.tar.gz\n",
			 "0000000000000000000000000000000000000000000000000000000000000000", digest,
			 name);
	put(sums, "mirror/github.com/etcd-io/etcd/releases/download/v3.6.8/SHA256SUMS");
	ASSERT_OK(download(COMPONENT_ETCD, &err));
	assert_file("part/work/get/etcd/etcdctl", "etcdctl!");
	assert_file("part/work/get/etcd/etcd", "etcd!");
}

TEST(asks_an_unreachable_server_once)
{
	cleanup_with(work_release) struct work work = WORK_INIT;

	(void)setenv("no_proxy", "127.0.0.1", 1);
	begin_work(&work, "http://127.0.0.1:1");
	ASSERT_INT(work_download(&work, COMPONENT_KUBERNETES, NULL), -ENOENT);
	ASSERT_INT(work_download(&work, COMPONENT_RUNC, NULL), -ENOENT);
	ASSERT_INT(work.unreachable.count, 1);
}

TEST(resolves_what_people_write)
{
	static const char *const good[] = {
		"v1.36.3", "1.36.3", "v1.36", "1.36", "stable", "latest"
	};
	static const char *const bad[] = { "v1.3", "1", "v1.36.30", "v9.9.9", "", "v", "1.36." };
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	const char *version;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		version = NULL;
		ASSERT_INT(payload_resolve_version(good[i], &version, NULL), 0);
		ASSERT_STR(version, "v1.36.3");
	}
	ASSERT_INT(payload_resolve_version("1.35", &version, NULL), 0);
	ASSERT_STR(version, "v1.35.4");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_INT(payload_resolve_version(bad[i], &version, NULL), -EINVAL);
	ASSERT_INT(payload_resolve_version("v1.2.3", &version, &err), -EINVAL);
	ASSERT(err.reason == &reason_version_unsupported);
	ASSERT_STR(payload_versions()[0], "v1.36.3");
}

TEST(opens_only_a_complete_payload)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;

	(void)setenv("MANYKUBE_CACHE", test_folder(), 1);
	ASSERT_INT(payload_open("v1.36.3", &payload, NULL), -ENOENT);
	put("{", "v1.36.3/payload.json");
	ASSERT_INT(payload_open("v1.36.3", &payload, NULL), -ENOENT);
	put("{\"format\": 0, \"pauseImage\": \"p\", \"etcdVersion\": \"e\","
	    " \"corednsVersion\": \"c\"}",
	    "v1.36.3/payload.json");
	ASSERT_INT(payload_open("v1.36.3", &payload, NULL), -ENOENT);
}

TEST(says_what_is_missing_when_it_may_not_build)
{
	cleanup_with(fake_http_stop) struct fake_http server = FAKE_HTTP_INIT;
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *folder = xasprintf("%s/mirror", test_folder());
	struct payload_source source = { .no_build = true };

	check_host();
	(void)setenv("MANYKUBE_CACHE", test_folder(), 1);
	(void)unsetenv("MANYKUBE_PAYLOAD_FROM");
	serve_kubernetes();
	fake_http_start(folder, &server);
	source.binary_mirror = server.url;
	ASSERT_INT(payload_ensure("v1.36.3", &source, NULL, &payload, &err), -ENOENT);
	ASSERT(strstr(err.text, "SHA256SUMS"));
	ASSERT(err.reason == &reason_download);
	/* What was got stays for the next try. */
	assert_file("v1.36.3.part/bin/kubelet", "kubelet");
	assert_file("v1.36.3.part/work/done/kubernetes", "v1.36.3 download\n");
}

struct listener {
	struct observer observer;
	char *note;
};

static void ignore_begin(struct observer *observer arg_unused, const char *step arg_unused,
			 const char *node arg_unused)
{
}

static void ignore_progress(struct observer *observer arg_unused, const char *step arg_unused,
			    const char *node arg_unused, const char *detail arg_unused,
			    uint64_t done arg_unused, uint64_t total arg_unused)
{
}

static void ignore_end(struct observer *observer arg_unused, const char *step arg_unused,
		       const char *node arg_unused, bool ok arg_unused)
{
}

static void keep_note(struct observer *observer, const char *text)
{
	((struct listener *)observer)->note = xstrdup(text);
}

/* Hold the lock in a child that makes a payload of sorts and ends. */
static pid_t make_elsewhere(void)
{
	cleanup_free char *lock = xasprintf("%s/v1.36.3.lock", test_folder());
	cleanup_free char *text = payload_json("");
	int ready[2];
	char byte;
	pid_t pid;
	int fd;

	ASSERT_INT(pipe(ready), 0);
	pid = fork();
	if (pid > 0) {
		ASSERT_INT(read(ready[0], &byte, 1), 1);
		return pid;
	}
	ASSERT_OK(file_lock(lock, "testing", &fd, &err));
	ASSERT_INT(write(ready[1], "x", 1), 1);
	clock_rest_ms(300);
	put(text, "v1.36.3/payload.json");
	_exit(0);
}

TEST(waits_for_another_command_and_takes_what_it_made)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	struct listener listener = {
		.observer = { ignore_begin, ignore_progress, ignore_end, keep_note },
	};
	pid_t other;

	(void)setenv("MANYKUBE_CACHE", test_folder(), 1);
	other = make_elsewhere();
	ASSERT_OK(payload_ensure("v1.36.3", NULL, &listener.observer, &payload, &err));
	ASSERT_STR(payload.pause_image, "p");
	ASSERT(listener.note && strstr(listener.note, "waiting for it"));
	ASSERT_INT(waitpid(other, NULL, 0), other);
	free(listener.note);
}

TEST(drops_what_was_made_of_other_versions)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_free char *image = xasprintf("%s/v1.36.3.part/images/old.tar", test_folder());
	cleanup_free char *program = xasprintf("%s/v1.36.3.part/bin/runc", test_folder());
	struct payload_source neither = { .no_build = true, .no_download = true };

	check_host();
	(void)setenv("MANYKUBE_CACHE", test_folder(), 1);
	(void)unsetenv("MANYKUBE_PAYLOAD_FROM");
	put("", "v1.36.3.part/images/old.tar");
	put("", "v1.36.3.part/bin/runc");
	put("1 pause 3.9\n", "v1.36.3.part/work/recipe");
	ASSERT_INT(payload_ensure("v1.36.3", &neither, NULL, &payload, NULL), -ENOENT);
	ASSERT(!file_exists(image));
	ASSERT(file_exists(program));
}

TEST(a_version_that_nobody_knows_may_still_be_in_the_cache)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *text = payload_json("");

	(void)setenv("MANYKUBE_CACHE", test_folder(), 1);
	ASSERT_INT(payload_ensure("v1.30.0", NULL, NULL, &payload, &why), -EINVAL);
	ASSERT(why.reason == &reason_version_unsupported);
	put(text, "v1.30.0/payload.json");
	ASSERT_OK(payload_ensure("v1.30.0", NULL, NULL, &payload, &err));
}

/* The complete payload of v1.36.3, as far as v1.35.4 can use it; containerd was got as FROM says,
 * in VERSION. */
static void put_sibling(const char *version, const char *from)
{
	cleanup_free char *parts = xasprintf(
		", \"arch\": \"%s\", \"components\": ["
		"{\"name\": \"etcd\", \"version\": \"v3.6.8\", \"from\": \"source\"},"
		"{\"name\": \"containerd\", \"version\": \"%s\", \"from\": \"%s\"},"
		"{\"name\": \"runc\", \"version\": \"v1.5.2\", \"from\": \"download\"},"
		"{\"name\": \"local-path-provisioner\", \"version\": \"v0.0.30\","
		" \"from\": \"source\"}],"
		"\"images\": [{\"archive\": \"local-path-provisioner-v0.0.30.tar\","
		" \"id\": \"sha256:" SOME_ID "\"}]",
		oci_host_arch(), version, from);
	cleanup_free char *text = payload_json(parts);

	put(text, "v1.36.3/payload.json");
	put("c", "v1.36.3/bin/containerd");
	put("s", "v1.36.3/bin/containerd-shim-runc-v2");
	put("t", "v1.36.3/bin/ctr");
	put("i", "v1.36.3/images/local-path-provisioner-v0.0.30.tar");
}

static void begin_older(struct work *work)
{
	(void)setenv("MANYKUBE_CACHE", test_folder(), 1);
	begin_work(work, NULL);
	work->release = release_find("v1.35.4");
	put("old", "part/bin/containerd");
	put("", "part/images/empty");
	put("", "part/work/images/empty");
}

static void assert_reuse(struct work *work, enum component_id id, const char *origin)
{
	const char *from = work_reuse(work, id);

	ASSERT_STR(from ? from : "no", origin);
}

TEST(takes_what_another_payload_has_in_the_same_version)
{
	cleanup_with(work_release) struct work work = WORK_INIT;
	cleanup_free char *id = NULL;

	begin_older(&work);
	assert_reuse(&work, COMPONENT_CONTAINERD, "no");
	put_sibling("v2.4.2", "source");
	assert_reuse(&work, COMPONENT_CONTAINERD, "source");
	assert_file("part/bin/containerd", "c");
	assert_file("part/bin/ctr", "t");
	assert_reuse(&work, COMPONENT_LOCAL_PATH, "source");
	assert_file("part/images/local-path-provisioner-v0.0.30.tar", "i");
	id = work_image_id(&work, "local-path-provisioner-v0.0.30.tar");
	ASSERT_STR(id, "sha256:" SOME_ID);
	/* Another version, not described, not there. */
	assert_reuse(&work, COMPONENT_ETCD, "no");
	assert_reuse(&work, COMPONENT_CNI, "no");
	assert_reuse(&work, COMPONENT_RUNC, "no");
}

TEST(takes_nothing_of_another_version_or_got_in_a_way_that_is_not_allowed)
{
	cleanup_with(work_release) struct work work = WORK_INIT;

	begin_older(&work);
	put_sibling("v2.4.1", "source");
	assert_reuse(&work, COMPONENT_CONTAINERD, "no");
	put_sibling("v2.4.2", "missing");
	assert_reuse(&work, COMPONENT_CONTAINERD, "no");
	put_sibling("v2.4.2", "download");
	work.source.no_download = true;
	assert_reuse(&work, COMPONENT_CONTAINERD, "no");
	assert_file("part/bin/containerd", "old");
	work.source = (struct payload_source){ .no_build = true };
	assert_reuse(&work, COMPONENT_CONTAINERD, "download");
	assert_reuse(&work, COMPONENT_LOCAL_PATH, "no");
}

TEST(records_where_a_part_came_from_that_was_taken)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	struct payload_source from_mirror = { .no_build = true };
	cleanup_with(fake_http_stop) struct fake_http server = FAKE_HTTP_INIT;
	cleanup_free char *folder = xasprintf("%s/mirror", test_folder());

	check_host();
	(void)setenv("MANYKUBE_CACHE", test_folder(), 1);
	(void)unsetenv("MANYKUBE_PAYLOAD_FROM");
	put_sibling("v2.4.2", "download");
	fake_http_start(folder, &server);
	from_mirror.binary_mirror = server.url;
	ASSERT_INT(payload_ensure("v1.35.4", &from_mirror, NULL, &payload, NULL), -ENOENT);
	/* There is nothing to download; as if the first two had been got, it goes on to the third.
	 */
	put("v1.35.4 download\n", "v1.35.4.part/work/done/kubernetes");
	put("v3.6.6 download\n", "v1.35.4.part/work/done/etcd");
	ASSERT_INT(payload_ensure("v1.35.4", &from_mirror, NULL, &payload, NULL), -ENOENT);
	assert_file("v1.35.4.part/work/done/containerd", "v2.4.2 download\n");
	assert_file("v1.35.4.part/bin/ctr", "t");
}

TEST(lists_no_image_of_what_is_missing)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist archives = STRLIST_INIT;
	cleanup_with(work_release) struct work work = WORK_INIT;

	begin_work(&work, NULL);
	work_list_images(&work, &names, &archives);
	ASSERT(strlist_has(&names, "docker.io/rancher/local-path-provisioner:v0.0.30"));
	ASSERT(strlist_has(&names, "registry.k8s.io/etcd:3.6.8-0"));
	ASSERT(strlist_has(&archives, "coredns-v1.14.2.tar"));
	strlist_release(&names);
	work.missing[COMPONENT_LOCAL_PATH] = true;
	work_list_images(&work, &names, &archives);
	ASSERT(!strlist_has(&names, "docker.io/rancher/local-path-provisioner:v0.0.30"));
	ASSERT(strlist_has(&names, "registry.k8s.io/pause:3.10.2"));
}

TEST(refuses_an_unknown_way)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;

	(void)setenv("MANYKUBE_CACHE", test_folder(), 1);
	(void)setenv("MANYKUBE_PAYLOAD_FROM", "thin air", 1);
	ASSERT_INT(payload_ensure("v1.36.3", NULL, NULL, &payload, NULL), -EINVAL);
}

TEST(wraps_kubernetes_go_mod)
{
	static const char theirs[] = "module k8s.io/kubernetes\n\ngo 1.26.0\n\nrequire (\n"
				     "\texample.org/x v1.2.3\n)\nreplace (\n"
				     "\tk8s.io/api => ./staging/src/k8s.io/api\n)\n";
	static const char ours[] = "module manykube.internal/payload\n\ngo 1.26.0\n\nrequire (\n"
				   "\texample.org/x v1.2.3\n)\nreplace (\n"
				   "\tk8s.io/api => k8s.io/api v0.36.3\n)\n"
				   "require k8s.io/kubernetes v1.36.3\n";
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_free char *wanted = gomod_go_version(theirs);

	gomod_wrap_kubernetes(theirs, "v1.36.3", &out);
	ASSERT_STR(out.text, ours);
	ASSERT_STR(wanted, "1.26.0");
}

TEST(compares_versions_by_number)
{
	ASSERT(gomod_compare_versions("go1.26.8", "1.26.0") > 0);
	ASSERT(gomod_compare_versions("go1.9", "1.26.0") < 0);
	ASSERT(gomod_compare_versions("go1.26", "1.26.0") == 0);
	ASSERT(gomod_compare_versions("v1.36.10", "v1.36.9") > 0);
}

TEST(finds_libraries_in_what_ldd_says)
{
	cleanup_with(strlist_release) struct strlist paths = STRLIST_INIT;
	cleanup_free char *joined = NULL;

	ASSERT_OK(libraries_parse("\tlinux-vdso.so.1 (0x00007f)\n"
				  "\tlibc.so.6 => /lib/libc.so.6 (0x00007f)\n"
				  "\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n",
				  &paths, &err));
	joined = strlist_join(&paths, " ");
	ASSERT_STR(joined, "/lib/libc.so.6 /lib64/ld-linux-x86-64.so.2");
	ASSERT_INT(libraries_parse("\tlibx.so => not found\n", &paths, NULL), -ENOENT);
}

/* A containerd to test with: that of a payload in the person's own cache. */
static void borrow_containerd(void)
{
	static const char *const programs[] = { "containerd", "ctr" };
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;

	if (geteuid() != 0)
		test_skip("needs root");
	if (payload_open("v1.36.3", &payload, NULL) < 0)
		test_skip("needs a payload in the cache");
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		cleanup_free char *from = xasprintf("%s/bin/%s", payload.folder, programs[i]);
		cleanup_free char *to = xasprintf("%s/part/bin/%s", test_folder(), programs[i]);

		put("", "part/bin/%s", programs[i]);
		(void)unlink(to);
		ASSERT_INT(symlink(from, to), 0);
	}
}

/* Write an image of next to nothing in the place of each real one. */
static void put_images(const struct work *work)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist archives = STRLIST_INIT;

	put("", "part/images/empty");
	work_list_images(work, &names, &archives);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_with(oci_image_release) struct oci_image image = OCI_IMAGE_INIT;
		cleanup_free char *path = work_path(work, "images/%s", archives.items[i]);
		char id[SHA256_HEX_SIZE];

		image.name = names.items[i];
		image.arch = work->arch;
		oci_image_add_text(&image, "/name", names.items[i], 0644);
		ASSERT_OK(oci_image_write(&image, path, id, &err));
		put(id, "part/work/images/%s", archives.items[i]);
	}
}

TEST(prepares_a_store_and_leaves_no_mount)
{
	cleanup_with(work_release) struct work work = WORK_INIT;
	cleanup_with(strbuf_release) struct strbuf mounts = STRBUF_INIT;
	cleanup_free char *database = NULL;
	cleanup_free char *snapshot = NULL;
	cleanup_free char *containerd = NULL;

	borrow_containerd();
	begin_work(&work, NULL);
	put_images(&work);
	ASSERT_OK(work_make_store(&work, &err));
	database = work_path(&work, "store/io.containerd.metadata.v1.bolt/meta.db");
	snapshot = work_path(&work,
			     "store/io.containerd.snapshotter.v1.overlayfs/snapshots/1/fs/name");
	ASSERT(file_exists(database));
	ASSERT(file_exists(snapshot));
	ASSERT_OK(file_read("/proc/self/mountinfo", 1 << 20, &mounts, &err));
	ASSERT(!strstr(mounts.text, test_folder()));
	/* It is there: nothing is to be done, not even containerd is needed. */
	containerd = work_path(&work, "bin/containerd");
	ASSERT_INT(unlink(containerd), 0);
	ASSERT_OK(work_make_store(&work, &err));
	/* With other images it has to be made anew. */
	work.missing[COMPONENT_LOCAL_PATH] = true;
	ASSERT(work_make_store(&work, NULL) < 0);
	ASSERT(!file_exists(database));
}
