/*
 * Removing secrets from text.
 *
 * Works on any text, including YAML, JSON and logs, by the form of secrets and by the words before
 * them.  Removing too much does less harm than leaving a secret in.
 */

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "look/bundle.h"

#define HIDDEN "REDACTED"

#define SHORT_VALUE 8

/* The values of these keys are secrets. */
static const char *const keys[] = {
	"token",        "client-key-data", "clientKeyData",     "password",      "passwd",
	"token-secret", "certificateKey",  "access_token",      "id_token",      "refresh_token",
	"bearerToken",  "privateKey",      "private-key",       "encryptionKey", "secret",
	"secretKey",    "secret-key",      "tlsBootstrapToken", "access_key",    "access-key",
	"accessKey",    "api_key",         "api-key",           "apiKey",        "certificate-key",
};

/* A secret follows these words. */
static const char *const schemes[] = { "Bearer ", "Bearer%20", "Authorization: Basic " };

/* The same, up to the end of the line. */
static const char *const headers[] = { "Cookie: ", "Cookie2: " };

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_base64(char c)
{
	return isalnum((unsigned char)c) || c == '+' || c == '/' || c == '=' || c == '-' ||
	       c == '_';
}

static bool begins(const char *text, const char *end, const char *with)
{
	size_t len = strlen(with);

	return (size_t)(end - text) >= len && memcmp(text, with, len) == 0;
}

/* Each of these functions returns how many bytes at AT are a secret, 0 if none. */

static size_t private_key(const char *at, const char *end)
{
	static const char stop[] = "-----END";
	const char *kind;
	const char *last;

	if (!begins(at, end, "-----BEGIN "))
		return 0;
	kind = memmem(at + 10, (size_t)(end - at - 10), "-----", 5);
	if (kind && !memmem(at, (size_t)(kind - at), "PRIVATE KEY", 11))
		return 0;
	last = memmem(at, (size_t)(end - at), stop, strlen(stop));
	last = last ? memmem(last + strlen(stop), (size_t)(end - last) - strlen(stop), "-----", 5)
		    : NULL;
	/* A key without an end marker extends to the end of the text. */
	return (size_t)(last ? last + 5 - at : end - at);
}

/* A PEM block in base64, unless it is a certificate. */
static size_t encoded_key(const char *at, const char *end)
{
	const char *p = at;

	if (!begins(at, end, "LS0tLS1CRUdJTi") || begins(at, end, "LS0tLS1CRUdJTiBDRVJUSUZJQ0FUR"))
		return 0;
	while (p < end && is_base64(*p))
		p++;
	return (size_t)(p - at);
}

/* A token cannot begin before *NOT_BEFORE, so that no byte is examined twice. */
static size_t web_token(const char *at, const char *end, const char **not_before)
{
	unsigned dots = 0;
	const char *p = at;

	if (at < *not_before || !begins(at, end, "eyJ"))
		return 0;
	for (; p < end && (is_base64(*p) || *p == '.'); p++)
		dots += *p == '.';
	if (dots >= 2)
		return (size_t)(p - at);
	/* A shorter suffix of the same bytes has no more dots. */
	*not_before = p;
	return 0;
}

/* The "name:password" of a URL, after "://". */
static size_t url_password(const char *at, const char *end)
{
	const char *p = at + 3;

	if (!begins(at, end, "://"))
		return 0;
	while (p < end && (isgraph((unsigned char)*p) && !strchr("/?#\"'<>@", *p)))
		p++;
	return p < end && *p == '@' && memchr(at + 3, ':', (size_t)(p - at - 3))
		       ? (size_t)(p - at - 3)
		       : 0;
}

static size_t bootstrap_token(const char *at, const char *end)
{
	for (size_t i = 0; i < 23; i++) {
		if (at + i >= end)
			return 0;
		if (i == 6 ? at[i] != '.'
			   : !(islower((unsigned char)at[i]) || isdigit((unsigned char)at[i])))
			return 0;
	}
	return at + 23 < end && is_word(at[23]) ? 0 : 23;
}

static const char *skip(const char *at, const char *end, const char *set)
{
	while (at < end && *at && strchr(set, *at))
		at++;
	return at;
}

static bool begins_with_word(const char *at, const char *end, const char *word)
{
	size_t len = strlen(word);

	return (size_t)(end - at) > len && strncasecmp(at, word, len) == 0;
}

/* The text after the one of COUNT WORDS that AT begins with; NULL if it begins with none. */
static const char *behind_word(const char *at, const char *end, const char *const *words,
			       size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (begins_with_word(at, end, words[i]))
			return at + strlen(words[i]);
	return NULL;
}

/* The value of the key at AT: "key: value", "key=value" and, for an OPTION, also "--key value". */
static const char *behind_key(const char *at, const char *end, bool option)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *after = at + strlen(keys[i]);
		const char *p;

		if (!begins_with_word(at, end, keys[i]))
			continue;
		p = skip(skip(after, end, "\\\"'"), end, " \t");
		if (p < end && (*p == ':' || *p == '='))
			return skip(skip(p + 1, end, " \t"), end, "\\\"'");
		if (option && p > after && p < end)
			return skip(p, end, "\\\"'");
	}
	return NULL;
}

