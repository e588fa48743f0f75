#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "../fake/http-server.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "image/oci.h"
#include "payload/builder.h"
#include "payload/gomod.h"
#include "payload/libraries.h"
#include "payload/registry.h"
#include "payload/sums.h"
#include "payload/work.h"
#include "test.h"

#define RELEASE "mirror/dl.k8s.io/release/v1.36.3/bin/linux/"

static void put(const char *contents, const char *fmt, ...) printf_like(2, 3);

/* Write CONTENTS to a file of the test's directory, with the directories above it. */
static void put(const char *contents, const char *fmt, ...)
{
	cleanup_free char *name = NULL;
	cleanup_free char *path = NULL;
	cleanup_free char *dir = NULL;
	va_list ap;

	va_start(ap, fmt);
	name = xvasprintf(fmt, ap);
	va_end(ap);
	path = xasprintf("%s/%s", test_dir(), name);
	dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	ASSERT_OK(file_make_dirs(dir, 0755, &err));
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
	cleanup_free char *path = xasprintf("%s/%s", test_dir(), name);

	ASSERT_OK(file_read(path, 1 << 20, &text, &err));
	ASSERT_STR(text.text, contents);
}

/* The host must have what payloads need; our own pause need not be installed. */
static void check_host(void)
{
	cleanup_free char *libexec = xasprintf("%s/libexec", test_dir());

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
	work->dir = xasprintf("%s/part", test_dir());
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
	cleanup_free char *dir = xasprintf("%s/mirror", test_dir());

	fake_http_start(dir, &server);
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

TEST(downloads_again_when_the_partial_file_was_of_another_file)
{
	serve_kubernetes();
	put("zzz", "part/work/download/kubelet.partial");
	ASSERT_OK(download(COMPONENT_KUBERNETES, &err));
	assert_file("part/work/get/kubernetes/kubelet", "kubelet");
}

TEST(refuses_a_wrong_checksum_and_keeps_nothing)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *kept = xasprintf("%s/part/work/download/kubelet", test_dir());

	serve_kubernetes();
	put("kubelet of somebody else", RELEASE "%s/kubelet", oci_host_arch());
	ASSERT_INT(download(COMPONENT_KUBERNETES, &err), -EBADMSG);
	ASSERT(strstr(err.text, "the published one is"));
	ASSERT(err.reason == &reason_download);
	ASSERT(!file_exists(kept));
}

TEST(reports_what_the_server_lacks_as_missing)
{
	serve_kubernetes();
	ASSERT_INT(download(COMPONENT_ETCD, NULL), -ENOENT);
	ASSERT_INT(download(COMPONENT_LOCAL_PATH, NULL), -ENOENT);
}

/* Have the mirror offer an archive of etcd, with what COMMAND changes in its directory. */
static void offer_archive(const char *command)
{
	const char *arch = oci_host_arch();
	cleanup_free char *name = xasprintf("etcd-v3.6.8-linux-%s", arch);
	cleanup_free char *script = xasprintf(
		"cd %s/%s; rm -rf * && printf etcd! >etcd && "
		"printf etcdctl! >etcdctl && printf etcdutl! >etcdutl; %s",
		test_dir(), name, command);
	cleanup_free char *releases_ = xasprintf(
		"%s/mirror/github.com/etcd-io/etcd/releases/download/v3.6.8", test_dir());
	cleanup_free char *archive = xasprintf("%s/%s.tar.gz", releases_, name);
	cleanup_free char *sums = NULL;
	char digest[SHA256_HEX_SIZE];

	put("", "%s/README", name);
	ASSERT_INT(process_run(ARGV("sh", "-c", script), NULL, NULL), 0);
	ASSERT_OK(file_make_dirs(releases_, 0755, &err));
	ASSERT_INT(
		process_run(ARGV("tar", "-czf", archive, "-C", (char *)(uintptr_t)test_dir(), name),
			    NULL, NULL),
		0);
	ASSERT_OK(sha256_of_file(archive, digest, &err));
	sums = xasprintf("%s  other.tar.gz\n%s  %s.tar.gz\n",
			 "0000000000000000000000000000000000000000000000000000000000000000", digest,
			 name);
	put(sums, "mirror/github.com/etcd-io/etcd/releases/download/v3.6.8/SHA256SUMS");
}

