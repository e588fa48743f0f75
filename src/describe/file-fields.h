/*
 * The fields of the file that describes a cluster: settings, as they are called there.
 *
 * Reading, `config view`, `config explain`, `config init` and the schema for editors all go by the
 * table in record/setting-table.c.
 */
#pragma once

#include "record/setting.h"

/* The part of FIELD's name behind the last dot: its key. */
const char *file_field_key(const struct setting *field);

/* Whether FIELD is in the map called IN ("network"; "" is the file itself) at PLACE. */
bool file_field_is_in(const struct setting *field, enum setting_place place, const char *in);

/* FIELD as it is called in the whole file: "nodes[].memory", for the caller to free. */
char *file_field_path(const struct setting *field, enum setting_place place) must_check;

/* What FIELD means, is, and is unless given, in one sentence; for the caller to free. */
char *file_field_summary(const struct setting *field) must_check;

/* What FIELD is unless given, for people; "" if nothing, for the caller to free. */
char *file_field_usual(const struct setting *field) must_check;

/* What a value of FIELD is, "a number from 1 to 65535", for the caller to free. */
char *file_field_type_words(const struct setting *field) must_check;
