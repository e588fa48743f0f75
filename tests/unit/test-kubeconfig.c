#include <sys/stat.h>

#include "base/file.h"
#include "base/strlist.h"
#include "base/user.h"
#include "kubeconfig/kubeconfig.h"
#include "test.h"

static const struct kubeconfig_entry dev = { "dev", "https://127.0.0.1:41234", "CA", "CERT",
					     "KEY" };

#define CLUSTER                                  \
	"- cluster:\n"                           \
	"    certificate-authority-data: Q0E=\n" \
	"    server: https://127.0.0.1:41234\n"  \
	"  name: dev\n"
#define CONTEXT              \
	"- context:\n"       \
	"    cluster: dev\n" \
	"    user: dev\n"    \
	"  name: dev\n"
#define USER                                      \
	"- name: dev\n"                           \
	"  user:\n"                               \
	"    client-certificate-data: Q0VSVA==\n" \
	"    client-key-data: S0VZ\n"

/* A file as kubectl writes it, with somebody's notes. */
#define OTHERS(clusters, contexts, current, users)                        \
	"# mine\n"                                                        \
	"apiVersion: v1\n"                                                \
	"clusters:\n"                                                     \
	"- cluster:\n"                                                    \
	"    server: https://one\n"                                       \
	"  name: one\n" clusters "# about the contexts\n"                 \
	"contexts:\n"                                                     \
	"- context:\n"                                                    \
	"    cluster: one\n"                                              \
	"    namespace: x\n"                                              \
	"  name: one # first\n" contexts "current-context: " current "\n" \
	"kind: Config\n"                                                  \
	"preferences: {}\n"                                               \
	"users:\n"                                                        \
	"- name: one\n"                                                   \
	"  user:\n"                                                       \
	"    token: secret\n" users

/* What was given out, so that statements can use it in place. */
static struct strlist given;

static const char *give(struct strbuf *text)
{
	strlist_add(&given, text->text);
	return given.items[given.count - 1];
}

static const char *merge(const char *text)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	ASSERT_OK(kubeconfig_merge_text(text, strlen(text), &dev, &out, &err));
	return give(&out);
}

static const char *without(const char *text, const char *name)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	ASSERT_OK(kubeconfig_remove_text(text, strlen(text), name, &out, &err));
	return give(&out);
}

TEST(an_empty_file_becomes_a_kubeconfig)
{
	static const char whole[] = "apiVersion: v1\nkind: Config\npreferences: {}\n"
				    "clusters:\n" CLUSTER "contexts:\n" CONTEXT "users:\n" USER
				    "current-context: dev\n";

	ASSERT_STR(merge(""), whole);
	ASSERT(strstr(merge("# only a comment"), "# only a comment\napiVersion: v1\n"));
	ASSERT(strstr(merge("---\n"), "---\napiVersion: v1\n"));
	ASSERT(strstr(merge("null\n"), "\napiVersion: v1\n"));
	ASSERT_STR(merge(whole), whole);
}

TEST(other_entries_and_comments_stay)
{
	static const char before[] = OTHERS("", "", "one", "");
	static const char merged[] = OTHERS(CLUSTER, CONTEXT, "dev", USER);

	ASSERT_STR(merge(before), merged);
	ASSERT_STR(merge(merged), merged);
	ASSERT_STR(without(merged, "dev"), OTHERS("", "", "\"\"", ""));
	ASSERT_STR(without(before, "dev"), before);
}

TEST(an_old_entry_is_replaced_where_it_stands)
{
	static const char before[] = "clusters:\n"
				     "- name: dev\n"
				     "  cluster:\n"
				     "    server: https://old\n"
				     "    extra: |\n"
				     "      text\n"
				     "\n"
				     "# the next one\n"
				     "- name: two\n"
				     "users: []\n"
				     "contexts: null # none yet\n"
				     "current-context:\n";

	ASSERT_STR(merge(before),
		   "clusters:\n" CLUSTER "\n"
		   "# the next one\n"
		   "- name: two\n"
		   "users: \n" USER "contexts:  # none yet\n" CONTEXT "current-context: dev\n");
}

TEST(indented_lists_keep_their_indentation)
{
	const char *text = merge("clusters:\n"
				 "  -\n"
				 "    # here\n"
				 "    name: dev\n"
				 "  - name: two\n"
				 "contexts:\n"
				 "    - name: two\n"
				 "users:");

	ASSERT_STR(text, "clusters:\n"
			 "  - cluster:\n"
			 "      certificate-authority-data: Q0E=\n"
			 "      server: https://127.0.0.1:41234\n"
			 "    name: dev\n"
			 "  - name: two\n"
			 "contexts:\n"
			 "    - name: two\n"
			 "    - context:\n"
			 "        cluster: dev\n"
			 "        user: dev\n"
			 "      name: dev\n"
			 "users:\n" USER "current-context: dev");
	ASSERT_STR(without(text, "dev"), "clusters:\n"
					 "  - name: two\n"
					 "contexts:\n"
					 "    - name: two\n"
					 "users:\n"
					 "current-context: \"\"");
}

