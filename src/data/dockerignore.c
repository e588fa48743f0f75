/*
 * .dockerignore, as github.com/moby/patternmatcher reads it, with its peculiarities: a pattern that
 * only begins or ends with "**" is compared as a suffix or as a prefix, all others are expressions.
 */

#include "data/dockerignore.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/strlist.h"

#define PATTERN_LIMIT  4096u
#define PATTERNS_LIMIT 10000u

#define BLANKS " \t\r\v\f"

enum step_type {
	STEP_CHARACTER,
	STEP_ANY,   /* '?': any character but '/' */
	STEP_STAR,  /* '*': any number of these */
	STEP_CLASS, /* "[a-z]" */
	STEP_DEEP,  /* "**" with or without a slash: nothing, or any characters and a '/'.  Followed
		       by */
	STEP_DEEPER, /* the state inside of these characters */
	STEP_REST,   /* "**" at the end: any characters */
};

struct step {
	enum step_type type;
	unsigned character;
	const char *class; /* in the pattern's text, after '[' */
};

enum pattern_type {
	PATTERN_EXACT,
	PATTERN_PREFIX,
	PATTERN_SUFFIX,
	PATTERN_STEPS,
};

struct dockerignore_pattern {
	bool is_exception;
	enum pattern_type type;
	char *text;
	struct step *steps; /* for PATTERN_STEPS */
	size_t step_count;
};

/* The character at *P, which is moved behind it; a byte that is not UTF-8 is a character itself. */
static unsigned next_character(const char **p)
{
	const unsigned char *bytes = (const unsigned char *)*p;
	unsigned more = bytes[0] >= 0xf0 ? 3 : bytes[0] >= 0xe0 ? 2 : bytes[0] >= 0xc0 ? 1 : 0;
	unsigned value = more ? bytes[0] & (0x3fu >> more) : bytes[0];

	for (unsigned i = 1; i <= more; i++) {
		if ((bytes[i] & 0xc0) != 0x80) {
			/* Beyond Unicode, so that it equals no character. */
			*p += 1;
			return 0x110000u + bytes[0];
		}
		value = value << 6 | (bytes[i] & 0x3fu);
	}
	*p += more + 1;
	return value;
}

/* An end of a range in a class; false if there is none. */
static bool take_member(const char **p, unsigned *ret)
{
	if (**p == '\\')
		(*p)++;
	else if (**p == '-' || **p == ']')
		return false;
	if (!**p)
		return false;
	*ret = next_character(p);
	return true;
}

/* Read the class at *P, behind its '[', and move *P behind its ']'; false if it is wrong. RET_HAS:
 * whether CHARACTER is one of it. */
static bool take_class(const char **p, unsigned character, bool *ret_has)
{
	bool is_negated = **p == '^';
	bool has = false;

	*p += is_negated;
	for (unsigned ranges = 0; ranges == 0 || **p != ']'; ranges++) {
		unsigned low, high;

		if (!take_member(p, &low))
			return false;
		high = low;
		if (**p == '-') {
			(*p)++;
			if (!take_member(p, &high))
				return false;
		}
		if (low > high)
			return false;
		has |= low <= character && character <= high;
	}
	(*p)++;
	*ret_has = has != is_negated;
	return true;
}

static void add_step(struct dockerignore_pattern *pattern, enum step_type type, unsigned character,
		     const char *class)
{
	pattern->steps[pattern->step_count++] = (struct step){ .type = type,
							       .character = character,
							       .class = class };
}

/* "**" whose second asterisk is before *P; AT_BEGIN: there is nothing before it. */
static void add_deep(struct dockerignore_pattern *pattern, const char **p, bool at_begin)
{
	*p += **p == '/';
	if (**p) {
		add_step(pattern, STEP_DEEP, 0, NULL);
		add_step(pattern, STEP_DEEPER, 0, NULL);
		pattern->type = PATTERN_STEPS;
	} else if (pattern->type == PATTERN_EXACT) {
		pattern->type = PATTERN_PREFIX;
	} else {
		add_step(pattern, STEP_REST, 0, NULL);
		pattern->type = PATTERN_STEPS;
	}
	if (at_begin)
		pattern->type = PATTERN_SUFFIX;
}

