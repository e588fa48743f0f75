#include <fcntl.h>
#include <sys/stat.h>

#include "base/below.h"
#include "base/file.h"
#include "base/process.h"
#include "fake-files.h"
#include "fake-world.h"
#include "look/bundle.h"
#include "look/logs.h"
#include "test.h"

static struct strbuf out = STRBUF_INIT;

static const char *redacted(const char *text)
{
	strbuf_reset(&out);
	bundle_redact(text, strlen(text), &out);
	return out.text;
}

TEST(takes_private_keys_out)
{
	ASSERT_STR(
		redacted("a\n-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY-----\nb"),
		"a\nREDACTED\nb");
	ASSERT_STR(redacted("x -----BEGIN PRIVATE KEY-----\\nMHc\\n-----END PRIVATE KEY-----\\n\""),
		   "x REDACTED\\n\"");
	/* Cut off before its end: nothing of it may stay. */
	ASSERT_STR(redacted("-----BEGIN RSA PRIVATE KEY-----\nMHcCAQ\nEE"), "REDACTED");
	ASSERT_STR(redacted("-----BEGIN RSA PRIVATE KEY"), "REDACTED");
	ASSERT_STR(redacted("d: LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0tCk1IY0M= e"),
		   "d: REDACTED e");
}

TEST(leaves_certificates_in)
{
	static const char *const texts[] = {
		"-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n",
		"client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSQ==\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		ASSERT_STR(redacted(texts[i]), texts[i]);
}

TEST(takes_tokens_out)
{
	ASSERT_STR(redacted("- token: abcdef.0123456789abcdef\n"), "- token: REDACTED\n");
	ASSERT_STR(redacted("seen abcdef.0123456789abcdef."), "seen REDACTED.");
	ASSERT_STR(redacted("kubeadm join --token=whatever --v=1"),
		   "kubeadm join --token=REDACTED --v=1");
	ASSERT_STR(redacted("{\"token\": \"s3\", \"a\":1}"), "{\"token\": \"REDACTED\", \"a\":1}");
	ASSERT_STR(redacted("{\\\"Token\\\":\\\"s3\\\"}"), "{\\\"Token\\\":\\\"REDACTED\\\"}");
	ASSERT_STR(redacted("Authorization: Bearer s3cret\n"), "Authorization: Bearer REDACTED\n");
	ASSERT_STR(redacted("got eyJhbGciOi.eyJpc3Mi.c2ln-_x, ok"), "got REDACTED, ok");
	ASSERT_STR(redacted("    client-key-data: TUhj\n"), "    client-key-data: REDACTED\n");
	ASSERT_STR(redacted("password: 'x y'"), "password: 'REDACTED'");
	ASSERT_STR(redacted("join --certificate-key 0a1b --v 1"),
		   "join --certificate-key REDACTED --v 1");
	ASSERT_STR(redacted("login --password s3 -u me"), "login --password REDACTED -u me");
	ASSERT_STR(redacted("AWS_SECRET_ACCESS_KEY=s3 A=b"), "AWS_SECRET_ACCESS_KEY=REDACTED A=b");
	ASSERT_STR(redacted("DB_PASSWORD: s3"), "DB_PASSWORD: REDACTED");
	ASSERT_STR(redacted("/x?api_key=s3&b=c d"), "/x?api_key=REDACTED d");
	ASSERT_STR(redacted("Set-Cookie: a=b; Path=/\nnext"), "Set-Cookie: REDACTED\nnext");
	ASSERT_STR(redacted("authorization=bearer%20s3 ok"), "authorization=bearer%20REDACTED ok");
	ASSERT_STR(redacted("authorization: basic bWU6cw== ok"),
		   "authorization: basic REDACTED ok");
}

TEST(takes_passwords_out_of_addresses)
{
	ASSERT_STR(redacted("proxy http://me:pa%20ss@host:3128/x?y"),
		   "proxy http://REDACTED@host:3128/x?y");
	ASSERT_STR(redacted("https://host:3128/a@b ssh://git@host"),
		   "https://host:3128/a@b ssh://git@host");
}

TEST(takes_the_values_of_variables_out)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strlist_release) struct strlist values = STRLIST_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	strlist_add(&profile.env, "LONG=something \"long\"");
	strlist_add(&profile.env, "EMPTY=");
	strlist_add(&profile_add_node(&profile, "node-1")->env, "SHORT=tree");
	bundle_find_values(&profile, &values);
	strbuf_add(&text, "a LONG=something \"long\" b \"LONG=something \\\"long\\\"\" "
			  "SHORT=tree trees EMPTY=");
	bundle_hide(&text, &values);
	ASSERT_STR(text.text, "a LONG=REDACTED b \"LONG=REDACTED\" REDACTED trees EMPTY=");
}

