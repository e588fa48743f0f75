/* Components built from source with Go. */

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/process.h"
#include "base/strbuf.h"
#include "payload/gomod.h"
#include "payload/work.h"

#define GOMOD_LIMIT (1 << 20)

/* A build under way: the component, its version, and Go's environment. */
struct build {
	struct work *work;
	const struct component *component;
	const char *version;
	char *folder; /* where go runs */
	char *output; /* where the programs go */
	char *log;
	struct strlist environment;
};

static void build_release(struct build *build)
{
	free(build->folder);
	free(build->output);
	free(build->log);
	strlist_release(&build->environment);
}

/* Our environment with what steers Go replaced. */
static void set_environment(struct build *build)
{
	static const char *const ours[] = { "GOFLAGS=", "CGO_ENABLED=", "GOTOOLCHAIN=",
					    "GOWORK=",  "GO111MODULE=", "GOOS=",
					    "GOARCH=",  "GOBIN=",       "GOTMPDIR=" };

	cleanup_free char *temporary = work_path(build->work, "work/tmp");

	for (char **entry = environ; *entry; entry++) {
		bool keep = true;

		for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
			if (strncmp(*entry, ours[i], strlen(ours[i])) == 0)
				keep = false;
		if (keep)
			strlist_add(&build->environment, *entry);
	}
	strlist_addf(&build->environment, "GOFLAGS=-mod=%s",
		     build->component->style == BUILD_IN_MODULE ? "readonly" : "mod");
	strlist_addf(&build->environment, "CGO_ENABLED=%d", build->component->cgo);
	/* What Go is there must do: fetching another one in the midst of a build is no answer. */
	strlist_add(&build->environment, "GOTOOLCHAIN=local");
	strlist_add(&build->environment, "GOWORK=off");
	/* What an interrupted build leaves is then removed with the rest. */
	if (file_make_dirs(temporary, 0755, NULL) == 0)
		strlist_addf(&build->environment, "GOTMPDIR=%s", temporary);
}

/* Add the last lines of the log to the error, since that is where Go says why. */
static int failed(struct build *build, const char *what, int status, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf log = STRBUF_INIT;
	const char *tail = "";
	int r;

	if (file_read(build->log, 64 << 20, &log, NULL) == 0) {
		strbuf_trim_end(&log);
		tail = strrchr(log.text, '\n');
		tail = tail ? tail + 1 : log.text;
	}
	r = error_because(err, &reason_download, -EIO, "cannot %s %s %s: go ended with %d: %s",
			  what, build->component->name, build->version, status, tail);
	if (build->component->needs)
		return error_hint(err, r, "building it needs %s; what go said is in '%s'",
				  build->component->needs, build->log);
	return error_hint(err, r, "what go said is in '%s'", build->log);
}

