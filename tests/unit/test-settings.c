#include "data/settings.h"

#include <sys/stat.h>

#include "base/file.h"
#include "test.h"

static const char *use_fresh_home(void)
{
	static char *home;

	free(home);
	home = xasprintf("%s/home", test_dir());
	ASSERT_INT(setenv("MANYKUBE_HOME", home, 1), 0);
	return home;
}

static void write_file(const char *text)
{
	cleanup_free char *path = NULL;

	ASSERT_OK(settings_path(&path, &err));
	ASSERT_OK(file_make_dirs(getenv("MANYKUBE_HOME"), 0755, &err));
	ASSERT_OK(file_replace(path, text, strlen(text), 0644, &err));
}

static char *read_file(void)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = NULL;

	ASSERT_OK(settings_path(&path, &err));
	ASSERT_OK(file_read(path, 65536, &text, &err));
	return strbuf_take(&text);
}

TEST(a_missing_file_has_no_settings)
{
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;

	use_fresh_home();
	ASSERT_OK(settings_load(&settings, &err));
	ASSERT_INT(settings.count, 0);
	ASSERT(!settings_get(&settings, "profile"));
}

TEST(what_was_saved_is_loaded_in_its_order)
{
	cleanup_with(settings_release) struct settings saved = SETTINGS_INIT;
	cleanup_with(settings_release) struct settings loaded = SETTINGS_INIT;

	use_fresh_home();
	settings_set(&saved, "profile", "dev");
	settings_set(&saved, "memory", "2g");
	settings_set(&saved, "cpus", "4");
	settings_set(&saved, "memory", "4g \"or\" more\n");
	ASSERT_OK(settings_save(&saved, &err));
	ASSERT_OK(settings_load(&loaded, &err));
	ASSERT_INT(loaded.count, 3);
	ASSERT_STR(loaded.items[0].key, "profile");
	ASSERT_STR(loaded.items[1].value, "4g \"or\" more\n");
	ASSERT_STR(settings_get(&loaded, "cpus"), "4");
}

TEST(what_is_unset_is_gone_and_the_rest_stays)
{
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;

	settings_set(&settings, "a", "1");
	settings_set(&settings, "b", "2");
	settings_set(&settings, "c", "3");
	ASSERT(settings_unset(&settings, "a"));
	ASSERT(!settings_unset(&settings, "a"));
	ASSERT_INT(settings.count, 2);
	ASSERT_STR(settings.items[0].key, "b");
	ASSERT_STR(settings_get(&settings, "c"), "3");
	ASSERT(settings_unset(&settings, "c"));
	ASSERT(settings_unset(&settings, "b"));
	ASSERT_INT(settings.count, 0);
}

TEST(numbers_and_flags_count_as_words)
{
	static const char text[] = "{\"cpus\": 2, \"offline\": true, \"nodes\": \"3\"}";
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;

	ASSERT_OK(settings_parse(text, strlen(text), &settings, &err));
	ASSERT_STR(settings_get(&settings, "cpus"), "2");
	ASSERT_STR(settings_get(&settings, "offline"), "true");
	ASSERT_STR(settings_get(&settings, "nodes"), "3");
}

TEST(a_change_keeps_the_other_settings)
{
	cleanup_free char *text = NULL;

	use_fresh_home();
	write_file("{\"memory\": \"4g\", \"profile\": \"dev\"}");
	ASSERT_INT(settings_change("profile", "prod", NULL), 1);
	ASSERT_INT(settings_change("profile", "prod", NULL), 0);
	text = read_file();
	ASSERT_STR(text, "{\n    \"memory\": \"4g\",\n    \"profile\": \"prod\"\n}\n");
	ASSERT_INT(settings_change("profile", NULL, NULL), 1);
	ASSERT_INT(settings_change("profile", NULL, NULL), 0);
	free(text);
	text = read_file();
	ASSERT_STR(text, "{\n    \"memory\": \"4g\"\n}\n");
}

TEST(unsetting_makes_no_file_and_no_home)
{
	const char *home = use_fresh_home();

	ASSERT_INT(settings_change("profile", NULL, NULL), 0);
	ASSERT(!file_exists(home));
}