TEST(leaves_all_else_in)
{
	static const char *const texts[] = {
		"",
		"token",
		"token:\n  serviceAccount: x\n",
		"automountServiceAccountToken: true\n",
		"\"secret\":{\"secretName\":\"x\"}",
		"file /etc/kubernetes/pki/sa.key\n",
		"1.2.3.4 node-1.18a7b8c9d0e1f2a3 abcdefg.0123456789abcdef abcdef.0123456789abcdefg",
		"eyJ.",
		"Bearer ",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		ASSERT_STR(redacted(texts[i]), texts[i]);
}

static void put(const char *dir, const char *path, const char *text)
{
	cleanup_free char *full = xasprintf("%s/%s", dir, path);
	cleanup_free char *parent = xstrndup(full, (size_t)(strrchr(full, '/') - full));

	ASSERT_OK(file_make_dirs(parent, 0755, &err));
	ASSERT_OK(file_put(full, text, strlen(text), 0600, &err));
}

static void put_in_node(const char *path, const char *text)
{
	cleanup_free char *full = fake_files_path("node-1", path);

	put("", full, text);
}

static void make_cluster(struct profile *profile)
{
	cleanup_free char *world_dir = xasprintf("%s/world", test_dir());
	struct node *node;

	ASSERT_INT(setenv("MANYKUBE_HOME", test_dir(), 1), 0);
	fake_world_use(world_dir, 0);
	*profile = (struct profile){ .name = xstrdup("dev"),
				     .subnet = xstrdup("192.168.39.0/24"),
				     .gateway = xstrdup("192.168.39.1") };
	ASSERT_OK(profile_dir("dev", &profile->dir, &err));
	node = profile_add_node(profile, "node-1");
	node->control_plane = true;
	node->primary = true;
	node->driver = xstrdup(fake_world_driver);
	node->address = xstrdup("192.168.39.2");
	put(profile->dir, "profile.json", "{}");
	put(profile->dir, "nodes/node-1/agent.log", "began\n");
	put_in_node("/etc/kubernetes/admin.conf", "client-key-data: S3CRET\n");
	put_in_node("/etc/kubernetes/pki/ca.key", "S3CRET\n");
	put_in_node("/var/log/pods/kube-system_etcd-node-1_old/etcd/7.log", "old\n");
	put_in_node("/var/log/pods/kube-system_etcd-node-1_uid/etcd/2.log", "2\n");
	put_in_node("/var/log/pods/kube-system_etcd-node-1_uid/etcd/10.log", "10\n");
	put_in_node("/var/log/pods/kube-system_etcd-node-1_uid/etcd/11.log.gz", "x");
}

TEST(writes_what_there_is_of_a_cluster_that_is_half_made)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/out.tar", test_dir());
	cleanup_free char *link = NULL;
	struct stat st;

	make_cluster(&profile);
	link = fake_files_path("node-1", "/var/log/kubelet.log");
	ASSERT_INT(symlink("/etc/passwd", link), 0);
	ASSERT_OK(bundle_write(&profile, path, &err));
	ASSERT_INT(stat(path, &st), 0);
	ASSERT_INT(st.st_mode & 0777, 0600);
	ASSERT_OK(file_read(path, 16 << 20, &text, &err));
	ASSERT(memmem(text.text, text.len, "manykube-dev/nodes/node-1/agent.log", 35));
	ASSERT(memmem(text.text, text.len, "etcd/10.log", 11));
	ASSERT(memmem(text.text, text.len, "client-key-data: REDACTED", 25));
	ASSERT(!memmem(text.text, text.len, "S3CRET", 6));
	/* A node's root may have made a link to what is not its own. */
	ASSERT(!memmem(text.text, text.len, "root:x:0:0", 10));
	ASSERT(memmem(text.text, text.len, "left-out.txt", 12));
}

