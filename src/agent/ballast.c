/*
 * Using up the node's memory.
 *
 * What counts is what the kubelet counts: the limit of the node's control group less what it uses,
 * without page cache that can be dropped at once.  In a VM, whose group has no limit, it is what
 * the kernel has available.  If the kernel has to kill somebody in the node, it shall be us.
 */

#include "agent/ballast.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "agent/text.h"

/* The agent runs this program while this file is there, see node/agent.conf. */
#define BALLAST_FILE "/etc/manykube/ballast"

#define STEP_BYTES  (UINT64_C(4) << 20)
#define STEPS_MOST  65536
#define SPARE_BYTES (UINT64_C(56) << 20) /* far below what kubelets want then: 512 MiB */
#define LEAST_BYTES (UINT64_C(32) << 20)

/* A limit above this is none. */
#define LIMIT_MOST (UINT64_C(1) << 50)

struct source {
	const char *limit;
	const char *usage;
	const char *stat;
	const char *inactive; /* the line in STAT */
};

static const struct source sources[] = {
	{ "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current",
	  "/sys/fs/cgroup/memory.stat", "inactive_file " },
	{ "/sys/fs/cgroup/memory/memory.limit_in_bytes",
	  "/sys/fs/cgroup/memory/memory.usage_in_bytes", "/sys/fs/cgroup/memory/memory.stat",
	  "total_inactive_file " },
};

static char text[65536];

/* The number at the beginning of the file PATH or, unless KEY is NULL, after KEY at the beginning
 * of a line; 0 if there is none. */
static uint64_t read_value(const char *path, const char *key)
{
	ssize_t len = read_file(path, text, sizeof(text) - 1);
	const char *line = text;

	if (len <= 0)
		return 0;
	while (key && line && strncmp(line, key, strlen(key)) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (!line)
		return 0;
	line += key ? strlen(key) : 0;
	while (*line == ' ')
		line++;
	return number_of(line, UINT64_MAX / 2);
}

/* Whether the node's memory is known; *RET_BYTES is what is left of it. */
static int read_available(uint64_t *ret_bytes)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		uint64_t limit = read_value(sources[i].limit, NULL);
		uint64_t used = read_value(sources[i].usage, NULL);
		uint64_t inactive = read_value(sources[i].stat, sources[i].inactive);

		if (limit == 0 || limit > LIMIT_MOST)
			continue;
		used -= inactive < used ? inactive : used;
		*ret_bytes = used < limit ? limit - used : 0;
		return 0;
	}
	*ret_bytes = read_value("/proc/meminfo", "MemAvailable:") * 1024;
	return *ret_bytes > 0 ? 0 : -1;
}

static void rest(long milliseconds)
{
	const struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	(void)nanosleep(&time, NULL);
}

static void *take_step(void)
{
	char *step = mmap(NULL, STEP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);

	if (step == MAP_FAILED)
		return NULL;
	/* Every page is different, so that none can be shared or compressed away. */
	for (uint64_t at = 0; at < STEP_BYTES; at += 4096)
		*(volatile uint64_t *)(void *)(step + at) = (uint64_t)(uintptr_t)(step + at);
	return step;
}

int ballast_run(void)
{
	static void *steps[STEPS_MOST];
	unsigned count = 0;
	uint64_t available;

	(void)prctl(PR_SET_NAME, "ballast");
	(void)poke_file("/proc/self/oom_score_adj", "1000");
	while (access(BALLAST_FILE, F_OK) == 0) {
		if (read_available(&available) < 0) {
			say("the memory of this node is not known", NULL);
			return EXIT_FAILURE;
		}
		if (available > SPARE_BYTES + STEP_BYTES && count < STEPS_MOST &&
		    (steps[count] = take_step())) {
			count++;
			if (count % 16 == 0)
				rest(20);
			continue;
		}
		if (available < LEAST_BYTES && count > 0)
			(void)munmap(steps[--count], STEP_BYTES);
		else
			rest(500);
	}
	return EXIT_SUCCESS;
}
