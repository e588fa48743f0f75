/* For developers: fill the cache with the payload of a version, by default the newest. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "payload/payload.h"

static int64_t begun;

static void say(const char *what, const char *text)
{
	fprintf(stderr, "%7.1f s  %s%s\n", (double)(clock_now_ms() - begun) / 1000, what, text);
}

static void on_begin(struct observer *observer arg_unused, const char *step,
		     const char *node arg_unused)
{
	say("begin: ", step);
}

static void on_progress(struct observer *observer arg_unused, const char *step arg_unused,
			const char *node arg_unused, const char *detail, uint64_t done,
			uint64_t total)
{
	fprintf(stderr, "%7.1f s  [%llu/%llu] %s\n", (double)(clock_now_ms() - begun) / 1000,
		(unsigned long long)done, (unsigned long long)total, detail);
}

static void on_end(struct observer *observer arg_unused, const char *step,
		   const char *node arg_unused, bool ok)
{
	say(ok ? "done: " : "failed: ", step);
}

static void on_note(struct observer *observer arg_unused, const char *text)
{
	say("note: ", text);
}

int main(int argc, char **argv)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	struct observer observer = { on_begin, on_progress, on_end, on_note };
	struct payload_source source = { .binary_mirror = argc > 2 ? argv[2] : NULL };
	const char *version;

	begun = clock_now_ms();
	if (payload_resolve_version(argc > 1 ? argv[1] : "stable", &version, &err) < 0 ||
	    payload_ensure(version, &source, &observer, &payload, &err) < 0) {
		fprintf(stderr, "payload-get: %s\n", err.text);
		if (err.hint)
			fprintf(stderr, "%s\n", err.hint);
		return EXIT_FAILURE;
	}
	printf("%s\n", payload.dir);
	return EXIT_SUCCESS;
}
