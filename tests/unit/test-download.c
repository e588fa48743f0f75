#include "../fake/http-server.h"
#include "base/file.h"
#include "payload/checksum.h"
#include "payload/download.h"
#include "test.h"

#define DIGEST_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define DIGEST_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void put(const char *name, const char *contents)
{
	cleanup_free char *path = xasprintf("%s/%s", test_dir(), name);

	ASSERT_OK(file_put(path, contents, strlen(contents), 0644, &err));
}

static void assert_file(const char *name, const char *contents)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/%s", test_dir(), name);

	ASSERT_OK(file_read(path, 1 << 20, &text, &err));
	ASSERT_STR(text.text, contents);
}

/* Fetch the file `x` of a server on our directory to `got`. */
static int fetch(uint64_t limit, bool *resumed, struct error *err)
{
	cleanup_with(fake_http_stop) struct fake_http server = FAKE_HTTP_INIT;
	cleanup_free char *url = NULL;
	cleanup_free char *path = xasprintf("%s/got", test_dir());
	struct download download = { .limit_bytes = limit, .plain_http = true };

	fake_http_start(test_dir(), &server);
	url = xasprintf("%s/x", server.url);
	download.url = url;
	return download_file(&download, path, resumed, err);
}

TEST(fetches_a_file)
{
	bool resumed = true;

	put("x", "what it holds");
	ASSERT_OK(fetch(100, &resumed, &err));
	assert_file("got", "what it holds");
	assert_file("requests", "200 x 0\n");
	ASSERT(!resumed);
}

TEST(resumes_an_interrupted_transfer)
{
	put("x", "what it holds");
	put("x.break", "5");
	ASSERT_OK(fetch(100, NULL, &err));
	assert_file("got", "what it holds");
	assert_file("requests", "200 x 0\n206 x 5\n");
}

TEST(resumes_where_the_last_attempt_ended)
{
	bool resumed = false;

	put("x", "what it holds");
	put("got.partial", "what ");
	ASSERT_OK(fetch(100, &resumed, &err));
	assert_file("got", "what it holds");
	assert_file("requests", "206 x 5\n");
	ASSERT(resumed);
}

TEST(restarts_with_a_server_without_ranges)
{
	put("x", "what it holds");
	put("got.partial", "what ");
	put("x.norange", "");
	ASSERT_OK(fetch(100, NULL, &err));
	assert_file("got", "what it holds");
}

TEST(takes_a_complete_partial_file)
{
	put("x", "all of it");
	put("got.partial", "all of it");
	ASSERT_OK(fetch(100, NULL, &err));
	assert_file("got", "all of it");
}

TEST(tells_a_missing_file_from_a_missing_server)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *path = xasprintf("%s/got", test_dir());
	struct download nobody = { .url = "http://127.0.0.1:1/x",
				   .limit_bytes = 100,
				   .plain_http = true };

	ASSERT_INT(fetch(100, NULL, &err), -ENOENT);
	ASSERT(err.reason == &reason_download);
	assert_file("requests", "404 x 0\n");
	/* By now the proxies are out of the way. */
	ASSERT_INT(download_file(&nobody, path, NULL, NULL), -EHOSTUNREACH);
}

TEST(stops_at_the_limit)
{
	put("x", "what it holds");
	ASSERT_INT(fetch(12, NULL, NULL), -EFBIG);
	ASSERT_INT(fetch(13, NULL, NULL), 0);
}

TEST(gives_up_on_other_protocols)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct download local = { .url = "file:///etc/passwd", .limit_bytes = 1 << 20 };

	ASSERT(download_text(&local, &text, NULL) < 0);
	ASSERT_INT(text.len, 0);
}

TEST(refuses_plain_http_that_nobody_asked_for)
{
	cleanup_with(fake_http_stop) struct fake_http server = FAKE_HTTP_INIT;
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *asked = xasprintf("%s/requests", test_dir());
	struct download download = { .limit_bytes = 100 };

	put("x", "what it holds");
	fake_http_start(test_dir(), &server);
	download.url = server.url;
	ASSERT_INT(download_text(&download, &text, &err), -EPROTO);
	ASSERT(strstr(err.text, "is not HTTPS"));
	ASSERT(err.reason == &reason_download);
	ASSERT(!file_exists(asked));
}

TEST(follows_no_redirection_to_plain_http)
{
	cleanup_with(error_clear) struct error err = ERROR_INIT;
	cleanup_free char *got = xasprintf("%s/got", test_dir());

	put("x", "what it holds");
	put("y", "what somebody else put there");
	put("x.redirect", "/y");
	ASSERT_INT(fetch(100, NULL, &err), -EPROTO);
	ASSERT(strstr(err.text, "/y', which is not HTTPS"));
	ASSERT(err.hint);
	assert_file("requests", "302 x 0\n");
	ASSERT(!file_exists(got));
}

static int find(const char *text, const char *name, char hex[SHA256_HEX_SIZE])
{
	return checksum_find(text, strlen(text), name, hex, NULL);
}

TEST(finds_a_checksum_in_all_forms)
{
	char hex[SHA256_HEX_SIZE] = "";

	ASSERT_INT(find(DIGEST_A, "x", hex), 0);
	ASSERT_STR(hex, DIGEST_A);
	ASSERT_INT(find(DIGEST_A "\n", "x", hex), 0);
	ASSERT_INT(find(DIGEST_A "  x\r\n" DIGEST_B " *y\n", "y", hex), 0);
	ASSERT_STR(hex, DIGEST_B);
	ASSERT_INT(find("# comment\n" DIGEST_A "  ./out/x\n", "x", hex), 0);
	ASSERT_STR(hex, DIGEST_A);
	ASSERT_INT(
		find("AAAAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "x", hex),
		0);
	ASSERT_STR(hex, DIGEST_A);
}

TEST(finds_no_checksum_where_there_is_none)
{
	char hex[SHA256_HEX_SIZE] = "";

	ASSERT_INT(find("", "x", hex), -EBADMSG);
	ASSERT_INT(find("<html>not found</html>", "x", hex), -EBADMSG);
	ASSERT_INT(find(DIGEST_A "  y\n", "x", hex), -EBADMSG);
	ASSERT_INT(find(DIGEST_A "a", "x", hex), -EBADMSG);
	ASSERT_INT(find(DIGEST_A "\n" DIGEST_B "\n", "x", hex), -EBADMSG);
	ASSERT_INT(find(DIGEST_A "  x\n" DIGEST_B "  x\n", "x", hex), -EBADMSG);
	ASSERT_STR(hex, "");
}
