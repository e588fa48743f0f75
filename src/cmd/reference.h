/* The documentation generated from the tables of commands, options and reasons. */
#pragma once

#include "cli/document.h"
#include "cmd/command.h"

/* The man page of the program with the commands LIST. */
void reference_man(const struct command *const *list, FILE *out);

/* Its commands, options and environment, as Markdown. */
void reference_commands(const struct command *const *list, FILE *out);

/* Cluster files: as part of a document, as Markdown, as JSON schema. */
void reference_write_file(const struct document_format *format, FILE *out);
void reference_cluster_file(const struct command *const *list, FILE *out);
void reference_cluster_schema(const struct command *const *list, FILE *out);

/* Its exit codes, as Markdown. */
void reference_exit_codes(const struct command *const *list, FILE *out);