TEST(unpacks_an_archive)
{
	offer_archive("true");
	ASSERT_OK(download(COMPONENT_ETCD, &err));
	assert_file("part/work/get/etcd/etcdctl", "etcdctl!");
	assert_file("part/work/get/etcd/etcd", "etcd!");
}

TEST(takes_only_files_from_an_archive_and_no_modes)
{
	static const char *const spoils[] = {
		"rm etcd; ln -s etcdctl etcd",
		"ln -f etcd etcdctl",
		"rm etcd; mkfifo etcd",
	};
	cleanup_free char *program = xasprintf("%s/part/work/get/etcd/etcd", test_dir());
	cleanup_free char *dir = xasprintf("%s/part/work/get/etcd/private", test_dir());
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(spoils); i++) {
		struct error why = ERROR_INIT;

		offer_archive(spoils[i]);
		ASSERT(download(COMPONENT_ETCD, &why) < 0);
		ASSERT(strstr(why.text, "cannot take 'etcd' from"));
		error_clear(&why);
		ASSERT_INT(stat(dir, &st), 0);
		ASSERT_INT(st.st_mode & 0777, 0700);
	}
	offer_archive("chmod 6755 etcd");
	ASSERT_OK(download(COMPONENT_ETCD, &err));
	ASSERT_INT(stat(program, &st), 0);
	ASSERT_INT(st.st_mode & 07777, 0755);
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

	(void)setenv("MANYKUBE_CACHE", test_dir(), 1);
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
	cleanup_with(work_release) struct work work = WORK_INIT;
	cleanup_free char *dir = xasprintf("%s/mirror", test_dir());
	struct payload_source source = { .no_build = true };

	check_host();
	(void)setenv("MANYKUBE_CACHE", test_dir(), 1);
	(void)unsetenv("MANYKUBE_PAYLOAD_FROM");
	serve_kubernetes();
	fake_http_start(dir, &server);
	source.binary_mirror = server.url;
	begin_work(&work, server.url);
	free(work.dir);
	work.dir = xasprintf("%s/v1.36.3.part", test_dir());
	ASSERT_INT(payload_ensure("v1.36.3", &source, NULL, &payload, &err), -ENOENT);
	ASSERT(strstr(err.text, "cannot download '"));
	ASSERT(err.reason == &reason_download);
	/* What was got stays for the next try. */
	ASSERT_INT(work_get(&work, COMPONENT_KUBERNETES, NULL), 0);
	error_clear(&err);
	ASSERT_INT(payload_ensure("v1.36.3", &source, NULL, &payload, &err), -ENOENT);
	assert_file("v1.36.3.part/bin/kubelet", "kubelet");
	assert_file("v1.36.3.part/work/done/kubernetes", "v1.36.3 download\n");
}

struct listener {
	struct observer observer;
	char *note;
	int64_t expected_ms;
	uint64_t done;
	uint64_t total;
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
	cleanup_free char *lock = xasprintf("%s/v1.36.3.lock", test_dir());
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

	(void)setenv("MANYKUBE_CACHE", test_dir(), 1);
	other = make_elsewhere();
	ASSERT_OK(payload_ensure("v1.36.3", NULL, &listener.observer, &payload, &err));
	ASSERT_STR(payload.pause_image, "p");
	ASSERT(listener.note && strstr(listener.note, "waiting for it"));
	ASSERT_INT(waitpid(other, NULL, 0), other);
	free(listener.note);
}

