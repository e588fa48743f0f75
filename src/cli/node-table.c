/* The nodes of a cluster in a table. */

#include "cli/node-table.h"

#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/advice.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "cli/table.h"
#include "cli/text.h"
#include "driver/driver.h"
#include "fail/failure.h"
#include "kubeadm/members.h"
#include "look/defects.h"

enum {
	STATE_COLUMN = 2,
	MEMORY_COLUMN = 6,
	COLUMNS = 9,
};

/* With less than this, the disk is called full. */
#define FULL_BYTES (16u << 20)

#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
#define RED    "\033[31m"

const char *node_table_role(const struct node *node)
{
	return node->control_plane ? "control-plane" : "worker";
}

char *node_table_bytes(uint64_t bytes)
{
	uint64_t tenths = ((bytes >> 10) * 10) >> 20;

	if (tenths >= 100)
		return xasprintf("%lluGi", (unsigned long long)(tenths / 10));
	if (tenths >= 10)
		return xasprintf("%llu.%lluGi", (unsigned long long)(tenths / 10),
				 (unsigned long long)(tenths % 10));
	return xasprintf("%lluMi", (unsigned long long)(bytes >> 20));
}

/* As kubectl writes it. */
char *node_table_age(int64_t seconds)
{
	long long s = MAX(seconds, (int64_t)0);
	long long m = s / 60;
	long long h = m / 60;

	if (s < 120)
		return xasprintf("%llds", s);
	if (m < 10)
		return s % 60 ? xasprintf("%lldm%llds", m, s % 60) : xasprintf("%lldm", m);
	if (h < 3)
		return xasprintf("%lldm", m);
	if (h < 8)
		return m % 60 ? xasprintf("%lldh%lldm", h, m % 60) : xasprintf("%lldh", h);
	if (h < 48)
		return xasprintf("%lldh", h);
	if (h < 8 * 24)
		return h % 24 ? xasprintf("%lldd%lldh", h / 24, h % 24)
			      : xasprintf("%lldd", h / 24);
	return xasprintf("%lldd", h / 24);
}

static char *role_of(const struct node *node, bool mark_primary)
{
	return xasprintf("%s%s", node_table_role(node),
			 mark_primary && node->primary ? " (primary)" : "");
}

/* "314Mi of 23Gi"; 0 means unknown. */
static char *part_of(uint64_t used_bytes, uint64_t limit_bytes)
{
	cleanup_free char *used = used_bytes ? node_table_bytes(used_bytes) : xstrdup("-");
	cleanup_free char *limit = limit_bytes ? node_table_bytes(limit_bytes) : NULL;

	return limit ? xasprintf("%s of %s", used, limit) : take_ptr(used);
}

unsigned node_table_cpus(const struct node *node)
{
	return node->cpus ? node->cpus : (unsigned)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
}

uint64_t node_table_memory(const struct node *node)
{
	const struct node_driver *driver = node->driver ? node_driver_find(node->driver) : NULL;
	struct sysinfo host;

	if (driver && driver->memory_default)
		return node->memory_bytes ? MAX(node->memory_bytes, driver->memory_least)
					  : driver->memory_default;
	if (node->memory_bytes || sysinfo(&host) < 0)
		return node->memory_bytes;
	return (uint64_t)host.totalram * host.mem_unit;
}

static const char *or_dash(const char *text)
{
	return text && *text ? text : "-";
}

/* Add a row, with DISK after the memory if it is not NULL. */
static void add_cells(struct table *table, const char *const *cells, const char *disk)
{
	const char *row[COLUMNS + 1];
	size_t count = 0;

	for (size_t i = 0; i < COLUMNS; i++) {
		row[count++] = cells[i];
		if (i == MEMORY_COLUMN && disk)
			row[count++] = disk;
	}
	table_add_row(table, row, count);
}

