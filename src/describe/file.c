/* The file that describes a cluster. */

#include "describe/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/suggest.h"
#include "base/user.h"
#include "describe/file-read.h"
#include "record/options.h"

#define KIND_API_VERSION "kind.x-k8s.io/v1alpha4"

static const struct {
	const char *api_version;
	int (*read)(struct file_reader *reader, const struct yaml_value *root);
} formats[] = {
	{ FILE_API_VERSION, file_read_own },
	{ KIND_API_VERSION, file_read_kind },
};

/* The word at KEY of ROOT, which must exist. */
static int read_header(struct file_reader *reader, const struct yaml_value *root, const char *key,
		       const char *usual, const struct yaml_value **ret)
{
	const struct yaml_value *value = yaml_get(root, key);

	if (!value)
		return file_wrong(reader, root->place, "'%s' is missing; add '%s: %s'", key, key,
				  usual);
	if (value->type != YAML_WORD)
		return file_wrong(reader, value->place, "'%s' must be a string; this is %s", key,
				  yaml_type_words(value));
	*ret = value;
	return 0;
}

static int unknown_version(struct file_reader *reader, const struct yaml_value *version)
{
	struct suggest suggest = SUGGEST_INIT(version->text);

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		suggest_offer(&suggest, formats[i].api_version);
	if (suggest.nearest)
		return file_wrong(reader, version->place,
				  "unknown apiVersion '%s'; did you mean '%s'?", version->text,
				  suggest.nearest);
	return file_wrong(reader, version->place,
			  "unsupported apiVersion '%s'; use " FILE_API_VERSION
			  ", or " KIND_API_VERSION " for a file of kind",
			  version->text);
}

static int read_root(struct file_reader *reader)
{
	const struct yaml_value *root = &reader->file->root;
	const struct yaml_value *version;
	const struct yaml_value *kind;
	size_t format = 0;
	int r;

	if (root->type == YAML_NOTHING)
		return file_wrong(reader, root->place, "the file is empty");
	if (root->type != YAML_MAP)
		return file_wrong(
			reader, root->place,
			"the file must be a mapping that starts with 'apiVersion: " FILE_API_VERSION
			"'; this is %s",
			yaml_type_words(root));
	r = read_header(reader, root, "apiVersion", FILE_API_VERSION, &version);
	if (r < 0)
		return r;
	/* The kinds of another program's files are its own. */
	while (format < ARRAY_SIZE(formats) &&
	       strcmp(formats[format].api_version, version->text) != 0)
		format++;
	if (format == ARRAY_SIZE(formats))
		return unknown_version(reader, version);
	r = read_header(reader, root, "kind", FILE_KIND, &kind);
	if (r < 0)
		return r;
	if (strcmp(kind->text, FILE_KIND) != 0)
		return file_wrong(reader, kind->place, "the kind must be '" FILE_KIND "', not '%s'",
				  kind->text);
	return formats[format].read(reader, root);
}

/* Move the first control plane to the front; all others keep their order. */
static void put_primary_first(struct cluster_file *file)
{
	struct node_options primary;
	size_t at = 0;

	while (at < file->node_count && !file->nodes[at].control_plane)
		at++;
	if (at == 0 || at == file->node_count)
		return;
	primary = file->nodes[at];
	memmove(file->nodes + 1, file->nodes, at * sizeof(*file->nodes));
	file->nodes[0] = primary;
}

const struct node_options *cluster_file_node(const struct cluster_file *file, const char *name)
{
	for (size_t i = 0; i < file->node_count; i++)
		if (file->nodes[i].name && strcmp(file->nodes[i].name, name) == 0)
			return &file->nodes[i];
	return NULL;
}

/* Give nodes without a name the first free node-N, so that they can be identified later. */
static void name_nodes(struct file_reader *reader)
{
	struct cluster_file *file = reader->file;
	unsigned n = 1;

	for (size_t i = 0; i < file->node_count; i++)
		while (!file->nodes[i].name) {
			cleanup_free char *name = xasprintf("node-%u", n++);

			if (!cluster_file_node(file, name))
				file->nodes[i].name = file_keep(reader, take_ptr(name));
		}
}

/* The directory of SOURCE; for standard input, the current directory. */
static char *dir_of(const char *source)
{
	const char *slash = strrchr(source, '/');
	cleanup_free char *here = getcwd(NULL, 0);
	cleanup_free char *dir = slash ? xstrndup(source, (size_t)(slash - source)) : NULL;

	if (source[0] == '/')
		return xstrdup(*dir ? dir : "/");
	return xasprintf("%s%s%s", here ? here : "", dir ? "/" : "", dir ? dir : "");
}

/* The name is needed first: nodes may be named after it. */
static int choose_name(struct file_reader *reader, const struct cluster_file_before *before)
{
	const struct yaml_value *own = yaml_get(&reader->file->root, "name");
	bool is_word = own && own->type == YAML_WORD;
	int r = is_word ? profile_check_name(own->text, reader->err) : 0;

	if (r < 0)
		return file_wrong_there(reader, own->place, r, "name");
	reader->file->name = xstrdup(before->name ? before->name
				     : is_word    ? own->text
						  : before->usual_name);
	return 0;
}