TEST(a_damaged_file_is_named_and_left_as_it_is)
{
	static const char *const damaged[] = {
		"{\"profile\": \"dev\"",       "", "[\"profile\"]", "{\"a\": {}}", "{\"a\": null}",
		"{\"a\": \"1\", \"a\": \"2\"}"
	};

	for (size_t i = 0; i < ARRAY_SIZE(damaged); i++) {
		cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		cleanup_free char *text = NULL;

		use_fresh_home();
		write_file(damaged[i]);
		ASSERT_INT(settings_load(&settings, &why), -EBADMSG);
		ASSERT(why.reason == &reason_host_config);
		ASSERT(strstr(why.text, "/home/config.json' is damaged: "));
		ASSERT_INT(settings_change("profile", "dev", NULL), -EBADMSG);
		ASSERT_INT(settings_change("profile", NULL, NULL), -EBADMSG);
		text = read_file();
		ASSERT_STR(text, damaged[i]);
	}
}

TEST(the_place_of_the_damage_is_named)
{
	static const char text[] = "{\"profile\": \"dev\",\n\"memory\" 4}";
	cleanup_with(settings_release) struct settings settings = SETTINGS_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_INT(settings_parse(text, strlen(text), &settings, &why), -EBADMSG);
	ASSERT(strstr(why.text, "line 2, column 10: "));
}

/* As sudo would have it, with directories that this user can enter. */
static void become_sudo(void)
{
	if (geteuid() != 0)
		test_skip("needs root");
	use_fresh_home();
	ASSERT_INT(setenv("SUDO_UID", "12345", 1), 0);
	ASSERT_INT(setenv("SUDO_GID", "12346", 1), 0);
	ASSERT_INT(chmod(test_dir(), 0755), 0);
}

TEST(under_sudo_a_link_to_a_file_of_roots_is_replaced_and_not_followed)
{
	cleanup_free char *secret = xasprintf("%s/secret", test_dir());
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = NULL;
	cleanup_free char *fresh = NULL;
	struct stat st;

	become_sudo();
	ASSERT_OK(file_put(secret, "{}", 2, 0600, &err));
	ASSERT_INT(settings_change("profile", "dev", NULL), 1);
	ASSERT_OK(settings_path(&path, &err));
	fresh = xasprintf("%s.new", path);
	/* What would be written on the way, and the file itself. */
	ASSERT_INT(symlink(secret, fresh), 0);
	ASSERT_INT(unlink(path), 0);
	ASSERT_INT(symlink(secret, path), 0);
	(void)settings_change("profile", "other", NULL);
	ASSERT_OK(file_read(secret, 100, &text, &err));
	ASSERT_STR(text.text, "{}");
	ASSERT_INT(stat(secret, &st), 0);
	ASSERT_INT(st.st_uid, 0);
}

TEST(under_sudo_a_link_to_a_directory_of_roots_leads_nowhere)
{
	cleanup_free char *roots = xasprintf("%s/roots", test_dir());
	cleanup_free char *inside = xasprintf("%s/config.json", roots);
	const char *home;

	become_sudo();
	home = getenv("MANYKUBE_HOME");
	ASSERT_OK(file_make_dirs(roots, 0755, &err));
	ASSERT_INT(symlink(roots, home), 0);
	ASSERT_INT(settings_change("profile", "dev", NULL), -EACCES);
	ASSERT(!file_exists(inside));
}

TEST(under_sudo_the_file_belongs_to_the_user)
{
	cleanup_free char *path = NULL;
	struct stat st;

	become_sudo();
	ASSERT_INT(settings_change("profile", "dev", NULL), 1);
	ASSERT_OK(settings_path(&path, &err));
	ASSERT_INT(stat(path, &st), 0);
	ASSERT_INT(st.st_uid, 12345);
	ASSERT_INT(st.st_gid, 12346);
	ASSERT_INT(stat(getenv("MANYKUBE_HOME"), &st), 0);
	ASSERT_INT(st.st_uid, 12345);
}