/* Read what go prints, keep it in the log, and tell the observer each line. */
static int follow(struct build *build, int fd, struct error *err)
{
	cleanup_fd int log = open(build->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	cleanup_fd int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	cleanup_file FILE *in = copy < 0 ? NULL : fdopen(copy, "r");
	cleanup_free char *line = NULL;
	size_t room = 0;
	ssize_t len;

	if (log < 0 || !in)
		return error_sys(err, "cannot open '%s'", build->log);
	(void)take_fd(copy);
	while ((len = getline(&line, &room, in)) > 0) {
		(void)file_write_all(log, line, (size_t)len);
		line[strcspn(line, "\n")] = '\0';
		work_tell(build->work, "building %s: %s", build->component->name, line);
	}
	return 0;
}

/* Run go with ARGV, whose output goes to the log and, line by line, to the observer. */
static int run_go(struct build *build, char *const *argv, const char *what, struct error *err)
{
	cleanup_with(process_release) struct process process = PROCESS_INIT;
	struct process_options options = {
		.folder = build->folder,
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
	r = follow(build, from, err);
	if (r < 0)
		return r;
	r = process_wait(&process, 0, err);
	return r > 0 ? failed(build, what, r, err) : r;
}

/* The folder of MODULE@VERSION in Go's module cache, fetched if need be. */
static int fetch_module(struct build *build, char **ret_folder, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf answer = STRBUF_INIT;
	cleanup_free char *module = xasprintf("%s@%s", build->component->module, build->version);
	json_auto_t *json = NULL;
	const char *folder = NULL;
	const char *problem = "go gave no answer";
	struct process_options options = {
		.folder = build->folder,
		.no_stdin = true,
		.dies_with_us = true,
		.environment = build->environment.items,
	};
	cleanup_fd int log = open(build->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int r;

	options.stderr_fd = log;
	work_tell(build->work, "fetching the source of %s %s", build->component->name,
		  build->version);
	r = process_capture(ARGV("go", "mod", "download", "-json", module), &options, &answer, err);
	if (r < 0)
		return r;
	json = json_loadb(answer.text, answer.len, 0, NULL);
	(void)json_unpack(json, "{s?s, s?s}", "Dir", &folder, "Error", &problem);
	if (r != 0 || !folder)
		return error_because(err, &reason_download, -EIO,
				     "cannot fetch the source of %s %s: %s", build->component->name,
				     build->version, problem);
	*ret_folder = xstrdup(folder);
	return 0;
}

/* Compare what go is there with what the go.mod in FOLDER asks for. */
static int check_go(struct build *build, const char *folder, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf have = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf gomod = STRBUF_INIT;
	struct process_options options = { .environment = build->environment.items };
	cleanup_free char *path = xasprintf("%s/go.mod", folder);
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
				  "building %s %s needs Go %s, but this is %s",
				  build->component->name, build->version, wanted, have.text);
		return error_hint(err, r, "install Go %s or newer from https://go.dev/dl/", wanted);
	}
	return 0;
}

/* A module of ours with Kubernetes' own requirements, the staging modules at their releases. */
static int wrap_kubernetes(struct build *build, const char *source, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf theirs = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf sums = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf ours = STRBUF_INIT;
	cleanup_free char *their_mod = xasprintf("%s/go.mod", source);
	cleanup_free char *their_sums = xasprintf("%s/go.sum", source);
	cleanup_free char *mod = xasprintf("%s/go.mod", build->folder);
	cleanup_free char *sum = xasprintf("%s/go.sum", build->folder);
	int r = file_read(their_mod, GOMOD_LIMIT, &theirs, err);

	if (r == 0)
		r = file_read(their_sums, 8 * GOMOD_LIMIT, &sums, err);
	if (r == 0)
		r = file_put(sum, sums.text, sums.len, 0644, err);
	if (r < 0)
		return r;
	gomod_wrap_kubernetes(theirs.text, build->version, &ours);
	return file_put(mod, ours.text, ours.len, 0644, err);
}

/* A module of ours that requires the module of each program at the component's version. */
static int wrap_packages(struct build *build, struct error *err)
{
	cleanup_with(strlist_release) struct strlist argv = STRLIST_INIT;
	cleanup_free char *mod = xasprintf("%s/go.mod", build->folder);
	cleanup_free char *text = xasprintf("module manykube.internal/payload\n\ngo %s\n",
					    build->component->go_version);
	int r = file_put(mod, text, strlen(text), 0644, err);

	if (r < 0)
		return r;
	strlist_add(&argv, "go");
	strlist_add(&argv, "get");
	for (const struct program *program = build->component->programs; program->name; program++)
		strlist_addf(&argv, "%s@%s", program->package, build->version);
	return run_go(build, argv.items, "fetch the source of", err);
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
	work_tell(build->work, "building %s %s from source", component->name, build->version);
	return run_go(build, argv.items, "build", err);
}

/* Give the programs that go names otherwise their own names. */
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

	if (build->component->style != BUILD_WRAPPED) {
		r = fetch_module(build, &source, err);
		if (r == 0)
			r = check_go(build, source, err);
	}
	if (r < 0)
		return r;
	switch (build->component->style) {
	case BUILD_IN_MODULE:
		free(build->folder);
		build->folder = take_ptr(source);
		break;
	case BUILD_KUBERNETES:
		r = wrap_kubernetes(build, source, err);
		break;
	case BUILD_WRAPPED:
		r = wrap_packages(build, err);
		if (r == 0)
			r = check_go(build, build->folder, err);
		break;
	}
	if (r == 0)
		r = run_build(build, err);
	return r < 0 ? r : name_programs(build, err);
}

int work_build(struct work *work, enum component_id id, struct error *err)
{
	const struct component *component = &components[id];
	cleanup_free char *go = process_find("go");
	cleanup_with(build_release) struct build build = {
		.work = work,
		.component = component,
		.version = work->release->versions[id],
		.folder = work_path(work, "work/src/%s", component->name),
		.output = work_path(work, "work/get/%s", component->name),
		.log = work_path(work, "work/build-%s.log", component->name),
	};
	int r;

	if (!go) {
		r = error_because(err, &reason_host_missing_tool, -ENOENT,
				  "building %s from source needs Go, which is not installed",
				  component->name);
		return error_hint(err, r, "install Go from https://go.dev/dl/");
	}
	set_environment(&build);
	(void)unlink(build.log);
	r = file_remove_tree(build.folder, err);
	if (r == 0)
		r = file_make_dirs(build.folder, 0755, err);
	if (r == 0)
		r = file_make_dirs(build.output, 0755, err);
	return r < 0 ? r : build_component(&build, err);
}
