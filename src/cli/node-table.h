/* The table of a cluster's nodes, and a text about their problems. */
#pragma once

#include <stdio.h>

#include "look/activity.h"
#include "look/detail.h"
#include "look/health.h"

struct node_table_look {
	unsigned columns; /* no line is longer; 0: any length */
	bool colour;
};

/* "control-plane" or "worker". */
const char *node_table_role(const struct node *node);

/* The resources of NODE: its limits, or all of the host's. */
unsigned node_table_cpus(const struct node *node);
uint64_t node_table_memory(const struct node *node);

/* Print the table of NODES with their DETAIL, in as many parts as LOOK's width requires. */
void node_table_print(const struct cluster_status *nodes, const struct cluster_detail *detail,
		      const struct node_table_look *look, FILE *out);

/* "dev: Running, 3 nodes, Kubernetes v1.36.3, API https://127.0.0.1:16443" */
void node_table_print_headline(const struct profile *profile, enum health health,
			       const struct node_table_look *look, FILE *out);

/* Print the problems of NODES and advice, after an empty line; nothing if there are none. */
void node_table_print_problems(const struct profile *profile, const struct cluster_status *nodes,
			       const struct cluster_detail *detail, const struct activity *activity,
			       const struct node_table_look *look, FILE *out);

/* Append the advice to RET, one line each. */
void node_table_list_advice(const struct profile *profile, const struct cluster_status *nodes,
			    const struct cluster_detail *detail, const struct activity *activity,
			    struct strlist *ret);

/* The same without the problems and the empty line. */
void node_table_print_advice(const struct profile *profile, const struct cluster_status *nodes,
			     const struct cluster_detail *detail, const struct activity *activity,
			     const struct node_table_look *look, FILE *out);

/* Bytes as "812Mi", "1.5Gi", and seconds as "45s", "3h5m", "12d"; the caller frees the result. */
char *node_table_bytes(uint64_t bytes) must_check;
char *node_table_age(int64_t seconds) must_check;