TEST(a_bundle_that_fails_leaves_no_file)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *path = xasprintf("%s/out.tar.gz", test_dir());
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *gzip = NULL;
	cleanup_free char *search = NULL;
	const char *name;

	make_cluster(&profile);
	put(test_dir(), "bin/gzip", "#!/bin/sh\ncat >/dev/null\nexit 3\n");
	gzip = xasprintf("%s/bin/gzip", test_dir());
	search = xasprintf("%s/bin:/usr/bin:/bin", test_dir());
	ASSERT_INT(chmod(gzip, 0755), 0);
	ASSERT_INT(setenv("PATH", search, 1), 0);
	ASSERT_INT(bundle_write(&profile, path, &why), -EIO);
	ASSERT_STR(why.text, "gzip failed with status 3");
	ASSERT_OK(below_list(test_dir(), ".", &names, &err));
	strlist_for_each(name, &names)
		ASSERT(strncmp(name, "out", 3) != 0);
}

TEST(a_bundle_takes_the_place_of_nothing_but_an_archive)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *pipe = xasprintf("%s/pipe.tar", test_dir());
	cleanup_free char *text = xasprintf("%s/logs.txt", test_dir());
	cleanup_free char *real = xasprintf("%s/real.tar", test_dir());
	cleanup_free char *link = xasprintf("%s/link.tar", test_dir());
	struct stat st;

	make_cluster(&profile);
	ASSERT_INT(mkfifo(pipe, 0600), 0);
	ASSERT_INT(bundle_write(&profile, pipe, &why), -EINVAL);
	ASSERT(why.reason == &reason_usage);
	ASSERT(stat(pipe, &st) == 0 && S_ISFIFO(st.st_mode));
	ASSERT_INT(bundle_write(&profile, text, NULL), -EINVAL);
	ASSERT(!file_exists(text));
	put(test_dir(), "real.tar", "old");
	ASSERT_INT(symlink("real.tar", link), 0);
	ASSERT_OK(bundle_write(&profile, link, &err));
	ASSERT(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
	ASSERT(stat(real, &st) == 0 && st.st_size > 1000);
	if (geteuid() != 0)
		return;
	/* A link that somebody else made leads to what they chose. */
	put(test_dir(), "real.tar", "old");
	ASSERT_INT(lchown(link, 12346, 12346), 0);
	ASSERT_INT(bundle_write(&profile, link, NULL), -ELOOP);
	ASSERT(stat(real, &st) == 0 && st.st_size == 3);
}

TEST(finds_the_log_of_a_static_pods_last_run)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(log_list_release) struct log_list list = LOG_LIST_INIT;
	cleanup_free char *old = NULL;
	const char *found = NULL;

	make_cluster(&profile);
	old = fake_files_path("node-1", "/var/log/pods/kube-system_etcd-node-1_old");
	ASSERT_INT(utimensat(AT_FDCWD, old, (struct timespec[2]){ { 1, 0 }, { 1, 0 } }, 0), 0);
	cluster_logs_add_node(&list, &profile, &profile.nodes[0]);
	for (size_t i = 0; i < list.count; i++)
		if (strcmp(list.items[i].service, "etcd") == 0)
			found = list.items[i].path;
	ASSERT_STR(found, "/var/log/pods/kube-system_etcd-node-1_uid/etcd/10.log");
}

/* Each question to a node that does not answer takes a minute. */
TEST(a_node_that_does_not_answer_is_asked_once)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(log_list_release) struct log_list list = LOG_LIST_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/out.tar", test_dir());

	make_cluster(&profile);
	fake_files_failure = -ETIMEDOUT;
	fake_files_questions = 0;
	cluster_logs_add_node(&list, &profile, &profile.nodes[0]);
	ASSERT_INT(fake_files_questions, 1);
	for (size_t i = 0; i < list.count; i++)
		ASSERT_INT(list.items[i].silent, list.items[i].in_node);
	fake_files_questions = 0;
	ASSERT_OK(bundle_write(&profile, path, &err));
	ASSERT_INT(fake_files_questions, 1);
	fake_files_failure = 0;
	ASSERT_OK(file_read(path, 16 << 20, &text, &err));
	ASSERT(memmem(text.text, text.len, "manykube-dev/nodes/node-1/agent.log", 35));
	ASSERT(memmem(text.text, text.len, "the node does not answer", 24));
}

