/*
 * One try at making a payload: where it works and whom it tells.
 *
 * The folder is CACHE/VERSION.part.  What is done stays there, so that the next try
 * goes on from it:
 *
 *	bin/ cni/ images/ store/   as in the payload
 *	work/programs/             what goes into images only
 *	work/done/COMPONENT        "VERSION download" or "VERSION source": it is complete
 *	work/recipe                the versions that all this is made of
 *	work/images/ARCHIVE        the image's id: its archive is complete
 *	work/store-images          the ids of the images in store/
 *	work/download/             files on their way (….partial) and verified ones
 *	work/src/, work/get/       modules of ours, programs before they are in place
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

struct work {
	const struct release *release;
	struct payload_source source;
	struct observer *observer;
	const char *arch;
	char *folder; /* CACHE/VERSION.part */
	char *step;   /* what the observer knows all this as */
	unsigned done;
	unsigned total;
	struct strlist unreachable;    /* hosts not to be tried again */
	bool missing[COMPONENT_COUNT]; /* could not be had, and clusters can do without */
};

#define WORK_INIT ((struct work){ NULL })

/* Tell the observer what is being worked on, with a printf-like detail. */
void work_tell(struct work *work, const char *fmt, ...) printf_like(2, 3);

/* The path of the thing that FMT names below the folder, for the caller to free. */
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

/* The same by building from source; -ENOENT if there is no usable Go. */
int work_build(struct work *work, enum component_id id, struct error *err);

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
