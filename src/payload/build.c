/*
 * Building components from source with Go.
 *
 *  1. work_build() makes the builder's directory, opens the log, and starts a task that becomes the
 *     builder (builder.h).
 *  2. The task runs go in a controlled environment, with caches in the builder's directory: it
 *     fetches the module, compares its sum with the pinned one, and builds.
 *  3. work_build() copies the programs, so that root never runs a file that the builder owns.
 */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "payload/builder.h"
#include "payload/gomod.h"
#include "payload/sums.h"
#include "payload/task.h"

#define GOMOD_LIMIT (1 << 20)

/* Where to find Go if it is not in PATH, which sudo may have replaced. */
#define GO_HOME "/usr/local/go/bin"

/* A build, as seen by the builder. */
struct build {
	struct work *work;
	enum component_id id;
	const struct component *component;
	const char *version;
	char *home;   /* the builder's home; NULL: none */
	char *root;   /* the builder's directory */
	char *dir;    /* the directory in which go runs */
	char *output; /* the directory for the programs */
	unsigned packages;
	struct strlist environment;
};

/* Prepared as root for the task, which runs as the builder. */
static struct {
	char *directory;
	char *log;
	int log_fd;
} ready = { .log_fd = -1 };

static void build_release(struct build *build)
{
	free(build->home);
	free(build->root);
	free(build->dir);
	free(build->output);
	strlist_release(&build->environment);
}

/* Pass on only variables about the network.  All others that affect Go, the C compiler or their
 * checks are set by us or unset. */
static void add_inherited(struct strlist *environment)
{
	static const char *const names[] = { "HTTP_PROXY",  "HTTPS_PROXY", "NO_PROXY",
					     "ALL_PROXY",   "http_proxy",  "https_proxy",
					     "no_proxy",    "all_proxy",   "SSL_CERT_FILE",
					     "SSL_CERT_DIR" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (getenv(names[i]))
			strlist_addf(environment, "%s=%s", names[i], getenv(names[i]));
}

static int set_environment(struct build *build, struct error *err)
{
	static const char *const dirs[] = { "tmp", "cache", "mod" };
	const char *path = getenv("PATH");
	struct strlist *to = &build->environment;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		cleanup_free char *dir = xasprintf("%s/%s", build->root, dirs[i]);
		int r = file_make_dirs(dir, 0755, err);

		if (r < 0)
			return r;
	}
	add_inherited(to);
	strlist_addf(to, "PATH=%s", path ? path : GO_HOME ":/usr/bin:/bin");
	strlist_addf(to, "HOME=%s", build->home ? build->home : build->root);
	strlist_addf(to, "TMPDIR=%s/tmp", build->root);
	strlist_addf(to, "GOTMPDIR=%s/tmp", build->root);
	strlist_addf(to, "GOCACHE=%s/cache", build->root);
	strlist_addf(to, "GOMODCACHE=%s/mod", build->root);
	strlist_addf(to, "CGO_ENABLED=%d", build->component->cgo);
	/* Use the installed Go; never download another one during a build. */
	strlist_add(to, "GOTOOLCHAIN=local");
	strlist_add(to, "GOWORK=off");
	return 0;
}

/* Users may choose a module proxy, in the environment or with 'go env -w', because sums are
 * checked. All other settings of Go are ignored from here on. */
static int keep_proxy(struct build *build, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf proxy = STRBUF_INIT;
	struct process_options options = { .environment = build->environment.items,
					   .no_stdin = true,
					   .dies_with_us = true };
	int r = 0;

	if (getenv("GOPROXY")) {
		strbuf_add(&proxy, getenv("GOPROXY"));
	} else {
		r = process_capture(ARGV("go", "env", "GOPROXY"), &options, &proxy, err);
		if (r != 0)
			return r < 0 ? r
				     : error_set(err, -EIO, "'go env' exited with status %d", r);
		strbuf_trim_end(&proxy);
	}
	if (proxy.len)
		strlist_addf(&build->environment, "GOPROXY=%s", proxy.text);
	strlist_add(&build->environment, "GOENV=off");
	strlist_add(&build->environment, "GOFLAGS=-mod=readonly -modcacherw");
	return 0;
}

