/* `version`: print the version, and the supported Kubernetes versions. */

#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/command.h"
#include "payload/payload.h"

static struct {
	const char *output;
	bool brief;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "output format"),
	OPT_FLAG(0, "short", &arg.brief, "print only the version number"),
	OPT_END,
};

/* Whether VERSION is in the cache, so that clusters of it need no network. */
static bool is_cached(const char *version)
{
	cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;

	return payload_open(version, &payload, NULL) == 0;
}

static void print_json(void)
{
	json_t *versions = json_array();
	json_t *cached = json_array();
	json_auto_t *all = json_pack("{s:s, s:o, s:o}", "manykubeVersion", "v" MANYKUBE_VERSION,
				     "kubernetesVersions", versions, "cachedVersions", cached);

	for (const char *const *version = payload_versions(); *version; version++) {
		(void)json_array_append_new(versions, json_string(*version));
		if (is_cached(*version))
			(void)json_array_append_new(cached, json_string(*version));
	}
	(void)json_dumpf(all, stdout, JSON_COMPACT);
	printf("\n");
}

static void print_text(void)
{
	printf("manykube version: v%s\nKubernetes versions:", MANYKUBE_VERSION);
	for (const char *const *version = payload_versions(); *version; version++)
		printf(" %s%s", *version, is_cached(*version) ? " (in the cache)" : "");
	printf("\n");
}

static int run(arg_unused struct command_context *ctx, arg_unused struct error *err)
{
	if (strcmp(arg.output, "json") == 0)
		print_json();
	else if (arg.brief)
		printf("v%s\n", MANYKUBE_VERSION);
	else
		print_text();
	return 0;
}

const struct command cmd_version = {
	.name = "version",
	.summary = "print the versions of manykube and of the supported Kubernetes releases",
	.examples = "manykube version\n"
		    "manykube version -o json\n",
	.options = options,
	.flags = COMMAND_NO_SETTINGS,
	.run = run,
};
