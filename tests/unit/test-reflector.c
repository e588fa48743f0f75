/* Listing and watching an API over HTTPS, and loading what comes of it. */

#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "authority.h"
#include "base/below.h"
#include "base/clock.h"
#include "base/file.h"
#include "data/pki.h"
#include "host/cage.h"
#include "test.h"
#include "watch/nodes.h"
#include "watch/reflector.h"

/* What the API is asked, in this order, and what it answers; a body of NULL closes the connection
 * without an answer. */
struct step {
	const char *path; /* a part of the request */
	int status;
	const char *body;
	bool stays_open; /* the answer is not complete */
};

static char *identity;
static char *server_pem;

static void make_identity(void)
{
	cleanup_free char *ca = NULL;
	cleanup_free char *key = NULL;
	cleanup_free char *client = NULL;

	free(take_ptr(identity));
	free(take_ptr(server_pem));
	authority_make(&ca, &key);
	ASSERT_OK(pki_sign_client(ca, key, "watcher", "tests", 1, &client, &err));
	ASSERT_OK(pki_sign_server(ca, key, "127.0.0.1", "tests", 1, &server_pem, &err));
	identity = xasprintf("%s%s", client, ca);
}

static SSL_CTX *server_context(void)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	BIO *certificate = BIO_new_mem_buf(server_pem, -1);
	BIO *key = BIO_new_mem_buf(server_pem, -1);

	if (SSL_CTX_use_certificate(context, PEM_read_bio_X509(certificate, NULL, NULL, NULL)) !=
		    1 ||
	    SSL_CTX_use_PrivateKey(context, PEM_read_bio_PrivateKey(key, NULL, NULL, NULL)) != 1)
		_exit(90);
	BIO_free(certificate);
	BIO_free(key);
	return context;
}

/* Answer one request; returns whether the connection goes on. */
static bool answer(SSL *ssl, const struct step *step)
{
	cleanup_free char *text = NULL;
	char request[4096];
	int len = SSL_read(ssl, request, sizeof(request) - 1);

	if (len <= 0)
		return false;
	request[len] = '\0';
	if (!strstr(request, step->path)) {
		(void)fprintf(stderr, "# asked for %.200s instead of %s\n", request, step->path);
		_exit(91);
	}
	if (!step->body)
		return false;
	text = xasprintf("HTTP/1.1 %d X\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n%s\r\n%s",
			 step->status, strlen(step->body), step->body,
			 step->stays_open ? "" : "0\r\n\r\n");
	(void)SSL_write(ssl, text, (int)strlen(text));
	return true;
}

/* The API: all steps, over as many connections as the client makes; the last one stays open. */
static _Noreturn void serve(int listener, const struct step *steps)
{
	SSL_CTX *context = server_context();
	int64_t end_ms = clock_now_ms() + 10000;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (steps->path && clock_now_ms() < end_ms) {
		SSL *ssl = SSL_new(context);
		int fd = accept(listener, NULL, NULL);
		bool goes_on = SSL_set_fd(ssl, fd) && SSL_accept(ssl) == 1;

		while (goes_on && steps->path) {
			goes_on = answer(ssl, steps);
			steps++;
		}
		if (!steps->path)
			for (;;)
				(void)pause();
		SSL_free(ssl);
		(void)close(fd);
	}
	_exit(92);
}

static void *keep_name(const json_t *object)
{
	const json_t *spec = json_object_get(object, "spec");

	return json_is_string(spec) ? xstrdup(json_string_value(spec)) : NULL;
}

/* What the copy is, whenever it has changed: "a=1 b=2;". */
struct watcher {
	struct reflector *reflector;
	struct loop *loop;
	struct strbuf seen;
	const char *until;
};

static void note(void *data)
{
	struct watcher *watcher = data;

	for (size_t i = 0; i < reflector_count(watcher->reflector); i++) {
		const char *key;
		const char *value = reflector_at(watcher->reflector, i, &key);

		strbuf_addf(&watcher->seen, "%s%s=%s", i ? " " : "", key, value);
	}
	strbuf_add(&watcher->seen, ";");
	if (strcmp(watcher->seen.text, watcher->until) == 0)
		loop_stop(watcher->loop);
}

static int give_up(void *data, arg_unused struct error *err)
{
	loop_stop(data);
	return 0;
}

