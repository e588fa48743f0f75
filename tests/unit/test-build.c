#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/file.h"
#include "base/process.h"
#include "buildkit/answer.h"
#include "buildkit/context.h"
#include "data/protobuf.h"
#include "data/tar-entry.h"
#include "node/docker-build.h"
#include "test.h"

static char *test_path(const char *name)
{
	return xasprintf("%s/%s", test_dir(), name);
}

static void put_file(const char *name, const char *text)
{
	cleanup_free char *path = test_path(name);
	cleanup_free char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	ASSERT_OK(file_make_dirs(dir, 0755, &err));
	ASSERT_OK(file_put(path, text, strlen(text), 0644, &err));
}

/* Read the archive of CONTEXT in pieces of SIZE bytes into a file. */
static char *write_archive(struct build_context *context, size_t size)
{
	char *path = test_path("context.tar");
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cleanup_free char *bytes = xmalloc(size);
	ssize_t len;

	for (;;) {
		cleanup_with(error_clear) struct error err = ERROR_INIT;

		len = build_context_read(context, bytes, size, &err);
		if (len < 0)
			test_fail(__FILE__, __LINE__, "%s", err.text);
		if (len == 0)
			return path;
		ASSERT_INT(file_write_all(fd, bytes, (size_t)len), 0);
	}
}

/* What tar says of the archive of SOURCE: its members, in its order, each on a line. */
static char *list_context(const struct build_source *source, char **ret_dockerfile)
{
	cleanup_with(build_context_freep) struct build_context *context = NULL;
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_free char *archive = NULL;

	ASSERT_OK(build_context_open(source, &context, &err));
	archive = write_archive(context, 777);
	ASSERT_OK(process_capture(ARGV("tar", "tf", archive), &(struct process_options){ NULL },
				  &out, &err));
	if (ret_dockerfile)
		*ret_dockerfile = xstrdup(build_context_dockerfile(context));
	return strbuf_take(&out);
}

static char *list_directory(const char *dir, const char *dockerfile, char **ret_dockerfile)
{
	cleanup_free char *path = test_path(dir);

	return list_context(&(struct build_source){ path, dockerfile }, ret_dockerfile);
}

TEST(a_context_has_what_is_not_ignored)
{
	cleanup_free char *list = NULL;
	cleanup_free char *dockerfile = NULL;

	put_file("c/Dockerfile", "FROM scratch\n");
	put_file("c/.dockerignore", "*.o\nout\n!out/keep/me\n**/secret\n");
	put_file("c/a.o", "");
	put_file("c/a.c", "");
	put_file("c/out/x", "");
	put_file("c/out/keep/me", "");
	put_file("c/out/keep/not", "");
	put_file("c/src/secret", "");
	list = list_directory("c", NULL, &dockerfile);
	ASSERT_STR(list, ".dockerignore\nDockerfile\na.c\nout/\nout/keep/\nout/keep/me\nsrc/\n");
	ASSERT_STR(dockerfile, "Dockerfile");
}

TEST(a_dockerfile_is_sent_though_it_is_ignored)
{
	cleanup_free char *list = NULL;
	cleanup_free char *dockerfile = NULL;
	cleanup_free char *path = NULL;

	put_file("c/docker/app", "FROM scratch\n");
	put_file("c/.dockerignore", "*\n");
	path = test_path("c/docker/app");
	list = list_directory("c", path, &dockerfile);
	ASSERT_STR(list, "docker/\ndocker/app\n");
	ASSERT_STR(dockerfile, "docker/app");
}

TEST(a_dockerfile_of_its_own_rules_is_asked_first)
{
	cleanup_free char *list = NULL;

	put_file("c/app", "FROM scratch\n");
	put_file("c/x", "");
	put_file("c/y", "");
	put_file("c/.dockerignore", "x\n");
	put_file("c/app.dockerignore", "y\n.*\n*ignore\n");
	/* Relative to the context, as in minikube, where the working directory has none. */
	list = list_directory("c", "app", NULL);
	ASSERT_STR(list, "app\nx\n");
}

