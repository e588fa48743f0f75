/* Whatever a task tells, it is passed on, or refused with words. */

#include "base/cleanup.h"
#include "payload/task.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_with(task_release) struct task task = TASK_INIT;
	cleanup_with(work_release) struct work work = WORK_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	int r;

	work.release = releases;
	r = task_take(&task, &work, data, size, &err);
	if (r > 1 || (r < 0 && !err.text) || work.permille[0] > 1000)
		abort();
	return 0;
}
