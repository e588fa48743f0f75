#include "balancer/report.h"
#include "test.h"

static struct balancer_config config;

static void with_two(void)
{
	balancer_config_release(&config);
	balancer_config_add_backend(&config, "a", "10.89.0.2:6443");
	balancer_config_add_backend(&config, "b", "10.89.0.3:6443");
}

static int parse(const char *text, json_t **ret)
{
	return report_parse(text, strlen(text), &config, ret, NULL);
}

static const char *detail_of(json_t *backends, size_t i)
{
	return json_string_value(json_object_get(json_array_get(backends, i), "detail"));
}

TEST(what_is_reported_is_read)
{
	cleanup_with(strbuf_release) struct strbuf report = STRBUF_INIT;
	json_auto_t *backends = NULL;
	json_t *first;

	with_two();
	strbuf_add(&report, REPORT_BEGIN);
	report_add(&report, "b", "10.89.0.3:6443", false, 1700000000, "no \x1b[31m\nred\xff");
	report_add(&report, "a", "10.89.0.2:6443", true, 1700000001, "ready");
	ASSERT_INT(parse(report.text, &backends), 0);
	ASSERT_INT(json_array_size(backends), 2);
	first = json_array_get(backends, 0);
	ASSERT_STR(json_string_value(json_object_get(first, "name")), "a");
	ASSERT_STR(json_string_value(json_object_get(first, "address")), "10.89.0.2:6443");
	ASSERT(json_is_true(json_object_get(first, "healthy")));
	ASSERT_INT(json_integer_value(json_object_get(first, "since")), 1700000001);
	ASSERT_STR(detail_of(backends, 0), "ready");
	ASSERT_STR(detail_of(backends, 1), "no ?[31m?red?");
}

TEST(a_long_detail_is_truncated)
{
	cleanup_with(strbuf_release) struct strbuf report = STRBUF_INIT;
	char detail[1000];
	json_auto_t *backends = NULL;

	with_two();
	memset(detail, 'x', sizeof(detail));
	detail[sizeof(detail) - 1] = '\0';
	strbuf_add(&report, REPORT_BEGIN);
	report_add(&report, "a", "10.89.0.2:6443", true, 1, detail);
	ASSERT_INT(parse(report.text, &backends), 0);
	ASSERT_INT(strlen(detail_of(backends, 0)), REPORT_DETAIL_MAX);
	ASSERT_STR(detail_of(backends, 1), "not asked yet");
}

TEST(an_empty_report_is_valid)
{
	json_auto_t *backends = NULL;

	ASSERT_INT(parse(REPORT_BEGIN, &backends), 0);
	ASSERT_INT(json_array_size(backends), 0);
}

TEST(a_report_about_other_backends_is_stale)
{
	json_auto_t *backends = NULL;

	with_two();
	ASSERT_INT(parse("report\nc 10.89.0.2:6443 up 1 x\n", &backends), -ESTALE);
	ASSERT_INT(parse("report\na 10.89.0.9:6443 up 1 x\n", &backends), -ESTALE);
	ASSERT(!backends);
}

TEST(what_is_no_report_is_refused)
{
	static const char *const texts[] = {
		"",
		"\n",
		"report",
		"report\n\n",
		"Report\n",
		"report\na 10.89.0.2:6443 up 1 x",
		"report\na 10.89.0.2:6443 up 1\n",
		"report\na 10.89.0.2:6443 up x x\n",
		"report\na 10.89.0.2:6443 up -1 x\n",
		"report\na 10.89.0.2:6443 up 99999999999999999999 x\n",
		"report\na 10.89.0.2:6443 maybe 1 x\n",
		"report\na  10.89.0.2:6443 up 1 x\n",
		"report\n a 10.89.0.2:6443 up 1 x\n",
		"report\na 10.89.0.2:6443 up 1 \x1b[31m\n",
		"report\na 10.89.0.2:6443 up 1 \xc3\xa4\n",
		"report\na 10.89.0.2:6443 up 1 x\na 10.89.0.2:6443 down 1 x\n",
	};
	static const char with_nul[] = "report\na 10.89.0.2:6443 up 1 x\0\n";
	char *large = xmalloc(REPORT_MAX + 2);
	json_t *backends;

	with_two();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (parse(texts[i], &backends) != -EBADMSG)
			test_fail(__FILE__, __LINE__, "taken: %s", texts[i]);
	ASSERT_INT(report_parse(with_nul, sizeof(with_nul) - 1, &config, &backends, NULL),
		   -EBADMSG);
	memset(large, '\n', REPORT_MAX + 1);
	memcpy(large, REPORT_BEGIN, strlen(REPORT_BEGIN));
	ASSERT_INT(report_parse(large, REPORT_MAX + 1, &config, &backends, NULL), -EBADMSG);
	free(large);
}
