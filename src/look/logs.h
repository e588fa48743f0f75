/*
 * The logs of a cluster, and where they are.
 *
 * look/log-reader.h reads them.
 */
#pragma once

#include "record/profile.h"

struct log_source {
	char *node; /* NULL: of the whole cluster */
	const char *service;
	char *path;
	bool in_node;      /* PATH is in the node, else below the profile's directory */
	bool silent;       /* the node does not answer: there is no use in asking again */
	bool of_container; /* lines begin with the runtime's time and stream */
};

struct log_list {
	struct log_source *items;
	size_t count;
};

#define LOG_LIST_INIT ((struct log_list){ NULL })

/*
 * Let this process also see the logs of stopped nodes that have disks of their own; only root can.
 */
void cluster_logs_show(const struct profile *profile);

/* Add the logs of the cluster itself: the last start, the front door. */
void cluster_logs_add_shared(struct log_list *list, const struct profile *profile);

/* Add the logs of NODE: of its services and, on a control plane, the newest of each static pod. */
void cluster_logs_add_node(struct log_list *list, const struct profile *profile,
			   const struct node *node);

void log_list_release(struct log_list *list);

/* Check that NAME is a service that can have a log ("kubelet", "apiserver", "kube-apiserver"), and
 * return its canonical name; -EINVAL with reason_usage. */
int cluster_logs_service(const char *name, const char **ret_service, struct error *err);

/* The names of all services, separated by ", ", for the caller to free. */
char *cluster_logs_services(void) must_check;

/* LINE, which has LEN bytes, without the time and stream that a container runtime puts first. */
const char *cluster_log_words(const char *line, size_t len);

/* Whether LINE looks like a problem. */
bool cluster_log_is_problem(const char *line, size_t len);
