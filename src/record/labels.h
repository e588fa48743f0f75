/*
 * Labels and taints of nodes: changes to lists of them, and what the API has.
 *
 * A change is a word of record/spec.h, KEY=VALUE or KEY=VALUE:EFFECT, or KEY- or KEY:EFFECT- to
 * remove what is there.
 */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "base/macro.h"
#include "base/strlist.h"

/* Apply CHANGES, in order, to the list KEPT; -EINVAL for a word that can't be read. */
int labels_change(struct strlist *kept, const struct strlist *changes, struct error *err);
int labels_change_taints(struct strlist *kept, const struct strlist *changes, struct error *err);

/* Add the labels and taints of the Node OBJECT, whoever set them, to RET as words. */
void labels_read(const json_t *object, struct strlist *ret);
void labels_read_taints(const json_t *object, struct strlist *ret);

/* CHANGES of labels as a merge patch, in which null removes; WORDS, taints, as the API's list of
 * objects; both for the caller to release. */
json_t *labels_patch(const struct strlist *changes) must_check;
json_t *labels_taint_objects(const struct strlist *words) must_check;