TEST(removes_results_of_other_versions)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_free char *image = xasprintf("%s/v1.36.3.part/images/old.tar", test_dir());
	cleanup_free char *program = xasprintf("%s/v1.36.3.part/bin/runc", test_dir());
	struct payload_source neither = { .no_build = true, .no_download = true };

	check_host();
	(void)setenv("MANYKUBE_CACHE", test_dir(), 1);
	(void)unsetenv("MANYKUBE_PAYLOAD_FROM");
	put("", "v1.36.3.part/images/old.tar");
	put("", "v1.36.3.part/bin/runc");
	put("1 pause 3.9\n", "v1.36.3.part/work/recipe");
	ASSERT_INT(payload_ensure("v1.36.3", &neither, NULL, &payload, NULL), -ENOENT);
	ASSERT(!file_exists(image));
	ASSERT(file_exists(program));
}

/* Have an empty directory where all users' Kubernetes versions are. */
static void hide_shared_cache(void)
{
	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT(unshare(CLONE_NEWNS) == 0);
	ASSERT(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	ASSERT_OK(file_make_dirs(MANYKUBE_CACHE_DIR, 0755, &err));
	ASSERT(mount("cache", MANYKUBE_CACHE_DIR, "tmpfs", 0, NULL) == 0);
}

TEST(offline_the_cache_of_all_users_is_named_if_it_has_what_is_wanted)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *cache = xasprintf("%s/cache", test_dir());
	cleanup_free char *text = payload_json("");
	struct payload_source offline = { .offline = true };

	hide_shared_cache();
	(void)unsetenv("MANYKUBE_CACHE");
	(void)setenv("MANYKUBE_HOME", test_dir(), 1);
	ASSERT_OK(file_make_dirs(MANYKUBE_CACHE_DIR "/v1.36.3", 0755, &err));
	ASSERT_OK(file_put(MANYKUBE_CACHE_DIR "/v1.36.3/payload.json", text, strlen(text), 0644,
			   &err));
	ASSERT_INT(payload_ensure("v1.36.3", &offline, NULL, &payload, &why), -ENOENT);
	ASSERT(strstr(why.text, cache));
	ASSERT(strstr(error_advice(&why), "MANYKUBE_CACHE=" MANYKUBE_CACHE_DIR));
	ASSERT(!strstr(error_advice(&why), "online"));
	/* And that helps. */
	(void)setenv("MANYKUBE_CACHE", MANYKUBE_CACHE_DIR, 1);
	ASSERT_OK(payload_ensure("v1.36.3", &offline, NULL, &payload, &err));
}

TEST(offline_only_the_cache_is_used)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *cache = xasprintf("%s/cache", test_dir());
	cleanup_free char *text = payload_json("");
	struct payload_source offline = { .offline = true };

	hide_shared_cache();
	(void)setenv("MANYKUBE_CACHE", cache, 1);
	(void)unsetenv("MANYKUBE_PAYLOAD_FROM");
	ASSERT_INT(payload_ensure("v1.36.3", &offline, NULL, &payload, &why), -ENOENT);
	ASSERT(why.reason == &reason_download);
	ASSERT_STR(error_advice(&why),
		   "run 'manykube start --download-only --kubernetes-version=v1.36.3' while this "
		   "machine is online");
	ASSERT(!file_exists(cache));
	put(text, "cache/v1.36.3/payload.json");
	ASSERT_OK(payload_ensure("v1.36.3", &offline, NULL, &payload, &err));
}

TEST(a_version_that_nobody_knows_may_still_be_in_the_cache)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *text = payload_json("");

	(void)setenv("MANYKUBE_CACHE", test_dir(), 1);
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
	(void)setenv("MANYKUBE_CACHE", test_dir(), 1);
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
	cleanup_with(work_release) struct work work = WORK_INIT;

	begin_older(&work);
	work.source.no_build = true;
	put("", "part/work/done/empty");
	put_sibling("v2.4.2", "download");
	ASSERT_INT(work_take(&work, COMPONENT_CONTAINERD, NULL), 1);
	ASSERT_INT(work_take(&work, COMPONENT_CNI, NULL), 0);
	assert_file("part/work/done/containerd", "v2.4.2 download\n");
	assert_file("part/bin/ctr", "t");
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

	(void)setenv("MANYKUBE_CACHE", test_dir(), 1);
	(void)setenv("MANYKUBE_PAYLOAD_FROM", "thin air", 1);
	ASSERT_INT(payload_ensure("v1.36.3", NULL, NULL, &payload, NULL), -EINVAL);
}

