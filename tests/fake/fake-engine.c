/* A container engine for tests. */

#include "fake-engine.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strlist.h"

#define THINGS_MOST 64

enum kind {
	CONTAINER,
	VOLUME,
	IMAGE,
};

static const char *const kind_words[] = { "container", "volume", "image" };

struct thing {
	enum kind kind;
	char *name;
	json_t *made_of; /* what the request said */
	pid_t pid;
};

static struct thing things[THINGS_MOST];
static size_t thing_count;
static const char *home;
static long requests_left = -1;

struct request {
	char method[8];
	char path[1024];
	char *query; /* in PATH */
	json_t *body;
};

static struct thing *find_thing(enum kind kind, const char *name)
{
	for (size_t i = 0; i < thing_count; i++)
		if (things[i].kind == kind && strcmp(things[i].name, name) == 0)
			return &things[i];
	return NULL;
}

static void write_things(void)
{
	cleanup_with(strlist_release) struct strlist lines = STRLIST_INIT;
	cleanup_free char *path = xasprintf("%s/things", home);
	cleanup_free char *text = NULL;

	for (size_t i = 0; i < thing_count; i++)
		strlist_addf(&lines, "%s %s\n", kind_words[things[i].kind], things[i].name);
	strlist_sort(&lines);
	text = strlist_join(&lines, "");
	(void)file_put(path, text, strlen(text), 0644, NULL);
}

static void add_thing(enum kind kind, const char *name, json_t *made_of)
{
	if (find_thing(kind, name) || thing_count == THINGS_MOST)
		return;
	things[thing_count++] = (struct thing){ .kind = kind,
						.name = xstrdup(name),
						.made_of = json_incref(made_of) };
	write_things();
}

static void end_process(struct thing *thing)
{
	if (thing->pid > 0) {
		(void)kill(thing->pid, SIGKILL);
		(void)waitpid(thing->pid, NULL, 0);
	}
	thing->pid = 0;
}

static void remove_thing(struct thing *thing)
{
	end_process(thing);
	free(thing->name);
	json_decref(thing->made_of);
	*thing = things[--thing_count];
	write_things();
}

static void start_process(struct thing *thing)
{
	const json_t *words = json_object_get(thing->made_of, "Entrypoint");
	char *argv[8] = { NULL };
	const json_t *word;
	size_t i;

	json_array_foreach(words, i, word)
		if (i < ARRAY_SIZE(argv) - 1)
			argv[i] = xstrdup(json_string_value(word));
	thing->pid = fork();
	if (thing->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)execv(getenv("MANYKUBE_AGENT") ?: "/bin/false", argv);
		_exit(127);
	}
}

static json_t *describe(const struct thing *thing)
{
	const char *image = json_string_value(json_object_get(thing->made_of, "Image"));
	cleanup_with(strbuf_release) struct strbuf shown = STRBUF_INIT;
	cleanup_free char *registry = xasprintf("%s/registry", home);

	(void)file_read(registry, 64, &shown, NULL);
	strbuf_add(&shown, image ? image : "");
	return json_pack("{s:s, s:{s:s, s:O?}, s:{s:b, s:i}}", "Id", thing->name, "Config", "Image",
			 shown.text, "Labels", json_object_get(thing->made_of, "Labels"), "State",
			 "Running", thing->pid > 0, "Pid", thing->pid > 0 ? (int)thing->pid : 0);
}

/* Whether THING has one of the labels, or the name, that the QUERY wants. */
static bool is_wanted(const struct thing *thing, const char *query)
{
	const char *key;
	json_t *value;

	if (thing->kind == IMAGE)
		return strncmp(thing->name, "manykube-node:", strlen("manykube-node:")) == 0;
	json_object_foreach(json_object_get(thing->made_of, "Labels"), key, value) {
		cleanup_free char *word = xasprintf("%s%%3D%s%%22", key, json_string_value(value));

		if (strstr(query, word))
			return true;
	}
	return false;
}

static json_t *list_things(enum kind kind, const char *query)
{
	json_t *list = json_array();

	for (size_t i = 0; i < thing_count; i++) {
		const struct thing *thing = &things[i];

		if (thing->kind != kind || !is_wanted(thing, query))
			continue;
		if (kind == IMAGE)
			json_array_append_new(list, json_pack("{s:s, s:[s]}", "Id", "sha256:0",
							      "RepoTags", thing->name));
		else
			json_array_append_new(
				list,
				json_pack("{s:s}", kind == VOLUME ? "Name" : "Id", thing->name));
	}
	return kind == VOLUME ? json_pack("{s:o}", "Volumes", list) : list;
}

