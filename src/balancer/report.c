/* Reports of the worker to the keeper. */

#include "balancer/report.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"

#define WORDS 4 /* the words of a line before the detail */

static bool is_printable(char c)
{
	return c >= ' ' && c <= '~';
}

void report_add(struct strbuf *report, const char *name, const char *address, bool healthy,
		int64_t since, const char *detail)
{
	strbuf_addf(report, "%s %s %s %lld ", name, address, healthy ? "up" : "down",
		    (long long)since);
	for (size_t i = 0; detail[i] && i < REPORT_DETAIL_MAX; i++)
		strbuf_add_char(report, is_printable(detail[i]) ? detail[i] : '?');
	strbuf_add_char(report, '\n');
}

static json_t *backend_to_json(const struct balancer_backend *backend, bool healthy, int64_t since,
			       const char *detail)
{
	return json_pack("{s:s, s:s, s:b, s:I, s:s}", "name", backend->name, "address",
			 backend->address, "healthy", healthy, "since", (json_int_t)since, "detail",
			 detail);
}

json_t *report_unknown(const struct balancer_config *config, const char *detail)
{
	int64_t now = clock_wall_seconds();
	json_t *backends = json_array();

	for (size_t i = 0; i < config->backend_count; i++)
		(void)json_array_append_new(
			backends, backend_to_json(&config->backends[i], false, now, detail));
	return backends;
}

/* Split LINE into its words; the detail is the last one. */
static bool split_line(char *line, char *words[WORDS + 1])
{
	for (size_t i = 0; line[i]; i++)
		if (!is_printable(line[i]))
			return false;
	for (int i = 0; i < WORDS; i++) {
		char *space = strchr(line, ' ');

		if (!space || space == line)
			return false;
		*space = '\0';
		words[i] = line;
		line = space + 1;
	}
	words[WORDS] = line;
	return strlen(line) <= REPORT_DETAIL_MAX;
}

static size_t find_backend(const struct balancer_config *config, const char *name,
			   const char *address)
{
	size_t i = 0;

	while (i < config->backend_count && (strcmp(config->backends[i].name, name) != 0 ||
					     strcmp(config->backends[i].address, address) != 0))
		i++;
	return i;
}

/* Store LINE in BACKENDS; SEEN marks the backends that had a line. */
static int read_line(char *line, const struct balancer_config *config, json_t *backends, bool *seen,
		     struct error *err)
{
	char *words[WORDS + 1];
	unsigned long long since;
	bool healthy;
	size_t at;

	if (!split_line(line, words))
		return error_set(err, -EBADMSG, "its report has an invalid line");
	healthy = strcmp(words[2], "up") == 0;
	if ((!healthy && strcmp(words[2], "down") != 0) ||
	    parse_number(words[3], 0, INT32_MAX * 16ull, &since, NULL) < 0)
		return error_set(err, -EBADMSG, "its report has an invalid line");
	at = find_backend(config, words[0], words[1]);
	if (at == config->backend_count)
		return error_set(err, -ESTALE, "its report is about other backends");
	if (seen[at])
		return error_set(err, -EBADMSG, "its report has two lines for one backend");
	seen[at] = true;
	(void)json_array_set_new(
		backends, at,
		backend_to_json(&config->backends[at], healthy, (int64_t)since, words[WORDS]));
	return 0;
}

int report_parse(const char *text, size_t len, const struct balancer_config *config,
		 json_t **ret_backends, struct error *err)
{
	json_auto_t *backends = report_unknown(config, "not asked yet");
	cleanup_free bool *seen = xcalloc(config->backend_count + 1, sizeof(*seen));
	cleanup_free char *copy = NULL;
	char *line;

	if (len > REPORT_MAX || len < strlen(REPORT_BEGIN) || text[len - 1] != '\n' ||
	    memchr(text, '\0', len) || memcmp(text, REPORT_BEGIN, strlen(REPORT_BEGIN)) != 0)
		return error_set(err, -EBADMSG, "its report is invalid");
	copy = xstrndup(text, len);
	line = copy + strlen(REPORT_BEGIN);
	while (*line) {
		char *end = strchr(line, '\n');
		int r;

		*end = '\0';
		r = read_line(line, config, backends, seen, err);
		if (r < 0)
			return r;
		line = end + 1;
	}
	*ret_backends = json_incref(backends);
	return 0;
}