/* What is seen of an API that takes STEPS, until that is UNTIL or the time is over. */
static char *watch_steps(const struct step *steps, const char *until, unsigned limit_ms)
{
	static const struct reflector_kind kind = { "/api/v1/things", keep_name, free };
	struct watcher watcher = { .seen = STRBUF_INIT, .until = until };
	struct https_target target;
	cleanup_free char *address = NULL;
	struct loop_source *limit;
	int listener = test_listen("127.0.0.1", 0);
	pid_t server;

	make_identity();
	(void)signal(SIGPIPE, SIG_IGN);
	server = fork();
	if (server == 0)
		serve(listener, steps);
	address = xasprintf("127.0.0.1:%u", test_port(listener));
	ASSERT_OK(https_target_init(address, identity, &target, &err));
	ASSERT_OK(loop_new(&watcher.loop, &err));
	ASSERT_OK(loop_add_timer(watcher.loop, limit_ms, 0, give_up, watcher.loop, &limit, &err));
	watcher.reflector = reflector_new(watcher.loop, &target, &kind, note, &watcher);
	ASSERT_OK(loop_run(watcher.loop, &err));
	(void)kill(server, SIGKILL);
	reflector_free(watcher.reflector);
	loop_free(watcher.loop);
	https_target_release(&target);
	return strbuf_take(&watcher.seen);
}

static void expect(const struct step *steps, const char *seen)
{
	cleanup_free char *text = watch_steps(steps, seen, 8000);

	ASSERT_STR(text, seen);
}

#define THING(name_, version_, spec_)                                                       \
	"{\"metadata\": {\"name\": \"" name_ "\", \"resourceVersion\": \"" version_ "\"}, " \
	"\"spec\": " spec_ "}"
#define LIST(version_, more_, items_) \
	"{\"metadata\": {\"resourceVersion\": \"" version_ "\"" more_ "}, \"items\": [" items_ "]}"
#define EVENT(type_, object_) "{\"type\": \"" type_ "\", \"object\": " object_ "}\n"

TEST(pages_are_listed_and_then_watched)
{
	static const struct step steps[] = {
		{ "GET /api/v1/things?limit=100 ", 200,
		  LIST("5", ", \"continue\": \"next\"", THING("b", "1", "\"2\"")), false },
		{ "?limit=100&continue=next ", 200, LIST("6", "", THING("a", "2", "\"1\"")),
		  false },
		{ "resourceVersion=6 ", 200,
		  EVENT("ADDED", THING("c", "7", "\"3\""))
			  EVENT("DELETED", THING("b", "8", "\"2\""))
				  EVENT("BOOKMARK", THING("", "9", "0")),
		  true },
		{ NULL, 0, NULL, false },
	};

	expect(steps, "/a=1 /b=2;/a=1 /c=3;");
}

TEST(a_watch_that_ends_goes_on_where_it_was)
{
	static const struct step steps[] = {
		{ "?limit=100 ", 200, LIST("6", "", THING("a", "2", "\"1\"")), false },
		{ "resourceVersion=6 ", 200, EVENT("MODIFIED", THING("a", "7", "\"2\"")), false },
		{ "resourceVersion=7 ", 200, EVENT("BOOKMARK", THING("", "9", "0")), false },
		/* The connection is cut. */
		{ "resourceVersion=9 ", 200, NULL, false },
		{ "resourceVersion=9 ", 500, "{}", false },
		/* What is of no interest any more is gone. */
		{ "resourceVersion=9 ", 200, EVENT("MODIFIED", THING("a", "10", "5")), true },
		{ NULL, 0, NULL, false },
	};

	expect(steps, "/a=1;/a=2;;");
}

TEST(an_api_that_ends_watches_at_once_does_not_keep_the_watcher_busy)
{
	struct step steps[64] = {
		{ "?limit=100 ", 200, LIST("6", "", THING("a", "2", "\"1\"")), false },
	};
	cleanup_free char *text = NULL;

	for (size_t i = 1; i < ARRAY_SIZE(steps) - 2; i++)
		steps[i] = (struct step){ "resourceVersion=6 ", 200,
					  EVENT("BOOKMARK", THING("", "6", "0")), false };
	steps[ARRAY_SIZE(steps) - 2] = (struct step){ "resourceVersion=6 ", 200,
						      EVENT("ADDED", THING("b", "7", "\"2\"")),
						      true };
	/* That is after 61 watches. */
	text = watch_steps(steps, "/a=1;/a=1 /b=2;", 4000);
	ASSERT_STR(text, "/a=1;");
}