/* The value of KEY in QUERY; the caller frees it. */
static char *value_of(const char *query, const char *key)
{
	const char *at = strstr(query, key);

	return at ? xstrndup(at + strlen(key), strcspn(at + strlen(key), "&")) : xstrdup("");
}

static bool is_used(const struct thing *image)
{
	for (size_t i = 0; i < thing_count; i++) {
		const char *name = json_string_value(json_object_get(things[i].made_of, "Image"));

		if (things[i].kind == CONTAINER && name && strcmp(name, image->name) == 0)
			return true;
	}
	return false;
}

static int make(const struct request *request)
{
	cleanup_free char *name = value_of(request->query, "name=");
	/* As in Podman 4, a tag that is given apart has no effect. */
	cleanup_free char *repository = value_of(request->query, "repo=");
	char *encoded = strstr(repository, "%3A");
	const char *used;

	if (strcmp(request->path, "/images/create") == 0) {
		cleanup_free char *image = encoded ? xasprintf("%.*s:%s",
							       (int)(encoded - repository),
							       repository, encoded + 3)
						   : xasprintf("%s:latest", repository);

		add_thing(IMAGE, image, NULL);
		return 200;
	}
	if (strcmp(request->path, "/volumes/create") == 0) {
		add_thing(VOLUME, json_string_value(json_object_get(request->body, "Name")),
			  request->body);
		return 201;
	}
	used = json_string_value(json_object_get(request->body, "Image"));
	if (!used || !find_thing(IMAGE, used))
		return 404;
	if (find_thing(CONTAINER, name))
		return 409;
	add_thing(CONTAINER, name, request->body);
	return 201;
}

static int order(struct thing *thing, const char *word)
{
	if (strcmp(word, "start") == 0) {
		if (thing->pid > 0)
			return 304;
		start_process(thing);
	} else {
		if (thing->pid <= 0)
			return 304;
		end_process(thing);
	}
	return 204;
}

/* Carry out REQUEST and return its status; what it answers is in RET. */
static int carry_out(const struct request *request, json_t **ret)
{
	static const struct {
		const char *prefix;
		enum kind kind;
	} lists[] = { { "/containers/", CONTAINER },
		      { "/volumes/", VOLUME },
		      { "/images/", IMAGE } };
	struct utsname here;

	(void)uname(&here);
	if (strcmp(request->path, "/version") == 0) {
		*ret = json_pack("{s:s, s:s}", "Version", "20.10.24", "ApiVersion", "1.41");
		return 200;
	}
	if (strcmp(request->path, "/info") == 0) {
		*ret = json_pack("{s:s, s:[s]}", "KernelVersion", here.release, "SecurityOptions",
				 "name=seccomp,profile=default");
		return 200;
	}
	if (strcmp(request->path, "/volumes") == 0) {
		*ret = list_things(VOLUME, request->query);
		return 200;
	}
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		cleanup_free char *name = NULL;
		struct thing *thing;
		const char *rest;
		char *colon;

		if (strncmp(request->path, lists[i].prefix, strlen(lists[i].prefix)) != 0)
			continue;
		rest = request->path + strlen(lists[i].prefix);
		if (strcmp(rest, "json") == 0) {
			*ret = list_things(lists[i].kind, request->query);
			return 200;
		}
		if (strcmp(rest, "create") == 0)
			return make(request);
		name = xstrndup(rest, strcspn(rest, "/"));
		rest += strlen(name);
		colon = strstr(name, "%3A");
		if (colon) {
			*colon = ':';
			(void)memmove(colon + 1, colon + 3, strlen(colon + 3) + 1);
		}
		thing = find_thing(lists[i].kind, name);
		if (!thing)
			return 404;
		if (strcmp(request->method, "DELETE") == 0) {
			if (thing->kind == IMAGE && is_used(thing))
				return 409;
			remove_thing(thing);
			return 204;
		}
		if (strcmp(rest, "/json") == 0) {
			*ret = describe(thing);
			return 200;
		}
		return order(thing, rest + 1);
	}
	return 404;
}

/* Read chunks to the empty one, of which LEN bytes of TEXT have arrived. */
static bool skip_chunks(int fd, const char *text, size_t len)
{
	static const char last[] = "\r\n0\r\n\r\n";
	const size_t keep = sizeof(last) - 1;
	char buffer[4096];
	size_t have = MIN(len, keep);

	(void)memcpy(buffer, text + len - have, have);
	while (have < keep || memcmp(buffer + have - keep, last, keep) != 0) {
		ssize_t got;

		if (have > keep) {
			(void)memmove(buffer, buffer + have - keep, keep);
			have = keep;
		}
		got = read(fd, buffer + have, sizeof(buffer) - have);
		if (got <= 0)
			return false;
		have += (size_t)got;
	}
	return true;
}

