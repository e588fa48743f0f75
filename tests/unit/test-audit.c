#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "look/audit.h"
#include "test.h"

static void use_home(void)
{
	ASSERT_INT(setenv("MANYKUBE_HOME", test_dir(), 1), 0);
}

static void begin(struct audit *audit, const char *command)
{
	audit_init(audit, command, "-n 2", "dev", "ann");
	audit_begin(audit);
}

TEST(joins_the_end_of_a_command_to_its_beginning)
{
	struct audit first = AUDIT_INIT;
	struct audit second = AUDIT_INIT;
	struct audit_list list = AUDIT_LIST_INIT;

	use_home();
	begin(&first, "start");
	begin(&second, "delete");
	audit_end(&first, 80);
	ASSERT_OK(audit_read(&list, &err));
	ASSERT_INT(list.count, 2);
	ASSERT_STR(list.items[0].command, "start");
	ASSERT_STR(list.items[0].args, "-n 2");
	ASSERT_STR(list.items[0].profile, "dev");
	ASSERT_STR(list.items[0].user, "ann");
	ASSERT_STR(list.items[0].exit_code, "80");
	ASSERT(list.items[0].end_time);
	/* As it is after a command was killed. */
	ASSERT_STR(list.items[1].command, "delete");
	ASSERT(!list.items[1].end_time && !list.items[1].exit_code);
	audit_list_release(&list);
	audit_release(&first);
	audit_release(&second);
}

TEST(only_the_person_may_read_it)
{
	cleanup_with(audit_release) struct audit audit = AUDIT_INIT;
	cleanup_free char *path = NULL;
	struct stat st;

	use_home();
	begin(&audit, "start");
	ASSERT_OK(audit_path(&path, &err));
	ASSERT_INT(stat(path, &st), 0);
	ASSERT_INT(st.st_mode & 0777, 0600);
}

TEST(makes_no_state_dir)
{
	cleanup_with(audit_release) struct audit audit = AUDIT_INIT;
	cleanup_with(audit_list_release) struct audit_list list = AUDIT_LIST_INIT;
	cleanup_free char *home = xasprintf("%s/none", test_dir());

	ASSERT_INT(setenv("MANYKUBE_HOME", home, 1), 0);
	begin(&audit, "start");
	ASSERT(!file_exists(home));
	ASSERT_OK(audit_read(&list, &err));
	ASSERT_INT(list.count, 0);

	/* Made by the command itself: then its beginning is written together with its end. */
	ASSERT_OK(file_make_dirs(home, 0755, &err));
	audit_end(&audit, 0);
	ASSERT_OK(audit_read(&list, &err));
	ASSERT_INT(list.count, 1);
	ASSERT_STR(list.items[0].exit_code, "0");
}

TEST(leaves_damaged_lines_out)
{
	static const char text[] =
		"{\"data\":{\"id\":\"1\",\"command\":\"start\"}}\n"
		"{\"data\":{\"id\":\"2\",\"comm\n"
		"\n[]\n{}\n"
		"{\"data\":{\"id\":\"1\",\"command\":\"start\",\"exitCode\":\"0\"}}\n"
		"{\"data\":{\"id\":3,\"command\":\"start\"}}\n"
		"{\"data\":{\"id\":\"4\",\"command\":\"ssh\"}}";
	cleanup_with(audit_list_release) struct audit_list list = AUDIT_LIST_INIT;

	audit_parse(text, strlen(text), &list);
	ASSERT_INT(list.count, 2);
	ASSERT_STR(list.items[0].exit_code, "0");
	ASSERT_STR(list.items[1].command, "ssh");
}

TEST(keeps_the_last_thousand)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(audit_release) struct audit last = AUDIT_INIT;
	cleanup_with(audit_list_release) struct audit_list list = AUDIT_LIST_INIT;
	cleanup_free char *path = NULL;

	use_home();
	begin(&last, "first");
	ASSERT_OK(audit_path(&path, &err));
	for (unsigned i = 0; i < 4000; i++) {
		cleanup_with(audit_release) struct audit audit = AUDIT_INIT;
		cleanup_free char *line = NULL;

		audit_init(&audit, "start", "", "a-cluster-with-a-rather-long-name", "somebody");
		line = audit_print(&audit);
		strbuf_add(&text, line);
	}
	ASSERT(text.len > 1 << 20);
	ASSERT_OK(file_put(path, text.text, text.len, 0600, &err));
	audit_release(&last);
	begin(&last, "last");
	audit_end(&last, 7);
	ASSERT_OK(audit_read(&list, &err));
	ASSERT_INT(list.count, 1000);
	ASSERT_STR(list.items[999].command, "last");
	ASSERT_STR(list.items[999].exit_code, "7");
}

TEST(commands_at_once_do_not_lose_lines)
{
	cleanup_with(audit_list_release) struct audit_list list = AUDIT_LIST_INIT;
	int status;

	use_home();
	for (unsigned i = 0; i < 8; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			for (unsigned n = 0; n < 20; n++) {
				cleanup_with(audit_release) struct audit audit = AUDIT_INIT;

				begin(&audit, "start");
				audit_end(&audit, 0);
			}
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		ASSERT_INT(status, 0);
	ASSERT_OK(audit_read(&list, &err));
	ASSERT_INT(list.count, 160);
	for (size_t i = 0; i < list.count; i++)
		ASSERT_STR(list.items[i].exit_code, "0");
}

TEST(arguments_may_be_any_bytes)
{
	cleanup_with(audit_release) struct audit audit = AUDIT_INIT;
	cleanup_with(audit_list_release) struct audit_list list = AUDIT_LIST_INIT;

	use_home();
	audit_init(&audit, "start", "\xff\xfe \"x\"\n", "dev", NULL);
	audit_begin(&audit);
	ASSERT_OK(audit_read(&list, &err));
	ASSERT_INT(list.count, 1);
	ASSERT_STR(list.items[0].args, "?");
	ASSERT(*list.items[0].user);
}