static void add_node(struct table *table, const struct node_status *status,
		     const struct node_detail *detail, bool mark_primary, bool show_disk)
{
	const struct node *node = status->node;
	cleanup_free char *role = role_of(node, mark_primary);
	cleanup_free char *state = xasprintf("%s%s", detail->state,
					     detail->cordoned ? ",SchedulingDisabled" : "");
	cleanup_free char *cpus = xasprintf("%u", node_table_cpus(node));
	cleanup_free char *memory = part_of(status->memory_bytes, node_table_memory(node));
	uint64_t size = status->disk_size_bytes ? status->disk_size_bytes : node->disk_bytes;
	cleanup_free char *disk = node->disk_bytes ? part_of(status->disk_bytes, size) : NULL;
	cleanup_free char *pods = detail->pods < 0 ? NULL : xasprintf("%d", detail->pods);
	cleanup_free char *age = detail->created < 0
					 ? NULL
					 : node_table_age(clock_wall_seconds() - detail->created);

	add_cells(table,
		  (const char *[]){ node->name, role, state, or_dash(node->address),
				    or_dash(detail->version), cpus, memory, or_dash(pods),
				    or_dash(age) },
		  show_disk ? or_dash(disk) : NULL);
}

static const char *paint_state(size_t column, const char *cell)
{
	if (column != STATE_COLUMN)
		return NULL;
	if (text_is(cell, "Ready"))
		return GREEN;
	/* States that are intended or temporary. */
	if (text_is(cell, "Starting") || text_is(cell, "Paused") || text_is(cell, "Unknown") ||
	    strncmp(cell, "Ready,", 6) == 0)
		return YELLOW;
	return RED;
}

void node_table_print(const struct cluster_status *nodes, const struct cluster_detail *detail,
		      const struct node_table_look *look, FILE *out)
{
	cleanup_with(table_release) struct table table = TABLE_INIT;
	static const char *const heading[COLUMNS] = { "NODE", "ROLE",   "STATE", "IP", "VERSION",
						      "CPUS", "MEMORY", "PODS",  "AGE" };
	size_t control_planes = 0;
	bool show_disk = false;

	for (size_t i = 0; i < nodes->count; i++) {
		control_planes += nodes->nodes[i].node->control_plane;
		show_disk |= nodes->nodes[i].node->disk_bytes > 0;
	}
	add_cells(&table, heading, show_disk ? "DISK" : NULL);
	for (size_t i = 0; i < nodes->count; i++)
		add_node(&table, &nodes->nodes[i], &detail->nodes[i], control_planes > 1,
			 show_disk);
	table.paint = look->colour ? paint_state : NULL;
	if (look->columns)
		table_print_within(&table, look->columns, out);
	else
		table_print(&table, out);
}

static void print_wrapped(const char *text, unsigned indent, const struct node_table_look *look,
			  FILE *out)
{
	cleanup_with(strbuf_release) struct strbuf lines = STRBUF_INIT;

	if (look->columns)
		text_wrap(&lines, text, 0, indent, look->columns);
	else
		strbuf_add(&lines, text);
	fprintf(out, "%s\n", lines.text);
}

void node_table_print_headline(const struct profile *profile, enum health health,
			       const struct node_table_look *look, FILE *out)
{
	cleanup_with(strbuf_release) struct strbuf line = STRBUF_INIT;

	strbuf_addf(&line, "%s: %s, %zu node%s", profile->name, health_word(health),
		    profile->node_count, profile->node_count == 1 ? "" : "s");
	if (profile->kubernetes_version)
		strbuf_addf(&line, ", Kubernetes %s", profile->kubernetes_version);
	if (profile->api_port)
		strbuf_addf(&line, ", API https://127.0.0.1:%u", profile->api_port);
	print_wrapped(line.text, 2, look, out);
}

/* What to do about control planes whose data is missing, so that a start cannot repair the cluster;
 * NULL if it can, or if NODES are not all nodes. */
static char *remedy_for_loss(const struct profile *profile, const struct cluster_status *nodes)
{
	unsigned members = 0, lost = 0;

	if (nodes->count < profile->node_count)
		return NULL;
	for (size_t i = 0; i < nodes->count; i++) {
		if (!nodes->nodes[i].node->control_plane ||
		    nodes->nodes[i].node->phase != NODE_JOINED)
			continue;
		members++;
		lost += text_is(nodes->nodes[i].host, "Nonexistent");
	}
	if (lost == 0 || members - lost >= members_majority(members))
		return NULL;
	if (members == lost)
		return xasprintf(
			"the cluster's data in '%s/nodes' is missing, and no command can "
			"bring it back: restore it from a backup, then run 'manykube start'",
			profile->dir);
	return xstrdup("most control planes have lost their data; 'manykube start' says what can "
		       "be done");
}