int cluster_file_parse(const char *source, const char *text, size_t len,
		       const struct cluster_file_before *before, struct cluster_file *ret,
		       struct error *err)
{
	cleanup_with(cluster_file_release) struct cluster_file file = {
		.source = xstrdup(source),
		.dir = dir_of(source),
	};
	struct file_reader reader = { &file, before->has_version, err };
	int r = yaml_read(source, text, len, &file.root, err);

	if (r == 0)
		r = choose_name(&reader, before);
	if (r == 0)
		r = read_root(&reader);
	if (r < 0)
		return error_reason(err, r, &reason_cluster_file);
	put_primary_first(&file);
	name_nodes(&reader);
	*ret = file;
	file = CLUSTER_FILE_INIT;
	return 0;
}

int cluster_file_read(const char *path, const struct cluster_file_before *before,
		      struct cluster_file *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	bool is_input = strcmp(path, "-") == 0;
	cleanup_fd int opened = -1;
	const char *source = is_input ? "stdin" : path;
	struct stat st;
	int r = is_input ? 0 : user_open(path, 0, &opened, err);

	if (r < 0)
		return error_reason(err, r,
				    r == -ENOENT || r == -ENOTDIR ? &reason_host_path
								  : &reason_cluster_file);
	if (!is_input && fstat(opened, &st) == 0 && S_ISDIR(st.st_mode))
		return error_because(err, &reason_host_path, -EISDIR,
				     "'%s' is a directory, not a cluster file", path);
	/* A file that is too large need not be read. */
	if (!is_input && fstat(opened, &st) == 0 && st.st_size > YAML_TEXT_LIMIT)
		r = -EFBIG;
	else
		r = file_read_fd(is_input ? STDIN_FILENO : opened, YAML_TEXT_LIMIT, &text, err);
	if (r == -EFBIG)
		return error_because(err, &reason_cluster_file, -EBADMSG,
				     "%s:1:1: not a cluster file: larger than %d MiB", source,
				     YAML_TEXT_LIMIT >> 20);
	if (r < 0) {
		(void)error_prefix(err, r, "cannot read the file '%s'", path);
		return error_reason(err, r, &reason_cluster_file);
	}
	return cluster_file_parse(source, text.text, text.len, before, ret, err);
}

/* Whether WORDS, each KEY=VALUE, have the key of WORD. */
static bool has_key(const struct strlist *words, const char *word)
{
	size_t len = strcspn(word, "=");
	const char *other;

	strlist_for_each(other, words)
		if (strcspn(other, "=") == len && strncmp(other, word, len) == 0)
			return true;
	return false;
}

/*
 * Add the words of FROM, of the file, to TO, of the command line, except for the keys that TO has.
 */
static void add_pairs(const struct strlist *from, struct strlist *to)
{
	struct strlist both = STRLIST_INIT;
	const char *word;

	strlist_for_each(word, from)
		if (!has_key(to, word))
			strlist_add(&both, word);
	if (to->count > 0)
		strlist_add_all(&both, to->items);
	strlist_release(to);
	*to = both;
}

static bool is_mapping(const struct setting *field)
{
	return field->type == SETTING_PAIRS || field->type == SETTING_GATES ||
	       field->type == SETTING_EXTRA;
}

void cluster_file_take(const struct cluster_file *file, struct cluster_options *options,
		       struct strlist *given)
{
	cleanup_with(strlist_release) struct strlist stronger = STRLIST_INIT;
	const struct setting *field;

	if (given->count)
		strlist_add_all(&stronger, given->items);
	setting_for_each(field) {
		const void *from = setting_in_cluster(field, &file->options.settings);
		void *to = setting_in_cluster(field, &options->settings);

		if (!setting_is_of_cluster(field) ||
		    (field->option && !strlist_has(&file->given, field->option)))
			continue;
		if (strlist_has(&stronger, field->option ?: "")) {
			if (is_mapping(field))
				add_pairs(from, to);
			continue;
		}
		setting_borrow(field, from, to);
		if (field->type == SETTING_FLAG)
			*setting_in_flags(field, &options->given) = true;
		if (field->option)
			strlist_add(given, field->option);
	}
	options->add = file->nodes;
	options->add_count = file->node_count;
	if (file->node_count > 0 && !strlist_has(given, "nodes"))
		strlist_add(given, "nodes");
}

void cluster_file_release(struct cluster_file *file)
{
	const struct setting *field;

	/* Strings do not belong to the file. */
	setting_for_each(field) {
		if (!setting_is_list(field))
			continue;
		if (setting_is_of_cluster(field))
			strlist_release(setting_in_cluster(field, &file->options.settings));
		for (size_t i = 0; setting_is_of_node(field) && i < file->node_count; i++)
			strlist_release(setting_in_node(field, &file->nodes[i].settings));
	}
	free(file->nodes);
	strlist_release(&file->given);
	strlist_release(&file->texts);
	strlist_release(&file->warnings);
	yaml_value_release(&file->root);
	free(file->name);
	free(file->source);
	free(file->dir);
	*file = CLUSTER_FILE_INIT;
}
