/* The documentation of the file that describes a cluster. */

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "cluster/file-fields.h"
#include "cluster/file-schema.h"
#include "cmd/reference.h"

static void write_fields(const struct document_format *format, enum file_place place, FILE *out)
{
	const struct file_field *field;

	format->begin_items(out, "field", "meaning");
	file_for_each_field(field) {
		cleanup_free char *summary = file_field_summary(field);

		if (field->places & place)
			format->item(out, field->name, summary);
	}
}

void reference_write_file(const struct document_format *format, FILE *out)
{
	cleanup_with(strbuf_release) struct strbuf names = STRBUF_INIT;
	const struct file_field *field;

	format->section(out, 1, "The cluster");
	format->paragraph(out,
			  "YAML that says what a cluster is; 'manykube start -f FILE' makes it, "
			  "and 'manykube config view' prints a cluster as such a file. "
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
	write_fields(format, FILE_OF_CLUSTER, out);
	format->section(out, 1, "Nodes");
	format->paragraph(out, "Fields of each item of 'nodes'.");
	write_fields(format, FILE_OF_NODE, out);
	file_for_each_field(field)
		if (field->places & FILE_OF_DEFAULTS)
			strbuf_addf(
				&names, "%s%s",
				names.len ? ", " : "In 'defaults', for all nodes: ", field->name);
	strbuf_add(&names, ".");
	format->paragraph(out, names.text);
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
