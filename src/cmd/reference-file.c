/* The documentation of the file that describes a cluster. */

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "cmd/reference.h"
#include "describe/file-fields.h"
#include "describe/file-schema.h"
#include "plan/apply-plan.h"

static void write_fields(const struct document_format *format, enum setting_place place, FILE *out)
{
	const struct setting *field;

	format->begin_items(out, "field", "meaning");
	setting_for_each(field) {
		cleanup_free char *summary = file_field_summary(field);

		if (field->places & place)
			format->item(out, field->name, summary);
	}
}

/* The names of the fields of which IS_ONE says so, for the caller to free. */
static char *join_fields(bool (*is_one)(const struct setting *field))
{
	cleanup_with(strlist_release) struct strlist names = STRLIST_INIT;
	const struct setting *field;

	setting_for_each(field)
		if (is_one(field))
			strlist_add(&names, field->name);
	return strlist_join(&names, ", ");
}

static bool is_set(const struct setting *field)
{
	return field->has_member && field->places == SETTING_OF_CLUSTER && apply_may_change(field);
}

static bool is_refused(const struct setting *field)
{
	return field->has_member && field->places & SETTING_OF_CLUSTER && !apply_may_change(field);
}

static bool is_at_once(const struct setting *field)
{
	return field->places & SETTING_OF_NODE &&
	       (field->effect == SETTING_AT_ONCE || field->effect == SETTING_HELD_TO ||
		field->type == SETTING_FLAG);
}

static bool is_restarted(const struct setting *field)
{
	return field->effect == SETTING_ON_RESTART || field->effect == SETTING_GROWING;
}

static bool is_anew(const struct setting *field)
{
	return field->places & SETTING_OF_NODE && field->has_member &&
	       field->effect == SETTING_ANEW && field->type != SETTING_FLAG &&
	       strcmp(field->name, "name") != 0;
}

static void write_changes(const struct document_format *format, FILE *out)
{
	cleanup_free char *set = join_fields(is_set);
	cleanup_free char *at_once = join_fields(is_at_once);
	cleanup_free char *restarted = join_fields(is_restarted);
	cleanup_free char *replaced = join_fields(is_anew);
	cleanup_free char *anew = xasprintf("role, %s; a smaller diskSize, or a first one",
					    replaced);
	cleanup_free char *refused = join_fields(is_refused);

	format->section(out, 1, "Changing it");
	format->paragraph(
		out,
		"'manykube apply -f FILE' prints what differs before it does anything: '+' is added "
		"or started, '~' changes at once, '!' is restarted or deleted and made anew, '-' is "
		"deleted, which takes --prune. What '!' and '-' are before disturbs what runs there, "
		"so it is asked for, or takes --yes; where nobody can be asked, nothing at all is "
		"done without that. A field that is not in the file is as usual, so have the file say "
		"what you gave 'start' as options; 'manykube config view' prints all of it. Nodes "
		"without a name are counted: with one more in front of others, these are called "
		"otherwise.");
	format->begin_items(out, "it takes", "to change");
	format->item(out, "nothing", set);
	format->item(out, "nothing, of a node", at_once);
	format->item(out, "a restart of the node", restarted);
	format->item(out, "another node in its place", anew);
	format->item(out, "another cluster", refused);
	format->paragraph(
		out, "'manykube apply --dry-run' ends with 2 if something would be done, and with "
		     "0 if nothing would.");
}

void reference_write_file(const struct document_format *format, FILE *out)
{
	cleanup_with(strbuf_release) struct strbuf names = STRBUF_INIT;
	const struct setting *field;

	format->section(out, 1, "The cluster");
	format->paragraph(out,
			  "YAML that says what a cluster is; 'manykube start -f FILE' makes it, "
			  "'manykube apply -f FILE' makes one that exists what the file says, and "
			  "'manykube config view' prints a cluster as such a file. "
			  "'manykube config init' writes one to begin with.");
	format->code(out, "apiVersion: " FILE_API_VERSION "\nkind: " FILE_KIND "\n"
			  "name: dev\n"
			  "defaults:\n"
			  "  memory: 2g\n"
			  "nodes:\n"
			  "- role: control-plane\n"
			  "- role: worker\n"
			  "  count: 2\n"
			  "- role: worker\n"
			  "  name: database\n"
			  "  memory: 4g\n"
			  "  labels: {tier: db}\n");
	write_fields(format, SETTING_OF_CLUSTER, out);
	format->section(out, 1, "Nodes");
	format->paragraph(out, "Fields of each item of 'nodes'.");
	write_fields(format, SETTING_OF_NODE, out);
	setting_for_each(field)
		if (field->places & SETTING_OF_DEFAULTS)
			strbuf_addf(
				&names, "%s%s",
				names.len ? ", " : "In 'defaults', for all nodes: ", field->name);
	strbuf_add(&names, ".");
	format->paragraph(out, names.text);
	write_changes(format, out);
}

void reference_cluster_file(arg_unused const struct command *const *list, FILE *out)
{
	document_markdown.begin(
		out, "The file that describes a cluster",
		"Also as 'manykube config explain'. A JSON schema for editors is in "
		"schema/cluster.json.");
	reference_write_file(&document_markdown, out);
}

void reference_cluster_schema(arg_unused const struct command *const *list, FILE *out)
{
	json_auto_t *schema = cluster_file_schema();
	cleanup_free char *text = json_dumps(schema, JSON_INDENT(2));

	fprintf(out, "%s\n", text);
}
