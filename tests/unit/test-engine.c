/* The container engine: finding it, what it answers, and the containers that hold nodes; with an
 * engine of our own that breaks where we want. */

#include "engine/box.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/clock.h"
#include "base/file.h"
#include "engine/request.h"
#include "fake-engine.h"
#include "test.h"

static struct fake_engine fake;
static struct engine engine;
static struct box box = {
	.cluster = "mk12345678", .node = "node-2", .profile = "dev", .var = "/var/tmp"
};

/* What the engine has when the box is complete. */
static char *complete;

static void put(const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("%s/%s", test_dir(), name);

	ASSERT_OK(file_put(path, text, strlen(text), 0644, &err));
}

static char *get(const char *name)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/%s", test_dir(), name);

	(void)file_read(path, 1 << 20, &text, NULL);
	return text.text ? strbuf_take(&text) : xstrdup("");
}

static void assert_things(const char *expected)
{
	cleanup_free char *things = get("things");

	ASSERT_STR(things, expected);
}

static void prepare(void)
{
	box.agent = xasprintf("%s/agent", test_dir());
	put("agent", "the agent");
	fake_engine_start(test_dir(), &fake);
	ASSERT_OK(engine_open(&engine, &err));
	/* 12 digits of the digest of "the agent". */
	complete = xstrdup("container mk12345678-node-2\n"
			   "image manykube-node:c770ef7d03b6\n"
			   "volume mk12345678-node-2\n");
}

TEST(an_engine_is_found_only_at_a_socket_where_somebody_answers)
{
	cleanup_free char *path = xasprintf("unix://%s/docker.sock", test_dir());
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)setenv("DOCKER_HOST", path, 1);
	ASSERT_INT(engine_open(&engine, &why), -ENOENT);
	ASSERT(why.reason == &reason_host_missing_tool);
	ASSERT(strstr(error_advice(&why), "start Docker"));
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/docker.sock", test_dir());
	ASSERT_INT(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ASSERT_INT(engine_open(&engine, &why), -ECONNREFUSED);
	ASSERT_INT(listen(fd, 1), 0);
	ASSERT_OK(engine_open(&engine, &err));
	error_clear(&why);
}

TEST(an_engine_elsewhere_is_refused)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	char path[200] = "unix:///";

	(void)setenv("DOCKER_HOST", "tcp://127.0.0.1:2375", 1);
	ASSERT_INT(engine_open(&engine, &why), -ENOTSUP);
	ASSERT(why.reason == &reason_host_unsupported);
	ASSERT(strstr(why.text, "tcp://127.0.0.1:2375"));
	(void)memset(path + strlen(path), 'x', 150);
	(void)setenv("DOCKER_HOST", path, 1);
	ASSERT_INT(engine_open(&engine, &why), -ENAMETOOLONG);
}

static int check(const char *api, const char *kernel, bool rootless, struct error *err)
{
	char api_copy[16];
	char kernel_copy[128];
	struct engine_info info = { .api = api_copy, .kernel = kernel_copy, .rootless = rootless };

	(void)snprintf(api_copy, sizeof(api_copy), "%s", api);
	(void)snprintf(kernel_copy, sizeof(kernel_copy), "%s", kernel);
	return engine_check(&info, err);
}

TEST(an_engine_that_cannot_hold_nodes_is_refused_with_the_reason)
{
	cleanup_with(engine_info_release) struct engine_info info = ENGINE_INFO_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	prepare();
	ASSERT_OK(engine_look(&engine, &info, &err));
	ASSERT_STR(info.version, "20.10.24");
	ASSERT_OK(engine_check(&info, &err));
	ASSERT_OK(check("1.52", info.kernel, false, &err));
	ASSERT_INT(check("1.40", info.kernel, false, &why), -ENOTSUP);
	ASSERT(strstr(why.text, "1.40"));
	ASSERT_INT(check("", info.kernel, false, &why), -ENOTSUP);
	ASSERT_INT(check("1.41", info.kernel, true, &why), -ENOTSUP);
	ASSERT(strstr(why.text, "rootless"));
	ASSERT_INT(check("1.41", "5.15.0-linuxkit", false, &why), -ENOTSUP);
	ASSERT(strstr(why.text, "5.15.0-linuxkit"));
	ASSERT(why.reason == &reason_host_unsupported);
	fake_engine_stop(&fake);
}

TEST(versions_of_the_api_are_compared_as_numbers)
{
	ASSERT(engine_api_is("1.41", "1.41"));
	ASSERT(engine_api_is("1.100", "1.41"));
	ASSERT(engine_api_is("2.0", "1.41"));
	ASSERT(!engine_api_is("1.9", "1.41"));
	ASSERT(!engine_api_is("1", "1.41"));
	ASSERT(!engine_api_is("1.41.2", "1.41"));
	ASSERT(!engine_api_is("x.y", "1.41"));
}

