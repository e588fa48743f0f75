/* The documentation of cluster files. */

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

/* The names of the fields for which IS_ONE is true; the caller frees them. */
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
	return field->has_member && field->places == SETTING_OF_CLUSTER &&
	       apply_may_change(field) && !field->moves_pods;
}

static bool is_moving(const struct setting *field)
{
	return field->moves_pods;
}

static bool is_refused(const struct setting *field)
{
	return field->has_member && field->places & SETTING_OF_CLUSTER && !apply_may_change(field);
}

static bool is_at_once(const struct setting *field)
{
	return field->places & SETTING_OF_NODE &&
	       (field->effect == SETTING_AT_ONCE || field->effect == SETTING_HELD_TO ||
		field->effect == SETTING_OF_DOCKER || field->type == SETTING_FLAG);
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
	cleanup_free char *moving = join_fields(is_moving);
	cleanup_free char *restarted = join_fields(is_restarted);
	cleanup_free char *replaced = join_fields(is_anew);
	cleanup_free char *anew = xasprintf("role, %s; diskSize, if smaller or newly set",
					    replaced);
	cleanup_free char *refused = join_fields(is_refused);

	format->section(out, 1, "Changing a cluster");
	format->paragraph(
		out,
		"'manykube apply -f FILE' first prints a plan: '+' is added or started, '~' "
		"changes at once, '!' is restarted, or deleted and created again without its data, "
		"and '-' is deleted with all its data (only with --prune). Persistent volumes of "
		"the default storage class are part of the data of their node. Changes marked '!' and '-', and that of the pod network, disturb pods, so the command asks first, "
		"unless --yes is given; without a terminal and without --yes, nothing is done. A "
		"field that is not in the file gets its default, so the file should have "
		"everything that you gave to 'start' as options; 'manykube config view' prints a "
		"complete file. Nodes without a name are numbered in the order of the file: one "
		"inserted before others changes their names.");
	format->begin_items(out, "requires", "fields");
	format->item(out, "nothing", set);
	format->item(out, "nothing (fields of a node)", at_once);
	format->item(out, "making all pods anew, in place", moving);
	format->item(out, "restarting the node", restarted);
	format->item(out, "recreating the node, without its data", anew);
	format->item(out, "a new cluster", refused);
	format->paragraph(
		out, "The exit status of 'manykube apply --dry-run' is 2 if there is something "
		     "to do, otherwise 0.");
}

void reference_write_file(const struct document_format *format, FILE *out)
{
	cleanup_with(strbuf_release) struct strbuf names = STRBUF_INIT;
	const struct setting *field;

	format->section(out, 1, "The cluster");
	format->paragraph(out,
			  "A YAML file describes a cluster. 'manykube start -f FILE' creates the "
			  "cluster, 'manykube apply -f FILE' changes it to match the file, and "
			  "'manykube config view' prints an existing cluster as a file. "
			  "'manykube config init' prints a template.");
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
		out, "Cluster files",
		"See also 'manykube config explain'. A JSON schema for editors is in "
		"schema/cluster.json.");
	reference_write_file(&document_markdown, out);
}

void reference_cluster_schema(arg_unused const struct command *const *list, FILE *out)
{
	json_auto_t *schema = cluster_file_schema();
	cleanup_free char *text = json_dumps(schema, JSON_INDENT(2));

	fprintf(out, "%s\n", text);
}