TEST(a_version_that_is_too_old_is_listed_anew)
{
	static const struct step steps[] = {
		{ "?limit=100 ", 200, LIST("6", "", THING("a", "2", "\"1\"")), false },
		{ "resourceVersion=6 ", 410, "{}", false },
		/* The copy stays until the list is complete. */
		{ "?limit=100 ", 500, "{}", false },
		{ "?limit=100 ", 200, LIST("20", "", THING("b", "2", "\"1\"")), false },
		{ "resourceVersion=20 ", 200,
		  EVENT("ERROR", "{\"kind\": \"Status\", \"code\": 410}"), false },
		{ "?limit=100 ", 200, LIST("30", "", THING("c", "2", "\"1\"")), false },
		{ "resourceVersion=30 ", 200, EVENT("BOOKMARK", THING("", "31", "0")), true },
		{ NULL, 0, NULL, false },
	};

	expect(steps, "/a=1;/b=1;/c=1;");
}

TEST(a_server_of_another_authority_is_not_asked)
{
	static const struct step steps[] = { { "never", 200, "{}", false },
					     { NULL, 0, NULL, false } };
	struct watcher watcher = { .seen = STRBUF_INIT, .until = "" };
	static const struct reflector_kind kind = { "/api/v1/things", keep_name, free };
	struct https_target target;
	cleanup_free char *address = NULL;
	struct loop_source *limit;
	int listener = test_listen("127.0.0.1", 0);
	pid_t server;

	make_identity();
	server = fork();
	if (server == 0)
		serve(listener, steps);
	make_identity();
	(void)signal(SIGPIPE, SIG_IGN);
	address = xasprintf("127.0.0.1:%u", test_port(listener));
	ASSERT_OK(https_target_init(address, identity, &target, &err));
	ASSERT_OK(loop_new(&watcher.loop, &err));
	ASSERT_OK(loop_add_timer(watcher.loop, 700, 0, give_up, watcher.loop, &limit, &err));
	watcher.reflector = reflector_new(watcher.loop, &target, &kind, note, &watcher);
	ASSERT_OK(loop_run(watcher.loop, &err));
	ASSERT(!reflector_is_complete(watcher.reflector));
	(void)kill(server, SIGKILL);
	reflector_free(watcher.reflector);
	loop_free(watcher.loop);
	https_target_release(&target);
	strbuf_release(&watcher.seen);
	free(take_ptr(identity));
	free(take_ptr(server_pem));
}

/* What came of a request to a server that is silent. */
struct silence {
	struct loop *loop;
	unsigned failures;
};

static void no_body(arg_unused const char *data, arg_unused size_t len, arg_unused void *to)
{
}

static void count_failure(int status, const char *why, void *to)
{
	struct silence *silence = to;

	ASSERT_INT(status, 0);
	ASSERT(strstr(why, "in time"));
	silence->failures++;
	loop_stop(silence->loop);
}

TEST(a_request_that_is_not_answered_is_given_up)
{
	static const struct https_events events = { .body = no_body, .done = count_failure };
	struct silence silence = { NULL, 0 };
	struct https_target target;
	int listener = test_listen("127.0.0.1", 0);
	cleanup_free char *address = xasprintf("127.0.0.1:%u", test_port(listener));
	struct loop_source *limit;
	struct https *https;

	make_identity();
	ASSERT_OK(https_target_init(address, identity, &target, &err));
	ASSERT_OK(loop_new(&silence.loop, &err));
	ASSERT_OK(loop_add_timer(silence.loop, 5000, 0, give_up, silence.loop, &limit, &err));
	https = https_new(silence.loop, &target, &events, &silence);
	for (unsigned i = 1; i <= 2; i++) {
		https_request(https, "PATCH", "/x", "text/plain", "x", 50);
		ASSERT_OK(loop_run(silence.loop, &err));
		ASSERT_INT(silence.failures, i);
	}
	https_free(https);
	loop_free(silence.loop);
	https_target_release(&target);
}

/* Called in a process of its own; the first attempt fails. */
static int install(const char *dir, const char *name, const char *rules,
		   arg_unused struct error *err)
{
	cleanup_free char *path = xasprintf("%s/loaded-%s", dir, name);
	cleanup_free char *failed = xasprintf("%s/failed-%s", dir, name);

	if (!file_exists(failed)) {
		(void)file_put(failed, "", 0, 0600, NULL);
		return error_set(err, -EIO, "not yet");
	}
	return file_put(path, rules ? "rules" : "none", rules ? 5 : 4, 0600, err);
}

