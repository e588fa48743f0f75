/* Checking the services of a native node. */

#include "driver/native-services.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "driver/agent-state.h"
#include "driver/tree.h"
#include "host/namespace.h"

struct question {
	const char *place;
	const char *words;
	int timeout_ms;
};

static int connect_path(const char *path, int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	(void)memcpy(address.sun_path, path, strlen(path));
	return connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

static int connect_port(const char *port, int fd)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	unsigned long long number;
	int r = parse_number(port, 1, 65535, &number, NULL);

	if (r < 0)
		return r;
	address.sin_port = htons((uint16_t)number);
	return connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
}

/* In the node: connect, send the words and wait for one byte.  Connecting alone proves nothing,
 * because the kernel accepts connections even for a stopped program. */
static int ask_inside(const void *arg)
{
	const struct question *question = arg;
	bool is_path = *question->place == '/';
	const struct timeval timeout = { .tv_sec = question->timeout_ms / 1000,
					 .tv_usec = question->timeout_ms % 1000 * 1000 };
	cleanup_fd int fd = socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t len = strlen(question->words);
	char byte;
	int r;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0)
		return -errno;
	r = is_path ? connect_path(question->place, fd) : connect_port(question->place, fd);
	if (r == 0 &&
	    (send(fd, question->words, len, MSG_NOSIGNAL) < 0 || recv(fd, &byte, 1, 0) < 0))
		r = -errno;
	return r == -EAGAIN || r == -EINPROGRESS ? -ETIMEDOUT : r;
}

int native_ask(pid_t pid, const char *place, const char *words, int timeout_ms, struct error *err)
{
	const struct question question = { place, words, timeout_ms };

	return namespace_call(pid, ask_inside, &question, NULL, 0, err);
}

/* A node without containerd's programs cannot start containers. */
static int look_for_programs(arg_unused const void *arg)
{
	static const char *const programs[] = { "/opt/manykube/bin/containerd",
						"/opt/manykube/bin/kubelet" };

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (access(programs[i], X_OK) < 0)
			return -errno;
	return 0;
}

bool native_lacks_programs(pid_t pid)
{
	int r = namespace_call(pid, look_for_programs, NULL, NULL, 0, NULL);

	return r == -ENOENT || r == -ESTALE;
}

/* Whether SIGNAL is in the mask called NAME of PID's main thread, as 16 hexadecimal digits. */
static bool has_signal(pid_t pid, const char *name, int signal)
{
	static const char digits[] = "0123456789abcdef";
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = xasprintf("/proc/%d/status", (int)pid);
	cleanup_free char *key = xasprintf("\n%s:\t", name);
	const char *digit;
	const char *mask;

	if (file_read(path, 65536, &text, NULL) < 0)
		return false;
	mask = strstr(text.text, key);
	if (!mask || strlen(mask) < strlen(key) + 16)
		return false;
	/* Signal 1 is the lowest bit of the last digit. */
	digit = strchr(digits, mask[strlen(key) + 15 - (size_t)(signal - 1) / 4]);
	return digit && (digit - digits) >> ((signal - 1) % 4) & 1;
}

bool native_blocks_signal(pid_t pid, int signal)
{
	return has_signal(pid, "SigBlk", signal);
}

/* A pending SIGTERM counts: the agent may not have written its state yet. */
bool native_is_stopping(const char *dir, pid_t pid)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_with(agent_state_release) struct agent_state state = AGENT_STATE_INIT;

	if (has_signal(pid, "ShdPnd", SIGTERM))
		return true;
	if (node_tree_read_state(dir, &text, NULL) == 0)
		agent_state_parse(text.text, &state);
	return agent_state_is_stopping(&state);
}

bool native_has_namespaces(pid_t pid)
{
	cleanup_free char *path = xasprintf("/proc/%d/ns/net", (int)pid);
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0;
}

int native_open_state(const struct node_spec *spec, int *ret_fd, struct error *err)
{
	cleanup_free char *log = xasprintf("%s/agent.log", spec->dir);
	cleanup_free char *state = xasprintf("%s/state", spec->dir);
	cleanup_fd int fd = -1;

	(void)unlink(log);
	(void)unlink(state);
	fd = open(state, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	/* Readable for 'status', which needs no root. */
	if (fd < 0 || fchmod(fd, 0644) < 0 || ftruncate(fd, NODE_STATE_BYTES) < 0)
		return error_sys(err, "cannot create '%s'", state);
	*ret_fd = take_fd(fd);
	return 0;
}