/* Report that go failed, with the last line of the log as the reason. */
static int failed(struct build *build, const char *what, int status, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf log = STRBUF_INIT;
	const char *tail = "";
	int r;

	if (lseek(ready.log_fd, 0, SEEK_SET) == 0 &&
	    file_read_fd(ready.log_fd, 64 << 20, &log, NULL) == 0) {
		strbuf_trim_end(&log);
		tail = strrchr(log.text, '\n');
		tail = tail ? tail + 1 : log.text;
	}
	r = error_because(err, &reason_download, -EIO,
			  "cannot %s %s %s: go exited with status %d: %s", what,
			  build->component->name, build->version, status, tail);
	if (build->component->needs)
		return error_hint(err, r, "building it needs %s; the output of go is in '%s'",
				  build->component->needs, ready.log);
	return error_hint(err, r, "the output of go is in '%s'", ready.log);
}

/* The progress of the build: compiled packages and linked programs. */
static unsigned count_permille(const struct build *build)
{
	unsigned expected = MAX(build->component->packages, 1U);
	unsigned linked = 0;
	unsigned count = 0;

	for (const struct program *program = build->component->programs; program->name;
	     program++, count++) {
		cleanup_free char *path = xasprintf("%s/%s", build->output,
						    program->built_as ? program->built_as
								      : program->name);

		linked += file_exists(path);
	}
	return 890 * MIN(build->packages, expected) / expected + 100 * linked / count;
}

/* Copy the output of go to the log and report progress. */
static int follow_build(struct build *build, int fd, struct error *err)
{
	cleanup_fd int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	cleanup_file FILE *in = copy < 0 ? NULL : fdopen(copy, "r");
	cleanup_free char *line = NULL;
	size_t room = 0;
	ssize_t len;

	if (!in)
		return error_sys(err, "cannot read the output of go");
	(void)take_fd(copy);
	while ((len = getline(&line, &room, in)) > 0) {
		bool fetching = strncmp(line, "go: ", 4) == 0;

		(void)file_write_all(ready.log_fd, line, (size_t)len);
		build->packages += !fetching;
		work_tell(build->work, build->id, count_permille(build), "%s%s",
			  fetching ? "fetching " : "", build->component->name);
	}
	return 0;
}

/* Run ARGV, a go command.  Its output goes to the log, its progress to the observer. */
static int run_go(struct build *build, char *const *argv, const char *what, struct error *err)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	struct process_options options = {
		.dir = build->dir,
		.no_stdin = true,
		.dies_with_us = true,
		.environment = build->environment.items,
	};
	cleanup_fd int from = -1;
	cleanup_fd int to = -1;
	int ends[2];
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "cannot make a pipe");
	from = ends[0];
	to = ends[1];
	options.stdout_fd = to;
	options.stderr_fd = to;
	r = process_spawn(argv, &options, &process, err);
	if (r < 0)
		return r;
	(void)close(take_fd(to));
	r = follow_build(build, from, err);
	if (r < 0)
		return r;
	r = process_wait(&process, 0, err);
	return r > 0 ? failed(build, what, r, err) : r;
}

/* Fetch MODULE and check its pinned sum.  RET_DIR is its directory in Go's module cache, which the
 * caller frees. */
static int fetch_module(struct build *build, const char *module, char **ret_dir, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf answer = STRBUF_INIT;
	cleanup_free char *wanted = xasprintf("%s@%s", module, build->version);
	json_auto_t *json = NULL;
	const char *dir = NULL;
	const char *sum = "";
	const char *problem = "go gave no answer";
	struct process_options options = {
		.dir = build->dir,
		.no_stdin = true,
		.dies_with_us = true,
		.environment = build->environment.items,
		.stderr_fd = ready.log_fd,
	};
	int r;

	work_tell(build->work, build->id, 0, "fetching %s", build->component->name);
	r = process_capture(ARGV("go", "mod", "download", "-json", wanted), &options, &answer, err);
	if (r < 0)
		return r;
	json = json_loadb(answer.text, answer.len, 0, NULL);
	(void)json_unpack(json, "{s?s, s?s, s?s}", "Dir", &dir, "Sum", &sum, "Error", &problem);
	if (r != 0 || !dir)
		return error_because(err, &reason_download, -EIO,
				     "cannot fetch the source of %s %s: %s", build->component->name,
				     build->version, problem);
	r = sums_check(module, build->version, sum, err);
	if (r < 0) {
		cleanup_free char *cache = xasprintf("%s/mod", build->root);

		/* Otherwise the next attempt would find the wrong module in the cache. */
		(void)file_remove_tree(cache, NULL);
		return r;
	}
	*ret_dir = xstrdup(dir);
	return 0;
}

