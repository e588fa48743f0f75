/*
 * The state of making a payload: its directory, progress and messages.
 *
 * The directory is CACHE/VERSION.part.  Completed parts stay there, so that the next attempt
 * continues with them:
 *
 *	bin/ cni/ images/ store/   as in the payload
 *	work/programs/             programs for images
 *	work/done/COMPONENT        "VERSION download" or "VERSION source": it is complete
 *	work/recipe                the versions of all components
 *	work/images/ARCHIVE        the image's id: its archive is complete
 *	work/store-images          the ids of the images in store/
 *	work/download/             incomplete (….partial) and verified files
 *	work/get/                  programs before they are moved to their places
 *	work/build/                root's; go/ in it, with caches and results, is the builder's
 *	work/build-….log           the output of go
 *	work/containerd.log        the output of containerd and ctr
 */
#pragma once

#include "base/error.h"
#include "base/observer.h"
#include "base/strlist.h"
#include "image/oci.h"
#include "payload/component.h"
#include "payload/payload.h"

/* Increased when the layout changes incompatibly; older payloads are then made again. */
#define PAYLOAD_FORMAT 4

/* How components are got. */
enum work_way {
	WAY_DOWNLOAD,
	WAY_BUILD,
	WAY_COUNT,
};

struct work {
	const struct release *release;
	const char *title; /* "Kubernetes", in messages */
	int begin;         /* the ids of the components to get: from `begin`, */
	int end;           /* up to, but without, `end` */
	struct payload_source source;
	struct observer *observer;
	const char *arch;
	char *dir;                        /* CACHE/VERSION.part */
	char *step;                       /* the name of the observer's step */
	int report;                       /* in a task: the socket to its parent, else -1 */
	bool announced[WAY_COUNT];        /* the user was told about this way */
	bool confirmed;                   /* the user agreed to a long build */
	unsigned permille[COMPONENT_END]; /* the progress of each; 1000: complete */
	char *doing[COMPONENT_END];       /* the current activity; NULL: none */
	unsigned images_done;             /* written images and imported images */
	unsigned images_total;
	struct strlist unreachable;  /* hosts that are not tried again */
	bool missing[COMPONENT_END]; /* an optional component that could not be got */
};

#define WORK_INIT ((struct work){ .report = -1, .title = "Kubernetes", .end = COMPONENT_COUNT })

/* The messages of a task (task.h) and their texts. */
enum work_message {
	WORK_PROGRESS = 'p',    /* permille, detail */
	WORK_NOTE = 'n',        /* text */
	WORK_WAY = 'w',         /* enum work_way */
	WORK_UNREACHABLE = 'u', /* scheme://host */
	WORK_MISSING = 'm',
	WORK_ENDED = 'e', /* errno, reason, text, hint */
};
void work_send(int pipe, enum work_message letter, const char *const texts[4]);

/* Report that component ID is PERMILLE done (1000: complete), with the current activity as
 * formatted text.  In a task, the report goes to its parent, else to the observer. */
void work_tell(struct work *work, enum component_id id, unsigned permille, const char *fmt, ...)
	printf_like(4, 5);

/* Report the current activity when all components are complete. */
void work_tell_all(struct work *work, const char *fmt, ...) printf_like(2, 3);

/* Show a sentence to the user. */
void work_note(struct work *work, const char *text);

/* Announce that component ID is got in this WAY.  For the first such component, the user is told
 * how long it takes and how much disk space it needs.  -ECANCELED if a long build is not confirmed.
 */
int work_goes(struct work *work, enum component_id id, enum work_way way, struct error *err);

/* Do not try the host ORIGIN again. */
void work_avoid(struct work *work, const char *origin);

/* Record that the optional component ID could not be got. */
void work_lacks(struct work *work, enum component_id id);

/* The disk space for making the payload if component ID, and others that follow from that, are got
 * in this WAY; work_check_space() returns -ENOSPC if less is free. */
uint64_t work_needs(const struct work *work, enum component_id id, enum work_way way);
int work_check_space(struct work *work, enum component_id id, enum work_way way, struct error *err);

/* The path of the formatted name in the directory; the caller frees it. */
char *work_path(const struct work *work, const char *fmt, ...) printf_like(2, 3) must_check;

void work_release(struct work *work);

/*
 * Take component ID, programs and images, from another payload in the cache that has the same
 * version of it.  Returns its origin ("download", "source"), or NULL if there is none with an
 * allowed origin.
 */
const char *work_reuse(struct work *work, enum component_id id);

/*
 * Download the programs of component ID to work/get/COMPONENT/.  -ENOENT if that is not possible
 * (no release, no such file, host not reachable); -EBADMSG if a checksum is wrong.
 */
int work_download(struct work *work, enum component_id id, struct error *err);

/* Build the programs of component ID from source, not as root, to work/get/COMPONENT/.  -ENOENT if
 * there is no usable Go, -EBADMSG if the sum of a module is wrong. */
int work_build(struct work *work, enum component_id id, struct error *err);

/* Reuse component ID from another payload in the cache; returns 1 if one has it, else 0. */
int work_take(struct work *work, enum component_id id, struct error *err);

/* Download or build component ID, unless it is complete. */
int work_get(struct work *work, enum component_id id, struct error *err);

/* Get all components, several at once. */
int work_get_all(struct work *work, struct error *err);

/* The origin of component ID, "source" or "download"; NULL if it is not complete.  The caller frees
 * it. */
char *work_origin(const struct work *work, enum component_id id) must_check;

/* Add this host's busybox with all its commands. */
int work_add_busybox(struct oci_image *image, struct error *err);

/* Write the OCI archives of all images that are not complete. */
int work_make_images(struct work *work, struct error *err);

/* List the names of images and, with the same index, their archives in images/, without those of
 * missing components. */
void work_list_images(const struct work *work, struct strlist *ret_names,
		      struct strlist *ret_archives);

/* List the archives of the images made from component ID. */
void work_list_archives(const struct work *work, enum component_id id,
			struct strlist *ret_archives);

/* The id (sha256:…) of the image in ARCHIVE; NULL if it is not complete.  The caller frees it. */
char *work_image_id(const struct work *work, const char *archive) must_check;

/* Check for the programs of the host and of manykube that making images needs.  Done before long
 * work. */
int work_check_host(struct error *err);

/* Import all images into a new containerd root, store/. */
int work_make_store(struct work *work, struct error *err);
