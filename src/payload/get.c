/* Getting components: from other payloads in the cache, by download or by building. */

#include <poll.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "payload/builder.h"
#include "payload/task.h"

/* Move the programs of COMPONENT from work/get/ to their final places. */
static int place_programs(struct work *work, const struct component *component, struct error *err)
{
	for (const struct program *program = component->programs; program->name; program++) {
		cleanup_free char *from = work_path(work, "work/get/%s/%s", component->name,
						    program->name);
		cleanup_free char *to = NULL;
		cleanup_free char *image = work_path(work, "work/programs/%s", program->name);

		if (chmod(from, 0755) < 0)
			return error_sys(err, "cannot find the program '%s'", from);
		if (program->use & USE_IMAGE) {
			(void)unlink(image);
			if (link(from, image) < 0)
				return error_sys(err, "cannot link '%s'", image);
		}
		to = work_path(work, "%s/%s", program->use & USE_CNI ? "cni" : "bin",
			       program->name);
		if (program->use & (USE_NODE | USE_CNI) && rename(from, to) < 0)
			return error_sys(err, "cannot move '%s' to '%s'", from, to);
	}
	return 0;
}

char *work_origin(const struct work *work, enum component_id id)
{
	cleanup_with(strbuf_release) struct strbuf stamp = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	cleanup_free char *path = work_path(work, "work/done/%s", components[id].name);

	if (file_read(path, 4096, &stamp, NULL) < 0)
		return NULL;
	strbuf_trim_end(&stamp);
	strlist_split(&words, stamp.text, ' ');
	if (words.count != 2 || strcmp(words.items[0], work->release->versions[id]) != 0)
		return NULL;
	return xstrdup(words.items[1]);
}

/* Download component ID, or build it if it cannot be downloaded. */
static int fetch_component(struct work *work, enum component_id id, const char **ret_origin,
			   struct error *err)
{
	cleanup_free char *missing = NULL;
	int r;

	if (!work->source.no_download) {
		*ret_origin = "download";
		r = work_download(work, id, err);
		if (r != -ENOENT || work->source.no_build)
			return r < 0 ? error_reason(err, r, &reason_download) : 0;
		missing = xstrdup(err && err->text ? err->text : "cannot download it");
		log_debug("%s; building it from source", missing);
		error_clear(err);
	}
	if (work->source.no_build)
		return error_because(err, &reason_download, -ENOENT,
				     "%s is missing, and both downloading and building are off",
				     components[id].name);
	*ret_origin = "source";
	r = work_build(work, id, err);
	return r == -ENOENT && missing ? error_prefix(err, r, "%s", missing) : r;
}

/* Continue without component ID if it is optional; otherwise return R unchanged. */
static int do_without(struct work *work, enum component_id id, int r, struct error *err)
{
	const struct component *component = &components[id];
	cleanup_free char *note = NULL;

	if (!component->without || (r != -ENOENT && r != -EIO))
		return r;
	note = xasprintf("Continuing without %s, so %s (%s)", component->name, component->without,
			 err && err->text ? err->text : strerror(-r));
	work_note(work, note);
	error_clear(err);
	work_lacks(work, id);
	return 0;
}

/* Download or build component ID and move it to its place. */
static int get_anew(struct work *work, enum component_id id, const char **ret_origin,
		    struct error *err)
{
	cleanup_free char *fresh = work_path(work, "work/get/%s", components[id].name);
	int r = file_remove_tree(fresh, err);

	if (r == 0)
		r = file_make_dirs(fresh, 0755, err);
	if (r == 0)
		r = fetch_component(work, id, ret_origin, err);
	if (r < 0)
		r = do_without(work, id, r, err);
	if (r == 0 && !work->missing[id])
		r = place_programs(work, &components[id], err);
	return r < 0 ? r : file_remove_tree(fresh, err);
}

/* Record that component ID is complete, and its origin. */
static int put_stamp(struct work *work, enum component_id id, const char *origin, struct error *err)
{
	cleanup_free char *stamp = work_path(work, "work/done/%s", components[id].name);
	cleanup_free char *text = xasprintf("%s %s\n", work->release->versions[id], origin);

	return file_put(stamp, text, strlen(text), 0644, err);
}

