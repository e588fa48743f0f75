/* Containers that hold the processes of nodes, their image, and their volumes. */

#include "engine/box.h"

#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/process.h"
#include "data/sha256.h"
#include "data/tar-entry.h"

#define IMAGE         "manykube-node"
#define PROGRAM       "manykube-agent"
#define LABEL_CLUSTER "manykube.cluster"
#define LABEL_NODE    "manykube.node"
#define LABEL_PROFILE "manykube.profile"

/* The digits of the digest that name an image. */
#define TAG_DIGITS 12

/* The largest agent. */
#define AGENT_MOST (64u << 20)

/* How long 'docker stop' waits before it kills the node. */
#define STOP_SECONDS 60

/* How long the first process may take to begin. */
#define BEGIN_MS      10000
#define BEGIN_POLL_MS 5

char *box_name(const struct box *box)
{
	return xasprintf("%s-%s", box->cluster, box->node);
}

/* What the first process is called in the list of processes. */
static char *title_of(const struct box *box)
{
	return xasprintf("%s/%s", box->cluster, box->node);
}

/* Read the agent and derive the image's tag from it. */
static int read_agent(const struct box *box, struct strbuf *ret, char ret_tag[TAG_DIGITS + 1],
		      struct error *err)
{
	char digest[SHA256_HEX_SIZE];
	int r = file_read(box->agent, AGENT_MOST, ret, err);

	if (r < 0)
		return r;
	sha256_of(ret->text, ret->len, digest);
	(void)memcpy(ret_tag, digest, TAG_DIGITS);
	ret_tag[TAG_DIGITS] = '\0';
	return 0;
}

static bool is_ours(const struct box *box, const struct engine_container *container)
{
	cleanup_free char *cluster = xasprintf(LABEL_CLUSTER "=%s", box->cluster);
	cleanup_free char *node = xasprintf(LABEL_NODE "=%s", box->node);

	return strlist_has(&container->labels, cluster) && strlist_has(&container->labels, node);
}

int box_find(const struct engine *engine, const struct box *box, struct engine_container *ret,
	     struct error *err)
{
	cleanup_with(
		engine_container_release) struct engine_container found = ENGINE_CONTAINER_INIT;
	cleanup_free char *name = box_name(box);
	int r = engine_find_container(engine, name, &found, err);

	if (r < 0)
		return r;
	if (!is_ours(box, &found)) {
		r = error_because(err, &reason_host_config, -EEXIST,
				  "the container '%s' was not made by manykube", name);
		return error_hint(err, r, "rename it: 'docker rename %s NAME'", name);
	}
	*ret = found;
	found = ENGINE_CONTAINER_INIT;
	return 0;
}

/* The error R of the engine, with a reason if it tells one. */
static int judge(struct error *err, int r)
{
	if (r < 0 && err && err->text && strstr(err->text, "no space left"))
		return error_reason(err, -ENOSPC, &reason_storage);
	return r < 0 ? error_reason(err, r, &reason_node_failed) : r;
}

/* An archive with the agent and the directories on which the engine mounts something. */
static void print_image(struct strbuf *out, const struct strbuf *agent)
{
	static const char *const dirs[] = { "dev/", "etc/", "proc/", "sys/", "var/" };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		tar_print_entry(out, &(struct tar_entry){ .path = dirs[i],
							  .type = TAR_DIRECTORY,
							  .mode = 0755 });
	tar_print_entry(
		out, &(struct tar_entry){
			     .path = PROGRAM, .type = TAR_FILE, .mode = 0755, .size = agent->len });
	strbuf_add_mem(out, agent->text, agent->len);
	tar_print_padding(out, agent->len);
	tar_print_end(out);
}

static int make_image(const struct engine *engine, const struct strbuf *agent, const char *tag,
		      struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf archive = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/images/" IMAGE "%%3A%s/json", tag);
	int r = engine_call(engine, NULL, path, NULL, NULL, err);

	if (r != -ENOENT)
		return r;
	error_clear(err);
	print_image(&archive, agent);
	return engine_import(engine, IMAGE, tag, &archive, err);
}

static json_t *labels_of(const struct box *box)
{
	return json_pack("{s:s, s:s, s:s}", LABEL_CLUSTER, box->cluster, LABEL_NODE, box->node,
			 LABEL_PROFILE, box->profile);
}

/* Send the object BODY, which is consumed, to PATH. */
static int post(const struct engine *engine, const char *path, json_t *body, struct error *err)
{
	cleanup_free char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;

	json_decref(body);
	if (!text)
		return error_set(err, -EINVAL, "the node's name or directory is not UTF-8");
	return engine_call(engine, "POST", path, text, NULL, err);
}