/*
 * A go that builds nothing: every program holds what the go that "built" it saw.  SPOIL is run
 * after that, with the program's path in $program; `builds` gets a line for each component.
 */
#define FAKE_GO                                                                          \
	"#!/bin/sh\n"                                                                    \
	"top=%s\n"                                                                       \
	"case \"$1 $2\" in\n"                                                            \
	"'env GOPROXY') echo https://proxy.example ;;\n"                                 \
	"'env GOVERSION') echo go9.9.9 ;;\n"                                             \
	"'mod download')\n"                                                              \
	"	mkdir -p \"$GOMODCACHE/m\"\n"                                                  \
	"	printf 'module m\\n\\ngo 1.20\\n' >\"$GOMODCACHE/m/go.mod\"\n"                 \
	"	: >\"$GOMODCACHE/m/go.sum\"\n"                                                 \
	"	sum=$(sed -n \"s|^$4 ||p\" $top/fake/sums)\n"                                  \
	"	printf '{\"Dir\": \"%%s/m\", \"Sum\": \"%%s\"}' \"$GOMODCACHE\" \"$sum\" ;;\n" \
	"'build -v')\n"                                                                  \
	"	while [ \"$1\" != -o ]; do shift; done\n"                                      \
	"	component=$(basename \"$2\")\n"                                                \
	"	echo $component >>$top/fake/log/builds\n"                                      \
	"	for name in $(sed -n \"s|^$component ||p\" $top/fake/programs); do\n"          \
	"		program=$2/$name\n"                                                           \
	"		{ echo \"uid $(id -u) gid $(id -g) groups $(id -G)\"; env\n"                  \
	"		grep -E 'NoNewPrivs|CapEff' /proc/self/status; } >$program\n"                 \
	"		%s\n"                                                                         \
	"	done ;;\n"                                                                     \
	"esac\n"

/* Put that go first in PATH, for builders of all ids. */
static void put_go(const char *spoil)
{
	const struct release *release = release_find("v1.36.3");
	cleanup_with(strbuf_release) struct strbuf sums = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf programs = STRBUF_INIT;
	cleanup_free char *script = xasprintf(FAKE_GO, test_dir(), spoil);
	cleanup_free char *path = xasprintf("%s/fake/bin:%s", test_dir(), getenv("PATH"));
	cleanup_free char *log = xasprintf("%s/fake/log", test_dir());
	struct statvfs fs;

	for (int id = 0; id < COMPONENT_COUNT; id++) {
		const struct component *component = &components[id];
		const char *version = release->versions[id];

		strbuf_add(&programs, component->name);
		if (component->style != BUILD_WRAPPED)
			strbuf_addf(&sums, "%s@%s %s\n", component->module, version,
				    sums_find(component->module, version));
		for (const struct program *p = component->programs; p->name; p++) {
			strbuf_addf(&programs, " %s", p->built_as ? p->built_as : p->name);
			if (component->style == BUILD_WRAPPED)
				strbuf_addf(&sums, "%s@%s %s\n", p->package, version,
					    sums_find(p->package, version));
		}
		strbuf_add(&programs, "\n");
	}
	if (statvfs(test_dir(), &fs) < 0 ||
	    (uint64_t)fs.f_bavail * fs.f_frsize <
		    work_needs(&WORK_INIT, COMPONENT_KUBERNETES, WAY_BUILD))
		test_skip("needs as much disk as a real build");
	put(sums.text, "fake/sums");
	put(programs.text, "fake/programs");
	put(script, "fake/bin/go");
	put("", "fake/log/empty");
	ASSERT_INT(chmod(log, 0777), 0);
	ASSERT_INT(chmod(test_dir(), 0755), 0);
	(void)setenv("PATH", path, 1);
}

