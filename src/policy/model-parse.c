/* Parsing the network policies of one node.  The text comes from a process that is not trusted. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "policy/model.h"

/* A line of a group names its chains. */
#define WORDS_MOST (POLICY_GROUP_MOST + 1)
#define COUNT_MOST (POLICY_WORDS_MOST + 2)

/* What a line that begins with a space belongs to. */
enum section {
	SECTION_NONE,
	SECTION_SET,
	SECTION_TARGETS,
	SECTION_CHAIN
};

struct parser {
	struct policy_model *model;
	enum section section;
	char **words;
	size_t count;
};

static bool is_word(const struct parser *parser, size_t place, const char *word)
{
	return place < parser->count && strcmp(parser->words[place], word) == 0;
}

static bool read_number(const char *word, size_t most, unsigned *ret)
{
	unsigned long long number;

	if (parse_number(word, 0, most, &number, NULL) < 0)
		return false;
	*ret = (unsigned)number;
	return true;
}

/* An index below COUNT, or "*". */
static bool read_index(const char *word, size_t count, int *ret)
{
	unsigned number;

	*ret = POLICY_NONE;
	if (strcmp(word, "*") == 0)
		return true;
	if (count == 0 || !read_number(word, count - 1, &number))
		return false;
	*ret = (int)number;
	return true;
}

static bool read_protocol(const char *word, enum policy_protocol *ret)
{
	static const char *const words[] = { "tcp", "udp", "sctp", "*" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(word, words[i]) == 0) {
			*ret = (enum policy_protocol)i;
			return true;
		}
	return false;
}

static bool read_direction(const char *word, enum policy_direction *ret)
{
	*ret = strcmp(word, "egress") == 0 ? POLICY_EGRESS : POLICY_INGRESS;
	return *ret == POLICY_EGRESS || strcmp(word, "ingress") == 0;
}

static bool read_range(const char *const *words, struct policy_ranges *to)
{
	struct policy_range range;

	if (!policy_address_parse(words[0], &range.first) ||
	    !policy_address_parse(words[1], &range.last) ||
	    range.first.family != range.last.family ||
	    policy_address_compare(&range.first, &range.last) > 0)
		return false;
	policy_ranges_add(to, &range);
	return true;
}

static bool read_target(struct parser *parser)
{
	struct policy_model *model = parser->model;
	struct policy_target target;

	if (parser->count != 3 || !policy_address_parse(parser->words[0], &target.address) ||
	    !read_protocol(parser->words[1], &target.protocol) ||
	    target.protocol == POLICY_PROTOCOLS ||
	    !read_number(parser->words[2], 65535, &target.port))
		return false;
	policy_targets_add(&model->targets[model->target_count - 1], &target);
	return true;
}

static bool read_allow(struct parser *parser)
{
	struct policy_model *model = parser->model;
	struct policy_allow allow = { .targets = POLICY_NONE,
				      .protocol = POLICY_PROTOCOLS,
				      .last = 65535 };

	if (parser->count < 3 || !read_index(parser->words[0], model->set_count, &allow.set))
		return false;
	if (is_word(parser, 1, "targets")) {
		if (parser->count != 3 ||
		    !read_index(parser->words[2], model->target_count, &allow.targets) ||
		    allow.targets == POLICY_NONE)
			return false;
	} else if (parser->count != 4 || !read_protocol(parser->words[1], &allow.protocol) ||
		   !read_number(parser->words[2], 65535, &allow.first) ||
		   !read_number(parser->words[3], 65535, &allow.last) || allow.first > allow.last ||
		   (allow.protocol == POLICY_PROTOCOLS &&
		    (allow.first != 0 || allow.last != 65535)))
		return false;
	policy_chain_add(&model->chains[model->chain_count - 1], &allow);
	return true;
}

/* A line that begins with a space. */
static bool read_member_line(struct parser *parser)
{
	struct policy_model *model = parser->model;

	switch (parser->section) {
	case SECTION_SET:
		return parser->count == 2 && read_range((const char *const *)parser->words,
							&model->sets[model->set_count - 1]);
	case SECTION_TARGETS:
		return read_target(parser);
	case SECTION_CHAIN:
		return read_allow(parser);
	default:
		return false;
	}
}

