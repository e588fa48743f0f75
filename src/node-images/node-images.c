/* Requests about images to running nodes, and reading their answers. */

#include "node-images/node-images.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/parse.h"
#include "node-images/images-inside.h"
#include "node-images/images-program.h"
#include "node/import-images.h"
#include "node/services.h"

/* The time for a request, and more for each layer to install. */
#define REQUEST_MS 60000
#define LAYER_MS   200
#define HUNG_MS    2000

/* Limits of an answer. */
#define NAME_BYTES  1024
#define LINES_MOST  100000
#define WORDS_MOST  6
#define ERROR_BYTES 2048

/* The fewest digits of an ID. */
#define ID_LEAST 12

void node_image_list_release(struct node_image_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].name);
	free(list->items);
	strlist_release(&list->used_blobs);
	strlist_release(&list->used_layers);
	*list = NODE_IMAGE_LIST_INIT;
}

bool node_image_is(const struct node_image *image, const char *word)
{
	const size_t prefix = strlen("sha256:");
	const char *digits = word + prefix;

	if (strcmp(image->name, word) == 0)
		return true;
	if (strncmp(word, "sha256:", prefix) != 0 || strlen(digits) < ID_LEAST)
		return false;
	return strncmp(image->digest, digits, strlen(digits)) == 0 ||
	       strncmp(image->config, digits, strlen(digits)) == 0;
}

void node_images_task_release(struct node_images_task *task)
{
	error_clear(&task->err);
	node_image_list_release(&task->list);
}

static bool is_name(const char *name)
{
	for (const char *c = name; *c; c++)
		if (*c <= ' ' || *c > '~')
			return false;
	return *name && strlen(name) <= NAME_BYTES;
}

/* Read the words after "image". */
static bool parse_image(const struct strlist *words, struct node_image_list *list)
{
	struct node_image image = { NULL };
	unsigned long long size;

	if (words->count != 6 || !is_name(words->items[1]) || !sha256_is_hex(words->items[2]) ||
	    parse_number(words->items[4], 0, 1ull << 60, &size, NULL) < 0)
		return false;
	(void)snprintf(image.digest, sizeof(image.digest), "%s", words->items[2]);
	if (sha256_is_hex(words->items[3]))
		(void)snprintf(image.config, sizeof(image.config), "%s", words->items[3]);
	else if (strcmp(words->items[3], "-") != 0)
		return false;
	if (strspn(words->items[5], "mp-") != strlen(words->items[5]))
		return false;
	image.managed = strchr(words->items[5], 'm');
	image.pinned = strchr(words->items[5], 'p');
	image.size = size;
	image.name = xstrdup(words->items[1]);
	list->items = xrealloc(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count++] = image;
	return true;
}

static bool parse_line(const char *line, struct node_image_list *list)
{
	cleanup_with(strlist_release) struct strlist words = STRLIST_INIT;
	bool is_digest;

	strlist_split(&words, line, ' ');
	if (words.count < 2 || words.count > WORDS_MOST)
		return false;
	if (strcmp(words.items[0], "image") == 0)
		return parse_image(&words, list);
	is_digest = words.count == 2 && sha256_is_hex(words.items[1]);
	if (is_digest && strcmp(words.items[0], "blob") == 0)
		strlist_add(&list->used_blobs, words.items[1]);
	else if (is_digest && strcmp(words.items[0], "layer") == 0)
		strlist_add(&list->used_layers, words.items[1]);
	else
		return false;
	return true;
}

int node_images_parse(const char *text, size_t len, struct node_image_list *ret, struct error *err)
{
	static const char mark[] = "error ";
	cleanup_with(node_image_list_release) struct node_image_list list = NODE_IMAGE_LIST_INIT;
	cleanup_with(strbuf_release) struct strbuf words = STRBUF_INIT;
	size_t lines = 0;

	if (len >= strlen(mark) && strncmp(text, mark, strlen(mark)) == 0) {
		strbuf_add_printable_line(&words, text + strlen(mark),
					  MIN(len - strlen(mark), (size_t)ERROR_BYTES));
		strbuf_trim_end(&words);
		return error_set(err, -EIO, "%s", words.text);
	}
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		cleanup_free char *line = end ? xstrndup(text, (size_t)(end - text)) : NULL;

		if (!line || strlen(line) != (size_t)(end - text) || ++lines > LINES_MOST ||
		    !parse_line(line, &list))
			return error_set(err, -EBADMSG, "the node's answer is damaged");
		len -= (size_t)(end + 1 - text);
		text = end + 1;
	}
	*ret = list;
	list = NODE_IMAGE_LIST_INIT;
	return 0;
}

/* A task with what it needs while the node works. */
struct running {
	struct node_images_task *task;
	struct cluster_node at;
	struct process process;
	int answer;
};

static void release_running(struct running *running)
{
	process_release(&running->process);
	cluster_node_release(&running->at);
	cleanup_fd_(&running->answer);
}

static int start_task(const struct profile *profile, const struct node_images_request *request,
		      struct grpc *grpc, struct running *running, struct error *err)
{
	struct images_order order = { .request = request, .grpc = grpc };
	int r = cluster_node_open(profile, running->task->node, &running->at, err);

	if (r < 0)
		return r;
	if (!running->at.driver->call)
		return images_program_start(&running->at, request, &running->process,
					    &running->answer, err);
	running->answer = images_make_answer(err);
	if (running->answer < 0)
		return running->answer;
	order.answer = running->answer;
	return running->at.driver->call(&running->at.spec, images_inside, &order, &order.answer, 1,
					&running->process, err);
}