/* Build runc with that go; CONTENTS, to be freed, is what it saw. */
static int build_runc(char **contents, struct error *err)
{
	cleanup_with(work_release) struct work work = WORK_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *program = xasprintf("%s/part/work/get/runc/runc", test_dir());
	struct stat st;
	int r;

	begin_work(&work, NULL);
	r = work_build(&work, COMPONENT_RUNC, err);
	if (r < 0) {
		ASSERT(!file_exists(program));
		return r;
	}
	ASSERT_INT(lstat(program, &st), 0);
	ASSERT(S_ISREG(st.st_mode));
	ASSERT_INT(st.st_uid, geteuid());
	ASSERT_INT(st.st_mode & 0777, 0755);
	ASSERT_INT(file_read(program, 1 << 20, &text, NULL), 0);
	*contents = strbuf_take(&text);
	return 0;
}

static void need_root(void)
{
	if (geteuid() != 0)
		test_skip("needs root");
	(void)unsetenv("SUDO_UID");
	(void)unsetenv("SUDO_GID");
}

TEST(root_builds_as_nobody_in_particular)
{
	cleanup_free char *seen = NULL;
	cleanup_free char *id = xasprintf("uid %u gid %u groups %u\n", PAYLOAD_BUILD_UID,
					  PAYLOAD_BUILD_UID, PAYLOAD_BUILD_UID);

	need_root();
	put_go(":");
	ASSERT_OK(build_runc(&seen, &err));
	ASSERT(strstr(seen, id));
	ASSERT(strstr(seen, "NoNewPrivs:\t1"));
	ASSERT(strstr(seen, "CapEff:\t0000000000000000"));
	ASSERT(strstr(seen, "HOME=" BUILDER_ROOT "\n"));
}

TEST(sudo_builds_as_the_user_who_called_it)
{
	cleanup_free char *seen = NULL;

	need_root();
	put_go(":");
	(void)setenv("SUDO_UID", "1234", 1);
	(void)setenv("SUDO_GID", "1235", 1);
	ASSERT_OK(build_runc(&seen, &err));
	ASSERT(strstr(seen, "uid 1234 gid 1235 groups 1235\n"));
	ASSERT(strstr(seen, "NoNewPrivs:\t1"));
}

TEST(the_environment_weakens_no_check_of_a_build)
{
	static const char *const weak[] = { "GONOSUMDB",  "GONOSUMCHECK", "GOINSECURE", "GOPRIVATE",
					    "GONOPROXY",  "CGO_CFLAGS",   "CC",         "GOENV_X",
					    "LD_PRELOAD", "GODEBUG",      "GOSUMDB" };
	cleanup_free char *seen = NULL;

	put_go(":");
	for (size_t i = 0; i < ARRAY_SIZE(weak); i++)
		(void)setenv(weak[i], "*", 1);
	(void)setenv("GOFLAGS", "-insecure -mod=mod", 1);
	(void)setenv("https_proxy", "http://proxy.example:3128", 1);
	(void)unsetenv("LD_PRELOAD");
	ASSERT_OK(build_runc(&seen, &err));
	for (size_t i = 0; i < ARRAY_SIZE(weak); i++) {
		cleanup_free char *entry = xasprintf("\n%s=", weak[i]);

		ASSERT(!strstr(seen, entry));
	}
	ASSERT(strstr(seen, "\nGOFLAGS=-mod=readonly -modcacherw\n"));
	ASSERT(strstr(seen, "\nGOENV=off\n"));
	/* How to reach the network is the user's choice. */
	ASSERT(strstr(seen, "\nGOPROXY=https://proxy.example\n"));
	ASSERT(strstr(seen, "\nhttps_proxy=http://proxy.example:3128\n"));
}

