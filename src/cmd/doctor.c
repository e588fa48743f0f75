/* `doctor`: what this host has of what nodes need, and what it lacks. */

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/text.h"
#include "cmd/command.h"
#include "host/probe.h"
#include "node/cluster-node.h"
#include "payload/payload.h"

static struct {
	const char *output;
} arg = {
	.output = "text",
};

static const struct opt options[] = {
	OPT_CHOICE('o', "output", &arg.output, "text|json", "how to print it"),
	OPT_END,
};

/* What is gathered on the way. */
struct report {
	json_t *checks;               /* for JSON */
	const struct reason *missing; /* of the first thing that is */
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
	printf("%20sfor: %s\n", "", result->purpose);
	if (result->remedy)
		printf("%20sdo:  %s\n", "", result->remedy);
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

/* The versions of Kubernetes that are in the cache. */
static void list_cached(struct strlist *ret)
{
	for (const char *const *version = payload_versions(); *version; version++) {
		cleanup_with(payload_release) struct payload payload = PAYLOAD_INIT;

		if (payload_open(*version, &payload, NULL) == 0)
			strlist_add(ret, *version);
	}
}

/* Whether the Kubernetes that a plain `start` takes is there already. */
static void look_at_cache(struct report *report)
{
	cleanup_with(strlist_release) struct strlist cached = STRLIST_INIT;
	cleanup_free char *all = NULL;
	cleanup_free char *text = NULL;
	const char *usual = payload_versions()[0];
	struct probe_result result = { .name = "cache", .purpose = "what nodes run" };

	list_cached(&cached);
	all = strlist_join(&cached, ", ");
	if (strlist_has(&cached, usual)) {
		text = xasprintf("Kubernetes %s %s there", all, cached.count == 1 ? "is" : "are");
	} else {
		text = xasprintf("Kubernetes %s is not there yet; the first start gets it%s%s%s",
				 usual, *all ? " (" : "", all, *all ? " is there)" : "");
		result.state = PROBE_WARNING;
		result.remedy = "manykube start --download-only";
	}
	result.text = text;
	(void)take(&result, report);
}

/* Whether a cluster has nodes of DRIVER, or the next one would. */
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
		return "This host can't run nodes: see the lines with X.";
	if (geteuid() != 0)
		return "Nothing is missing as far as one can see without root.";
	return report->warnings ? "This host can run nodes; see the lines with !."
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
	.summary = "show what this host has of what nodes need, and what to do about the rest",
	.description =
		"Changes nothing. Every line begins with ok, ! (works, but not as well as it could, or "
		"could not be tried out) or X (nodes can't run without it). The exit status is 0 if "
		"a start can work; else that of the first thing missing: 35 a program, 36 the kernel, "
		"38 the directory of clusters, 23 memory, 26 disk.",
	.examples = "manykube doctor\n"
		    "manykube doctor -o json\n",
	.options = options,
	.run = run,
};
