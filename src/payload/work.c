/* The state of making a payload: its directory, progress and messages. */

#include "payload/work.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"

/*
 * The weight of each component in the progress, per way: MiB to download, seconds to build on two
 * CPUs.  build_mib is the disk space for building, mostly for Go's caches.
 */
static const struct {
	unsigned worth[WAY_COUNT];
	unsigned build_mib;
	unsigned kept_mib; /* of a program apart from payloads: its size */
} parts[COMPONENT_END] = {
	[COMPONENT_KUBERNETES] = { { 535, 390 }, 4900 },
	[COMPONENT_ETCD] = { { 23, 90 }, 400 },
	[COMPONENT_CONTAINERD] = { { 40, 70 }, 1000 },
	[COMPONENT_RUNC] = { { 12, 20 }, 200 },
	[COMPONENT_CNI] = { { 50, 10 }, 100 },
	[COMPONENT_COREDNS] = { { 20, 120 }, 2500 },
	/* Never downloaded. */
	[COMPONENT_LOCAL_PATH] = { { 60, 60 }, 900 },
	[COMPONENT_DOCKER] = { { 60, 180 }, 1900, 70 },
	[COMPONENT_REGISTRY] = { { 30, 60 }, 900, 30 },
	[COMPONENT_FLANNEL] = { { 30, 60 }, 900, 45 },
};

/* The weight of making images and the store, in the units of each way. */
static const unsigned rest_worth[WAY_COUNT] = { 100, 12 };

/* The disk space for making a payload without building, and the size of the finished payload. */
#define MAKE_MIB  2600U
#define FINAL_MIB 1900
#define MIB_IN_GB (1024 * 1024 / 1e9)

/* Programs apart from payloads have no images and no store. */
static bool is_apart(const struct work *work)
{
	return work->begin >= COMPONENT_COUNT;
}

/* Whether component ID will also be built if TRIGGER has to be built. */
static bool will_build(const struct work *work, enum component_id id, enum component_id trigger)
{
	if (work->permille[id] == 1000)
		return false;
	if (!components[id].url || id == trigger || work->source.no_download)
		return true;
	/* If one release cannot be downloaded, the others cannot either, except Kubernetes, which
	 * comes from another server. */
	return components[trigger].url &&
	       !(id == COMPONENT_KUBERNETES && work->announced[WAY_DOWNLOAD]);
}

static unsigned build_mib(const struct work *work, enum component_id trigger)
{
	unsigned mib = 0;

	for (int id = work->begin; id < work->end; id++)
		if (will_build(work, (enum component_id)id, trigger))
			mib += parts[id].build_mib;
	return mib;
}

uint64_t work_needs(const struct work *work, enum component_id id, enum work_way way)
{
	unsigned mib = way == WAY_BUILD ? build_mib(work, id) : 0;

	return (uint64_t)MAX(is_apart(work) ? 0 : MAKE_MIB, mib) << 20;
}

/* The disk space already used by incomplete components, which need not be free any more. */
static uint64_t bytes_of_begun(const struct work *work)
{
	cleanup_free char *build = work_path(work, "work/build");
	uint64_t bytes = file_tree_bytes(work->dir, true);
	uint64_t complete = 0;

	/* Go's caches of components that are complete still exist. */
	for (int id = work->begin; file_exists(build) && id < work->end; id++)
		if (work->permille[id] == 1000)
			complete += (uint64_t)parts[id].build_mib << 20;
	return bytes > complete ? bytes - complete : 0;
}

int work_check_space(struct work *work, enum component_id id, enum work_way way, struct error *err)
{
	uint64_t needed = work_needs(work, id, way);
	uint64_t have = bytes_of_begun(work);
	struct statvfs fs;
	int r;

	if (statvfs(work->dir, &fs) < 0)
		return error_sys(err, "cannot determine the free space in '%s'", work->dir);
	have += (uint64_t)fs.f_bavail * fs.f_frsize;
	if (have >= needed)
		return 0;
	r = error_because(err, &reason_resources, -ENOSPC,
			  "%s %s %s needs %llu MiB of disk space in '%s', but %llu MiB are free",
			  way == WAY_BUILD ? "building" : "getting", work->title,
			  work->release->version, (unsigned long long)(needed >> 20), work->dir,
			  (unsigned long long)(have >> 20));
	return error_hint(err, r,
			  "free some space, or set MANYKUBE_CACHE to a directory on a larger disk");
}

