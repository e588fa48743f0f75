/* The agent's configuration file. */

#include "agent/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX (AGENT_ARGUMENTS_MAX + 1)

static const unsigned default_grace_seconds = 5;
static const unsigned default_stop_seconds = 5;
static const unsigned first_stop_seconds = 3;

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Unquote the word at *P, which begins with a quote, in place; NULL if the closing quote is
 * missing. */
static char *quoted_word(char **p)
{
	char *begin = *p;
	char *to = begin;
	char *from = begin + 1;

	for (; *from && *from != '"'; from++) {
		if (*from == '\\' && (from[1] == '"' || from[1] == '\\'))
			from++;
		*to++ = *from;
	}
	if (*from != '"' || (from[1] && !is_blank(from[1])))
		return NULL;
	*to = '\0';
	*p = from + 1;
	return begin;
}

/* Split LINE into words; returns their number, or -1 and sets *RET_PROBLEM. */
static int split_words(char *line, char **words, const char **ret_problem)
{
	unsigned count = 0;

	for (;;) {
		while (is_blank(*line))
			line++;
		if (!*line || (count == 0 && *line == '#'))
			return (int)count;
		if (count == WORDS_MAX) {
			*ret_problem = "too many words";
			return -1;
		}
		if (*line == '"') {
			words[count] = quoted_word(&line);
			if (!words[count]) {
				*ret_problem = "a quote is not closed, or text follows it";
				return -1;
			}
		} else {
			words[count] = line;
			while (*line && !is_blank(*line))
				line++;
			if (*line)
				*line++ = '\0';
		}
		count++;
	}
}

static const char *set_seconds(const char *word, unsigned *ret)
{
	unsigned seconds = 0;

	for (const char *p = word; *p; p++) {
		if (*p < '0' || *p > '9' || p - word >= 5)
			return "not a number of seconds";
		seconds = seconds * 10 + (unsigned)(*p - '0');
	}
	if (!*word)
		return "not a number of seconds";
	*ret = seconds;
	return NULL;
}

static const char *add_service(struct agent_config *config, char *name)
{
	struct agent_service *service;

	if (config->count == AGENT_SERVICES_MAX)
		return "too many services";
	for (unsigned i = 0; i < config->count; i++)
		if (strcmp(config->services[i].name, name) == 0)
			return "there is another service of this name";
	/* The name is written to the state file, whose fields are separated by spaces. */
	if (!*name || strpbrk(name, " \t\r/"))
		return "the name of a service must be one word without '/'";
	service = &config->services[config->count];
	service->name = name;
	service->stop_seconds = config->count == 0 ? first_stop_seconds : default_stop_seconds;
	config->count++;
	return NULL;
}

static const char *set_path(char **field, char *path)
{
	if (path[0] != '/')
		return "a path must begin with '/'";
	*field = path;
	return NULL;
}

static const char *add_variables(struct agent_service *service, char **words, unsigned count)
{
	if (service->variable_count + count > AGENT_ARGUMENTS_MAX)
		return "too many variables";
	for (unsigned i = 0; i < count; i++) {
		if (words[i][0] == '=' || !strchr(words[i], '='))
			return "a variable must be NAME=VALUE";
		service->variables[service->variable_count++] = words[i];
	}
	return NULL;
}

