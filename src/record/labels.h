/*
 * Labels and taints of nodes: changing lists of them, and converting them to and from API objects.
 *
 * A change is a word of record/spec.h: KEY=VALUE or KEY=VALUE:EFFECT to set, KEY- or KEY:EFFECT- to
 * remove.
 */
#pragma once

#include <jansson.h>

#include "base/error.h"
#include "base/macro.h"
#include "base/strlist.h"

/* Whether the kubelet keeps the label KEY: volumes and pods find nodes and images by it. */
bool labels_is_kubelets(const char *key);

/* -EINVAL with reason_usage if WORD, KEY=VALUE or KEY-, cannot be parsed or has a key of the
 * kubelet's. */
int labels_check(const char *word, struct error *err);

/* Apply CHANGES, in order, to the list KEPT; -EINVAL for a word that cannot be parsed, or has a key
 * of the kubelet's, unless it removes one that an earlier version has let into the list. */
int labels_change(struct strlist *kept, const struct strlist *changes, struct error *err);
int labels_change_taints(struct strlist *kept, const struct strlist *changes, struct error *err);

/* Append the labels or taints of the Node OBJECT to RET as words, whoever set them. */
void labels_read(const json_t *object, struct strlist *ret);
void labels_read_taints(const json_t *object, struct strlist *ret);

/* CHANGES of labels as a JSON merge patch, in which null removes a label, without those of the
 * kubelet; WORDS, taints, as the
 * API's list of objects.  The caller releases both. */
json_t *labels_patch(const struct strlist *changes) must_check;
json_t *labels_taint_objects(const struct strlist *words) must_check;