TEST(refuses_a_module_that_is_not_the_pinned_one)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *built = xasprintf("%s/fake/log/builds", test_dir());
	cleanup_free char *kept = xasprintf("%s/part/work/build/go/mod/m", test_dir());
	cleanup_free char *seen = NULL;

	put_go(":");
	put("github.com/opencontainers/runc@v1.5.2 h1:somethingElse=\n", "fake/sums");
	ASSERT_INT(build_runc(&seen, &err), -EBADMSG);
	ASSERT(strstr(err.text, "'h1:somethingElse='"));
	ASSERT(strstr(err.text, "instead of"));
	ASSERT(err.reason == &reason_download);
	ASSERT(!file_exists(built));
	ASSERT(!file_exists(kept));
	/* Once the proxy is mended, so is the build. */
	put_go(":");
	ASSERT_INT(build_runc(&seen, NULL), 0);
}

TEST(takes_only_files_that_were_built)
{
	static const char *const spoils[] = {
		"rm $program; ln -s /etc/passwd $program",
		"rm $program; mkdir $program",
		"rm $program; mkfifo $program",
		"ln $program $program.twin",
		": >$program",
		"d=${2%/}; mv $d $d.real; ln -s $d.real $d; break",
	};

	for (size_t i = 0; i < ARRAY_SIZE(spoils); i++) {
		cleanup_free char *seen = NULL;

		put_go(spoils[i]);
		ASSERT(build_runc(&seen, NULL) < 0);
	}
}

TEST(every_source_is_pinned)
{
	for (const struct release *release = releases; release->version; release++)
		for (int id = 0; id < COMPONENT_COUNT; id++) {
			const struct component *component = &components[id];

			ASSERT(sums_find(component->module, release->versions[id]));
			for (const struct program *p = component->programs; p->name; p++)
				ASSERT(component->style != BUILD_WRAPPED ||
				       sums_find(p->package, release->versions[id]));
		}
	ASSERT(!sums_find("k8s.io/kubernetes", "v1.36"));
	ASSERT(sums_find(components[COMPONENT_DOCKER].module,
			 docker_release.versions[COMPONENT_DOCKER]));
}

TEST(what_is_built_besides_downloads_needs_no_more_than_that)
{
	struct work work = WORK_INIT;
	uint64_t all = work_needs(&work, COMPONENT_KUBERNETES, WAY_BUILD);
	uint64_t one = work_needs(&work, COMPONENT_LOCAL_PATH, WAY_BUILD);

	ASSERT(all > UINT64_C(9) << 30);
	/* Of the others there are releases. */
	ASSERT_INT(one, work_needs(&work, COMPONENT_LOCAL_PATH, WAY_DOWNLOAD));
	/* But they may not be used. */
	work.source.no_download = true;
	ASSERT_INT(work_needs(&work, COMPONENT_LOCAL_PATH, WAY_BUILD), all);
	work.source.no_download = false;
	/* GitHub has no way to it, while Kubernetes is being downloaded. */
	work.announced[WAY_DOWNLOAD] = true;
	ASSERT(work_needs(&work, COMPONENT_ETCD, WAY_BUILD) < all);
	ASSERT(work_needs(&work, COMPONENT_ETCD, WAY_BUILD) > one);
	/* What is there need not be built. */
	for (int id = 0; id < COMPONENT_LOCAL_PATH; id++)
		work.permille[id] = 1000;
	ASSERT_INT(work_needs(&work, COMPONENT_LOCAL_PATH, WAY_BUILD), one);
}

static size_t count_builds(const char *component)
{
	cleanup_with(strbuf_release) struct strbuf builds = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_free char *path = xasprintf("%s/fake/log/builds", test_dir());
	size_t count = 0;

	(void)file_read(path, 1 << 20, &builds, NULL);
	strlist_split(&lines, builds.text, '\n');
	for (size_t i = 0; i < lines.count; i++)
		count += strcmp(lines.items[i], component) == 0;
	return count;
}

