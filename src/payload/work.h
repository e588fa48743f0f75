/*
 * One try at making a payload: where it works and whom it tells.
 *
 * The directory is CACHE/VERSION.part.  What is done stays there, so that the next try
 * goes on from it:
 *
 *	bin/ cni/ images/ store/   as in the payload
 *	work/programs/             what goes into images only
 *	work/done/COMPONENT        "VERSION download" or "VERSION source": it is complete
 *	work/recipe                the versions that all this is made of
 *	work/images/ARCHIVE        the image's id: its archive is complete
 *	work/store-images          the ids of the images in store/
 *	work/download/             files on their way (….partial) and verified ones
 *	work/get/                  programs before they are in place
 *	work/build/                Go's caches and what it builds; in it, only go/ is the builder's
 *	work/build-….log           what go said
 *	work/containerd.log        what containerd and ctr said
 */
#pragma once

#include "base/error.h"
#include "base/observer.h"
#include "base/strlist.h"
#include "payload/component.h"
#include "payload/payload.h"

/* Counted up when the layout changes so that older payloads can't be used: they are made anew. */
#define PAYLOAD_FORMAT 4

/* How components are got. */
enum work_way {
	WAY_DOWNLOAD,
	WAY_BUILD,
	WAY_COUNT,
};

struct work {
	const struct release *release;
	struct payload_source source;
	struct observer *observer;
	const char *arch;
	char *dir;                          /* CACHE/VERSION.part */
	char *step;                         /* what the observer knows all this as */
	int report;                         /* in a task: the pipe to who started it, else -1 */
	bool announced[WAY_COUNT];          /* the user knows that we go this way */
	bool confirmed;                     /* and wants it, although it takes long */
	unsigned permille[COMPONENT_COUNT]; /* how far each is */
	char *doing[COMPONENT_COUNT];       /* what is done of it just now; NULL: nothing */
	unsigned images_done;               /* of the store */
	unsigned images_total;
	struct strlist unreachable;    /* hosts not to be tried again */
	bool missing[COMPONENT_COUNT]; /* could not be had, and clusters can do without */
};

#define WORK_INIT ((struct work){ .report = -1 })

/* What a task tells (task.h). */
enum work_message {
	WORK_PROGRESS = 'p',    /* permille, detail */
	WORK_NOTE = 'n',        /* text */
	WORK_WAY = 'w',         /* enum work_way */
	WORK_UNREACHABLE = 'u', /* scheme://host */
	WORK_MISSING = 'm',
	WORK_ENDED = 'e', /* errno, reason, text, hint */
};
void work_send(int pipe, enum work_message letter, const char *const texts[4]);

/* Tell the observer that component ID is PERMILLE done (1000: complete), and with a printf-like
 * detail what of it is being worked on; in a task, tell who started it. */
void work_tell(struct work *work, enum component_id id, unsigned permille, const char *fmt, ...)
	printf_like(4, 5);

/* Tell the observer what is being worked on once all components are there. */
void work_tell_all(struct work *work, const char *fmt, ...) printf_like(2, 3);

/* A sentence for the user. */
void work_note(struct work *work, const char *text);

/* Component ID goes WAY: if it is the first one that does, say how long that takes, and how much
 * disk.  -ECANCELED if that is long and the observer does not confirm it. */
int work_goes(struct work *work, enum component_id id, enum work_way way, struct error *err);

/* Don't try the host ORIGIN again. */
void work_avoid(struct work *work, const char *origin);

/* Component ID could not be had, and clusters can do without. */
void work_lacks(struct work *work, enum component_id id);

/* How many bytes of disk it takes, in all, to make the payload if component ID, and what is like
 * it, goes WAY; and -ENOSPC if there are less. */
uint64_t work_needs(const struct work *work, enum component_id id, enum work_way way);
int work_check_space(struct work *work, enum component_id id, enum work_way way, struct error *err);

/* The path of the thing that FMT names below the directory, for the caller to free. */
char *work_path(const struct work *work, const char *fmt, ...) printf_like(2, 3) must_check;

void work_release(struct work *work);

/*
 * Take component ID, programs and images, from another complete payload of the cache that has the
 * same version of it.  How that one got it ("download", "source"), or NULL if there is none, or
 * none that was got in a way that is allowed.
 */
const char *work_reuse(struct work *work, enum component_id id);

/*
 * Put the programs of component ID into work/get/COMPONENT/, from the release.
 * -ENOENT if it can't be had that way (there is none, no such file, host not reached);
 * -EBADMSG if a checksum is wrong.
 */
int work_download(struct work *work, enum component_id id, struct error *err);

/* The same by building from source, not as root; -ENOENT if there is no usable Go, -EBADMSG if a
 * module is not the one that is pinned. */
int work_build(struct work *work, enum component_id id, struct error *err);

/* Take component ID from another payload in the cache: 1 if there is one that has it, else 0. */
int work_take(struct work *work, enum component_id id, struct error *err);

/* Get component ID, unless it is there: download or build it. */
int work_get(struct work *work, enum component_id id, struct error *err);

/* Get all of them, several at once. */
int work_get_all(struct work *work, struct error *err);

/* How component ID was got, if it was: "source" or "download", to be freed; else NULL. */
char *work_origin(const struct work *work, enum component_id id) must_check;

/* Write the OCI archives of all images that are not there yet. */
int work_make_images(struct work *work, struct error *err);

/* The images' names and their archives below images/, each with an equal index; none of what is
 * missing. */
void work_list_images(const struct work *work, struct strlist *ret_names,
		      struct strlist *ret_archives);

/* The archives of the images that component ID makes up. */
void work_list_archives(const struct work *work, enum component_id id,
			struct strlist *ret_archives);

/* The id of the image in ARCHIVE (sha256:…) for the caller to free; NULL if it is not written yet.
 */
char *work_image_id(const struct work *work, const char *archive) must_check;

/* What of the host, and of our own programs, images can't be made without; checked before long
 * work. */
int work_check_host(struct error *err);

/* Import all images into a fresh containerd root, store/. */
int work_make_store(struct work *work, struct error *err);
