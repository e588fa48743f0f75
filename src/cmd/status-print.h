/* The output formats of `status`. */
#pragma once

#include "look/activity.h"
#include "look/detail.h"
#include "look/health.h"

/* The state of the cluster; NODES are all nodes, or the requested one. */
struct status_report {
	const struct profile *profile;
	const char *front_door; /* as in struct cluster_status, for the whole cluster */
	struct cluster_status nodes;
	enum health health; /* of the whole cluster, as is the next */
	struct quorum quorum;
	const struct activity *activity;
};

/* Whether the cluster has no problems. */
bool status_is_well(const struct status_report *report);

/* The word for the kubeconfig; "Irrelevant" if no control plane is among the nodes. */
const char *status_kubeconfig_word(const struct status_report *report);

/* "interrupted: 'manykube delete' finishes it" if the deletion of the cluster was, or NULL; for the
 * caller to free. */
char *status_deletion_words(const struct status_report *report) must_check;

/* Append the advice of the table to RET, one line each. */
void status_list_advice(const struct status_report *report, struct strlist *ret);

/* minikube's blocks, with the reason for each node that is not well and the advice of the table.
 * DETAIL corresponds to the report's nodes. */
void status_print_text(const struct status_report *report, const struct cluster_detail *detail);

/* The blocks as JSON: one object for one node, a list for several. */
void status_print_json(const struct status_report *report);

/* The cluster as a whole: minikube's --layout=cluster as JSON, and as a few lines of text. */
void status_print_layout_json(const struct status_report *report);
void status_print_layout_text(const struct status_report *report);

/* TEMPLATE for each node, one per line. */
int status_print_template(const struct status_report *report, const char *template,
			  struct error *err);

/* The table of nodes and their problems; DETAIL corresponds to the report's nodes. */
void status_print_table(const struct status_report *report, const struct cluster_detail *detail);
