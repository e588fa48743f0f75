/* Names of container images. */

#include "image/name.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "data/sha256.h"

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

#define NAME_MAX_BYTES 512
#define TAG_MAX_BYTES  128

#define DIGEST_PREFIX "sha256:"

/* A name in parts, each with its length; missing parts are empty. */
struct parts {
	const char *domain;
	size_t domain_len;
	const char *path;
	size_t path_len;
	const char *tag;
	size_t tag_len;
	const char *digest; /* without the prefix; NULL if there is none */
};

static bool is_made_of(const char *text, size_t len, const char *chars)
{
	return len > 0 && strspn(text, chars) >= len;
}

/* Whether the first component of a name is a domain: people write "user/app" for Docker's. */
static bool is_domain(const char *text, size_t len)
{
	return memchr(text, '.', len) || memchr(text, ':', len) ||
	       (len == strlen("localhost") && memcmp(text, "localhost", len) == 0);
}

static bool is_valid_domain(const char *text, size_t len)
{
	const char *colon = memrchr(text, ':', len);
	size_t host = len;

	if (colon && text[len - 1] != ']') {
		host = (size_t)(colon - text);
		if (!is_made_of(colon + 1, len - host - 1, DIGITS))
			return false;
	}
	if (host > 2 && text[0] == '[' && text[host - 1] == ']')
		return is_made_of(text + 1, host - 2, DIGITS "abcdefABCDEF:");
	return is_made_of(text, host, LOWER UPPER DIGITS ".-") && text[0] != '.' &&
	       text[0] != '-' && text[host - 1] != '.' && text[host - 1] != '-';
}

static bool is_valid_path(const char *text, size_t len)
{
	const char *end = text + len;

	while (text <= end) {
		const char *slash = memchr(text, '/', (size_t)(end - text));
		size_t part = (size_t)((slash ? slash : end) - text);

		if (!is_made_of(text, part, LOWER DIGITS "._-") ||
		    !is_made_of(text, 1, LOWER DIGITS) ||
		    !is_made_of(text + part - 1, 1, LOWER DIGITS))
			return false;
		text += part + 1;
	}
	return true;
}

static bool split_name(const char *text, struct parts *ret)
{
	size_t len = strcspn(text, "@");
	const char *slash;
	const char *colon;

	*ret = (struct parts){ .domain = "" };
	if (strlen(text) > NAME_MAX_BYTES)
		return false;
	if (text[len] == '@') {
		const char *digest = text + len + 1;

		if (strncmp(digest, DIGEST_PREFIX, strlen(DIGEST_PREFIX)) != 0)
			return false;
		ret->digest = digest + strlen(DIGEST_PREFIX);
		if (!sha256_is_hex(ret->digest))
			return false;
	}
	slash = memrchr(text, '/', len);
	colon = memrchr(text, ':', len);
	if (colon && (!slash || colon > slash)) {
		ret->tag = colon + 1;
		ret->tag_len = (size_t)(text + len - ret->tag);
		len = (size_t)(colon - text);
		if (ret->tag_len > TAG_MAX_BYTES || *ret->tag == '.' || *ret->tag == '-' ||
		    !is_made_of(ret->tag, ret->tag_len, LOWER UPPER DIGITS "_.-"))
			return false;
	}
	ret->path = text;
	ret->path_len = len;
	slash = memchr(text, '/', len);
	if (slash && is_domain(text, (size_t)(slash - text))) {
		ret->domain = text;
		ret->domain_len = (size_t)(slash - text);
		ret->path = slash + 1;
		ret->path_len = len - ret->domain_len - 1;
		if (!is_valid_domain(ret->domain, ret->domain_len))
			return false;
	}
	return is_valid_path(ret->path, ret->path_len);
}

static bool is_docker_domain(const struct parts *parts)
{
	return parts->domain_len == 0 ||
	       (parts->domain_len == 9 && memcmp(parts->domain, "docker.io", 9) == 0) ||
	       (parts->domain_len == 15 && memcmp(parts->domain, "index.docker.io", 15) == 0);
}

int image_name_complete(const char *text, char **ret, struct error *err)
{
	cleanup_free char *tag = NULL;
	struct parts parts;
	bool is_docker;

	if (!split_name(text, &parts))
		return error_because(err, &reason_usage, -EINVAL,
				     "'%s' is not the name of an image", text);
	is_docker = is_docker_domain(&parts);
	tag = parts.tag      ? xasprintf(":%.*s", (int)parts.tag_len, parts.tag)
	      : parts.digest ? xstrdup("")
			     : xstrdup(":latest");
	*ret = xasprintf("%.*s/%s%.*s%s%s%s", is_docker ? 9 : (int)parts.domain_len,
			 is_docker ? "docker.io" : parts.domain,
			 is_docker && !memchr(parts.path, '/', parts.path_len) ? "library/" : "",
			 (int)parts.path_len, parts.path, tag,
			 parts.digest ? "@" DIGEST_PREFIX : "", parts.digest ? parts.digest : "");
	return 0;
}

bool image_name_is_complete(const char *text)
{
	cleanup_free char *complete = NULL;

	return image_name_complete(text, &complete, NULL) == 0 && strcmp(complete, text) == 0;
}