/* Wait until the file NAME is there; its contents as a number. */
static pid_t await_pid(const char *name)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/%s", test_dir(), name);

	for (int i = 0; i < 300 && text.len == 0; i++) {
		clock_rest_ms(50);
		(void)file_read(path, 4096, &text, NULL);
	}
	ASSERT(text.len > 0);
	return (pid_t)strtol(text.text, NULL, 10);
}

TEST(an_interrupted_build_continues_where_it_stopped)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *last = xasprintf("%s/v1.36.3.part/work/done/local-path-provisioner",
					    test_dir());
	struct payload_source source = { .no_download = true };
	pid_t first;
	pid_t go;

	check_host();
	(void)setenv("MANYKUBE_CACHE", test_dir(), 1);
	(void)unsetenv("MANYKUBE_PAYLOAD_FROM");
	/* It never gets done with coredns, the last but one. */
	put_go("[ $component != coredns ] || { echo $$ >$top/fake/log/coredns; exec sleep 60; }");
	first = fork();
	if (first == 0) {
		(void)payload_ensure("v1.36.3", &source, NULL, &payload, NULL);
		_exit(0);
	}
	go = await_pid("fake/log/coredns");
	while (!file_exists(last))
		clock_rest_ms(20);
	ASSERT_INT(kill(first, SIGINT), 0);
	ASSERT_INT(waitpid(first, NULL, 0), first);
	for (int i = 0; i < 100 && process_start_time(go) != 0; i++)
		clock_rest_ms(20);
	ASSERT_INT(process_start_time(go), 0);

	/* Now it fails there, which ends the second try. */
	put_go("[ $component != coredns ] || exit 7");
	ASSERT_INT(payload_ensure("v1.36.3", &source, NULL, &payload, &err), -EIO);
	ASSERT(strstr(err.text, "coredns v1.14.2: go exited with status 7"));
	ASSERT(err.reason == &reason_download);
	ASSERT_INT(count_builds("kubernetes"), 1);
	ASSERT_INT(count_builds("etcd"), 1);
	ASSERT_INT(count_builds("cni-plugins"), 1);
	ASSERT_INT(count_builds("local-path-provisioner"), 1);
	ASSERT_INT(count_builds("coredns"), 2);
}

TEST(builds_nothing_where_the_disk_is_too_small_for_all)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *cache = xasprintf("%s/cache", test_dir());
	struct payload_source source = { .no_download = true };

	need_root();
	check_host();
	put_go(":");
	/* Enough to download, not to build. */
	ASSERT_INT(mkdir(cache, 0755), 0);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", cache, "tmpfs", 0, "size=4g") < 0)
		test_skip("needs a mount namespace");
	(void)setenv("MANYKUBE_CACHE", cache, 1);
	(void)unsetenv("MANYKUBE_PAYLOAD_FROM");
	ASSERT_INT(payload_ensure("v1.36.3", &source, NULL, &payload, &err), -ENOSPC);
	ASSERT(strstr(err.text, "building Kubernetes v1.36.3 needs 10000 MiB of disk"));
	ASSERT(err.reason == &reason_resources);
	ASSERT(strstr(err.hint, "MANYKUBE_CACHE"));
	ASSERT_INT(count_builds("kubernetes"), 0);
}

static void keep_progress(struct observer *observer, const char *step arg_unused,
			  const char *node arg_unused, const char *detail arg_unused, uint64_t done,
			  uint64_t total)
{
	struct listener *listener = (struct listener *)observer;

	ASSERT(total > 0 && done <= total);
	/* It may move back only when another way begins, which counts otherwise. */
	ASSERT(total != listener->total || done >= listener->done);
	listener->done = done;
	listener->total = total;
}

static void keep_expectation(struct observer *observer, const char *step arg_unused, int64_t ms)
{
	((struct listener *)observer)->expected_ms = ms;
}

