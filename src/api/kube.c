/* A cluster's API: requests in JSON. */

#include "api/kube.h"

#include <openssl/evp.h>
#include <string.h>

#include "api/curl.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "data/pki.h"

#define ANSWER_LIMIT (64u << 20)

/* Parsed, the smallest value takes some 240 bytes; all nodes and pods of a large cluster have a
 * tenth of this. */
#define VALUES_LIMIT (1u << 20)

/* How much of the API's own words an error has. */
#define WORDS_MOST 300

/* By enum kube_verb. */
static const char *const methods[] = { "GET", "GET", "POST", "PATCH", "PATCH", "DELETE" };

struct kube {
	const struct curl *curl;
	CURL *handle;
	char *server;
	char *ca;
	char *cert;
	char *key;
};

int kube_new(const char *server, const char *ca_pem, const char *cert_pem, const char *key_pem,
	     struct kube **ret_kube, struct error *err)
{
	cleanup_with(kube_freep) struct kube *kube = xcalloc(1, sizeof(*kube));
	int r = curl_load(&kube->curl, err);

	if (r < 0)
		return r;
	if (pki_is_encrypted(ca_pem) || pki_is_encrypted(cert_pem) || pki_is_encrypted(key_pem))
		return error_set(err, -EBADMSG, "the certificates for '%s' need a pass phrase",
				 server);
	/* libcurl could not be interrupted while it signs with a key of a million bits. */
	if (pki_is_huge_key(key_pem))
		return error_set(err, -EBADMSG, "the private key for '%s' is too large", server);
	kube->server = xstrdup(server);
	kube->ca = xstrdup(ca_pem);
	kube->cert = xstrdup(cert_pem);
	kube->key = xstrdup(key_pem);
	kube->handle = kube->curl->easy_init();
	if (!kube->handle)
		return error_set(err, -ENOMEM, "cannot prepare a request to the API");
	*ret_kube = take_ptr(kube);
	return 0;
}

void kube_free(struct kube *kube)
{
	if (kube->handle)
		kube->curl->easy_cleanup(kube->handle);
	free(kube->server);
	free(kube->ca);
	free(kube->cert);
	free(kube->key);
	free(kube);
}

const char *kube_ca(const struct kube *kube)
{
	return kube->ca;
}

const char *kube_cert(const struct kube *kube)
{
	return kube->cert;
}

const char *kube_key(const struct kube *kube)
{
	return kube->key;
}

void kube_set_server(struct kube *kube, const char *server)
{
	free(kube->server);
	kube->server = xstrdup(server);
}

/* Decode the base64 value of KEY.  TEXT is a kubeconfig with one cluster and one user, so KEY may
 * be anywhere in it. */