/* Compare the installed Go with the version that the go.mod in DIR requires. */
static int check_go(struct build *build, const char *dir, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf have = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf gomod = STRBUF_INIT;
	struct process_options options = { .environment = build->environment.items,
					   .no_stdin = true,
					   .dies_with_us = true };
	cleanup_free char *path = xasprintf("%s/go.mod", dir);
	cleanup_free char *wanted = NULL;
	int r = file_read(path, GOMOD_LIMIT, &gomod, err);

	if (r < 0)
		return r;
	wanted = gomod_go_version(gomod.text);
	r = process_capture(ARGV("go", "env", "GOVERSION"), &options, &have, err);
	if (r < 0)
		return r;
	strbuf_trim_end(&have);
	if (wanted && gomod_compare_versions(have.text, wanted) < 0) {
		r = error_because(err, &reason_host_missing_tool, -ENOENT,
				  "building %s %s needs Go %s, but %s is installed",
				  build->component->name, build->version, wanted, have.text);
		return error_hint(err, r, "install Go %s or newer from https://go.dev/dl/", wanted);
	}
	return 0;
}

/* Write a module with the requirements of Kubernetes, and its staging modules at their releases. */
static int wrap_kubernetes(struct build *build, const char *source, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf theirs = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf sums = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf ours = STRBUF_INIT;
	cleanup_free char *their_mod = xasprintf("%s/go.mod", source);
	cleanup_free char *their_sums = xasprintf("%s/go.sum", source);
	cleanup_free char *mod = xasprintf("%s/go.mod", build->dir);
	cleanup_free char *sum = xasprintf("%s/go.sum", build->dir);
	int r = file_read(their_mod, GOMOD_LIMIT, &theirs, err);

	if (r == 0)
		r = file_read(their_sums, 8 * GOMOD_LIMIT, &sums, err);
	/* Kubernetes' go.sum has no sums of the staging modules. */
	sums_add_all(&sums);
	if (r == 0)
		r = file_put(sum, sums.text, sums.len, 0644, err);
	if (r < 0)
		return r;
	gomod_wrap_kubernetes(theirs.text, build->version, &ours);
	return file_put(mod, ours.text, ours.len, 0644, err);
}

/* Write a go.sum with the sums from the modules of the programs, and the pinned sums of these
 * modules.
 */
static int wrap_sums(struct build *build, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf sums = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/go.sum", build->dir);

	for (const struct program *program = build->component->programs; program->name; program++) {
		cleanup_free char *source = NULL;
		cleanup_free char *theirs = NULL;
		int r = fetch_module(build, program->package, &source, err);

		if (r < 0)
			return r;
		theirs = xasprintf("%s/go.sum", source);
		r = file_read(theirs, 8 * GOMOD_LIMIT, &sums, err);
		if (r < 0)
			return r;
	}
	sums_add_all(&sums);
	return file_put(path, sums.text, sums.len, 0644, err);
}

/* Write a module that requires the module of each program at the component's version. */
static int wrap_packages(struct build *build, struct error *err)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	cleanup_free char *mod = xasprintf("%s/go.mod", build->dir);
	cleanup_free char *text = xasprintf("module manykube.internal/payload\n\ngo %s\n",
					    build->component->go_version);
	int r = wrap_sums(build, err);

	if (r == 0)
		r = file_put(mod, text, strlen(text), 0644, err);
	if (r < 0)
		return r;
	strlist_add(&argv, "go");
	strlist_add(&argv, "get");
	for (const struct program *program = build->component->programs; program->name; program++)
		strlist_addf(&argv, "%s@%s", program->package, build->version);
	return run_go(build, argv.items, "fetch the source of", err);
}

