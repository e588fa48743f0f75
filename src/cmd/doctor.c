/* `doctor`: check whether this host can run nodes. */

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/text.h"
#include "cmd/command.h"
#include "node/cluster-node.h"
#include "payload/payload.h"
#include "probe/probe.h"

static struct {
	const char *output;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "output format"),
	OPT_END,
};

/* Results collected so far. */
struct report {
	json_t *checks;               /* for JSON */
	const struct reason *missing; /* of the first check that failed */
	unsigned warnings;
	bool colour;
};

static void print_result(const struct report *report, const struct probe_result *result)
{
	static const struct {
		const char *sign;
		const char *colour;
	} looks[] = {
		[PROBE_OK] = { "ok", "\033[32m" },
		[PROBE_WARNING] = { "! ", "\033[1;33m" },
		[PROBE_MISSING] = { "X ", "\033[1;31m" },
	};

	printf("%s%s%s %-15s  %s\n", report->colour ? looks[result->state].colour : "",
	       looks[result->state].sign, report->colour ? "\033[0m" : "", result->name,
	       result->text);
	if (result->state == PROBE_OK)
		return;
	printf("%20swhy: %s\n", "", result->purpose);
	if (result->remedy)
		printf("%20sfix: %s\n", "", result->remedy);
}

static int take(const struct probe_result *result, void *data)
{
	struct report *report = data;

	report->warnings += result->state == PROBE_WARNING;
	if (result->state == PROBE_MISSING && !report->missing)
		report->missing = result->reason;
	if (report->checks)
		(void)json_array_append_new(report->checks,
					    json_pack("{s:s, s:s, s:s, s:s}", "name", result->name,
						      "state", probe_state_word(result->state),
						      "detail", result->text, "remedy",
						      result->remedy ? result->remedy : ""));
	else
		print_result(report, result);
	return 0;
}

/* The Kubernetes versions in the cache. */
static void list_cached(struct strlist *ret)
{
	for (const char *const *version = payload_versions(); *version; version++) {
		cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;

		if (payload_open(*version, &payload, NULL) == 0)
			strlist_add(ret, *version);
	}
}

/* Check that the cache has the Kubernetes version that `start` uses by default. */
static void look_at_cache(struct report *report)
{
	cleanup_with(strlist_release) struct strlist cached = STRLIST_INIT;
	cleanup_free char *all = NULL;
	cleanup_free char *text = NULL;
	const char *usual = payload_versions()[0];
	struct probe_result result = { .name = "cache", .purpose = "software of the nodes" };

	list_cached(&cached);
	all = strlist_join(&cached, ", ");
	if (strlist_has(&cached, usual)) {
		text = xasprintf("has Kubernetes %s", all);
	} else {
		text = xasprintf("Kubernetes %s is not in the cache; the first start fetches "
				 "it%s%s%s",
				 usual, *all ? " (" : "", all, *all ? " is in it)" : "");
		result.state = PROBE_WARNING;
		result.remedy = "manykube start --download-only";
	}
	result.text = text;
	(void)take(&result, report);
}

/* Whether a cluster has nodes of DRIVER, or a new one would. */
static bool is_in_use(const struct node_driver *driver)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const char *name;

	if (driver == node_driver_default())
		return true;
	(void)profile_list(&names, NULL);
	strlist_for_each(name, &names) {
		cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

		if (profile_load(name, &profile, NULL) == 0 &&
		    cluster_uses_driver(&profile, driver))
			return true;
	}
	return false;
}

static const char *conclusion(const struct report *report)
{
	if (report->missing)
		return "This host cannot run nodes: see the lines marked X.";
	if (geteuid() != 0)
		return "No problem found, but some checks need root.";
	return report->warnings ? "This host can run nodes; see the lines marked !."
				: "This host can run nodes.";
}

static int run(arg_unused struct command_context *ctx, arg_unused struct error *err)
{
	json_auto_t *checks = strcmp(arg.output, "json") == 0 ? json_array() : NULL;
	struct report report = { .checks = checks, .colour = text_has_colour(STDOUT_FILENO) };
	const struct node_driver *driver;

	for (size_t i = 0; (driver = node_driver_at(i)); i++)
		if (is_in_use(driver))
			(void)driver->check_host(take, &report);
	look_at_cache(&report);
	if (checks) {
		json_auto_t *all = json_pack("{s:b, s:O}", "ok", !report.missing, "checks", checks);

		(void)json_dumpf(all, stdout, JSON_COMPACT);
		printf("\n");
	} else {
		printf("\n%s\n", conclusion(&report));
	}
	return report.missing ? report.missing->exit_status : 0;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.elsewhere = "check|diagnose|preflight",
	.summary = "check whether this host can run nodes",
	.description =
		"Checks the requirements of nodes, changes nothing, and says how to fix each "
		"problem. Lines are marked ok, ! (works with restrictions, or could not be "
		"checked) or X (nodes cannot run). The exit status is 0 if 'start' can work, "
		"otherwise that of the first failed check: 35 a missing program, 36 the kernel, "
		"38 the state directory, 23 memory, 26 disk.",
	.examples = "manykube doctor\n"
		    "manykube doctor -o json\n",
	.options = options,
	.run = run,
};
