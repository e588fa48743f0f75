/* The options of `image build`. */

#include "cmd/image-build-options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* What --build-opt accepts, and which member of struct build_options it sets. */
static const struct {
	const char *name;
	enum {
		SETS_FLAG,
		SETS_WORD,
		ADDS_WORD
	} kind;
	size_t offset;
} build_opts[] = {
	{ "add-host", ADDS_WORD, offsetof(struct build_options, hosts) },
	{ "build-arg", ADDS_WORD, offsetof(struct build_options, args) },
	{ "label", ADDS_WORD, offsetof(struct build_options, labels) },
	{ "network", SETS_WORD, offsetof(struct build_options, network) },
	{ "no-cache", SETS_FLAG, offsetof(struct build_options, no_cache) },
	{ "platform", SETS_WORD, offsetof(struct build_options, platform) },
	{ "pull", SETS_FLAG, offsetof(struct build_options, pull) },
	{ "tag", ADDS_WORD, offsetof(struct build_options, tags) },
	{ "target", SETS_WORD, offsetof(struct build_options, target) },
};

static int refuse_option(const char *opt, struct error *err)
{
	(void)error_because(err, &reason_usage, -EINVAL, "--build-opt=%s does not exist here", opt);
	return error_hint(
		err, -EINVAL,
		"there are add-host, build-arg, label, network, no-cache, platform, pull, "
		"tag and target; 'manykube docker-env' lets your docker client build "
		"with any option");
}

static int take_option(const char *opt, struct build_options *to, struct error *err)
{
	size_t len = strcspn(opt, "=");
	const char *value = opt[len] ? opt + len + 1 : NULL;

	for (size_t i = 0; i < ARRAY_SIZE(build_opts); i++) {
		void *member = (char *)to + build_opts[i].offset;

		if (strlen(build_opts[i].name) != len || strncmp(opt, build_opts[i].name, len) != 0)
			continue;
		if (build_opts[i].kind == SETS_FLAG) {
			*(bool *)member = !text_is(value, "false");
			return 0;
		}
		if (!value)
			return error_because(err, &reason_usage, -EINVAL,
					     "--build-opt=%s needs a value", opt);
		if (build_opts[i].kind == SETS_WORD)
			*(const char **)member = value;
		else
			strlist_add(member, value);
		return 0;
	}
	return refuse_option(opt, err);
}

int image_build_take_options(const struct strlist *opts, struct build_options *to,
			     struct error *err)
{
	const char *opt;
	int r = 0;

	strlist_for_each(opt, opts) {
		r = take_option(opt, to, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The value of NAME in VARIABLES or in the environment, or NULL. */
static const char *find_variable(const struct strlist *variables, const char *name)
{
	size_t len = strlen(name);

	/* The last one counts. */
	for (size_t i = variables->count; i-- > 0;)
		if (strncmp(variables->items[i], name, len) == 0 && variables->items[i][len] == '=')
			return variables->items[i] + len + 1;
	return getenv(name);
}

int image_build_take_variables(const struct strlist *variables, struct strlist *args,
			       struct error *err)
{
	for (size_t i = 0; i < variables->count; i++)
		if (*variables->items[i] == '=' || !strchr(variables->items[i], '='))
			return error_because(err, &reason_usage, -EINVAL,
					     "--build-env=%s is not NAME=VALUE",
					     variables->items[i]);
	for (size_t i = 0; i < args->count; i++) {
		const char *value = NULL;
		char *whole;

		if (!*args->items[i] || *args->items[i] == '=')
			return error_because(err, &reason_usage, -EINVAL,
					     "--build-arg=%s has no name", args->items[i]);
		if (!strchr(args->items[i], '='))
			value = find_variable(variables, args->items[i]);
		if (!value)
			continue;
		whole = xasprintf("%s=%s", args->items[i], value);
		free(args->items[i]);
		args->items[i] = whole;
	}
	return 0;
}

void image_build_complete_tags(const struct strlist *tags, struct strlist *ret)
{
	const char *tag;

	strlist_for_each(tag, tags) {
		const char *slash = strrchr(tag, '/');
		bool has_tag = strchr(slash ? slash : tag, ':') != NULL;

		strlist_addf(ret, "%s%s", tag, has_tag ? "" : ":latest");
	}
}

bool image_build_is_remote(const char *path)
{
	static const char *const prefixes[] = { "http://", "https://", "git://",
						"ssh://",  "git@",     "github.com/" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(path, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}