TEST(json_stays_json)
{
	const char *text = merge(
		"{\"clusters\": [{\"name\": \"one\"}], \"users\": [], \"contexts\": null}\n");

	ASSERT_STR(text, "{\"clusters\": [{\"name\": \"one\"}, {\"cluster\": {"
			 "\"certificate-authority-data\": \"Q0E=\", "
			 "\"server\": \"https://127.0.0.1:41234\"}, \"name\": \"dev\"}], "
			 "\"users\": [{\"name\": \"dev\", \"user\": {\"client-certificate-data\": "
			 "\"Q0VSVA==\", \"client-key-data\": \"S0VZ\"}}], "
			 "\"contexts\":  [{\"context\": {\"cluster\": \"dev\", \"user\": \"dev\"}, "
			 "\"name\": \"dev\"}], \"current-context\": \"dev\"}\n");
	ASSERT_STR(merge(text), text);
	ASSERT_STR(without(text, "dev"), "{\"clusters\": [{\"name\": \"one\"}], \"users\": [], "
					 "\"contexts\":  [], \"current-context\": \"\"}\n");
	ASSERT(strstr(merge("{}"), "{\"clusters\": ["));
	ASSERT(strstr(merge("{}\n"), "\"current-context\": \"dev\"}\n"));
}

TEST(flow_lists_in_a_block_file_are_edited_in_place)
{
	ASSERT_STR(without("clusters: [{name: a}, {name: dev}, {name: b}]\n"
			   "contexts: [{name: dev}, {name: b}]\n"
			   "users: [{name: a}, {name: dev},]\n",
			   "dev"),
		   "clusters: [{name: a}, {name: b}]\n"
		   "contexts: [{name: b}]\n"
		   "users: [{name: a}, ]\n");
	ASSERT(strstr(merge("clusters: [{name: a}] # c\n"), "clusters: [{name: a}, {\"cluster\""));
}

TEST(characters_that_are_not_ascii_do_not_shift_anything)
{
	ASSERT_STR(without("\xef\xbb\xbf# größe €\nclusters:\n- name: ü\n- name: dev\n- name: 😀\n",
			   "dev"),
		   "\xef\xbb\xbf# größe €\nclusters:\n- name: ü\n- name: 😀\n");
}

TEST(doubled_entries_become_one)
{
	static const char text[] = "clusters:\n- name: dev\n- name: a\n- name: dev\n- name: dev\n";

	ASSERT(strncmp(merge(text),
		       "clusters:\n" CLUSTER "- name: a\n"
		       "contexts:\n",
		       strlen("clusters:\n" CLUSTER "- name: a\n"
			      "contexts:\n")) == 0);
	ASSERT_STR(without(text, "dev"), "clusters:\n- name: a\n");
	ASSERT_STR(without("clusters: [{name: a}, {name: dev}, {name: dev}]", "dev"),
		   "clusters: [{name: a}, ]");
}

TEST(windows_lines_are_cut_whole)
{
	ASSERT_STR(without("clusters:\r\n- name: dev\r\n- name: a\r\n", "dev"),
		   "clusters:\r\n- name: a\r\n");
}

TEST(names_that_look_like_numbers_are_quoted)
{
	const struct kubeconfig_entry entry = { "123", "https://x", "CA", "CERT", "KEY" };
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	ASSERT_OK(kubeconfig_merge_text("", 0, &entry, &out, &err));
	ASSERT(strstr(out.text, "current-context: \"123\"\n"));
	ASSERT(strstr(out.text, "cluster: \"123\"\n"));
}

