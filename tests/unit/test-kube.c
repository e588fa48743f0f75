/* Answers and certificates that a hostile control plane chooses. */
#include "api/kube.h"
#include "base/file.h"
#include "http-server.h"
#include "test.h"

static const char encrypted_key[] = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
				    "MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQwwHAQI\n"
				    "-----END ENCRYPTED PRIVATE KEY-----\n";

/* Serve COUNT empty objects as NAME. */
static void serve_objects(const char *name, size_t count)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/%s", test_dir(), name);

	strbuf_add(&text, "{\"items\": [");
	for (size_t i = 0; i < count; i++)
		strbuf_add(&text, i ? ",{}" : "{}");
	strbuf_add(&text, "]}");
	ASSERT_OK(file_put(path, text.text, text.len, 0644, &err));
}

TEST(an_answer_of_too_many_values_is_not_parsed)
{
	cleanup_with(fake_http_stop) struct fake_http server = FAKE_HTTP_INIT;
	cleanup_with(kube_freep) struct kube *kube = NULL;
	json_auto_t *answer = NULL;
	json_auto_t *none = NULL;

	serve_objects("few", 1000);
	serve_objects("many", 1 << 20);
	fake_http_start(test_dir(), &server);
	ASSERT_OK(kube_new(server.url, "ca", "cert", "key", &kube, &err));
	ASSERT_OK(kube_request(kube, KUBE_GET, "/few", NULL, 10000, &answer, &err));
	ASSERT_INT(json_array_size(json_object_get(answer, "items")), 1000);
	ASSERT_INT(kube_request(kube, KUBE_GET, "/many", NULL, 10000, &none, NULL), -EBADMSG);
	ASSERT(!none);
}

TEST(certificates_that_need_a_pass_phrase_are_refused)
{
	struct kube *kube = NULL;

	ASSERT_INT(kube_new("https://127.0.0.1:1", "ca", "cert", encrypted_key, &kube, NULL),
		   -EBADMSG);
	ASSERT_INT(kube_new("https://127.0.0.1:1", "ca", encrypted_key, "key", &kube, NULL),
		   -EBADMSG);
	ASSERT_INT(kube_new("https://127.0.0.1:1", encrypted_key, "cert", "key", &kube, NULL),
		   -EBADMSG);
	ASSERT(!kube);
}

TEST(the_words_of_a_refusal_are_cut)
{
	cleanup_with(fake_http_stop) struct fake_http server = FAKE_HTTP_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(kube_freep) struct kube *kube = NULL;
	cleanup_free char *path = xasprintf("%s/long", test_dir());
	cleanup_free char *mark = xasprintf("%s/long.refused", test_dir());
	cleanup_free char *text = xasprintf("{\"message\": \"no%0100000d\"}", 0);

	ASSERT_OK(file_put(path, text, strlen(text), 0644, &err));
	ASSERT_OK(file_put(mark, "", 0, 0644, &err));
	fake_http_start(test_dir(), &server);
	ASSERT_OK(kube_new(server.url, "ca", "cert", "key", &kube, &err));
	ASSERT_INT(kube_request(kube, KUBE_GET, "/long", NULL, 10000, NULL, &why), -EPERM);
	ASSERT(strstr(why.text, "no000"));
	ASSERT(strlen(why.text) < 400);
}