/* Find out what PATTERN's text means; false if its syntax is wrong. */
static bool compile_pattern(struct dockerignore_pattern *pattern)
{
	const char *p = pattern->text;

	/* "**" is two characters and two steps. */
	pattern->steps = xcalloc(strlen(p) + 1, sizeof(*pattern->steps));
	while (*p) {
		const char *begin = p;
		unsigned character = next_character(&p);
		bool has;

		if (character == '*' && *p == '*') {
			p++;
			add_deep(pattern, &p, begin == pattern->text);
			continue;
		}
		if (character == '[') {
			add_step(pattern, STEP_CLASS, 0, p);
			if (!take_class(&p, 0, &has))
				return false;
		} else if (character == '*') {
			add_step(pattern, STEP_STAR, 0, NULL);
		} else if (character == '?') {
			add_step(pattern, STEP_ANY, 0, NULL);
		} else {
			bool is_escaped = character == '\\';

			if (is_escaped && !*p)
				return false;
			if (is_escaped)
				character = next_character(&p);
			add_step(pattern, STEP_CHARACTER, character, NULL);
			if (!is_escaped && character != ']')
				continue;
		}
		pattern->type = PATTERN_STEPS;
	}
	return true;
}

/* Mark in STATES all steps that are reached from the marked ones without a character. */
static void reach_more(const struct dockerignore_pattern *pattern, bool *states)
{
	for (size_t i = 0; i < pattern->step_count; i++) {
		enum step_type type = pattern->steps[i].type;

		if (!states[i])
			continue;
		if (type == STEP_STAR || type == STEP_REST || type == STEP_DEEP)
			states[i + 1] = true;
		if (type == STEP_DEEP)
			states[i + 2] = true;
	}
}

/* Mark in NEXT what is reached from step I by CHARACTER. */
static void take_step(const struct dockerignore_pattern *pattern, size_t i, unsigned character,
		      bool *next)
{
	const struct step *step = &pattern->steps[i];
	const char *class = step->class;
	bool has = false;

	switch (step->type) {
	case STEP_CHARACTER:
		next[i + 1] |= step->character == character;
		break;
	case STEP_ANY:
		next[i + 1] |= character != '/';
		break;
	case STEP_STAR:
		next[i] |= character != '/';
		break;
	case STEP_CLASS:
		(void)take_class(&class, character, &has);
		next[i + 1] |= has;
		break;
	case STEP_DEEP:
		break;
	case STEP_DEEPER:
		next[i] = true;
		next[i + 1] |= character == '/';
		break;
	case STEP_REST:
		next[i] = true;
		break;
	}
}

/* All ways through the steps at once, so the time is that of their number and the path's length. */
static bool match_steps(const struct dockerignore_pattern *pattern, const char *path)
{
	size_t count = pattern->step_count + 1;
	cleanup_free bool *states = xcalloc(count, sizeof(bool));
	cleanup_free bool *next = xcalloc(count, sizeof(bool));

	states[0] = true;
	reach_more(pattern, states);
	while (*path) {
		unsigned character = next_character(&path);
		bool *swap = states;

		memset(next, 0, count * sizeof(bool));
		for (size_t i = 0; i < pattern->step_count; i++)
			if (states[i])
				take_step(pattern, i, character, next);
		reach_more(pattern, next);
		states = next;
		next = swap;
	}
	return states[pattern->step_count];
}

static bool match_suffix(const char *path, const char *suffix)
{
	size_t len = strlen(path);
	size_t suffix_len = strlen(suffix);

	return (len >= suffix_len && strcmp(path + len - suffix_len, suffix) == 0) ||
	       (*suffix == '/' && strcmp(path, suffix + 1) == 0);
}

static bool match_pattern(const struct dockerignore_pattern *pattern, const char *path)
{
	switch (pattern->type) {
	case PATTERN_EXACT:
		return strcmp(path, pattern->text) == 0;
	case PATTERN_PREFIX:
		return strncmp(path, pattern->text, strlen(pattern->text) - 2) == 0;
	case PATTERN_SUFFIX:
		return match_suffix(path, pattern->text + 2);
	case PATTERN_STEPS:
		return match_steps(pattern, path);
	}
	return false;
}

static bool match_parents(const struct dockerignore_pattern *pattern, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		cleanup_free char *parent = xstrndup(path, (size_t)(slash - path));

		if (match_pattern(pattern, parent))
			return true;
	}
	return false;
}

bool dockerignore_match(const struct dockerignore *ignore, const char *path, const bool *above,
			bool *ret_matched)
{
	bool is_ignored = false;

	for (size_t i = 0; i < ignore->count; i++) {
		const struct dockerignore_pattern *pattern = &ignore->patterns[i];
		bool matches = above && above[i];

		/* Docker, too, does not look at patterns that would change nothing here; what is in
		 * this directory then knows nothing of them. */
		if (!matches && pattern->is_exception == is_ignored)
			matches = match_pattern(pattern, path) ||
				  (!above && match_parents(pattern, path));
		ret_matched[i] = matches;
		if (matches)
			is_ignored = !pattern->is_exception;
	}
	return is_ignored;
}

bool dockerignore_excepts_below(const struct dockerignore *ignore, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < ignore->count; i++) {
		const struct dockerignore_pattern *pattern = &ignore->patterns[i];

		if (pattern->is_exception &&
		    (pattern->type != PATTERN_EXACT ||
		     (strncmp(pattern->text, path, len) == 0 && pattern->text[len] == '/')))
			return true;
	}
	return false;
}

