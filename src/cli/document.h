/*
 * Documents that are written by the program itself, as a man page or as Markdown.
 *
 * Texts are plain words; what would mean something to the format is escaped.
 */
#pragma once

#include <stdio.h>

#include "base/macro.h"

struct document_format {
	/* NAME is the document's, SUMMARY one line about it. */
	void (*begin)(FILE *out, const char *name, const char *summary);
	void (*section)(FILE *out, unsigned level, const char *title); /* 1 or 2 */
	void (*paragraph)(FILE *out, const char *text);
	void (*code)(FILE *out, const char *lines); /* each ended by a newline */

	/* A list of terms and what they mean, under the headings TERM and MEANING; ends with any
	 * other. */
	void (*begin_items)(FILE *out, const char *term, const char *meaning);
	void (*item)(FILE *out, const char *term, const char *meaning);
};

extern const struct document_format document_man;
extern const struct document_format document_markdown;