/* Apply a statement to SERVICE; returns an error message or NULL. */
static const char *service_statement(struct agent_service *service, char **words, unsigned count)
{
	const char *key = words[0];

	if (strcmp(key, "command") == 0) {
		if (count < 2)
			return "'command' needs a program";
		memcpy(service->argv, words + 1, (count - 1) * sizeof(*words));
		service->argc = count - 1;
		service->argv[service->argc] = NULL;
		return set_path(&service->argv[0], words[1]);
	}
	if (strcmp(key, "environment") == 0)
		return add_variables(service, words + 1, count - 1);
	if (strcmp(key, "arguments-from") == 0) {
		if (count != 3)
			return "'arguments-from' needs a file and a name";
		service->arguments_name = words[2];
		return set_path(&service->arguments_file, words[1]);
	}
	if (count != 2)
		return "exactly one value is needed";
	if (strcmp(key, "log") == 0)
		return set_path(&service->log, words[1]);
	if (strcmp(key, "when") == 0)
		return set_path(&service->when, words[1]);
	if (strcmp(key, "needs") == 0)
		return set_path(&service->needs, words[1]);
	if (strcmp(key, "environment-from") == 0)
		return set_path(&service->environment_file, words[1]);
	if (strcmp(key, "stop-seconds") == 0)
		return set_seconds(words[1], &service->stop_seconds);
	return "unknown statement";
}

static const char *statement(struct agent_config *config, char **words, unsigned count)
{
	if (strcmp(words[0], "grace") == 0)
		return count == 2 ? set_seconds(words[1], &config->grace_seconds)
				  : "'grace' needs a number";
	if (strcmp(words[0], "service") == 0)
		return count == 2 ? add_service(config, words[1]) : "'service' needs a name";
	if (config->count == 0)
		return "this statement must follow 'service'";
	return service_statement(&config->services[config->count - 1], words, count);
}

static const char *parse_lines(struct agent_config *config, unsigned *line_number)
{
	char *words[WORDS_MAX];
	char *line = config->text;

	while (line) {
		char *end = strchr(line, '\n');
		const char *problem = NULL;
		int count;

		if (end)
			*end = '\0';
		++*line_number;
		count = split_words(line, words, &problem);
		if (count > 0)
			problem = statement(config, words, (unsigned)count);
		if (problem)
			return problem;
		line = end ? end + 1 : NULL;
	}
	for (unsigned i = 0; i < config->count; i++)
		if (config->services[i].argc == 0)
			return "a service has no command";
	return NULL;
}

int agent_config_parse(const char *text, size_t len, struct agent_config *ret,
		       const char **ret_problem, unsigned *ret_line)
{
	*ret_line = 0;
	memset(ret, 0, sizeof(*ret));
	ret->grace_seconds = default_grace_seconds;
	if (len > AGENT_CONFIG_MAX || memchr(text, '\0', len)) {
		*ret_problem = "not a text file, or too large";
		return -EINVAL;
	}
	ret->text = strndup(text, len);
	if (!ret->text) {
		*ret_problem = "out of memory";
		return -ENOMEM;
	}
	*ret_problem = parse_lines(ret, ret_line);
	if (*ret_problem) {
		agent_config_release(ret);
		return -EINVAL;
	}
	return 0;
}

void agent_config_release(struct agent_config *config)
{
	free(config->text);
	memset(config, 0, sizeof(*config));
}

unsigned agent_arguments_parse(char *text, const char *name, char **words, unsigned max)
{
	size_t len = strlen(name);
	char *line = text;
	unsigned count = 0;
	char *end;

	words[0] = NULL;
	while (line && (strncmp(line, name, len) != 0 || line[len] != '=')) {
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	if (!line)
		return 0;
	line += len + 1;
	line[strcspn(line, "\n")] = '\0';
	end = line + strlen(line);
	while (end > line && is_blank(end[-1]))
		*--end = '\0';
	if (end - line >= 2 && *line == '"' && end[-1] == '"') {
		end[-1] = '\0';
		line++;
	}
	while (count < max) {
		while (is_blank(*line))
			*line++ = '\0';
		if (!*line)
			break;
		words[count++] = line;
		while (*line && !is_blank(*line))
			line++;
	}
	if (*line)
		*line = '\0';
	words[count] = NULL;
	return count;
}

unsigned agent_environment_parse(char *text, char **variables, unsigned max)
{
	unsigned count = 0;

	for (char *line = text; line && count < max;) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		if (*line != '=' && strchr(line, '='))
			variables[count++] = line;
		line = end ? end + 1 : NULL;
	}
	return count;
}