TEST(a_dockerfile_from_elsewhere_always_has_the_same_name)
{
	cleanup_free char *path = test_path("elsewhere");
	cleanup_free char *list = NULL;
	cleanup_free char *dockerfile = NULL;

	put_file("elsewhere", "FROM scratch\n");
	put_file("c/x", "");
	list = list_directory("c", path, &dockerfile);
	ASSERT_STR(list, ".dockerfile.bb57c7da220a8753d7bd\nx\n");
	ASSERT_STR(dockerfile, ".dockerfile.bb57c7da220a8753d7bd");
}

TEST(a_context_without_a_dockerfile_is_refused)
{
	cleanup_with(build_context_freep) struct build_context *context = NULL;
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	ASSERT_INT(build_context_open(&(struct build_source){ test_dir(), NULL }, &context, &err),
		   -ENOENT);
	ASSERT(err.reason == &reason_host_path);
	ASSERT(err.hint);
}

/* A file name of 200 characters. */
static char *long_name(char c)
{
	char *name = xmalloc(201);

	memset(name, c, 200);
	name[200] = '\0';
	return name;
}

TEST(archives_keep_modes_links_and_long_names)
{
	cleanup_with(build_context_freep) struct build_context *context = NULL;
	cleanup_free char *dir = test_path("c");
	cleanup_free char *out = test_path("out");
	cleanup_free char *name = long_name('n');
	cleanup_free char *target = long_name('t');
	cleanup_free char *file = xasprintf("c/%s/%s", name, name);
	cleanup_free char *link = xasprintf("%s/link", dir);
	cleanup_free char *script = xasprintf("%s/run.sh", dir);
	cleanup_free char *archive = NULL;
	struct stat st;

	put_file("c/Dockerfile", "FROM scratch\n");
	put_file("c/run.sh", "#!/bin/sh\n");
	put_file(file, "contents");
	ASSERT_INT(chmod(script, 0751), 0);
	ASSERT_INT(symlink(target, link), 0);
	ASSERT_OK(build_context_open(&(struct build_source){ dir, NULL }, &context, &err));
	archive = write_archive(context, 100000);
	ASSERT_OK(file_make_dirs(out, 0755, &err));
	ASSERT_OK(process_run(ARGV("tar", "xpf", archive, "-C", out),
			      &(struct process_options){ NULL }, &err));
	ASSERT_OK(process_run(ARGV("diff", "-r", "--no-dereference", dir, out),
			      &(struct process_options){ NULL }, &err));
	ASSERT_INT(process_run(ARGV("diff", "-r", "--no-dereference", dir, out),
			       &(struct process_options){ NULL }, NULL),
		   0);
	free(script);
	script = xasprintf("%s/run.sh", out);
	ASSERT_INT(stat(script, &st), 0);
	ASSERT_INT(st.st_mode & 07777, 0751);
}