TEST(says_beforehand_what_a_build_takes)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	struct payload_source source = { .no_download = true };
	struct listener listener = {
		.observer = { ignore_begin, keep_progress, ignore_end, keep_note,
			      keep_expectation },
	};

	check_host();
	(void)setenv("MANYKUBE_CACHE", test_dir(), 1);
	(void)unsetenv("MANYKUBE_PAYLOAD_FROM");
	put_go("[ $component != runc ] || exit 7");
	ASSERT_INT(payload_ensure("v1.36.3", &source, &listener.observer, &payload, NULL), -EIO);
	ASSERT(listener.note && strstr(listener.note, "built from source"));
	ASSERT(strstr(listener.note, "minutes"));
	ASSERT(strstr(listener.note, "once"));
	ASSERT(strstr(listener.note, "GB of disk"));
	ASSERT(listener.expected_ms > 60000);
	ASSERT(listener.done > 0);
	free(listener.note);
}

TEST(says_what_a_small_program_takes)
{
	struct payload_source source = { .no_download = true };
	struct listener listener = {
		.observer = { ignore_begin, keep_progress, ignore_end, keep_note,
			      keep_expectation },
	};
	cleanup_free char *path = NULL;

	check_host();
	(void)setenv("MANYKUBE_CACHE", test_dir(), 1);
	(void)unsetenv("MANYKUBE_PAYLOAD_FROM");
	put_go("exit 7");
	ASSERT(registry_program_ensure(&source, &listener.observer, &path, NULL) < 0);
	ASSERT(listener.note && strstr(listener.note, "The registry v") == listener.note);
	ASSERT(strstr(listener.note, "of which 30 MB are kept"));
	free(listener.note);
}

static unsigned asked;

static bool refuse(struct observer *observer arg_unused, const char *step, const char *text)
{
	ASSERT_STR(step, "getting Kubernetes v1.36.3");
	ASSERT(strstr(text, "built from source") && strstr(text, "minutes"));
	asked++;
	return false;
}

static bool agree(struct observer *observer, const char *step, const char *text)
{
	(void)refuse(observer, step, text);
	return true;
}

TEST(builds_nothing_that_is_not_confirmed)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct payload_source source = { .no_download = true };
	struct observer observer = { .begin = ignore_begin,
				     .progress = ignore_progress,
				     .end = ignore_end,
				     .confirm = refuse };

	check_host();
	(void)setenv("MANYKUBE_CACHE", test_dir(), 1);
	(void)unsetenv("MANYKUBE_PAYLOAD_FROM");
	put_go("[ $component != runc ] || exit 7");
	ASSERT_INT(payload_ensure("v1.36.3", &source, &observer, &payload, &why), -ECANCELED);
	ASSERT(why.reason == &reason_interrupted);
	ASSERT(strstr(why.hint, "--yes"));
	ASSERT_INT(count_builds("kubernetes"), 0);
	ASSERT_INT(asked, 1);
	/* It is asked once for all that is built. */
	asked = 0;
	observer.confirm = agree;
	ASSERT_INT(payload_ensure("v1.36.3", &source, &observer, &payload, NULL), -EIO);
	ASSERT_INT(asked, 1);
	ASSERT(count_builds("kubernetes") > 0);
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

TEST(finds_libraries_in_the_output_of_ldd)
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
		cleanup_free char *from = xasprintf("%s/bin/%s", payload.dir, programs[i]);
		cleanup_free char *to = xasprintf("%s/part/bin/%s", test_dir(), programs[i]);

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
	ASSERT(!strstr(mounts.text, test_dir()));
	/* It is there: nothing is to be done, not even containerd is needed. */
	containerd = work_path(&work, "bin/containerd");
	ASSERT_INT(unlink(containerd), 0);
	ASSERT_OK(work_make_store(&work, &err));
	/* With other images it has to be made anew. */
	work.missing[COMPONENT_LOCAL_PATH] = true;
	ASSERT(work_make_store(&work, NULL) < 0);
	ASSERT(!file_exists(database));
}
