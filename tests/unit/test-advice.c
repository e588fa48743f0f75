#include "base/advice.h"
#include "base/log.h"
#include "cli/say.h"
#include "test.h"

static void assert_completed(const char *text, const char *expected)
{
	cleanup_free char *complete = advice_complete(text);

	ASSERT_STR(complete, expected);
}

TEST(the_cluster_that_commands_work_on_anyway_is_not_named)
{
	assert_completed("'manykube start' brings it up", "'manykube start' brings it up");
	advice_use_profile("dev");
	advice_use_profile(NULL);
	assert_completed("'manykube start'", "'manykube start'");
}

TEST(every_command_on_a_cluster_names_it)
{
	static const char *const texts[][2] = {
		{ "'manykube start' brings it up", "'manykube start -p dev' brings it up" },
		{ "use 'sudo manykube status'", "use 'sudo manykube status -p dev'" },
		{ "run 'manykube stop', then 'manykube start --nodes=3'",
		  "run 'manykube stop -p dev', then 'manykube start -p dev --nodes=3'" },
		{ "'manykube node start node-2' goes on",
		  "'manykube node start -p dev node-2' goes on" },
		{ "'manykube worker list'", "'manykube worker list -p dev'" },
		{ "'manykube node'", "'manykube node -p dev'" },
		{ "'manykube config view' prints it", "'manykube config view -p dev' prints it" },
		/* All behind the first operand is for the program that is run there. */
		{ "'manykube ssh node-2 -- mkdir /a'", "'manykube ssh -p dev node-2 -- mkdir /a'" },
		{ "node 'n' is half deleted: 'manykube node delete n' finishes that",
		  "node 'n' is half deleted: 'manykube node delete -p dev n' finishes that" },
	};

	advice_use_profile("dev");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_completed(texts[i][0], texts[i][1]);
}

TEST(what_works_on_no_cluster_or_names_one_stays_as_it_is)
{
	static const char *const texts[] = {
		"'manykube profile list' shows them",
		"'manykube config explain' has more",
		"'manykube config unset memory'",
		"'manykube version' lists them",
		"'manykube start --download-only --kubernetes-version=v1.36.3'",
		"'manykube start -p other' makes it",
		"'manykube start --profile=other'",
		"see 'manykube cp --help'",
		"use the manykube that made 'it'",
		"'manykube start",
		"''",
		"",
	};

	advice_use_profile("dev");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_completed(texts[i], texts[i]);
}

TEST(a_command_alone_needs_no_quotes)
{
	cleanup_free char *command = NULL;

	advice_use_profile("dev");
	command = advice_command("manykube kubectl -- get nodes");
	ASSERT_STR(command, "manykube kubectl -p dev -- get nodes");
}

static char *warned;

static void keep_warning(const char *text)
{
	warned = xstrdup(text);
}

TEST(hints_and_warnings_name_the_cluster_by_themselves)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	advice_use_profile("dev");
	ASSERT_INT(error_set(&why, -EIO, "it broke"), -EIO);
	ASSERT_INT(error_hint(&why, -EIO, "'manykube %s' brings it up", "start"), -EIO);
	ASSERT_STR(error_advice(&why), "'manykube start -p dev' brings it up");
	log_show_warnings_with(keep_warning);
	log_warning("'manykube upgrade' goes on with it");
	ASSERT_STR(warned, "'manykube upgrade -p dev' goes on with it");
	free(warned);
}

TEST(no_reason_advises_to_destroy_something)
{
	for (const struct reason *const *reason = reasons; *reason; reason++)
		ASSERT(!(*reason)->advice || !strstr((*reason)->advice, "delete"));
}