/* Read the head of a request, and its body if that is JSON. */
static bool read_request(int fd, struct request *ret)
{
	static char text[1 << 16];
	size_t len = 0;
	char *body;

	text[0] = '\0';
	while (!(body = strstr(text, "\r\n\r\n"))) {
		ssize_t got = read(fd, text + len, sizeof(text) - 1 - len);

		if (got <= 0)
			return false;
		len += (size_t)got;
		text[len] = '\0';
	}
	if (sscanf(text, "%7s %1023s", ret->method, ret->path) != 2)
		return false;
	ret->query = strchr(ret->path, '?');
	if (ret->query)
		*ret->query++ = '\0';
	else
		ret->query = ret->path + strlen(ret->path);
	/* An archive comes in chunks, the last of which is empty.  Parts of it arrive together with
	 * the head, or split anywhere. */
	if (strcasestr(text, "\r\nTransfer-Encoding: chunked"))
		return skip_chunks(fd, body + 4, len - (size_t)(body + 4 - text));
	body += 4;
	while ((ret->body = json_loadb(body, len - (size_t)(body - text), 0, NULL)) == NULL) {
		const char *length = strcasestr(text, "\r\nContent-Length: ");
		ssize_t got;

		if (!length || strncmp(length + 18, "0\r", 2) == 0)
			break;
		got = read(fd, text + len, sizeof(text) - 1 - len);
		if (got <= 0)
			return false;
		len += (size_t)got;
	}
	return true;
}

static void note(const struct request *request)
{
	cleanup_free char *log = xasprintf("%s/requests", home);
	cleanup_free char *line = xasprintf("%s %s\n", request->method, request->path);
	cleanup_fd int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	(void)file_write_all(fd, line, strlen(line));
}

/* Whether the connection is to end now, after the request was carried out. */
static bool is_to_break(const struct request *request)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/break", home);

	if (file_read(path, 64, &text, NULL) == 0) {
		requests_left = atol(text.text);
		(void)unlink(path);
	}
	if (requests_left < 0 || strcmp(request->method, "GET") == 0)
		return false;
	return requests_left-- == 0;
}

static void serve(int fd)
{
	cleanup_with(strbuf_release) struct strbuf fixed = STRBUF_INIT;
	cleanup_free char *path = xasprintf("%s/answer", home);
	cleanup_free char *body = NULL;
	cleanup_free char *head = NULL;
	struct request request = { .body = NULL };
	json_t *answer = NULL;
	int status;

	if (!read_request(fd, &request))
		return;
	note(&request);
	if (file_read(path, 8 << 20, &fixed, NULL) == 0) {
		status = atoi(fixed.text);
		body = xstrdup(fixed.text + strcspn(fixed.text, " ") + 1);
	} else {
		status = carry_out(&request, &answer);
		body = answer ? json_dumps(answer, 0)
			      : xasprintf("{\"message\": \"the answer is %d\"}", status);
	}
	json_decref(request.body);
	json_decref(answer);
	if (is_to_break(&request))
		return;
	if (status == 204 || status == 304)
		body[0] = '\0';
	head = xasprintf("HTTP/1.1 %d Whatever\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
			 status, strlen(body));
	(void)file_write_all(fd, head, strlen(head));
	(void)file_write_all(fd, body, strlen(body));
}

void fake_engine_start(const char *dir, struct fake_engine *ret)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_fd int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_free char *variable = xasprintf("unix://%s/docker.sock", dir);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/docker.sock", dir);
	(void)unlink(address.sun_path);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listener, 16) < 0) {
		perror("fake container engine");
		abort();
	}
	(void)setenv("DOCKER_HOST", variable, 1);
	home = dir;
	ret->socket = xstrdup(address.sun_path);
	ret->pid = fork();
	if (ret->pid != 0)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)signal(SIGPIPE, SIG_IGN);
	for (;;) {
		cleanup_fd int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0)
			serve(fd);
	}
}

void fake_engine_stop(struct fake_engine *engine)
{
	if (engine->pid > 0) {
		(void)kill(engine->pid, SIGKILL);
		(void)waitpid(engine->pid, NULL, 0);
	}
	free(engine->socket);
	*engine = FAKE_ENGINE_INIT;
}
