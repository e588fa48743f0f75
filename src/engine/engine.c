/* The container engine of this host. */

#include "engine/engine.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/process.h"

#define DOCKER_SOCKET "/var/run/docker.sock"
#define PODMAN_SOCKET "/run/podman/podman.sock"

/* How long an engine may take for a request, and for making an image. */
#define CALL_SECONDS   120
#define IMPORT_SECONDS 300

void engine_release(struct engine *engine)
{
	free(engine->socket);
	free(engine->shown);
	*engine = ENGINE_INIT;
}

/* Connect to PATH, to find out whether anybody answers. */
static int try_socket(const char *path, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r;

	if (strlen(path) >= sizeof(address.sun_path))
		return error_because(err, &reason_host_unsupported, -ENAMETOOLONG,
				     "the path of the container engine's socket, '%s', is too long",
				     path);
	(void)memcpy(address.sun_path, path, strlen(path));
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return 0;
	r = error_sys(err, "cannot reach a container engine at '%s'", path);
	(void)error_reason(err, r, &reason_host_missing_tool);
	if (r == -EACCES)
		return error_hint(err, r, "run the command as root");
	return error_hint(err, r,
			  "start Docker ('systemctl start docker'), install it ('apt install "
			  "docker.io'), or set DOCKER_HOST to the socket of another engine");
}

int engine_open(struct engine *ret, struct error *err)
{
	cleanup_with(engine_release) struct engine engine = ENGINE_INIT;
	const char *where = getenv("DOCKER_HOST");
	int r;

	if (!where || !*where)
		where = access(DOCKER_SOCKET, F_OK) < 0 && access(PODMAN_SOCKET, F_OK) == 0
				? "unix://" PODMAN_SOCKET
				: "unix://" DOCKER_SOCKET;
	if (strncmp(where, "unix:///", strlen("unix:///")) != 0) {
		r = error_because(err, &reason_host_unsupported, -ENOTSUP,
				  "nodes can be containers only of an engine on this host, but "
				  "DOCKER_HOST is '%s'",
				  where);
		return error_hint(err, r,
				  "set DOCKER_HOST to unix:// and the path of a socket, or "
				  "unset it");
	}
	engine.socket = xstrdup(where + strlen("unix://"));
	engine.shown = xasprintf("the container engine at '%s'", engine.socket);
	r = try_socket(engine.socket, err);
	if (r < 0)
		return r;
	*ret = engine;
	engine = ENGINE_INIT;
	return 0;
}

bool engine_is_gone(void)
{
	cleanup_free char *docker = process_find("dockerd");
	cleanup_free char *podman = process_find("podman");
	const char *where = getenv("DOCKER_HOST");

	return !docker && !podman && !(where && *where);
}

static int take_bytes(void *data, const char *bytes, size_t len, struct error *err)
{
	struct strbuf *answer = data;

	if (answer->len + len > ENGINE_ANSWER_MOST)
		return error_set(err, -EMSGSIZE, "the answer of the container engine is too long");
	strbuf_add_mem(answer, bytes, len);
	return 0;
}

int engine_call(const struct engine *engine, const char *method, const char *path, const char *json,
		struct strbuf *ret, struct error *err)
{
	const struct engine_place place = { .shown = engine->shown, .socket = engine->socket };
	const struct engine_request request = {
		.method = method,
		.path = path,
		.json = json,
		.take = ret ? take_bytes : NULL,
		.data = ret,
		.timeout_seconds = CALL_SECONDS,
	};

	return engine_send(&place, &request, err);
}

int engine_look(const struct engine *engine, struct engine_info *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf version = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf info = STRBUF_INIT;
	int r = engine_call(engine, NULL, "/version", NULL, &version, err);

	if (r == 0)
		r = engine_read_version(version.text ?: "", version.len, ret, err);
	if (r == 0)
		r = engine_call(engine, NULL, "/info", NULL, &info, err);
	if (r == 0)
		r = engine_read_info(info.text ?: "", info.len, ret, err);
	return r;
}

int engine_check(const struct engine_info *info, struct error *err)
{
	struct utsname here;
	int r;

	if (!engine_api_is(info->api, ENGINE_API_OLDEST)) {
		r = error_because(err, &reason_host_unsupported, -ENOTSUP,
				  "the container engine has version %s of Docker's API, but nodes "
				  "need " ENGINE_API_OLDEST,
				  *info->api ? info->api : "no known");
		return error_hint(err, r, "use Docker 20.10 or later");
	}
	if (info->rootless) {
		r = error_because(err, &reason_host_unsupported, -ENOTSUP,
				  "the container engine is rootless, so its containers cannot have "
				  "the network of a cluster");
		return error_hint(err, r, "use an engine that runs as root");
	}
	if (uname(&here) == 0 && strcmp(here.release, info->kernel) != 0) {
		r = error_because(err, &reason_host_unsupported, -ENOTSUP,
				  "the container engine runs on another kernel than this host (%s, "
				  "not %s): on another machine, or in a virtual one",
				  info->kernel, here.release);
		return error_hint(err, r, "use an engine that runs on this host itself");
	}
	return 0;
}

int engine_find_container(const struct engine *engine, const char *name,
			  struct engine_container *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf path = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf answer = STRBUF_INIT;
	int r;

	strbuf_add(&path, "/containers/");
	engine_add_encoded(&path, name);
	strbuf_add(&path, "/json");
	r = engine_call(engine, NULL, path.text, NULL, &answer, err);
	return r < 0 ? r : engine_read_container(answer.text ?: "", answer.len, ret, err);
}

int engine_list(const struct engine *engine, const char *path, const char *key, const char *value,
		struct strlist *ret, struct error *err)
{
	cleanup_with(strbuf_release) struct strbuf query = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf answer = STRBUF_INIT;
	json_auto_t *filters = json_pack("{s:[s]}", key, value);
	cleanup_free char *words = filters ? json_dumps(filters, JSON_COMPACT) : NULL;
	int r;

	if (!words)
		return error_set(err, -EINVAL, "'%s' is no word", value);
	strbuf_addf(&query, "%s?all=1&filters=", path);
	engine_add_encoded(&query, words);
	r = engine_call(engine, NULL, query.text, NULL, &answer, err);
	return r < 0 ? r : engine_read_list(answer.text ?: "", answer.len, ret, err);
}

struct cursor {
	const struct strbuf *archive;
	size_t done;
};

static ssize_t give_bytes(void *data, char *to, size_t size, arg_unused struct error *err)
{
	struct cursor *cursor = data;
	size_t len = MIN(size, cursor->archive->len - cursor->done);

	(void)memcpy(to, cursor->archive->text + cursor->done, len);
	cursor->done += len;
	return (ssize_t)len;
}

int engine_import(const struct engine *engine, const char *repository, const char *tag,
		  const struct strbuf *archive, struct error *err)
{
	const struct engine_place place = { .shown = engine->shown, .socket = engine->socket };
	cleanup_with(strbuf_release) struct strbuf path = STRBUF_INIT;
	struct cursor cursor = { .archive = archive };
	struct engine_request request = {
		.read = give_bytes,
		.type = "application/x-tar",
		.data = &cursor,
		.timeout_seconds = IMPORT_SECONDS,
	};

	/* Podman ignores a tag that is given apart. */
	strbuf_add(&path, "/images/create?fromSrc=-&repo=");
	engine_add_encoded(&path, repository);
	engine_add_encoded(&path, ":");
	engine_add_encoded(&path, tag);
	request.path = path.text;
	return engine_send(&place, &request, err);
}
