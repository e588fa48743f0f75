/* The processes that poll the API and a service. */

#include "scenario/observe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/kube.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "data/inet.h"
#include "kubeconfig/context.h"
#include "look/services.h"

#define API_MS      2000
#define SERVICE_MS  1000
#define INTERVAL_MS 200

/* More events than any scenario has; a pod that is made again and again must not fill memory. */
#define EVENTS_MOST 20000

struct work {
	const struct profile *profile;
	const struct observe_service *service;
	int64_t begin_ms;
	int fd;
};

/* A line is shorter than PIPE_BUF, so those of several observers do not mix. */
static void write_event(const struct event *event, void *data)
{
	const int *fd = data;
	cleanup_free char *text = event_print(event);
	cleanup_free char *line = xasprintf("%s\n", text);
	size_t len = strlen(line);

	/* The player is gone. */
	if (len < PIPE_BUF && write(*fd, line, len) < 0)
		_exit(1);
}

/* Tell that something answers, or since SINCE_MS does not, if that is new. */
static void tell_answer(const struct work *work, enum event_what what, const char *name, bool up,
			int64_t since_ms, int *was_up)
{
	struct event event = {
		.ms = (up ? clock_now_ms() : since_ms) - work->begin_ms,
		.what = what,
		.name = (char *)(uintptr_t)name,
		.state = (char *)(uintptr_t)(up ? "up" : "down"),
	};
	int fd = work->fd;

	if (*was_up != up)
		write_event(&event, &fd);
	*was_up = up;
}

static int observe_api(const void *arg, struct error *err)
{
	const struct work *work = arg;
	struct sight sight = { json_object(), json_object() };
	struct kube *kube = NULL;
	int was_up = -1;
	int fd = work->fd;
	int r = context_open(work->profile, &kube, err);

	while (r == 0) {
		int64_t since_ms = clock_now_ms();
		json_auto_t *nodes = NULL;
		json_auto_t *pods = NULL;
		bool up = kube_request(kube, KUBE_GET, "/api/v1/nodes", NULL, API_MS, &nodes,
				       NULL) == 0;

		tell_answer(work, EVENT_API, "API", up, since_ms, &was_up);
		if (up)
			observe_nodes(&sight, nodes, clock_now_ms() - work->begin_ms, write_event,
				      &fd);
		if (up &&
		    kube_request(kube, KUBE_GET, "/api/v1/pods", NULL, API_MS, &pods, NULL) == 0)
			observe_pods(&sight, pods, clock_now_ms() - work->begin_ms, write_event,
				     &fd);
		clock_rest_ms(INTERVAL_MS);
	}
	return r;
}

/* Wait until FD is ready for EVENTS; false at the deadline. */
static bool await(int fd, short events, int64_t deadline_ms)
{
	struct pollfd wait = { .fd = fd, .events = events };

	return poll(&wait, 1, clock_left_ms(deadline_ms)) > 0;
}

/* Whether SERVICE answers within SERVICE_MS. */
static bool ask_service(const struct observe_service *service)
{
	static const char request[] = "GET / HTTP/1.0\r\nConnection: close\r\n\r\n";
	struct sockaddr_in name = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)service->port) };
	cleanup_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int64_t deadline_ms = clock_now_ms() + SERVICE_MS;
	socklen_t len = sizeof(int);
	int failed = 0;
	char byte;

	if (fd < 0 || inet_parse_address(service->address, &name.sin_addr, NULL) < 0)
		return false;
	if (connect(fd, (const struct sockaddr *)&name, sizeof(name)) < 0 &&
	    (errno != EINPROGRESS || !await(fd, POLLOUT, deadline_ms) ||
	     getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len) < 0 || failed != 0))
		return false;
	if (service->connects_only)
		return true;
	return send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request) &&
	       await(fd, POLLIN, deadline_ms) && recv(fd, &byte, 1, 0) == 1;
}

static int observe_service(const void *arg, arg_unused struct error *err)
{
	const struct work *work = arg;
	int was_up = -1;

	while (work->service->address) {
		int64_t since_ms = clock_now_ms();

		tell_answer(work, EVENT_SERVICE, work->service->name, ask_service(work->service),
			    since_ms, &was_up);
		clock_rest_ms(INTERVAL_MS);
	}
	return 0;
}

int observe_find_service(const struct profile *profile, const char *namespace, const char *name,
			 struct observe_service *ret, struct error *err)
{
	cleanup_with(services_release) struct services services = SERVICES_INIT;
	const struct service *service = NULL;
	int r = services_collect(profile, "http", &services, err);

	if (r == 0)
		r = services_need(&services, namespace, name, &service, err);
	if (r == 0)
		r = service_check(service, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < service->port_count; i++) {
		const struct service_port *port = &service->ports[i];

		if (!port->url || !port->is_tcp)
			continue;
		*ret = (struct observe_service){
			.name = xasprintf("%s/%s", namespace, name),
			.address = xstrdup(port->address),
			.port = port->answer_port,
		};
		return 0;
	}
	return error_because(err, &reason_service_inside, -ENOTSUP,
			     "service '%s' in namespace '%s' has no TCP port that this host "
			     "reaches",
			     name, namespace);
}

void observe_service_release(struct observe_service *service)
{
	free(service->name);
	free(service->address);
	*service = OBSERVE_SERVICE_INIT;
}

int observers_begin(const struct profile *profile, const struct observe_service *service,
		    int64_t begin_ms, struct observers *ret, struct error *err)
{
	struct work work = { profile, service, begin_ms, -1 };
	cleanup_fd int in = -1;
	cleanup_fd int out = -1;
	int ends[2];
	int r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_sys(err, "cannot create a pipe");
	in = ends[0];
	out = ends[1];
	(void)fcntl(in, F_SETFL, O_NONBLOCK);
	work.fd = out;
	r = job_begin(observe_api, &work, &ret->api, err);
	if (r == 0 && service->address)
		r = job_begin(observe_service, &work, &ret->service, err);
	ret->fd = take_fd(in);
	return r;
}

/* Add the whole lines of OBSERVERS->rest to TIMELINE. */
static void take_lines(struct observers *observers, struct timeline *timeline)
{
	const char *end;

	while ((end = memchr(observers->rest.text, '\n', observers->rest.len))) {
		size_t len = (size_t)(end - observers->rest.text);
		struct event event = { 0 };

		if (timeline->count < EVENTS_MOST &&
		    event_parse(observers->rest.text, len, &event) == 0)
			timeline_add(timeline, &event);
		event_release(&event);
		strbuf_drop_front(&observers->rest, len + 1);
	}
}

int observers_read(struct observers *observers, int timeout_ms, struct timeline *timeline,
		   struct error *err)
{
	struct pollfd wait = { .fd = observers->fd, .events = POLLIN };
	ssize_t len;

	if (poll(&wait, 1, timeout_ms) <= 0)
		return 0;
	len = read(observers->fd, strbuf_grow(&observers->rest, PIPE_BUF), PIPE_BUF);
	if (len == 0)
		return error_set(err, -EPIPE, "the observers of the cluster have ended");
	if (len > 0)
		strbuf_grown(&observers->rest, (size_t)len);
	take_lines(observers, timeline);
	return 0;
}

static void end_job(struct job *job)
{
	if (job->pid < 0)
		return;
	(void)kill(job->pid, SIGKILL);
	(void)job_end(job, NULL);
}

void observers_end(struct observers *observers)
{
	end_job(&observers->api);
	end_job(&observers->service);
	if (observers->fd >= 0)
		(void)close(observers->fd);
	strbuf_release(&observers->rest);
	*observers = OBSERVERS_INIT;
}