static int make_volume(const struct engine *engine, const struct box *box, struct error *err)
{
	cleanup_free char *name = box_name(box);

	return post(engine, "/volumes/create",
		    json_pack("{s:s, s:s, s:o, s:{s:s, s:s, s:s}}", "Name", name, "Driver", "local",
			      "Labels", labels_of(box), "DriverOpts", "type", "none", "o", "bind",
			      "device", box->var),
		    err);
}

/*
 * The container has no capabilities: its user is the root of the node, and thereby has all rights
 * over the namespaces that belong to the node, and no others.  So has a program that is run by
 * 'docker exec', which may be one that the node replaced.  The engine's filters would stay with the
 * node, which has its own (host/confine.h).  10:200 is /dev/net/tun.
 */
static json_t *host_config_of(const char *volume)
{
	return json_pack("{s:s, s:[s], s:[s, s, s], s:b, s:s, s:[s], s:{s:s},"
			 " s:[{s:s, s:s, s:s}]}",
			 "NetworkMode", "none", "CapDrop", "ALL", "SecurityOpt",
			 "seccomp=unconfined", "apparmor=unconfined", "label=disable",
			 "ReadonlyRootfs", true, "UsernsMode", "host", "DeviceCgroupRules",
			 "c 10:200 rwm", "RestartPolicy", "Name", "no", "Mounts", "Type", "volume",
			 "Source", volume, "Target", "/var");
}

static int make_container(const struct engine *engine, const struct box *box, const char *tag,
			  struct error *err)
{
	cleanup_free char *name = box_name(box);
	cleanup_free char *path = xasprintf("/containers/create?name=%s", name);
	cleanup_free char *title = title_of(box);
	cleanup_free char *image = xasprintf(IMAGE ":%s", tag);
	cleanup_free char *user = xasprintf("%u:%u", box->user, box->user);

	return post(engine, path,
		    json_pack("{s:s, s:s, s:s, s:[s, s, s], s:i, s:o, s:o}", "Image", image, "User",
			      user, "Hostname", box->node, "Entrypoint", "/" PROGRAM, "enter",
			      title, "StopTimeout", STOP_SECONDS, "Labels", labels_of(box),
			      "HostConfig", host_config_of(name)),
		    err);
}

/* Remove NAME from the list KIND ("/containers/"); succeeds if there is none. */
static int remove_one(const struct engine *engine, const char *kind, const char *name,
		      struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf path = STRBUF_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	int r;

	strbuf_add(&path, kind);
	engine_add_encoded(&path, name);
	strbuf_add(&path, "?force=1");
	r = engine_call(engine, "DELETE", path.text, NULL, NULL, &why);
	return r == -ENOENT ? 0 : r < 0 ? error_move(err, r, &why) : r;
}

static int remove_container(const struct engine *engine, const char *name, struct error *err)
{
	return remove_one(engine, "/containers/", name, err);
}

static int remove_volume(const struct engine *engine, const char *name, struct error *err)
{
	return remove_one(engine, "/volumes/", name, err);
}

/* Whether NAME is IMAGE, perhaps with the registry that Podman puts before it. */
static bool is_image(const char *name, const char *image)
{
	size_t len = strlen(name);
	size_t own = strlen(image);

	return len >= own && strcmp(name + len - own, image) == 0 &&
	       (len == own || name[len - own - 1] == '/');
}

int box_make(const struct engine *engine, const struct box *box, struct error *err)
{
	cleanup_with(
		engine_container_release) struct engine_container found = ENGINE_CONTAINER_INIT;
	cleanup_with(strbuf_release) struct strbuf agent = STRBUF_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *image = NULL;
	char tag[TAG_DIGITS + 1];
	int r = read_agent(box, &agent, tag, err);

	if (r < 0)
		return r;
	image = xasprintf(IMAGE ":%s", tag);
	r = box_find(engine, box, &found, &why);
	if (r < 0 && r != -ENOENT)
		return error_move(err, r, &why);
	if (r == 0 && is_image(found.image, image))
		return 0;
	if (r == 0)
		r = remove_container(engine, found.id, err);
	else
		r = 0;
	if (r == 0)
		r = make_image(engine, &agent, tag, err);
	if (r == 0)
		r = make_volume(engine, box, err);
	if (r == 0)
		r = make_container(engine, box, tag, err);
	return judge(err, r);
}