static char *take_data(const char *text, const char *key)
{
	const char *found = strstr(text, key);
	cleanup_free char *decoded = NULL;
	size_t len;
	int out;

	if (!found)
		return NULL;
	found += strlen(key);
	found += strspn(found, " \"");
	len = strspn(found, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=");
	if (len == 0 || len % 4 || len > 1 << 20)
		return NULL;
	decoded = xcalloc(len / 4 * 3 + 1, 1);
	out = EVP_DecodeBlock((unsigned char *)decoded, (const unsigned char *)found, (int)len);
	if (out < 0)
		return NULL;
	decoded[out] = '\0';
	return take_ptr(decoded);
}

static char *take_server(const char *text)
{
	const char *found = strstr(text, "server:");

	if (!found)
		return NULL;
	found += strlen("server:");
	found += strspn(found, " \"");
	return xstrndup(found, strcspn(found, " \"\r\n"));
}

int kube_parse(const char *text, const char *shown, struct kube **ret_kube, struct error *err)
{
	cleanup_free char *server = take_server(text);
	cleanup_free char *ca = take_data(text, "certificate-authority-data:");
	cleanup_free char *cert = take_data(text, "client-certificate-data:");
	cleanup_free char *key = take_data(text, "client-key-data:");

	if (!server || !ca || !cert || !key)
		return error_set(err, -EBADMSG, "'%s' lacks a server or its certificates", shown);
	return kube_new(server, ca, cert, key, ret_kube, err);
}

int kube_open(const char *path, struct kube **ret_kube, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = file_read(path, 1 << 20, &text, err);

	return r < 0 ? r : kube_parse(text.text, path, ret_kube, err);
}

static size_t on_body(char *data, size_t size, size_t count, void *to)
{
	struct strbuf *body = to;

	if (body->len + size * count > ANSWER_LIMIT)
		return 0;
	strbuf_add_mem(body, data, size * count);
	return size * count;
}

static void set_blob(struct kube *kube, CURLoption option, const char *text)
{
	/* The member is not const, but libcurl copies the data with this flag. */
	struct curl_blob blob = { .data = (void *)(uintptr_t)text,
				  .len = strlen(text),
				  .flags = CURL_BLOB_COPY };

	(void)kube->curl->easy_setopt(kube->handle, option, &blob);
}

static void set_verb(struct kube *kube, enum kube_verb verb, struct curl_slist **headers)
{
	static const char *const types[] = {
		NULL,
		NULL,
		"Content-Type: application/json",
		"Content-Type: application/merge-patch+json",
		"Content-Type: application/apply-patch+yaml",
		"Content-Type: application/json",
	};
	const struct curl *curl = kube->curl;

	(void)curl->easy_setopt(kube->handle, CURLOPT_CUSTOMREQUEST, methods[verb]);
	if (types[verb])
		*headers = curl->slist_append(*headers, types[verb]);
	*headers = curl->slist_append(
		*headers, verb == KUBE_TABLE
				  ? "Accept: application/json;as=Table;v=v1;g=meta.k8s.io"
				  : "Accept: application/json");
	*headers = curl->slist_append(*headers, "Expect:");
	(void)curl->easy_setopt(kube->handle, CURLOPT_HTTPHEADER, *headers);
}

/* Do the request; returns the HTTP status or a negative errno. */
static int perform(struct kube *kube, enum kube_verb verb, const char *path, const char *body,
		   unsigned timeout_ms, struct strbuf *answer, struct error *err)
{
	const char *mark = strchr(path, '?') ? "&" : "?";
	cleanup_free char *url = NULL;
	struct curl_slist *headers = NULL;
	const struct curl *curl = kube->curl;
	CURL *handle = kube->handle;
	long status = 0;
	CURLcode code;

	url = verb == KUBE_APPLY ? xasprintf("%s%s%sfieldManager=manykube&force=true", kube->server,
					     path, mark)
				 : xasprintf("%s%s", kube->server, path);
	/* Resets the options but keeps the connection. */
	curl->easy_reset(handle);
	(void)curl->easy_setopt(handle, CURLOPT_URL, url);
	(void)curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	(void)curl->easy_setopt(handle, CURLOPT_PROXY, "");
	(void)curl->easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	(void)curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_body);
	(void)curl->easy_setopt(handle, CURLOPT_WRITEDATA, answer);
	set_blob(kube, CURLOPT_CAINFO_BLOB, kube->ca);
	set_blob(kube, CURLOPT_SSLCERT_BLOB, kube->cert);
	set_blob(kube, CURLOPT_SSLKEY_BLOB, kube->key);
	set_verb(kube, verb, &headers);
	if (body) {
		(void)curl->easy_setopt(handle, CURLOPT_POSTFIELDS, body);
		(void)curl->easy_setopt(handle, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
	}
	code = curl->easy_perform(handle);
	curl->slist_free_all(headers);
	if (code == CURLE_OPERATION_TIMEDOUT)
		return error_set(err, -ETIMEDOUT, "the API did not answer in time");
	if (code != CURLE_OK)
		return error_set(err, -ECONNREFUSED, "cannot reach the API at '%s': %s",
				 kube->server, curl->easy_strerror(code));
	(void)curl->easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
	return (int)status;
}

static int code_of(int status)
{
	switch (status) {
	case 404:
		return -ENOENT;
	case 409:
		return -EEXIST;
	/* Not -EACCES, which callers take for an error of a file. */
	case 401:
		return -EKEYREJECTED;
	case 403:
		return -EPERM;
	case 429:
		return -EAGAIN;
	default:
		return status >= 500 ? -EAGAIN : -EBADMSG;
	}
}

static void log_answer(enum kube_verb verb, const char *path, int status)
{
	cleanup_free char *words = status < 0 ? xstrdup(strerror(-status))
					      : xasprintf("%d", status);

	if (verb == KUBE_GET || verb == KUBE_TABLE)
		log_debug_look("API: %s %s: %s", methods[verb], path, words);
	else
		log_debug("API: %s %s: %s", methods[verb], path, words);
}

/* At least as many as there are values in TEXT.  An API server of a hostile node may send nothing
 * but those. */
static size_t count_values(const struct strbuf *text)
{
	size_t count = 0;

	for (size_t i = 0; i < text->len; i++)
		count += text->text[i] == ',' || text->text[i] == '{' || text->text[i] == '[';
	return count;
}

int kube_request(struct kube *kube, enum kube_verb verb, const char *path, const json_t *body,
		 unsigned timeout_ms, json_t **ret_answer, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *sent = body ? json_dumps(body, JSON_COMPACT) : NULL;
	json_auto_t *answer = NULL;
	int status;

	status = perform(kube, verb, path, sent, timeout_ms, &text, err);
	log_answer(verb, path, status);
	if (status < 0)
		return status;
	if (count_values(&text) > VALUES_LIMIT)
		return error_set(err, -EBADMSG, "the API's answer to '%s' is too large", path);
	answer = json_loadb(text.text, text.len, 0, NULL);
	if (status >= 300) {
		const char *message = json_string_value(json_object_get(answer, "message"));

		return error_set(err, code_of(status), "the API refused '%s' (%d): %.*s", path,
				 status, WORDS_MOST, message ? message : "no reason given");
	}
	if (ret_answer)
		*ret_answer = take_ptr(answer);
	return 0;
}

int kube_check(struct kube *kube, const char *path, unsigned timeout_ms)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int status = perform(kube, KUBE_GET, path, NULL, timeout_ms, &text, NULL);

	return status < 0 ? status : status == 200 ? 0 : -EIO;
}

bool kube_is_ok(struct kube *kube, const char *path, unsigned timeout_ms)
{
	return kube_check(kube, path, timeout_ms) == 0;
}

const json_t *kube_find_object(const json_t *list, const char *name)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(list, "items"), i, item) {
		const char *other = json_string_value(
			json_object_get(json_object_get(item, "metadata"), "name"));

		if (other && strcmp(other, name) == 0)
			return item;
	}
	return NULL;
}

bool kube_node_is_ready(const json_t *node)
{
	const json_t *conditions = json_object_get(json_object_get(node, "status"), "conditions");
	size_t i;
	json_t *condition;

	json_array_foreach(conditions, i, condition) {
		const char *type = json_string_value(json_object_get(condition, "type"));
		const char *status = json_string_value(json_object_get(condition, "status"));

		if (type && status && strcmp(type, "Ready") == 0)
			return strcmp(status, "True") == 0;
	}
	return false;
}
