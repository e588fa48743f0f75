/*
 * The fields of the file that describes a cluster: settings, with their names in the file.
 *
 * Reading, `config view`, `config explain`, `config init` and the schema for editors all use the
 * table in record/setting-table.c.
 */
#pragma once

#include "record/setting.h"

/* The key of FIELD: the part of its name after the last dot. */
const char *file_field_key(const struct setting *field);

/* Whether FIELD is in the map called IN ("network"; "" is the file itself) at PLACE. */
bool file_field_is_in(const struct setting *field, enum setting_place place, const char *in);

/* The full name of FIELD in the file: "nodes[].memory", for the caller to free. */
char *file_field_path(const struct setting *field, enum setting_place place) must_check;

/* The meaning, type and default of FIELD in one sentence, for the caller to free. */
char *file_field_summary(const struct setting *field) must_check;

/* The default of FIELD, for users; "" if there is none; for the caller to free. */
char *file_field_usual(const struct setting *field) must_check;

/* The type of FIELD, "a number from 1 to 65535", for the caller to free. */
char *file_field_type_words(const struct setting *field) must_check;