/* The value of a header, up to the end of the line. */
static size_t header_secret(const char *at, const char *end, const char **ret_value)
{
	const char *value = behind_word(at, end, headers, ARRAY_SIZE(headers));
	const char *p = value;

	if (!value)
		return 0;
	while (p < end && *p && !strchr("\n\r\"'\\", *p))
		p++;
	*ret_value = value;
	return (size_t)(p - value);
}

/* The value after a key or a scheme; RET_VALUE is where it begins.  OPTION: the key follows two
 * dashes. */
static size_t named_secret(const char *at, const char *end, bool option, const char **ret_value)
{
	const char *value = behind_word(at, end, schemes, ARRAY_SIZE(schemes));
	const char *p;
	char quote;

	if (!value)
		value = behind_key(at, end, option);
	if (!value)
		return 0;
	/* In quotes, the value extends to the closing quote; else it is a word. */
	quote = value > at && (value[-1] == '"' || value[-1] == '\'') ? value[-1] : '\0';
	for (p = value; p < end && *p && *p != '\n' && *p != '\\'; p++)
		if (quote ? *p == quote : isspace((unsigned char)*p) || strchr("\"',{}[]", *p))
			break;
	*ret_value = value;
	return (size_t)(p - value);
}

void bundle_redact(const char *text, size_t len, struct strbuf *out)
{
	const char *end = text + len;
	const char *kept = text; /* everything before it is in OUT */
	const char *no_token = text;

	for (const char *at = text; at < end;) {
		bool begins_word = at == text || !is_word(at[-1]);
		/* Also the last parts of a name: AWS_SECRET_ACCESS_KEY. */
		bool begins_part = begins_word || at[-1] == '_';
		bool option = at - text >= 2 && at[-1] == '-' && at[-2] == '-';
		const char *value = at;
		size_t hidden = private_key(at, end);

		if (!hidden && *at == ':') {
			hidden = url_password(at, end);
			value = at + (hidden ? 3 : 0);
		}
		if (!hidden && begins_word && is_word(*at)) {
			hidden = encoded_key(at, end);
			if (!hidden)
				hidden = web_token(at, end, &no_token);
			if (!hidden)
				hidden = bootstrap_token(at, end);
			if (!hidden)
				hidden = header_secret(at, end, &value);
		}
		if (!hidden && begins_part && is_word(*at))
			hidden = named_secret(at, end, option, &value);
		if (!hidden) {
			at++;
			continue;
		}
		strbuf_add_mem(out, kept, (size_t)(value - kept));
		strbuf_add(out, HIDDEN);
		at = kept = value + hidden;
	}
	strbuf_add_mem(out, kept, (size_t)(end - kept));
}

/* Add VALUE and, if it has characters that must be escaped in quotes, its escaped form. */
static void add_value(struct strlist *ret, const char *before, const char *value)
{
	cleanup_with(strbuf_release) struct strbuf quoted = STRBUF_INIT;

	for (const char *p = value; *p; p++)
		strbuf_addf(&quoted, "%s%c", *p == '"' || *p == '\\' ? "\\" : "", *p);
	strlist_addf(ret, "%s%s", before, value);
	if (strcmp(quoted.text, value) != 0)
		strlist_addf(ret, "%s%s", before, quoted.text);
}

static void add_values(const struct strlist *variables, struct strlist *ret)
{
	const char *word;

	strlist_for_each(word, variables) {
		const char *value = word + strcspn(word, "=") + 1;
		cleanup_free char *name = xstrndup(word, (size_t)(value - word));

		if (!value[-1] || !*value)
			continue;
		/*
		 * A short value may occur in other words, so it is hidden only after its own name.
		 */
		add_value(ret, strlen(value) < SHORT_VALUE ? name : "", value);
	}
}

void bundle_find_values(const struct profile *profile, struct strlist *ret)
{
	const struct node *node;

	add_values(&profile->env, ret);
	add_values(&profile->docker_env, ret);
	profile_for_each_node(node, profile) {
		add_values(&node->env, ret);
		add_values(&node->docker_env, ret);
	}
}

void bundle_hide(struct strbuf *text, const struct strlist *values)
{
	const char *value;

	strlist_for_each(value, values) {
		cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
		const char *end = text->text + text->len;
		const char *kept = text->text;
		const char *at;
		size_t len = strlen(value);

		while (len > 0 && (at = memmem(kept, (size_t)(end - kept), value, len))) {
			strbuf_add_mem(&out, kept, (size_t)(at - kept));
			strbuf_add(&out, HIDDEN);
			kept = at + len;
		}
		if (kept == text->text)
			continue;
		strbuf_add_mem(&out, kept, (size_t)(end - kept));
		strbuf_release(text);
		*text = out;
		out = STRBUF_INIT;
	}
}