/* Turn SOURCE, a module without a go.mod of its own, into a main module in build->dir.  With an
 * empty go.mod of ours, Go would take it for a module of an old language version. */
static int unpack_vendored(struct build *build, const char *source, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf theirs = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf mod = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf sums = STRBUF_INIT;
	cleanup_free char *vendor = xasprintf("%s/vendor", build->dir);
	cleanup_free char *vendor_mod = xasprintf("%s/vendor.mod", build->dir);
	cleanup_free char *vendor_sum = xasprintf("%s/vendor.sum", build->dir);
	cleanup_free char *go_mod = xasprintf("%s/go.mod", build->dir);
	cleanup_free char *go_sum = xasprintf("%s/go.sum", build->dir);
	int r = file_remove_tree(build->dir, err);

	if (r < 0)
		return r;
	/* Go unpacks it again for the next attempt. */
	if (rename(source, build->dir) < 0)
		return error_sys(err, "cannot move '%s'", source);
	r = file_remove_tree(vendor, err);
	if (r == 0)
		r = file_read(vendor_mod, GOMOD_LIMIT, &theirs, err);
	if (r == 0)
		r = file_read(vendor_sum, 8 * GOMOD_LIMIT, &sums, err);
	if (r < 0)
		return r;
	gomod_without_comments(theirs.text, &mod);
	r = file_put(go_mod, mod.text, mod.len, 0644, err);
	if (r == 0)
		r = file_put(go_sum, sums.text, sums.len, 0644, err);
	return r < 0 ? r : check_go(build, build->dir, err);
}

/* Move SOURCE, a module, to build->dir, and add a program of ours to it. */
static int unpack_with_ours(struct build *build, const char *source, struct error *err)
{
	cleanup_free char *dir = xasprintf("%s/cmd/" BUILD_OURS_NAME, build->dir);
	cleanup_free char *path = xasprintf("%s/main.go", dir);
	const char *text = build->component->main;
	int r = file_remove_tree(build->dir, err);

	if (r < 0)
		return r;
	/* Go unpacks it again for the next attempt. */
	if (rename(source, build->dir) < 0)
		return error_sys(err, "cannot move '%s'", source);
	r = file_make_dirs(dir, 0755, err);
	return r < 0 ? r : file_put(path, text, strlen(text), 0644, err);
}

static int run_build(struct build *build, struct error *err)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	const struct component *component = build->component;
	cleanup_free char *ldflags = component_expand(component->ldflags, build->version,
						      build->work->arch, NULL);

	strlist_add_all(&argv, ARGV("go", "build", "-v", "-trimpath", "-buildvcs=false"));
	if (component->tags) {
		strlist_add(&argv, "-tags");
		strlist_add(&argv, component->tags);
	}
	strlist_add(&argv, "-ldflags");
	strlist_add(&argv, ldflags);
	strlist_add(&argv, "-o");
	strlist_addf(&argv, "%s/", build->output);
	for (const struct program *program = component->programs; program->name; program++)
		strlist_add(&argv, program->package);
	build->packages = 0;
	return run_go(build, argv.items, "build", err);
}

/* Rename programs to which go gives another name. */
static int name_programs(struct build *build, struct error *err)
{
	for (const struct program *program = build->component->programs; program->name; program++) {
		cleanup_free char *from = NULL;
		cleanup_free char *to = xasprintf("%s/%s", build->output, program->name);

		if (!program->built_as)
			continue;
		from = xasprintf("%s/%s", build->output, program->built_as);
		if (rename(from, to) < 0)
			return error_sys(err, "cannot rename '%s'", from);
	}
	return 0;
}