/* The way in which most components are got, as far as known. */
static enum work_way way_of(const struct work *work)
{
	if (work->announced[WAY_DOWNLOAD])
		return WAY_DOWNLOAD;
	return work->announced[WAY_BUILD] || work->source.no_download || is_apart(work)
		       ? WAY_BUILD
		       : WAY_DOWNLOAD;
}

/* The completed and the total work, in thousandths of the weights in parts[]. */
static uint64_t count_done(const struct work *work, uint64_t *ret_total)
{
	enum work_way way = way_of(work);
	uint64_t rest = is_apart(work) ? 0 : rest_worth[way] * UINT64_C(1000);
	uint64_t done = work->images_total ? rest * work->images_done / work->images_total : 0;

	*ret_total = rest;
	for (int id = work->begin; id < work->end; id++) {
		done += (uint64_t)parts[id].worth[way] * work->permille[id];
		*ret_total += parts[id].worth[way] * UINT64_C(1000);
	}
	return done;
}

/* Report the overall progress and the current activity. */
static void tell_observer(struct work *work, const char *what)
{
	cleanup_free char *detail = NULL;
	unsigned complete = 0;
	uint64_t total;
	uint64_t done = count_done(work, &total);

	for (int id = work->begin; id < work->end; id++)
		complete += work->permille[id] == 1000;
	detail = xasprintf("%u of %d: %s", complete, work->end - work->begin, what);
	observe_progress(work->observer, work->step, NULL, detail, done, total);
}

/* The current activities of all components, separated by commas. */
static char *list_doing(const struct work *work)
{
	cleanup_with(strlist_release) struct strlist doing = STRLIST_INIT;

	for (int id = work->begin; id < work->end; id++)
		if (work->doing[id])
			strlist_add(&doing, work->doing[id]);
	return strlist_join(&doing, ", ");
}

void work_tell(struct work *work, enum component_id id, unsigned permille, const char *fmt, ...)
{
	cleanup_free char *detail = NULL;
	cleanup_free char *all = NULL;
	cleanup_free char *number = xasprintf("%u", permille);
	va_list ap;

	va_start(ap, fmt);
	detail = xvasprintf(fmt, ap);
	va_end(ap);
	if (work->report >= 0) {
		work_send(work->report, WORK_PROGRESS, (const char *[4]){ number, detail });
		return;
	}
	work->permille[id] = MAX(work->permille[id], permille);
	free(work->doing[id]);
	work->doing[id] = permille < 1000 ? take_ptr(detail) : NULL;
	all = list_doing(work);
	tell_observer(work, *all ? all : "all components are complete");
}

void work_tell_all(struct work *work, const char *fmt, ...)
{
	cleanup_free char *detail = NULL;
	va_list ap;

	va_start(ap, fmt);
	detail = xvasprintf(fmt, ap);
	va_end(ap);
	tell_observer(work, detail);
}

void work_note(struct work *work, const char *text)
{
	if (work->report >= 0)
		work_send(work->report, WORK_NOTE, (const char *[4]){ text });
	else
		observe_note(work->observer, text);
}

/* The expected time for building.  Building two components at once takes four fifths of the time of
 * building them in sequence. */
static unsigned build_seconds(const struct work *work, enum component_id trigger)
{
	long cpus = MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
	unsigned seconds = 0;

	for (int id = work->begin; id < work->end; id++)
		if (will_build(work, (enum component_id)id, trigger))
			seconds += parts[id].worth[WAY_BUILD];
	/* 30 s for waiting for the network and for single long compilations. */
	return seconds * 4 / 5 * 2 / (unsigned)MIN(cpus, 8L) + 30;
}

static char *announce_download(const struct work *work)
{
	unsigned mib = 0;
	unsigned minutes;

	for (int id = work->begin; id < work->end; id++)
		if (work->permille[id] < 1000 && components[id].url)
			mib += parts[id].worth[WAY_DOWNLOAD];
	minutes = mib * 8 / 100 / 60 + 1;
	return xasprintf(
		"Downloading Kubernetes %s: about %u MB, %u %s at 100 Mbit/s. This happens "
		"only once and needs %.1f GB of disk space. It may be interrupted; the next "
		"run continues.",
		work->release->version, mib, minutes, minutes == 1 ? "minute" : "minutes",
		MAKE_MIB * MIB_IN_GB);
}