static int poll_loaded(void *data, arg_unused struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/loaded-node-1", test_dir());
	struct watcher *watcher = data;

	if (file_read(path, 100, &text, NULL) == 0 && strcmp(text.text, watcher->until) == 0)
		loop_stop(watcher->loop);
	return 0;
}

TEST(policies_are_written_loaded_again_after_a_failure_and_removed)
{
	static const char text[] = "chain ingress\ngroup 0\npod 10.0.0.1 0 *\n";
	struct watcher watcher = { .until = "rules" };
	struct policy_model none = POLICY_MODEL_INIT;
	struct policy_model model;
	cleanup_free char *path = watch_nodes_path(test_dir(), "node-1");
	struct watch_nodes *nodes;
	struct loop_source *source;

	ASSERT_OK(policy_model_parse(text, strlen(text), &model, &err));
	ASSERT_OK(loop_new(&watcher.loop, &err));
	ASSERT_OK(loop_add_timer(watcher.loop, 5, 5, poll_loaded, &watcher, &source, &err));
	nodes = watch_nodes_new(watcher.loop, test_dir(), install);
	watch_nodes_set(nodes, "node-1", &model);
	ASSERT(file_exists(path));
	ASSERT_OK(loop_run(watcher.loop, &err));
	watcher.until = "none";
	watch_nodes_set(nodes, "node-1", &none);
	ASSERT(!file_exists(path));
	ASSERT_OK(loop_run(watcher.loop, &err));
	watch_nodes_free(nodes);
	loop_free(watcher.loop);
	policy_model_release(&model);
}

#define MANY 6

/* Called in a process of its own: note what goes beyond the limits. */
static int install_slowly(const char *dir, const char *name, arg_unused const char *rules,
			  arg_unused struct error *err)
{
	cleanup_free char *running = xasprintf("%s/running/%s", dir, name);
	cleanup_free char *done = xasprintf("%s/done", dir);
	cleanup_free char *wrong = xasprintf("%s/wrong", dir);
	cleanup_free char *mine = xasprintf("%s/%s", done, name);
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	size_t much = 512u << 20;

	if (!CAGE_SANITIZED && mmap(NULL, much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				    -1, 0) != MAP_FAILED)
		(void)file_put(wrong, "memory", 6, 0600, NULL);
	(void)file_put(running, "", 0, 0600, NULL);
	(void)usleep(50000);
	(void)below_list(dir, "running", &names, NULL);
	if (names.count > 2)
		(void)file_put(wrong, "too many", 8, 0600, NULL);
	(void)unlink(running);
	return file_put(mine, "", 0, 0600, NULL);
}

static int poll_done(void *data, arg_unused struct error *err)
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;

	if (below_list(test_dir(), "done", &names, NULL) == 0 && names.count == MANY)
		loop_stop(data);
	return 0;
}

TEST(rules_of_many_nodes_are_loaded_in_turn_and_within_limits)
{
	static const char text[] = "chain ingress\ngroup 0\npod 10.0.0.1 0 *\n";
	cleanup_free char *running = xasprintf("%s/running", test_dir());
	cleanup_free char *done = xasprintf("%s/done", test_dir());
	cleanup_free char *wrong = xasprintf("%s/wrong", test_dir());
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	struct policy_model model;
	struct watch_nodes *nodes;
	struct loop_source *source;
	struct loop *loop;

	ASSERT_OK(file_make_dirs(running, 0700, &err));
	ASSERT_OK(file_make_dirs(done, 0700, &err));
	ASSERT_OK(policy_model_parse(text, strlen(text), &model, &err));
	ASSERT_OK(loop_new(&loop, &err));
	ASSERT_OK(loop_add_timer(loop, 5, 5, poll_done, loop, &source, &err));
	ASSERT_OK(loop_add_timer(loop, 20000, 0, give_up, loop, &source, &err));
	nodes = watch_nodes_new(loop, test_dir(), install_slowly);
	for (int i = 0; i < MANY; i++) {
		cleanup_free char *name = xasprintf("node-%d", i);

		watch_nodes_set(nodes, name, &model);
	}
	ASSERT_OK(loop_run(loop, &err));
	ASSERT_OK(below_list(test_dir(), "done", &names, &err));
	ASSERT_INT(names.count, MANY);
	ASSERT(!file_exists(wrong));
	watch_nodes_free(nodes);
	loop_free(loop);
	policy_model_release(&model);
}