int box_order(const struct engine *engine, const struct box *box, const char *order,
	      struct error *err)
{
	cleanup_free char *name = box_name(box);
	cleanup_free char *path = xasprintf("/containers/%s/%s", name, order);

	return judge(err, engine_call(engine, "POST", path, NULL, NULL, err));
}

bool box_waits(const struct box *box, pid_t pid)
{
	cleanup_with(strbuf_release) struct strbuf words = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf expected = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%d/cmdline", (int)pid);
	cleanup_free char *title = title_of(box);

	strbuf_add_mem(&expected, "/" PROGRAM "\0enter", sizeof("/" PROGRAM "\0enter"));
	strbuf_add_mem(&expected, title, strlen(title) + 1);
	return file_read(path, 4096, &words, NULL) == 0 && words.len == expected.len &&
	       memcmp(words.text, expected.text, words.len) == 0;
}

/* The error for a container that ended at once, or has a pid that does not exist on this host. */
static int explain_end(const struct engine *engine, const struct box *box, struct error *err)
{
	cleanup_with(engine_container_release) struct engine_container now = ENGINE_CONTAINER_INIT;
	int r = box_find(engine, box, &now, err);

	if (r < 0)
		return r;
	if (!now.running)
		return error_because(err, &reason_node_failed, -EIO,
				     "the container ended at once with status %d%s%s",
				     now.exit_status, *now.problem ? ": " : "", now.problem);
	return error_because(err, &reason_host_unsupported, -ESRCH,
			     "the container runs, but this host has no such process");
}

int box_start(const struct engine *engine, const struct box *box, pid_t *ret_pid, struct error *err)
{
	cleanup_with(
		engine_container_release) struct engine_container found = ENGINE_CONTAINER_INIT;
	cleanup_with(engine_container_release) struct engine_container now = ENGINE_CONTAINER_INIT;
	int64_t deadline = clock_now_ms() + BEGIN_MS;
	int r = box_find(engine, box, &found, err);

	/* It runs if a start was interrupted, or if somebody else started it. */
	if (r == 0 && found.paused)
		r = box_order(engine, box, "unpause", err);
	if (r == 0 && found.running)
		r = box_order(engine, box, "stop?t=0", err);
	if (r == 0)
		r = box_order(engine, box, "start", err);
	if (r == 0)
		r = box_find(engine, box, &now, err);
	if (r < 0)
		return r;
	while (!now.pid || !box_waits(box, now.pid))
		if (!process_start_time(now.pid) || !clock_poll(deadline, BEGIN_POLL_MS))
			return explain_end(engine, box, err);
	*ret_pid = now.pid;
	return 0;
}

int box_remove(const struct engine *engine, const struct box *box, struct error *err)
{
	cleanup_with(
		engine_container_release) struct engine_container found = ENGINE_CONTAINER_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *name = box_name(box);
	int r = box_find(engine, box, &found, &why);

	if (r == -EEXIST)
		return 0;
	if (r < 0 && r != -ENOENT)
		return error_move(err, r, &why);
	if (r == 0)
		r = remove_container(engine, found.id, err);
	else
		r = 0;
	return r < 0 ? r : remove_volume(engine, name, err);
}

int box_remove_all(const struct engine *engine, const char *cluster, struct error *err)
{
	cleanup_with(strlist_release) struct strlist containers = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist volumes = STRLIST_INIT;
	cleanup_with(strlist_release) struct strlist images = STRLIST_INIT;
	cleanup_free char *label = xasprintf(LABEL_CLUSTER "=%s", cluster);
	const char *name;
	int r = engine_list(engine, "/containers/json", "label", label, &containers, err);

	strlist_for_each(name, &containers)
		if (r == 0)
			r = remove_container(engine, name, err);
	if (r == 0)
		r = engine_list(engine, "/volumes", "label", label, &volumes, err);
	strlist_for_each(name, &volumes)
		if (r == 0)
			r = remove_volume(engine, name, err);
	if (r == 0)
		r = engine_list(engine, "/images/json", "reference", IMAGE, &images, err);
	strlist_for_each(name, &images) {
		cleanup_with(strbuf_release) struct strbuf path = STRBUF_INIT;
		cleanup_with(error_clear) struct error why = ERROR_INIT;

		strbuf_add(&path, "/images/");
		engine_add_encoded(&path, name);
		/* The engine refuses to remove what a container of another cluster uses. */
		if (r == 0 && engine_call(engine, "DELETE", path.text, NULL, NULL, &why) < 0)
			log_debug("the image '%s' stays: %s", name, why.text);
	}
	return r;
}
