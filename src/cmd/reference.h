/* The documentation that comes out of the tables of commands, options and reasons. */
#pragma once

#include "cli/document.h"
#include "cmd/command.h"

/* All about the program whose commands LIST has. */
void reference_man(const struct command *const *list, FILE *out);

/* Its commands, options and environment, as Markdown. */
void reference_commands(const struct command *const *list, FILE *out);

/* The file that describes a cluster: as a part of a document, as Markdown, as JSON schema. */
void reference_write_file(const struct document_format *format, FILE *out);
void reference_cluster_file(const struct command *const *list, FILE *out);
void reference_cluster_schema(const struct command *const *list, FILE *out);

/* Its exit codes, as Markdown. */
void reference_exit_codes(const struct command *const *list, FILE *out);