TEST(answers_that_are_damaged_too_long_or_refusals_are_errors)
{
	cleanup_with(strbuf_release) struct strbuf longest = STRBUF_INIT;
	cleanup_with(
		engine_container_release) struct engine_container found = ENGINE_CONTAINER_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	prepare();
	put("answer", "200 {\"Id\": ");
	ASSERT_INT(engine_find_container(&engine, "a", &found, &why), -EBADMSG);
	put("answer", "200 {\"Id\": 7}");
	ASSERT_INT(engine_find_container(&engine, "a", &found, &why), -EBADMSG);
	strbuf_add(&longest, "200 ");
	for (size_t i = 0; i < ENGINE_ANSWER_MOST + 1; i += 64)
		strbuf_add(&longest,
			   "                                                                ");
	put("answer", longest.text);
	ASSERT_INT(engine_find_container(&engine, "a", &found, &why), -EMSGSIZE);
	put("answer", "500 {\"message\": \"it is \\u001b[31mred\"}");
	ASSERT_INT(engine_find_container(&engine, "a", &found, &why), -EBADMSG);
	ASSERT(strstr(why.text, "refused this (500): it is "));
	ASSERT(!strchr(why.text, '\033'));
	put("answer", "409 nothing");
	ASSERT_INT(engine_find_container(&engine, "a", &found, &why), -EBUSY);
	ASSERT(strstr(why.text, "no reason given"));
	fake_engine_stop(&fake);
	ASSERT_INT(engine_find_container(&engine, "a", &found, &why), -ECONNREFUSED);
}

TEST(a_box_is_made_once)
{
	cleanup_with(
		engine_container_release) struct engine_container found = ENGINE_CONTAINER_INIT;

	prepare();
	ASSERT_INT(box_find(&engine, &box, &found, NULL), -ENOENT);
	ASSERT_OK(box_make(&engine, &box, &err));
	assert_things(complete);
	ASSERT_OK(box_find(&engine, &box, &found, &err));
	ASSERT(!found.running && found.pid == 0);
	ASSERT_OK(box_make(&engine, &box, &err));
	assert_things(complete);
	ASSERT_OK(box_remove(&engine, &box, &err));
	ASSERT_OK(box_remove(&engine, &box, &err));
	assert_things("image manykube-node:c770ef7d03b6\n");
	fake_engine_stop(&fake);
}

TEST(an_engine_may_put_its_registry_before_the_image)
{
	cleanup_free char *requests = NULL;

	prepare();
	ASSERT_OK(box_make(&engine, &box, &err));
	put("registry", "docker.io/library/");
	ASSERT_OK(box_make(&engine, &box, &err));
	requests = get("requests");
	ASSERT(!strstr(requests, "DELETE"));
	/* Another image is another one. */
	put("registry", "other-");
	ASSERT_OK(box_make(&engine, &box, &err));
	free(requests);
	requests = get("requests");
	ASSERT(strstr(requests, "DELETE"));
	fake_engine_stop(&fake);
}

static size_t count_of(const char *text, const char *word)
{
	size_t count = 0;

	while ((text = strstr(text, word))) {
		text++;
		count++;
	}
	return count;
}

TEST(a_box_with_another_agent_is_replaced)
{
	cleanup_free char *things = NULL;

	prepare();
	ASSERT_OK(box_make(&engine, &box, &err));
	put("agent", "another agent");
	ASSERT_OK(box_make(&engine, &box, &err));
	things = get("things");
	/* A new image, but the same names. */
	ASSERT(strstr(things, "image manykube-node:c770ef7d03b6\n"));
	ASSERT_INT(count_of(things, "image manykube-node:"), 2);
	ASSERT(strncmp(things, complete, strlen("container mk12345678-node-2\n")) == 0);
	/* The first one is not used any more; the other is. */
	ASSERT_OK(box_remove_all(&engine, "mkffffffff", &err));
	free(things);
	things = get("things");
	ASSERT(!strstr(things, "c770ef7d03b6"));
	ASSERT_INT(count_of(things, "image manykube-node:"), 1);
	fake_engine_stop(&fake);
}

/* The engine goes after each request in turn, before it answers. */
TEST(what_an_engine_left_half_made_is_completed_or_removed)
{
	bool was_cut = true;

	prepare();
	for (int i = 0; was_cut; i++) {
		cleanup_with(error_clear) struct error why = ERROR_INIT;
		cleanup_free char *number = xasprintf("%d", i);
		int r;

		put("break", number);
		r = box_make(&engine, &box, &why);
		was_cut = r < 0;
		if (was_cut)
			ASSERT_INT(r, -ECONNREFUSED);
		put("break", "-1");
		if (i % 2 == 0) {
			ASSERT_OK(box_make(&engine, &box, &err));
			assert_things(complete);
		}
		ASSERT_OK(box_remove(&engine, &box, &err));
		ASSERT_OK(box_remove_all(&engine, box.cluster, &err));
		assert_things("");
		ASSERT(i < 10);
	}
	fake_engine_stop(&fake);
}