/* Remove the last component of OUT, unless there is none to remove. */
static bool drop_component(struct strbuf *out, size_t root)
{
	const char *slash = strrchr(out->text + root, '/');
	size_t begin = slash ? (size_t)(slash - out->text) : root;
	const char *last = slash ? slash + 1 : out->text + root;

	if (out->len == root || strcmp(last, "..") == 0)
		return false;
	out->len = begin;
	out->text[begin] = '\0';
	return true;
}

static void trim_end(char *text)
{
	for (size_t end = strlen(text); end > 0 && strchr(BLANKS, text[end - 1]); end--)
		text[end - 1] = '\0';
}

/* PATH without needless slashes, "." and "..", as Go's filepath.Clean() makes it; for the caller to
 * free. */
static char *clean_path(const char *path)
{
	cleanup_with(strbuf_release) struct strbuf out = STRBUF_INIT;
	cleanup_with(strlist_release) struct strlist parts = STRLIST_INIT;
	size_t root = *path == '/';
	const char *part;

	strlist_split(&parts, path, '/');
	if (root)
		strbuf_add_char(&out, '/');
	strlist_for_each(part, &parts) {
		if (strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") == 0 && (drop_component(&out, root) || root))
			continue;
		strbuf_addf(&out, "%s%s", out.len > root ? "/" : "", part);
	}
	return out.len > 0 ? strbuf_take(&out) : xstrdup(".");
}

/* The pattern in LINE as a clean path; "" if nothing is left of it.  For the caller to free. */
static char *clean_pattern(const char *line, bool is_exception)
{
	cleanup_free char *path = clean_path(line);
	char *begin = path + (path[0] == '/' && path[1]);

	/* Docker removes blanks once more. */
	begin += is_exception ? 0 : strspn(begin, BLANKS);
	trim_end(begin);
	return *begin && !(is_exception && strcmp(begin, "/") == 0) ? clean_path(begin)
								    : xstrdup("");
}

static void pattern_release(struct dockerignore_pattern *pattern)
{
	free(pattern->text);
	free(pattern->steps);
}

static int add_pattern(struct dockerignore *ignore, const char *line, struct error *err)
{
	struct dockerignore_pattern pattern = { .is_exception = *line == '!' };

	line += pattern.is_exception;
	line += strspn(line, BLANKS);
	if (!*line)
		return error_set(err, -EINVAL, "'!' without a pattern");
	if (ignore->count == PATTERNS_LIMIT || strlen(line) > PATTERN_LIMIT)
		return error_set(err, -EINVAL,
				 "more than %u patterns, or one of more than %u bytes",
				 PATTERNS_LIMIT, PATTERN_LIMIT);
	pattern.text = clean_pattern(line, pattern.is_exception);
	/* "/!a" makes an exception, too, in Docker. */
	if (!pattern.is_exception && *pattern.text == '!') {
		pattern.is_exception = true;
		memmove(pattern.text, pattern.text + 1, strlen(pattern.text));
	}
	if (!*pattern.text) {
		pattern_release(&pattern);
		return pattern.is_exception ? error_set(err, -EINVAL, "'!' without a pattern") : 0;
	}
	if (!compile_pattern(&pattern)) {
		pattern_release(&pattern);
		return error_set(err, -EINVAL, "the syntax of the pattern '%s' is wrong", line);
	}
	ignore->patterns = xrealloc(ignore->patterns, ignore->count + 1, sizeof(pattern));
	ignore->patterns[ignore->count++] = pattern;
	return 0;
}

int dockerignore_parse(const char *shown, const char *text, size_t len, struct dockerignore *ret,
		       struct error *err)
{
	cleanup_with(dockerignore_release) struct dockerignore ignore = DOCKERIGNORE_INIT;
	cleanup_free char *copy = xstrndup(text, len);
	char *rest = copy;
	char *line;
	unsigned number = 0;

	if (strncmp(rest, "\xef\xbb\xbf", 3) == 0)
		rest += 3;
	while ((line = strsep(&rest, "\n"))) {
		number++;
		if (*line == '#')
			continue;
		line += strspn(line, BLANKS);
		trim_end(line);
		if (*line) {
			int r = add_pattern(&ignore, line, err);

			if (r < 0)
				return error_prefix(err, r, "%s:%u", shown, number);
		}
	}
	*ret = ignore;
	ignore = DOCKERIGNORE_INIT;
	return 0;
}

void dockerignore_release(struct dockerignore *ignore)
{
	for (size_t i = 0; i < ignore->count; i++)
		pattern_release(&ignore->patterns[i]);
	free(ignore->patterns);
	*ignore = DOCKERIGNORE_INIT;
}