TEST(what_is_no_kubeconfig_is_refused_with_its_place)
{
	static const struct {
		const char *text;
		const char *place;
	} cases[] = {
		{ "a: b\n  c: [\n", "2:4: " },
		{ "- a\n", "1:1: this is not a kubeconfig" },
		{ "clusters: 5\n", "1:11: this is not a list" },
		{ "clusters: {a: b}\n", "1:11: this is not a list" },
		{ "clusters: []\nclusters: []\n", "2:11: this list is defined twice" },
		{ "a: b\n---\nc: d\n", "2:1: this is a second document" },
		{ "current-context: [x]\n", "1:18: this is not the name of a context" },
		{ "\xff\xfe", "1:1: this is not UTF-8" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		ASSERT_INT(kubeconfig_merge_text(cases[i].text, strlen(cases[i].text), &dev, &out,
						 &why),
			   -EBADMSG);
		if (strncmp(why.text, cases[i].place, strlen(cases[i].place)) != 0)
			test_fail(__FILE__, __LINE__, "%s", why.text);
		ASSERT_INT(out.len, 0);
	}
}

TEST(an_anchor_that_others_need_is_not_removed)
{
	static const char text[] =
		"clusters:\n- &x\n  name: dev\ncontexts:\n- name: a\n  other: *x\n";
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	ASSERT_INT(kubeconfig_remove_text(text, strlen(text), "dev", &out, NULL), -EBADMSG);
}

TEST(the_file_is_made_with_its_dir_for_its_owner_only)
{
	cleanup_free char *path = xasprintf("%s/.kube/config", test_dir());
	cleanup_free char *current = NULL;
	struct stat st;

	ASSERT_INT(kubeconfig_points_at(path, "dev", dev.server), KUBECONFIG_NONEXISTENT);
	ASSERT_OK(kubeconfig_remove(path, "dev", &err));
	ASSERT(!file_exists(path));
	ASSERT_OK(kubeconfig_merge(path, &dev, &err));
	ASSERT_INT(stat(path, &st), 0);
	ASSERT_INT(st.st_mode & 0777, 0600);
	ASSERT_INT(kubeconfig_points_at(path, "dev", dev.server), KUBECONFIG_CONFIGURED);
	ASSERT_INT(kubeconfig_points_at(path, "dev", "https://other"), KUBECONFIG_MISCONFIGURED);
	ASSERT_INT(kubeconfig_points_at(path, "two", dev.server), KUBECONFIG_NONEXISTENT);
	current = kubeconfig_current(path);
	ASSERT_STR(current, "dev");
	ASSERT_OK(kubeconfig_remove(path, "dev", &err));
	ASSERT(!kubeconfig_current(path));
}

TEST(a_damaged_file_is_not_called_missing)
{
	cleanup_free char *path = xasprintf("%s/config", test_dir());

	ASSERT_OK(file_put(path, "{clusters: [", 12, 0600, &err));
	ASSERT_INT(kubeconfig_points_at(path, "dev", dev.server), KUBECONFIG_MISCONFIGURED);
}

TEST(a_link_stays_a_link)
{
	cleanup_free char *path = xasprintf("%s/config", test_dir());
	cleanup_free char *target = xasprintf("%s/target", test_dir());
	const struct kubeconfig_entry two = { "two", dev.server, "CA", "CERT", "KEY" };
	struct stat st;

	ASSERT_INT(symlink("target", path), 0);
	ASSERT_OK(kubeconfig_merge(path, &dev, &err));
	ASSERT_OK(kubeconfig_merge(path, &two, &err));
	ASSERT_INT(lstat(path, &st), 0);
	ASSERT(S_ISLNK(st.st_mode));
	ASSERT_INT(kubeconfig_points_at(target, "dev", dev.server), KUBECONFIG_CONFIGURED);
	ASSERT_INT(kubeconfig_points_at(target, "two", dev.server), KUBECONFIG_CONFIGURED);
}

TEST(a_file_that_cannot_be_read_is_left_alone)
{
	cleanup_free char *path = xasprintf("%s/config", test_dir());
	cleanup_free char *begin = xasprintf("%s:1:1: ", path);
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_OK(file_put(path, "@", 1, 0644, &err));
	ASSERT_INT(kubeconfig_merge(path, &dev, &why), -EBADMSG);
	ASSERT(strncmp(why.text, begin, strlen(begin)) == 0);
	ASSERT(why.reason == &reason_host_config);
	ASSERT_OK(file_read(path, 10, &text, &err));
	ASSERT_STR(text.text, "@");
}

TEST(a_file_that_cannot_be_changed_is_found_beforehand)
{
	cleanup_free char *path = xasprintf("%s/config", test_dir());
	cleanup_free char *pipe = xasprintf("%s/pipe", test_dir());
	cleanup_free char *missing = xasprintf("%s/a/b/config", test_dir());
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct stat st;

	ASSERT_INT(mkfifo(pipe, 0600), 0);
	ASSERT_INT(kubeconfig_check(pipe, &why), -EINVAL);
	ASSERT(strstr(why.text, "kubeconfig") && strstr(why.hint, "KUBECONFIG"));
	ASSERT(why.reason == &reason_host_config);
	ASSERT_INT(kubeconfig_merge(pipe, &dev, NULL), -EINVAL);
	ASSERT(stat(pipe, &st) == 0 && S_ISFIFO(st.st_mode));
	ASSERT_INT(kubeconfig_check(test_dir(), NULL), -EISDIR);
	ASSERT_OK(kubeconfig_check(missing, &err));
	ASSERT(!file_exists(missing));
	ASSERT_OK(file_put(path, "@", 1, 0644, &err));
	ASSERT_INT(kubeconfig_check(path, NULL), -EBADMSG);
	ASSERT_OK(file_put(path, "", 0, 0644, &err));
	ASSERT_OK(kubeconfig_check(path, &err));
}

TEST(the_environment_names_the_file)
{
	cleanup_free char *path = NULL;

	ASSERT_INT(setenv("KUBECONFIG", ":/a/b:/c", 1), 0);
	ASSERT_OK(kubeconfig_path(&path, &err));
	ASSERT_STR(path, "/a/b");
}

static const struct kubeconfig_entry named = { "dev",
					       "https://127.0.0.1:41234",
					       "/h/ca.crt",
					       "/h/my certs/client.crt",
					       "/h/a\"b\\c.key",
					       KUBECONFIG_BY_PATH };

static const char *merge_entry(const char *text, const struct kubeconfig_entry *entry)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	ASSERT_OK(kubeconfig_merge_text(text, strlen(text), entry, &out, &err));
	return give(&out);
}