/* Whether there is no room for anything that a repair would write. */
static bool disk_is_full(const struct profile *profile)
{
	struct statvfs fs;

	return profile->dir && statvfs(profile->dir, &fs) == 0 &&
	       (uint64_t)fs.f_bavail * fs.f_frsize < FULL_BYTES;
}

/* The advice for a part of the cluster that does not work. */
static char *remedy_by_start(const struct profile *profile, const struct cluster_status *nodes,
			     const struct activity *activity)
{
	char *loss = remedy_for_loss(profile, nodes);

	if (loss)
		return loss;
	if (disk_is_full(profile))
		return xasprintf("the disk with '%s' is full: free some space, then run 'manykube "
				 "start'",
				 profile->dir);
	/* If the last repair failed, its reason comes first. */
	return xstrdup(activity->failure ? "see 'manykube logs --problems'; 'manykube start' tries "
					   "again"
					 : "'manykube start' repairs it");
}

/* Advice on how to repair or examine a node. */
static char *remedy(const struct profile *profile, const struct cluster_status *nodes,
		    const struct cluster_detail *detail, const struct activity *activity)
{
	const struct node *not_ready = NULL;
	bool paused = false, misled = false, registered = false;

	if (nodes->kubeconfig_damage && !activity->busy_with)
		return xstrdup(
			"correct or remove that kubeconfig, which manykube does not overwrite, "
			"or set KUBECONFIG to another file; then run 'manykube start'");
	if (activity->busy_with)
		return xasprintf("'%s' is working on it%s%s", activity->busy_with,
				 activity->step_detail ? ": " : "",
				 activity->step_detail ? activity->step_detail : "");
	for (size_t i = 0; i < nodes->count; i++) {
		const struct node_status *node = &nodes->nodes[i];

		if (node->node->phase == NODE_LEAVING)
			continue;
		if (node_status_is_registered(node))
			registered = true;
		else if (text_is(detail->nodes[i].state, "Paused"))
			paused = true;
		else if (text_is(node->apiserver, "Unknown") && geteuid() != 0)
			return xstrdup("use 'sudo manykube status'");
		else if (health_of_parts(node) != HEALTH_OK)
			return remedy_by_start(profile, nodes, activity);
		else if (health_of_word(node->kubeconfig) != HEALTH_OK)
			misled = true;
		else if (!not_ready && detail->nodes[i].why && !node->pressure)
			not_ready = node->node;
	}
	if (misled)
		return xstrdup("your kubeconfig does not point kubectl at this cluster; 'manykube "
			       "update-context' corrects that");
	if (paused)
		return xstrdup("'manykube unpause' resumes it");
	if (not_ready && profile->cni && text_is(profile->cni, "none"))
		return xstrdup(
			"the cluster was created with --cni=none: nodes become Ready once a CNI "
			"is installed");
	if (nodes->front_door && health_of_word(nodes->front_door) != HEALTH_OK)
		return xstrdup("'manykube start' restarts the front door");
	if (not_ready)
		return xasprintf(
			"'manykube start' restarts what hangs; see also 'manykube logs %s'",
			not_ready->name);
	return registered ? xstrdup("'manykube start' also starts what is only registered") : NULL;
}

/* The problem of one node, or NULL. */
static char *problem_of(const struct node_status *status, const struct node_detail *detail,
			const char *kubeconfig_damage)
{
	const char *name = status->node->name;

	if (detail->why && text_is(detail->state, "Ready"))
		return xasprintf("%s: %s", name, detail->why);
	if (detail->why)
		return xasprintf("%s is %s: %s", name, detail->state, detail->why);
	if (text_is(status->host, "Running") && health_of_word(status->kubeconfig) != HEALTH_OK &&
	    kubeconfig_damage)
		return xasprintf("kubectl cannot use this cluster: %s", kubeconfig_damage);
	if (text_is(status->host, "Running") && health_of_word(status->kubeconfig) != HEALTH_OK)
		return xasprintf("kubectl is not set to use this cluster: its kubeconfig is %s",
				 status->kubeconfig);
	return NULL;
}

