/* The forms that `status` has. */
#pragma once

#include "look/activity.h"
#include "look/detail.h"
#include "look/health.h"

/* What was found; NODES is all of it, or the one node that was asked for. */
struct status_report {
	const struct profile *profile;
	const char *front_door; /* as in struct cluster_status, for the whole cluster */
	struct cluster_status nodes;
	enum health health; /* of the whole cluster, as is the next */
	struct quorum quorum;
	const struct activity *activity;
};

/* Whether nothing is wrong with the cluster. */
bool status_is_well(const struct status_report *report);

/* The word for the kubeconfig; "Irrelevant" if no control plane is among the nodes. */
const char *status_kubeconfig_word(const struct status_report *report);

/* minikube's blocks, and the same as JSON: one object for one node, a list for several. */
void status_print_text(const struct status_report *report);
void status_print_json(const struct status_report *report);

/* The cluster as a whole: minikube's --layout=cluster, and in a few lines. */
void status_print_layout_json(const struct status_report *report);
void status_print_layout_text(const struct status_report *report);

/* TEMPLATE once for each node, each on a line. */
int status_print_template(const struct status_report *report, const char *template,
			  struct error *err);

/* The table of nodes with what is wrong with them; DETAIL goes with the report's nodes. */
void status_print_table(const struct status_report *report, const struct cluster_detail *detail);
