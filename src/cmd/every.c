/* Apply an operation to several clusters. */

#include "cmd/every.h"

#include "base/advice.h"
#include "base/cleanup.h"
#include "base/log.h"

int every_cluster(const struct strlist *names, const char *done,
		  int (*work)(const char *name, bool quiet, struct error *err), bool quiet,
		  struct error *err)
{
	cleanup_with(strlist_release) struct strlist failed = STRLIST_INIT;
	const struct reason *reason = NULL;
	cleanup_free char *shown = NULL;
	const char *name;
	int first = 0;

	strlist_for_each(name, names) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		int r;

		advice_use_profile(name);
		r = work(name, quiet, &why);
		if (r == 0)
			continue;
		log_warning("cluster '%s' was not %s: %s", name, done, why.text);
		strlist_add(&failed, name);
		first = first < 0 ? first : r;
		reason = reason ? reason : why.reason;
	}
	advice_use_profile(NULL);
	if (failed.count == 0)
		return 0;
	shown = strlist_join(&failed, ", ");
	error_set(err, first, "%zu of %zu clusters could not be %s: %s", failed.count, names->count,
		  done, shown);
	return reason ? error_reason(err, first, reason) : first;
}