int node_images_limit_ms(const struct node_images_request *request)
{
	size_t layers = 0;

	if (request->verb == NODE_IMAGES_INSTALL)
		for (size_t i = 0; i < request->wanted->count; i++)
			layers += request->wanted->items[i].layer_count;
	return (int)MIN(REQUEST_MS + layers * LAYER_MS, (size_t)INT_MAX);
}

bool node_images_is_hung(const struct profile *profile, const struct node *node)
{
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;

	for (size_t i = 0; node_service_at(i); i++)
		if (text_is(node_service_at(i)->name, "containerd"))
			return cluster_node_open(profile, node, &at, NULL) == 0 && at.driver->ask &&
			       node_service_ask(&at, node_service_at(i), HUNG_MS) == -ETIMEDOUT;
	return false;
}

static int finish_task(struct running *running, int64_t deadline_ms, int limit_ms,
		       struct error *err)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	int status = process_wait(&running->process, deadline_ms, err);
	int r;

	if (status == -ETIMEDOUT)
		return error_set(err, status, "containerd did not answer within %d s",
				 limit_ms / 1000);
	if (status < 0)
		return status;
	if (lseek(running->answer, 0, SEEK_SET) < 0)
		return error_sys(err, "cannot read the node's answer");
	r = file_read_fd(running->answer, IMAGES_ANSWER_BYTES, &text, err);
	if (r < 0)
		return r;
	r = node_images_parse(text.text, text.len, &running->task->list, &why);
	if (status > 0)
		return error_set(err, -status, "%s",
				 r < 0 && why.text && *why.text ? why.text : strerror(status));
	return r < 0 ? error_move(err, r, &why) : 0;
}

/* Note that TASK ended with R and the error in it. */
static void end_task(struct node_images_task *task, int r)
{
	task->result = r;
	if (r < 0) {
		error_prefix(&task->err, r, "images of node '%s'", task->node->name);
		error_reason(&task->err, r, &reason_node_failed);
	}
}

void node_images_run(const struct profile *profile, const struct node_images_request *request,
		     struct node_images_task *tasks, size_t count)
{
	cleanup_with(grpc_freep) struct grpc *grpc = grpc_new(IMAGES_SOCKET);
	struct running *running = xcalloc(count ? count : 1, sizeof(*running));
	const int limit_ms = node_images_limit_ms(request);
	int64_t deadline_ms;

	for (size_t i = 0; i < count; i++) {
		running[i] = (struct running){ .task = &tasks[i],
					       .at = CLUSTER_NODE_INIT,
					       .process = PROCESS_INIT,
					       .answer = -1 };
		tasks[i].result = start_task(profile, request, grpc, &running[i], &tasks[i].err);
		if (tasks[i].result < 0)
			end_task(&tasks[i], tasks[i].result);
	}
	deadline_ms = clock_now_ms() + limit_ms;
	for (size_t i = 0; i < count; i++) {
		if (tasks[i].result == 0)
			end_task(&tasks[i],
				 finish_task(&running[i], deadline_ms, limit_ms, &tasks[i].err));
		release_running(&running[i]);
	}
	free(running);
}

/* Do REQUEST on NODE.  The list goes to RET unless that is NULL. */
static int run_one(const struct profile *profile, const struct node *node,
		   const struct node_images_request *request, struct node_image_list *ret,
		   struct error *err)
{
	cleanup_with(node_images_task_release) struct node_images_task task = NODE_IMAGES_TASK_INIT;

	task.node = node;
	node_images_run(profile, request, &task, 1);
	if (task.result < 0)
		return error_move(err, task.result, &task.err);
	if (ret) {
		*ret = task.list;
		task.list = NODE_IMAGE_LIST_INIT;
	}
	return 0;
}

int node_images_install(const struct profile *profile, const struct node *node,
			const struct image_list *wanted, struct error *err)
{
	const struct node_images_request request = { .verb = NODE_IMAGES_INSTALL,
						     .wanted = wanted };

	return run_one(profile, node, &request, NULL, err);
}

int node_images_list(const struct profile *profile, const struct node *node,
		     struct node_image_list *ret, struct error *err)
{
	const struct node_images_request request = { .verb = NODE_IMAGES_LIST };

	return run_one(profile, node, &request, ret, err);
}

int node_images_tag(const struct profile *profile, const struct node *node, const char *from,
		    const char *to, struct error *err)
{
	const struct node_images_request request = { .verb = NODE_IMAGES_TAG,
						     .from = from,
						     .to = to };

	return run_one(profile, node, &request, NULL, err);
}

int node_images_remove(const struct profile *profile, const struct node *node,
		       const struct strlist *names, struct error *err)
{
	const struct node_images_request request = { .verb = NODE_IMAGES_REMOVE, .names = names };

	return run_one(profile, node, &request, NULL, err);
}

int node_images_import(const struct profile *profile, const struct node *node, const char *archive,
		       int fd, struct error *err)
{
	static char script[] =
#include "load-images.sh.inc"
		;
	cleanup_with(cluster_node_release) struct cluster_node at = CLUSTER_NODE_INIT;
	cleanup_free char *log = xasprintf("%s/logs/images-%s.log", profile->dir, node->name);
	int r = cluster_node_open(profile, node, &at, err);

	return r < 0 ? r : images_feed(&at, ARGV("sh", "-c", script), archive, fd, log, err);
}