int work_take(struct work *work, enum component_id id, struct error *err)
{
	const char *origin = work_reuse(work, id);
	int r = origin ? put_stamp(work, id, origin, err) : 0;

	return r < 0 ? r : origin != NULL;
}

int work_get(struct work *work, enum component_id id, struct error *err)
{
	cleanup_free char *done = work_origin(work, id);
	const char *origin = "";
	int r = done ? 0 : get_anew(work, id, &origin, err);

	if (r < 0 || done || work->missing[id])
		return r;
	return put_stamp(work, id, origin, err);
}

/* The number of components that are got at once.  While one waits for the network or links its last
 * program, the other uses the remaining CPUs.  Both together need up to 4 GiB of memory. */
#define LANES             2
#define LANES_NEED_KIB    (UINT64_C(4) << 20)
#define MEMINFO_AVAILABLE "MemAvailable:"

static unsigned count_lanes(void)
{
	cleanup_with(strbuf_release) struct strbuf meminfo = STRBUF_INIT;
	unsigned long long available = 0;
	const char *line;

	if (file_read("/proc/meminfo", 1 << 16, &meminfo, NULL) < 0)
		return 1;
	line = strstr(meminfo.text, MEMINFO_AVAILABLE);
	if (!line || sscanf(line, MEMINFO_AVAILABLE " %llu", &available) != 1)
		return 1;
	return available >= LANES_NEED_KIB ? LANES : 1;
}

/* The running tasks, and the next component to get. */
struct lanes {
	struct task tasks[LANES];
	unsigned count;
	unsigned next; /* a component id */
};

static void lanes_release(struct lanes *lanes)
{
	for (unsigned i = 0; i < LANES; i++)
		task_release(&lanes->tasks[i]);
}

/* Start a task for the next missing component in every free lane;
 * returns the number of busy lanes. */
static int fill_lanes(struct work *work, struct lanes *lanes, struct error *err)
{
	int busy = 0;

	for (unsigned i = 0; i < lanes->count; i++) {
		while (lanes->tasks[i].pipe < 0 && lanes->next < (unsigned)work->end) {
			enum component_id id = (enum component_id)lanes->next++;
			int r;

			if (work->permille[id] == 1000)
				continue;
			r = task_start(work, id, work_get, &lanes->tasks[i], err);
			if (r < 0)
				return r;
		}
		busy += lanes->tasks[i].pipe >= 0;
	}
	return busy;
}

/* Wait for messages of the tasks and handle them. */
static int step_lanes(struct work *work, struct lanes *lanes, struct error *err)
{
	struct pollfd fds[LANES] = { 0 };

	/* poll() ignores negative descriptors. */
	for (unsigned i = 0; i < LANES; i++)
		fds[i] = (struct pollfd){ .fd = lanes->tasks[i].pipe, .events = POLLIN };
	if (poll(fds, LANES, -1) < 0)
		return errno == EINTR ? 0 : error_sys(err, "cannot wait for tasks");
	for (unsigned i = 0; i < LANES; i++) {
		struct task *task = &lanes->tasks[i];
		int r = fds[i].revents ? task_step(task, work, err) : 1;

		if (r < 0)
			return r;
		if (r == 1)
			continue;
		work_tell(work, task->id, 1000, "%s", components[task->id].name);
		task_release(task);
	}
	return 0;
}

int work_get_all(struct work *work, struct error *err)
{
	cleanup_with(lanes_release) struct lanes lanes = { .count = count_lanes(),
							   .next = (unsigned)work->begin };
	int r;

	for (unsigned i = 0; i < LANES; i++)
		lanes.tasks[i] = TASK_INIT;
	r = builder_settle(work, err);
	if (r < 0)
		return r;
	for (int id = work->begin; id < work->end; id++) {
		cleanup_free char *origin = work_origin(work, (enum component_id)id);

		r = origin ? 1 : work_take(work, (enum component_id)id, err);
		if (r < 0)
			return r;
		work->permille[id] = r ? 1000 : 0;
	}
	for (;;) {
		r = fill_lanes(work, &lanes, err);
		if (r <= 0)
			return r;
		r = step_lanes(work, &lanes, err);
		if (r < 0)
			return r;
	}
}
