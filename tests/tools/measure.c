/*
 * For developers: measure clusters.  tools/bench.sh makes tables of what this prints, one line
 * of JSON each:
 *
 *	measure start PROFILE NODES front-door|direct COMMAND...   when what can be used
 *	measure again PROFILE COMMAND...                           the same of one that comes back
 *	measure rest PROFILE                                       memory and disk of each node
 *	measure repeat TIMES COMMAND...                            how long a command takes
 */

#include <ctype.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <time.h>

#include "balancer/balancer.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/process.h"
#include "node/node-files.h"
#include "record/profile.h"
#include "watch.h"

#define START_SECONDS 300

static int measure_start(char **argv, json_t **ret, struct error *err)
{
	unsigned long long nodes;
	struct watch_options options = { .kind = WATCH_NEW, .seconds = START_SECONDS };
	int r;

	if (!argv[0] || !argv[1] || !argv[2] || !argv[3])
		return error_set(err, -EINVAL,
				 "start needs a profile, nodes, front-door or direct, a command");
	r = parse_number(argv[1], 1, 250, &nodes, err);
	if (r < 0)
		return r;
	options.profile = argv[0];
	options.nodes = (unsigned)nodes;
	options.direct = strcmp(argv[2], "direct") == 0;
	options.argv = argv + 3;
	return watch_start(&options, ret, err);
}

static int measure_again(char **argv, json_t **ret, struct error *err)
{
	struct watch_options options = { .kind = WATCH_AGAIN,
					 .profile = argv[0],
					 .seconds = START_SECONDS };

	if (!argv[0] || !argv[1])
		return error_set(err, -EINVAL, "again needs a profile and a command");
	options.argv = argv + 1;
	return watch_start(&options, ret, err);
}

/* What a process has of the machine's memory, its share of what it has together with others. */
static uint64_t pss_of(const char *pid)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%s/smaps_rollup", pid);
	cleanup_free char *number = NULL;
	unsigned long long kilobytes = 0;
	const char *found;

	if (file_read(path, 65536, &text, NULL) < 0)
		return 0;
	found = strstr(text.text, "\nPss:");
	if (!found)
		return 0;
	found += strlen("\nPss:");
	found += strspn(found, " \t");
	number = xstrndup(found, strspn(found, "0123456789"));
	(void)parse_number(number, 0, UINT32_MAX, &kilobytes, NULL);
	return kilobytes * 1024;
}

static char *name_of(const char *pid)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%s/comm", pid);

	if (file_read(path, 256, &text, NULL) < 0)
		return xstrdup("?");
	strbuf_trim_end(&text);
	return strbuf_take(&text);
}

static bool is_in_group(const char *pid, const char *group)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%s/cgroup", pid);
	const char *found;

	if (file_read(path, 65536, &text, NULL) < 0)
		return false;
	found = strstr(text.text, group);
	return found && (found[strlen(group)] == '/' || found[strlen(group)] == '\n');
}

static void add_to(json_t *parts, const char *name, uint64_t bytes)
{
	(void)json_object_set_new(
		parts, name,
		json_integer(json_integer_value(json_object_get(parts, name)) + (json_int_t)bytes));
}

/* The memory of all processes in the control group GROUP, by program in PARTS. */
static uint64_t memory_of_group(const char *group, json_t *parts)
{
	cleanup_dir DIR *stream = opendir("/proc");
	struct dirent *entry;
	uint64_t sum = 0;

	while (stream && (entry = readdir(stream))) {
		cleanup_free char *name = NULL;
		uint64_t bytes;

		if (!isdigit((unsigned char)entry->d_name[0]) || !is_in_group(entry->d_name, group))
			continue;
		name = name_of(entry->d_name);
		bytes = pss_of(entry->d_name);
		add_to(parts, name, bytes);
		sum += bytes;
	}
	return sum;
}

static json_t *measure_node(const struct profile *profile, const struct node *node)
{
	cleanup_free char *group = xasprintf("/manykube/%s/%s", profile->bridge, node->name);
	cleanup_free char *dir = node_dir(profile, node);
	json_t *parts = json_object();
	uint64_t memory = memory_of_group(group, parts);

	return json_pack("{s:s, s:b, s:I, s:I, s:o}", "name", node->name, "control_plane",
			 node->control_plane, "memory_bytes", (json_int_t)memory, "disk_bytes",
			 (json_int_t)file_tree_bytes(dir, false), "memory_by_program", parts);
}

static int measure_rest(char **argv, json_t **ret, struct error *err)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *keeper = NULL;
	cleanup_free char *worker = NULL;
	const struct node *node;
	json_t *nodes;
	int r = argv[0] ? profile_load(argv[0], &profile, err)
			: error_set(err, -EINVAL, "rest needs a profile");

	if (r < 0)
		return r;
	nodes = json_array();
	profile_for_each_node(node, &profile)
		(void)json_array_append_new(nodes, measure_node(&profile, node));
	keeper = xasprintf("%d", (int)balancer_pid(profile.dir));
	worker = xasprintf("%d", (int)balancer_worker_pid(profile.dir));
	*ret = json_pack("{s:o, s:I}", "nodes", nodes, "front_door_bytes",
			 (json_int_t)(pss_of(keeper) + pss_of(worker)));
	return 0;
}

static double now_seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int measure_repeat(char **argv, json_t **ret, struct error *err)
{
	cleanup_fd int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct process_options options = { .no_stdin = true,
					   .stdout_fd = nowhere,
					   .stderr_fd = nowhere };
	unsigned long long times;
	double sum = 0;
	double least = 0;
	double most = 0;
	int r;

	if (!argv[0] || !argv[1])
		return error_set(err, -EINVAL, "repeat needs a number and a command");
	r = parse_number(argv[0], 1, 100000, &times, err);
	for (unsigned long long i = 0; r == 0 && i < times; i++) {
		double begun = now_seconds();
		double took;

		r = process_run(argv + 1, &options, err);
		if (r > 0)
			return error_set(err, -EIO, "'%s' ended with status %d", argv[1], r);
		took = now_seconds() - begun;
		sum += took;
		least = i == 0 || took < least ? took : least;
		most = took > most ? took : most;
	}
	if (r < 0)
		return r;
	*ret = json_pack("{s:f, s:f, s:f}", "mean", sum / (double)times, "least", least, "most",
			 most);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(char **argv, json_t **ret, struct error *err);
	} ways[] = {
		{ "start", measure_start },
		{ "again", measure_again },
		{ "rest", measure_rest },
		{ "repeat", measure_repeat },
	};
	cleanup_with(error_clear) struct error err = ERROR_INIT;

	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(ways); i++) {
		json_auto_t *result = NULL;

		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		if (ways[i].run(argv + 2, &result, &err) < 0) {
			fprintf(stderr, "measure: %s\n", err.text);
			return EXIT_FAILURE;
		}
		(void)json_dumpf(result, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
		printf("\n");
		return EXIT_SUCCESS;
	}
	fprintf(stderr, "measure: say start, again, rest or repeat; see the top of its source\n");
	return EXIT_FAILURE;
}