/* Each problem is listed once: all control planes share the kubeconfig. */
static void list_problems(const struct cluster_status *nodes, const struct cluster_detail *detail,
			  struct strlist *ret)
{
	for (size_t i = 0; i < nodes->count; i++) {
		cleanup_free char *problem = problem_of(&nodes->nodes[i], &detail->nodes[i],
							nodes->kubeconfig_damage);

		if (problem && !strlist_has(ret, problem))
			strlist_add(ret, problem);
	}
}

/* The advice for one node, in addition to the remedy for the cluster; NULL if there is none. */
static char *advice_for(const struct profile *profile, const struct node_status *status,
			const struct node_detail *detail)
{
	const char *name = status->node->name;
	cleanup_free char *failures = failures_describe(profile, name);
	cleanup_free char *relief = NULL;

	/* A start leaves it alone. */
	if (status->node->phase == NODE_LEAVING)
		return xasprintf("the deletion of node '%s' was interrupted: delete it again to "
				 "finish",
				 name);
	/* One that the user has cordoned is not in the list. */
	if (detail->cordoned && text_is(status->host, "Running") &&
	    strlist_has(&profile->drained, name))
		return xasprintf("%s gets no new pods, since a command that drained it did not "
				 "finish; 'manykube start' undoes that",
				 name);
	if (failures)
		return xasprintf("%s fails on purpose (%s); 'manykube heal %s' ends that", name,
				 failures, name);
	if (!status->pressure)
		return NULL;
	relief = defects_relief(profile, status);
	return xasprintf("%s: %s", name, relief);
}

void node_table_list_advice(const struct profile *profile, const struct cluster_status *nodes,
			    const struct cluster_detail *detail, const struct activity *activity,
			    struct strlist *ret)
{
	cleanup_free char *for_all = NULL;

	/* What a deletion has removed is not missing: the deletion can only be finished, which has
	 * a line of its own. */
	if (profile->deleting && !activity->busy_with)
		return;
	for_all = remedy(profile, nodes, detail, activity);
	/* A command in progress is not advice. */
	if (activity->busy_with) {
		strlist_add(ret, for_all);
		return;
	}
	for (size_t i = 0; i < nodes->count; i++) {
		cleanup_free char *advice = advice_for(profile, &nodes->nodes[i],
						       &detail->nodes[i]);
		cleanup_free char *complete = advice ? advice_complete(advice) : NULL;

		if (complete)
			strlist_add(ret, complete);
	}
	/* A start does not end failures. */
	if (for_all && profile->failures.count == 0) {
		cleanup_free char *complete = advice_complete(for_all);

		strlist_add(ret, complete);
	}
}

static void print_advice(const struct strlist *advice, const struct activity *activity,
			 const struct node_table_look *look, FILE *out)
{
	const char *line;

	if (activity->failure && !activity->busy_with) {
		cleanup_free char *last = xasprintf("The last command failed: %s",
						    activity->failure);

		print_wrapped(last, 2, look, out);
	}
	strlist_for_each(line, advice)
		print_wrapped(line, 0, look, out);
}

void node_table_print_problems(const struct profile *profile, const struct cluster_status *nodes,
			       const struct cluster_detail *detail, const struct activity *activity,
			       const struct node_table_look *look, FILE *out)
{
	cleanup_with(strlist_release) struct strlist problems = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist advice = STRLIST_INIT;
	const char *line;

	node_table_list_advice(profile, nodes, detail, activity, &advice);
	if (advice.count == 0)
		return;
	list_problems(nodes, detail, &problems);
	fputc('\n', out);
	strlist_for_each(line, &problems)
		print_wrapped(line, 2, look, out);
	print_advice(&advice, activity, look, out);
}

void node_table_print_advice(const struct profile *profile, const struct cluster_status *nodes,
			     const struct cluster_detail *detail, const struct activity *activity,
			     const struct node_table_look *look, FILE *out)
{
	cleanup_with(strlist_release) struct strlist advice = STRLIST_INIT;

	node_table_list_advice(profile, nodes, detail, activity, &advice);
	if (advice.count > 0)
		print_advice(&advice, activity, look, out);
}