/* Whether building component ID means that all missing components are built, because nothing can be
 * downloaded. */
static bool is_long(const struct work *work, enum component_id id, enum work_way way)
{
	return way == WAY_BUILD &&
	       (components[id].url || work->source.no_download || is_apart(work));
}

static char *size_in_words(unsigned mib)
{
	return mib < 100 ? xasprintf("%u MB", mib) : xasprintf("%.1f GB", mib * MIB_IN_GB);
}

static char *announce_build(const struct work *work, enum component_id trigger)
{
	unsigned minutes = (build_seconds(work, trigger) + 30) / 60;
	unsigned kept_mib = is_apart(work) ? parts[work->begin].kept_mib : FINAL_MIB;
	cleanup_free char *kept = size_in_words(kept_mib);
	char *text;

	if (!is_long(work, trigger, WAY_BUILD))
		return xasprintf("Building %s %s from source, because there is no release to "
				 "download.",
				 components[trigger].name, work->release->versions[trigger]);
	text = xasprintf("%s %s must be built from source, which takes about %u %s. This "
			 "happens only once and needs %.1f GB of disk space, of which %s are "
			 "kept. It may be interrupted; the next run continues.",
			 work->title, work->release->version, minutes,
			 minutes == 1 ? "minute" : "minutes",
			 (double)(work_needs(work, trigger, WAY_BUILD) >> 20) * MIB_IN_GB, kept);
	text[0] = (char)toupper((unsigned char)text[0]);
	return text;
}

static int refuse_build(const struct work *work, struct error *err)
{
	(void)error_because(err, &reason_interrupted, -ECANCELED,
			    "building %s %s from source was not confirmed", work->title,
			    work->release->version);
	return error_hint(err, -ECANCELED,
			  "answer y or use --yes to build it, or download it from a mirror with "
			  "--binary-mirror");
}

/* In a task: tell the parent the chosen WAY and, for a build, wait for its answer. */
static int ask_parent(struct work *work, enum work_way way, struct error *err)
{
	cleanup_free char *number = xasprintf("%d", (int)way);
	char answer;

	work_send(work->report, WORK_WAY, (const char *[4]){ number });
	return way != WAY_BUILD || read(work->report, &answer, 1) == 1 ? 0
								       : refuse_build(work, err);
}

int work_goes(struct work *work, enum component_id id, enum work_way way, struct error *err)
{
	bool asks = is_long(work, id, way) && !work->confirmed;
	cleanup_free char *text = NULL;

	if (work->announced[way] && !asks)
		return 0;
	work->announced[way] = true;
	work->confirmed = work->confirmed || asks;
	if (work->report >= 0)
		return ask_parent(work, way, err);
	text = way == WAY_BUILD ? announce_build(work, id) : announce_download(work);
	if (!asks)
		observe_note(work->observer, text);
	else if (!observe_confirm(work->observer, work->step, text))
		return refuse_build(work, err);
	/* The speed of the network is unknown. */
	observe_expect(work->observer, work->step,
		       way_of(work) == WAY_BUILD ? (int64_t)build_seconds(work, id) * 1000 : 0);
	return 0;
}

void work_avoid(struct work *work, const char *origin)
{
	strlist_add(&work->unreachable, origin);
	if (work->report >= 0)
		work_send(work->report, WORK_UNREACHABLE, (const char *[4]){ origin });
}

void work_lacks(struct work *work, enum component_id id)
{
	work->missing[id] = true;
	if (work->report >= 0)
		work_send(work->report, WORK_MISSING, (const char *[4]){ NULL });
}

char *work_path(const struct work *work, const char *fmt, ...)
{
	cleanup_free char *name = NULL;
	va_list ap;

	va_start(ap, fmt);
	name = xvasprintf(fmt, ap);
	va_end(ap);
	return xasprintf("%s/%s", work->dir, name);
}

void work_release(struct work *work)
{
	free(work->dir);
	free(work->step);
	for (int id = work->begin; id < work->end; id++)
		free(work->doing[id]);
	strlist_release(&work->unreachable);
	*work = WORK_INIT;
}