TEST(sockets_are_left_out)
{
	cleanup_free char *path = test_path("c/socket");
	cleanup_free char *list = NULL;
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	put_file("c/Dockerfile", "FROM scratch\n");
	memcpy(address.sun_path, path, strlen(path));
	ASSERT_INT(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	list = list_directory("c", NULL, NULL);
	ASSERT_STR(list, "Dockerfile\n");
}

/* Make the LEN bytes at DATA our standard input. */
static void give_input(const char *data, size_t len)
{
	int ends[2];

	ASSERT_INT(pipe(ends), 0);
	ASSERT_INT(file_write_all(ends[1], data, len), 0);
	ASSERT(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
	(void)close(ends[1]);
}

TEST(standard_input_may_be_a_dockerfile)
{
	cleanup_free char *list = NULL;

	give_input("FROM scratch\n", 13);
	list = list_context(&(struct build_source){ "-", NULL }, NULL);
	ASSERT_STR(list, "Dockerfile\n");
}

TEST(standard_input_may_be_an_archive)
{
	cleanup_with(strbuf_release) struct strbuf tar = STRBUF_INIT;
	cleanup_free char *list = NULL;
	cleanup_free char *dockerfile = NULL;

	tar_print_entry(&tar, &(struct tar_entry){ .path = "x", .type = TAR_FILE, .mode = 0644 });
	tar_print_end(&tar);
	give_input(tar.text, tar.len);
	list = list_context(&(struct build_source){ "-", "app" }, &dockerfile);
	ASSERT_STR(list, "x\n");
	ASSERT_STR(dockerfile, "app");
}

TEST(standard_input_may_be_only_the_dockerfile)
{
	cleanup_free char *list = NULL;

	put_file("c/x", "");
	put_file("c/Dockerfile", "");
	give_input("FROM scratch\n", 13);
	list = list_directory("c", "-", NULL);
	ASSERT_STR(list, ".dockerfile.bb57c7da220a8753d7bd\nDockerfile\nx\n");
}

TEST(standard_input_is_used_once)
{
	cleanup_with(build_context_freep) struct build_context *context = NULL;
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	ASSERT_INT(build_context_open(&(struct build_source){ "-", "-" }, &context, &err), -EINVAL);
	ASSERT(err.reason == &reason_usage);
	error_clear(&err);
	give_input("", 0);
	ASSERT_INT(build_context_open(&(struct build_source){ "-", NULL }, &context, &err),
		   -EINVAL);
}

TEST(the_request_names_all_that_was_asked_for)
{
	cleanup_with(build_options_release) struct build_options options = BUILD_OPTIONS_INIT;
	cleanup_free char *path = NULL;

	strlist_add(&options.tags, "app:1");
	strlist_add(&options.tags, "b&c");
	strlist_add(&options.args, "A=x y");
	strlist_add(&options.args, "B");
	options.target = "test";
	options.no_cache = true;
	path = docker_build_path(&options, "docker/app");
	ASSERT_STR(path, "/build?version=2&t=app%3A1&t=b%26c&dockerfile=docker%2Fapp&target=test"
			 "&nocache=1&buildargs=%7B%22A%22%3A%22x%20y%22%2C%22B%22%3Anull%7D");
}

/* A moment SECONDS and a half after the epoch, as field FIELD. */
static void add_time(struct strbuf *message, unsigned field, uint64_t seconds)
{
	cleanup_with(strbuf_release) struct strbuf time = STRBUF_INIT;

	protobuf_add_number(&time, 1, seconds);
	protobuf_add_number(&time, 2, 500000000);
	protobuf_add_message(message, field, &time);
}

static void add_vertex(struct strbuf *response, const char *digest, const char *name,
		       uint64_t started, uint64_t completed, const char *error)
{
	cleanup_with(strbuf_release) struct strbuf vertex = STRBUF_INIT;

	protobuf_add_text(&vertex, 1, digest);
	protobuf_add_text(&vertex, 3, name);
	if (started)
		add_time(&vertex, 5, started);
	if (completed)
		add_time(&vertex, 6, completed);
	protobuf_add_text(&vertex, 7, error);
	protobuf_add_message(response, 1, &vertex);
}

static void add_log(struct strbuf *response, const char *digest, uint64_t time, const char *text)
{
	cleanup_with(strbuf_release) struct strbuf log = STRBUF_INIT;

	protobuf_add_text(&log, 1, digest);
	add_time(&log, 2, time);
	protobuf_add_text(&log, 4, text);
	protobuf_add_message(response, 3, &log);
}

/* Add the line of an answer that carries RESPONSE, and empty that. */
static void add_line(struct strbuf *answer, struct strbuf *response)
{
	cleanup_free unsigned char *text = xmalloc(response->len * 2 + 4);

	EVP_EncodeBlock(text, (const unsigned char *)response->text, (int)response->len);
	strbuf_addf(answer, "{\"id\":\"moby.buildkit.trace\",\"aux\":\"%s\"}\r\n", text);
	strbuf_reset(response);
}

TEST(progress_is_shown_step_by_step)
{
	cleanup_with(build_answer_release) struct build_answer answer = BUILD_ANSWER_INIT;
	cleanup_with(strbuf_release) struct strbuf response = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf lines = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	add_vertex(&response, "one", "RUN one", 100, 0, NULL);
	add_vertex(&response, "two", "RUN two", 0, 0, NULL);
	add_line(&lines, &response);
	add_log(&response, "one", 101, "half a ");
	add_line(&lines, &response);
	/* Its end comes first. */
	add_vertex(&response, "one", "RUN one", 100, 103, NULL);
	add_log(&response, "one", 102, "line\nand \033[2J more");
	add_line(&lines, &response);
	strbuf_addf(&lines, "{\"id\":\"moby.image.id\",\"aux\":{\"ID\":\"sha256:%064d\"}}\n", 7);
	for (size_t i = 0; i < lines.len; i++)
		ASSERT_OK(build_answer_add(&answer, lines.text + i, 1, &out, &err));
	ASSERT_STR(out.text, "#1 RUN one\n"
			     "#1 2.000 half a line\n"
			     "#1 3.000 and ^[[2J more\n"
			     "#1 DONE 3.0s\n");
	ASSERT_INT(strlen(answer.image_id), 64);
	ASSERT(!answer.failure);
}

TEST(the_step_that_failed_is_shown_again)
{
	cleanup_with(build_answer_release) struct build_answer answer = BUILD_ANSWER_INIT;
	cleanup_with(strbuf_release) struct strbuf response = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf lines = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

	add_vertex(&response, "one", "RUN one", 100, 0, NULL);
	add_log(&response, "one", 101, "words\n");
	add_line(&lines, &response);
	add_vertex(&response, "one", "RUN one", 100, 102, "exit code: 7");
	add_line(&lines, &response);
	strbuf_add(&lines, "{\"error\":\"no\\u001b\",\"errorDetail\":{\"message\":\"no\"}}\n");
	ASSERT_OK(build_answer_add(&answer, lines.text, lines.len, &out, &err));
	ASSERT(strstr(out.text, "#1 ERROR: exit code: 7\n"));
	strbuf_reset(&out);
	build_answer_end(&answer, &out);
	ASSERT_STR(out.text, "------\n > RUN one:\n1.000 words\n------\n");
	ASSERT_STR(answer.failure, "no^[");
	ASSERT_INT(answer.status, 1);
}

TEST(the_status_of_the_builder_is_passed_on)
{
	cleanup_with(build_answer_release) struct build_answer answer = BUILD_ANSWER_INIT;
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	static const char line[] = "{\"stream\":\"Step 1\\n\"}\n"
				   "{\"error\":\"x\",\"errorDetail\":{\"code\":7}}\n";

	ASSERT_OK(build_answer_add(&answer, line, strlen(line), &out, &err));
	ASSERT_STR(out.text, "Step 1\n");
	ASSERT_INT(answer.status, 7);
}

TEST(answers_that_are_none_are_refused)
{
	static const char *const wrong[] = { "<html>\n", "[1]\n",
					     "{\"id\":\"moby.buildkit.trace\",\"aux\":\"!!!!\"}\n",
					     "{\"id\":\"moby.buildkit.trace\",\"aux\":\"CgU=\"}\n",
					     "{\"id\":\"moby.buildkit.trace\",\"aux\":7}\n" };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		cleanup_with(build_answer_release) struct build_answer answer = BUILD_ANSWER_INIT;
		cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;

		ASSERT_INT(build_answer_add(&answer, wrong[i], strlen(wrong[i]), &out, NULL),
			   -EBADMSG);
	}
}

TEST(a_line_without_an_end_is_limited)
{
	cleanup_with(build_answer_release) struct build_answer answer = BUILD_ANSWER_INIT;
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_free char *much = xmalloc(1 << 20);
	int r = 0;

	memset(much, 'x', 1 << 20);
	for (int i = 0; i < 64 && r == 0; i++)
		r = build_answer_add(&answer, much, 1 << 20, &out, NULL);
	ASSERT_INT(r, -EBADMSG);
}