TEST(knows_services_by_their_names)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	const char *service;

	ASSERT_OK(cluster_logs_service("kube-apiserver", &service, &err));
	ASSERT_STR(service, "apiserver");
	ASSERT_OK(cluster_logs_service("front-door", &service, &err));
	ASSERT_STR(service, "front-door");
	ASSERT_INT(cluster_logs_service("docker", &service, &why), -EINVAL);
	ASSERT(strstr(why.hint, "kubelet"));
}

static const char *words(const char *line)
{
	return cluster_log_words(line, strlen(line));
}

static bool is_problem(const char *line)
{
	return cluster_log_is_problem(line, strlen(line));
}

TEST(takes_the_runtimes_words_off_a_line)
{
	ASSERT_STR(words("2026-11-16T00:50:10.469530000Z stderr F I1116 x"), "I1116 x");
	ASSERT_STR(words("2026-11-16T00:50:10.469530000Z stdout P part"), "part");
	ASSERT_STR(words("2026-11-16T00:50:10.469530000Z stderr F "), "");
	ASSERT_STR(words("2026-11-16T00:50:10.469530000Z stderr"),
		   "2026-11-16T00:50:10.469530000Z stderr");
	ASSERT_STR(words("I1116 00:50:10 plain"), "I1116 00:50:10 plain");
	ASSERT_STR(words(""), "");
}

TEST(knows_problems_when_it_sees_them)
{
	ASSERT(is_problem("E1116 00:50:10.469530 1 x.go:1] no"));
	ASSERT(is_problem("2026-11-16T00:50:10.469530000Z stderr F F1116 00:50:10 1 x.go:1] no"));
	ASSERT(is_problem("time=\"x\" level=error msg=\"y\""));
	ASSERT(is_problem("{\"level\":\"fatal\",\"msg\":\"x\"}"));
	ASSERT(!is_problem("I1116 00:50:10.469530 1 x.go:1] fine"));
	ASSERT(!is_problem("Every thing is well"));
	ASSERT(!is_problem(""));
}

/* Twice as much takes twice as long: with time that grows by the square, each of these texts would
 * take hours, so that the limit of all tests ends it. */
TEST(no_text_takes_long_to_redact)
{
	static const char *const parts[] = { "eyJ-",          "eyJ.-",     "-----BEGIN ",
					     "token ",        "token\"",   "-----BEGIN a--",
					     "Bearer ",       "secret=\n", "abcdef.",
					     "LS0tLS1CRUdJTi" };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

		while (text.len < 8 << 20)
			strbuf_add(&text, parts[i]);
		ASSERT(redacted(text.text)[0]);
	}
}

TEST(under_sudo_the_archive_is_written_with_the_rights_of_the_person)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *home = xasprintf("%s/home", test_dir());
	cleanup_free char *own = xasprintf("%s/own.tar", home);
	cleanup_free char *link = xasprintf("%s/link.tar", home);
	cleanup_free char *closed = xasprintf("%s/closed.tar", test_dir());
	struct stat st;

	if (geteuid() != 0)
		test_skip("needs root");
	make_cluster(&profile);
	ASSERT_INT(mkdir(home, 0755) + chmod(test_dir(), 0755) + chown(home, 12345, 12346), 0);
	ASSERT_INT(setenv("SUDO_UID", "12345", 1) + setenv("SUDO_GID", "12346", 1), 0);
	ASSERT_OK(bundle_write(&profile, own, &err));
	ASSERT_INT(stat(own, &st), 0);
	ASSERT_INT(st.st_uid, 12345);
	ASSERT_INT(st.st_mode & 07777, 0600);
	ASSERT_INT(symlink(closed, link), 0);
	ASSERT(bundle_write(&profile, closed, &why) < 0);
	put(test_dir(), "closed.tar", "kept");
	ASSERT(bundle_write(&profile, link, &why) < 0);
	ASSERT_INT(stat(closed, &st), 0);
	ASSERT_INT(st.st_size, 4);
}