TEST(containers_of_others_are_left_alone)
{
	cleanup_with(
		engine_container_release) struct engine_container found = ENGINE_CONTAINER_INIT;
	struct box other = box;
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	prepare();
	other.agent = box.agent;
	ASSERT_OK(box_make(&engine, &box, &err));
	/* A name with another boundary between cluster and node. */
	other.cluster = "mk12345678-node";
	other.node = "2";
	ASSERT_INT(box_find(&engine, &other, &found, &why), -EEXIST);
	ASSERT(strstr(error_advice(&why), "docker rename mk12345678-node-2 "));
	ASSERT_INT(box_make(&engine, &other, &why), -EEXIST);
	ASSERT_INT(box_start(&engine, &other, &(pid_t){ 0 }, &why), -EEXIST);
	ASSERT_OK(box_remove(&engine, &other, &err));
	ASSERT_OK(box_remove_all(&engine, other.cluster, &err));
	assert_things(complete);
	fake_engine_stop(&fake);
}

TEST(a_full_disk_is_named)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	prepare();
	ASSERT_OK(box_make(&engine, &box, &err));
	put("answer", "500 {\"message\": \"write /var/lib/x: no space left on device\"}");
	ASSERT_INT(box_order(&engine, &box, "start", &why), -ENOSPC);
	ASSERT(why.reason == &reason_storage);
	fake_engine_stop(&fake);
}

TEST(a_started_box_waits_and_is_started_anew_if_it_runs)
{
	pid_t first;
	pid_t second;

	if (!getenv("MANYKUBE_AGENT"))
		test_skip("needs the agent");
	prepare();
	ASSERT_OK(box_make(&engine, &box, &err));
	ASSERT_OK(box_start(&engine, &box, &first, &err));
	ASSERT(box_waits(&box, first));
	ASSERT(!box_waits(&box, getpid()));
	ASSERT_OK(box_start(&engine, &box, &second, &err));
	ASSERT(first != second);
	ASSERT(box_waits(&box, second) && !box_waits(&box, first));
	ASSERT_OK(box_remove(&engine, &box, &err));
	ASSERT(!box_waits(&box, second));
	fake_engine_stop(&fake);
}

TEST(a_pid_that_is_not_of_the_box_is_refused)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	pid_t pid;

	prepare();
	put("answer", "200 {\"Id\": \"a\", \"State\": {\"Running\": true, \"Pid\": 4194305}, "
		      "\"Config\": {\"Labels\": {\"manykube.cluster\": \"mk12345678\", "
		      "\"manykube.node\": \"node-2\"}}}");
	ASSERT_INT(box_start(&engine, &box, &pid, &why), -ESRCH);
	ASSERT(strstr(why.text, "no such process"));
	put("answer", "200 {\"Id\": \"a\", \"State\": {\"Running\": false, \"ExitCode\": 3, "
		      "\"Error\": \"no luck\"}, \"Config\": {\"Labels\": {\"manykube.cluster\": "
		      "\"mk12345678\", \"manykube.node\": \"node-2\"}}}");
	ASSERT_INT(box_start(&engine, &box, &pid, &why), -EIO);
	ASSERT(strstr(why.text, "status 3: no luck"));
	fake_engine_stop(&fake);
}

static bool say(int fd, const char *text)
{
	return send(fd, text, strlen(text), MSG_NOSIGNAL) > 0;
}

/* Be a daemon that begins an answer, and whose chunk has an extension without end if ENDLESS. */
static void answer_for_ever(int listener, bool endless)
{
	int fd = accept(listener, NULL, NULL);
	char bytes[4096];

	(void)recv(fd, bytes, sizeof(bytes), 0);
	(void)say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1;");
	while (!endless || say(fd, "x"))
		(void)poll(NULL, 0, 20);
	_exit(0);
}

static void assert_given_up(bool endless)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *path = xasprintf("%s/silent-%d.sock", test_dir(), endless);
	const struct engine_place place = { .shown = "the daemon", .socket = path };
	const struct engine_request request = { .path = "/x", .silent_seconds = 1 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_fd int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int64_t begin_ms = clock_now_ms();
	pid_t pid;

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	ASSERT_INT(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	ASSERT_INT(listen(listener, 1), 0);
	pid = fork();
	if (pid == 0)
		answer_for_ever(listener, endless);
	ASSERT_INT(engine_send(&place, &request, &why), -ETIMEDOUT);
	ASSERT(strstr(why.text, "the daemon has said nothing for 1 minute"));
	ASSERT(clock_now_ms() - begin_ms < 20000);
	(void)kill(pid, SIGKILL);
}

TEST(a_daemon_that_says_nothing_is_given_up)
{
	assert_given_up(false);
}

TEST(extensions_of_chunks_say_nothing)
{
	assert_given_up(true);
}