static int build_component(struct build *build, struct error *err)
{
	cleanup_free char *source = NULL;
	int r = 0;

	if (build->component->style != BUILD_WRAPPED)
		r = fetch_module(build, build->component->module, &source, err);
	if (r == 0 && source && build->component->style != BUILD_VENDORED)
		r = check_go(build, source, err);
	if (r < 0)
		return r;
	switch (build->component->style) {
	case BUILD_IN_MODULE:
		free(build->dir);
		build->dir = take_ptr(source);
		break;
	case BUILD_KUBERNETES:
		r = wrap_kubernetes(build, source, err);
		break;
	case BUILD_VENDORED:
		r = unpack_vendored(build, source, err);
		break;
	case BUILD_OURS:
		r = unpack_with_ours(build, source, err);
		break;
	case BUILD_WRAPPED:
		r = wrap_packages(build, err);
		if (r == 0)
			r = check_go(build, build->dir, err);
		break;
	}
	if (r == 0)
		r = run_build(build, err);
	return r < 0 ? r : name_programs(build, err);
}

/* In the task: become the builder, and build. */
static int build_apart(struct work *work, enum component_id id, struct error *err)
{
	const struct component *component = &components[id];
	cleanup_with(build_release) struct build build = {
		.work = work,
		.id = id,
		.component = component,
		.version = work->release->versions[id],
		.home = builder_home(),
	};
	cleanup_free char *go = NULL;
	int r = builder_become(ready.directory, &build.root, err);

	if (r < 0)
		return r;
	go = process_find("go");
	if (!go) {
		r = error_because(err, &reason_host_missing_tool, -ENOENT,
				  "user %u, who builds %s, can't run root's Go", geteuid(),
				  component->name);
		return error_hint(err, r, "install Go where every user can run it: /usr/local/go");
	}
	build.dir = xasprintf("%s/src/%s", build.root, component->name);
	build.output = xasprintf("%s/get/%s", build.root, component->name);
	r = file_remove_tree(build.dir, err);
	if (r == 0)
		r = file_remove_tree(build.output, err);
	if (r == 0)
		r = file_make_dirs(build.dir, 0755, err);
	if (r == 0)
		r = file_make_dirs(build.output, 0755, err);
	if (r == 0)
		r = set_environment(&build, err);
	if (r == 0)
		r = keep_proxy(&build, err);
	return r < 0 ? r : build_component(&build, err);
}

/* Copy the programs from the builder's directory to work/get/. */
static int take_programs(struct work *work, const struct component *component, struct error *err)
{
	for (const struct program *program = component->programs; program->name; program++) {
		cleanup_free char *from = xasprintf("get/%s/%s", component->name, program->name);
		cleanup_free char *to = work_path(work, "work/%s", from);
		int r = builder_take(ready.directory, from, to, err);

		if (r < 0)
			return r;
	}
	return 0;
}

static int check_ready(struct work *work, enum component_id id, struct error *err)
{
	const char *path = getenv("PATH");
	cleanup_free char *more = xasprintf("%s:" GO_HOME, path ? path : "/usr/bin:/bin");
	cleanup_free char *go = NULL;
	int r = 0;

	(void)setenv("PATH", more, 1);
	go = process_find("go");
	if (!go) {
		r = error_because(err, &reason_host_missing_tool, -ENOENT,
				  "building %s from source needs Go, which is not installed",
				  components[id].name);
		return error_hint(err, r, "install Go from https://go.dev/dl/");
	}
	/* Once is enough: `announced` is set when the first component is built. */
	if (!work->announced[WAY_BUILD])
		r = work_check_space(work, id, WAY_BUILD, err);
	return r;
}

int work_build(struct work *work, enum component_id id, struct error *err)
{
	const struct component *component = &components[id];
	cleanup_free char *directory = NULL;
	cleanup_free char *log = work_path(work, "work/build-%s.log", component->name);
	cleanup_fd int log_fd = -1;
	int r = check_ready(work, id, err);

	if (r == 0)
		r = work_goes(work, id, WAY_BUILD, err);
	if (r == 0)
		r = builder_prepare(work, &directory, err);
	if (r < 0)
		return r;
	log_fd = open(log, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (log_fd < 0)
		return error_sys(err, "cannot open '%s'", log);
	ready.directory = directory;
	ready.log = log;
	ready.log_fd = log_fd;
	r = task_run(work, id, build_apart, err);
	return r < 0 ? r : take_programs(work, component, err);
}
