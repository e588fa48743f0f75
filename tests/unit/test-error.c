#include "test.h"

TEST(an_error_moves_with_its_reason_and_hint)
{
	struct error from = ERROR_INIT;
	struct error to = ERROR_INIT;

	(void)error_because(&from, &reason_usage, -EINVAL, "wrong");
	(void)error_hint(&from, -EINVAL, "do this");
	(void)error_set(&to, -EIO, "older");
	ASSERT_INT(error_move(&to, -EINVAL, &from), -EINVAL);
	ASSERT_STR(to.text, "wrong");
	ASSERT_STR(to.hint, "do this");
	ASSERT(to.reason == &reason_usage && !from.text && !from.hint);
	ASSERT_INT(error_move(NULL, -EIO, &to), -EIO);
	error_clear(&to);
}

TEST(carries_the_code_and_the_words)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	ASSERT_INT(error_set(&err, -ENOENT, "cluster '%s' does not exist", "dev"), -ENOENT);
	ASSERT_STR(err.text, "cluster 'dev' does not exist");
}

TEST(error_sys_appends_the_system_error)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	errno = EACCES;
	ASSERT_INT(error_sys(&err, "cannot open '%s'", "x"), -EACCES);
	ASSERT_STR(err.text, "cannot open 'x': Permission denied");
	ASSERT_INT(error_prefix(&err, -EACCES, "node '%s'", "node-1"), -EACCES);
	ASSERT_STR(err.text, "node 'node-1': cannot open 'x': Permission denied");
}

TEST(the_first_reason_stays)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	(void)error_because(&err, &reason_usage, -EINVAL, "no");
	(void)error_reason(&err, -EINVAL, &reason_network);
	ASSERT(err.reason == &reason_usage);
}

TEST(err_may_be_null)
{
	ASSERT_INT(error_set(NULL, -EPERM, "no"), -EPERM);
	ASSERT_INT(error_prefix(NULL, -EPERM, "no"), -EPERM);
	ASSERT_INT(error_hint(NULL, -EPERM, "no"), -EPERM);
}

TEST(every_reason_is_listed_once_and_explained)
{
	ASSERT(reasons[0]);
	for (size_t i = 0; reasons[i]; i++) {
		ASSERT(reasons[i]->word && reasons[i]->meaning);
		ASSERT(i == 0 || reasons[i]->exit_status >= reasons[i - 1]->exit_status);
		/* Those of a shell are only for what ssh runs. */
		ASSERT(reasons[i]->exit_status > 7);
		ASSERT(reasons[i]->exit_status < 126 ||
		       strncmp(reasons[i]->word, "GUEST_COMMAND", 13) == 0);
		for (size_t j = 0; j < i; j++)
			ASSERT(strcmp(reasons[j]->word, reasons[i]->word) != 0);
	}
}
