/*
 * Operations on a node that is a set of namespaces and a control group of this host, and a tree of
 * files: what the drivers of such nodes have in common.
 *
 * The file `pid` in the node's directory has the pid of its agent.  Its control group is in that of
 * its cluster; where something else made the group, the file `group` has its path.
 */
#pragma once

#include "driver/driver.h"
#include "driver/native-cpus.h"

/* The node's control group, for cgroup/cgroup.h; the caller frees it. */
char *inside_group(const struct node_spec *spec) must_check;

/* Record the GROUP that something else made for the node. */
int inside_record_group(const struct node_spec *spec, const char *group, struct error *err);

/* The agent's pid if it runs, else 0. */
pid_t inside_pid(const struct node_spec *spec);

/* Record the pid of the agent. */
int inside_record(const struct node_spec *spec, pid_t pid, struct error *err);

/* -ESRCH with reason_node_not_running. */
int inside_not_running(const struct node_spec *spec, struct error *err);

/* Set the limits of the node's GROUP and choose its CPUs.  If cpusets fail, the quota still limits
 * it. */
int inside_limit_group(const struct node_spec *spec, const char *group, struct native_cpus *ret,
		       struct error *err);

/* Members of struct node_driver.  Stopping forgets the pid and the group. */
int inside_stop(const struct node_spec *spec, unsigned grace_seconds, struct error *err);
enum node_state inside_query(const struct node_spec *spec);
void inside_measure(const struct node_spec *spec, struct node_usage *ret_usage);
int inside_limit(const struct node_spec *spec, struct error *err);
unsigned inside_signal(const struct node_spec *spec, const char *name, int signal);
int inside_spawn(const struct node_spec *spec, char *const *argv,
		 const struct process_options *options, struct process *ret_process,
		 struct error *err);
int inside_call(const struct node_spec *spec, int (*work)(const void *arg), const void *arg,
		const int *fds, size_t count, struct process *ret_process, struct error *err);
int inside_open_terminal(const struct node_spec *spec, int *ret_ours, int *ret_theirs,
			 struct error *err);
int inside_reach(const struct node_spec *spec, struct in_addr address, unsigned port,
		 int timeout_ms, struct error *err);
int inside_ask(const struct node_spec *spec, const char *place, const char *words, int timeout_ms,
	       struct error *err);
bool inside_lacks_programs(const struct node_spec *spec);
int inside_route(const struct node_spec *spec, struct in_addr pods, unsigned prefix,
		 struct in_addr via, bool remove, struct error *err);
int inside_route6(const struct node_spec *spec, const struct subnet6 *to,
		  const struct in6_addr *via, bool remove, struct error *err);
int inside_filter(const struct node_spec *spec, const char *name, const char *rules,
		  struct error *err);