TEST(certificates_can_be_named_instead_of_embedded)
{
	const char *text = merge_entry("", &named);

	ASSERT(strstr(text, "    certificate-authority: /h/ca.crt\n"));
	ASSERT(strstr(text, "    client-certificate: \"/h/my certs/client.crt\"\n"));
	ASSERT(strstr(text, "    client-key: \"/h/a\\\"b\\\\c.key\"\n"));
	ASSERT(!strstr(text, "-data"));
	ASSERT_STR(merge_entry(text, &named), text);
	/* And back again. */
	ASSERT_STR(merge_entry(text, &dev), merge(""));
}

TEST(certificates_are_named_in_json_too)
{
	const char *text = merge_entry("{}", &named);

	ASSERT(strstr(text, "{\"certificate-authority\": \"/h/ca.crt\", \"server\""));
	ASSERT(strstr(text, "\"client-key\": \"/h/a\\\"b\\\\c.key\"}"));
	ASSERT_STR(merge_entry(text, &named), text);
}

TEST(the_current_context_can_be_kept)
{
	struct kubeconfig_entry keep = dev;

	keep.flags = KUBECONFIG_KEEP_CURRENT;
	ASSERT_STR(merge_entry(OTHERS("", "", "one", ""), &keep),
		   OTHERS(CLUSTER, CONTEXT, "one", USER));
	ASSERT(strstr(merge_entry("", &keep), "current-context: \"\"\n"));
	ASSERT(!strstr(merge_entry("apiVersion: v1\n", &keep), "current-context"));
	ASSERT(!strstr(merge_entry("{}", &keep), "current-context"));
}

TEST(the_persons_namespace_stays)
{
	static const char text[] = "clusters:\n" CLUSTER "contexts:\n"
				   "- context:\n"
				   "    cluster: dev\n"
				   "    namespace: mine\n"
				   "    user: dev\n"
				   "  name: dev\n"
				   "current-context: dev\n"
				   "users:\n" USER;

	ASSERT_STR(merge(text), text);
}

TEST(a_context_that_leads_elsewhere_is_mended)
{
	static const char text[] = "contexts:\n"
				   "- context:\n"
				   "    cluster: other\n"
				   "    user: dev\n"
				   "  name: dev\n";

	ASSERT(strstr(merge(text), "contexts:\n" CONTEXT));
}

TEST(a_merge_says_whether_it_changed_something)
{
	cleanup_free char *path = xasprintf("%s/config", test_dir());

	ASSERT_INT(kubeconfig_merge(path, &dev, NULL), 1);
	ASSERT_INT(kubeconfig_merge(path, &dev, NULL), 0);
	ASSERT_INT(kubeconfig_merge(path, &named, NULL), 1);
}

TEST(with_the_rights_of_a_user_the_file_is_theirs)
{
	cleanup_with(user_leave) struct user_rights rights = USER_RIGHTS_INIT;
	cleanup_free char *path = xasprintf("%s/.kube/config", test_dir());
	struct stat st;

	if (geteuid() != 0)
		test_skip("needs root");
	ASSERT_INT(setenv("SUDO_UID", "12345", 1), 0);
	ASSERT_INT(setenv("SUDO_GID", "12346", 1), 0);
	ASSERT_INT(chown(test_dir(), 12345, 12346), 0);
	ASSERT_OK(user_enter(&rights, &err));
	for (int i = 0; i < 2; i++) {
		ASSERT_INT(kubeconfig_merge(path, i ? &named : &dev, NULL), 1);
		ASSERT_INT(stat(path, &st), 0);
		ASSERT_INT(st.st_uid, 12345);
		ASSERT_INT(st.st_gid, 12346);
		ASSERT_INT(st.st_mode & 0777, 0600);
	}
}