static bool read_group(struct parser *parser)
{
	struct policy_model *model = parser->model;
	int group = policy_model_add_group(model);

	for (size_t i = 1; i < parser->count; i++) {
		int chain;

		if (!read_index(parser->words[i], model->chain_count, &chain) ||
		    chain == POLICY_NONE)
			return false;
		policy_group_add(&model->groups[group], chain);
	}
	return true;
}

/* Whether all chains of GROUP (may be POLICY_NONE) are for DIRECTION. */
static bool is_for(const struct policy_model *model, int group, enum policy_direction direction)
{
	if (group == POLICY_NONE)
		return true;
	for (size_t i = 0; i < model->groups[group].count; i++)
		if (model->chains[model->groups[group].chains[i]].direction != direction)
			return false;
	return true;
}

static bool read_pod(struct parser *parser)
{
	struct policy_model *model = parser->model;
	struct policy_member member;

	if (parser->count != 4 || !policy_address_parse(parser->words[1], &member.address))
		return false;
	for (size_t way = 0; way < POLICY_DIRECTIONS; way++)
		if (!read_index(parser->words[2 + way], model->group_count, &member.groups[way]) ||
		    !is_for(model, member.groups[way], (enum policy_direction)way))
			return false;
	policy_model_add_member(model, &member);
	return true;
}

static bool read_line(struct parser *parser)
{
	struct policy_model *model = parser->model;
	enum policy_direction direction;

	parser->section = SECTION_NONE;
	if (is_word(parser, 0, "range") && parser->count == 3)
		return read_range((const char *const *)&parser->words[1], &model->ranges);
	if (is_word(parser, 0, "hold") && parser->count == 2) {
		if (!read_direction(parser->words[1], &direction))
			return false;
		model->hold[direction] = true;
		return true;
	}
	if (is_word(parser, 0, "set") && parser->count == 1) {
		(void)policy_model_add_set(model);
		parser->section = SECTION_SET;
		return true;
	}
	if (is_word(parser, 0, "targets") && parser->count == 1) {
		(void)policy_model_add_targets(model);
		parser->section = SECTION_TARGETS;
		return true;
	}
	if (is_word(parser, 0, "chain") && parser->count == 2) {
		if (!read_direction(parser->words[1], &direction))
			return false;
		(void)policy_model_add_chain(model, direction);
		parser->section = SECTION_CHAIN;
		return true;
	}
	if (is_word(parser, 0, "group"))
		return read_group(parser);
	return is_word(parser, 0, "pod") && read_pod(parser);
}

/* Split LINE in place; false if it has too many words. */
static bool split(struct parser *parser, char *line)
{
	parser->count = 0;
	while (*line) {
		size_t len = strcspn(line, " ");
		bool last = line[len] == '\0';

		if (len == 0 || parser->count == WORDS_MOST)
			return false;
		line[len] = '\0';
		parser->words[parser->count++] = line;
		line += len + !last;
		if (!last && !*line)
			return false;
	}
	return true;
}

static bool parse_lines(struct parser *parser, char *text, size_t len)
{
	size_t lines = 0;
	char *end;

	for (char *line = text; line < text + len; line = end + 1) {
		bool is_member = *line == ' ';

		end = strchr(line, '\n');
		if (!end || ++lines > COUNT_MOST)
			return false;
		*end = '\0';
		if (!split(parser, line + is_member) ||
		    !(is_member ? read_member_line(parser) : read_line(parser)))
			return false;
	}
	return true;
}

int policy_model_parse(const char *text, size_t len, struct policy_model *ret, struct error *err)
{
	struct policy_model model = POLICY_MODEL_INIT;
	cleanup_free char **words = xcalloc(WORDS_MOST, sizeof(*words));
	struct parser parser = { .model = &model, .words = words };
	cleanup_free char *copy = xstrndup(text, len);

	if (strlen(copy) != len || !parse_lines(&parser, copy, len) ||
	    policy_model_is_too_large(&model)) {
		policy_model_release(&model);
		return error_set(err, -EBADMSG, "the policies of a node are invalid");
	}
	*ret = model;
	return 0;
}
