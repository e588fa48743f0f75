/* One try at making a payload: where it works and whom it tells. */

#include "payload/work.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

void work_tell(struct work *work, const char *fmt, ...)
{
	cleanup_free char *detail = NULL;
	va_list ap;

	va_start(ap, fmt);
	detail = xvasprintf(fmt, ap);
	va_end(ap);
	observe_progress(work->observer, work->step, NULL, detail, work->done, work->total);
}

char *work_path(const struct work *work, const char *fmt, ...)
{
	cleanup_free char *name = NULL;
	va_list ap;

	va_start(ap, fmt);
	name = xvasprintf(fmt, ap);
	va_end(ap);
	return xasprintf("%s/%s", work->folder, name);
}

void work_release(struct work *work)
{
	free(work->folder);
	free(work->step);
	strlist_release(&work->unreachable);
	*work = WORK_INIT;
}
