/*
 * Which logs a cluster has, and where.
 *
 * look/log-reader.h reads them.
 */
#pragma once

#include "record/profile.h"

struct log_source {
	char *node; /* NULL: of the whole cluster */
	const char *service;
	char *path;
	bool in_node;      /* PATH is one of the node, else below the profile's directory */
	bool of_container; /* lines begin with the runtime's time and stream */
};

struct log_list {
	struct log_source *items;
	size_t count;
};

#define LOG_LIST_INIT ((struct log_list){ NULL })

/* Have this process see the logs of nodes that do not run and have disks of their own, too; only
 * root can. */
void cluster_logs_show(const struct profile *profile);

/* Add the logs that PROFILE's own parts may have: the last start, the front door. */
void cluster_logs_add_shared(struct log_list *list, const struct profile *profile);

/* Add those of NODE: of its services, and of a control plane's static pods the newest. */
void cluster_logs_add_node(struct log_list *list, const struct profile *profile,
			   const struct node *node);

void log_list_release(struct log_list *list);

/* Check that NAME is a service that can have a log ("kubelet", "apiserver", "kube-apiserver"), and
 * give its own name; -EINVAL with reason_usage. */
int cluster_logs_service(const char *name, const char **ret_service, struct error *err);

/* All services' names with ", " between them, for the caller to free. */
char *cluster_logs_services(void) must_check;

/* LINE, which has LEN bytes, without the time and stream that a container's runtime put before it.
 */
const char *cluster_log_words(const char *line, size_t len);

/* Whether LINE looks like a problem. */
bool cluster_log_is_problem(const char *line, size_t len);
