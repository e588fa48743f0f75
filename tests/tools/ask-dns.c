/* Asking a cluster's DNS from inside one of its pods. */

#include "ask-dns.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/strlist.h"
#include "data/inet.h"

/* The tenth address of the services' subnet is CoreDNS's, by kubeadm's rule. */
#define DNS_NUMBER 10

#define QUESTION_ID 0x6d6b

int ask_dns_init(struct ask_dns *ask, struct error *err)
{
	*ask = (struct ask_dns){ .own_network = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC) };
	for (size_t i = 0; i < ASK_DNS_OPEN; i++)
		ask->sockets[i] = -1;
	return ask->own_network < 0 ? error_sys(err, "cannot open our own network") : 0;
}

void ask_dns_release(struct ask_dns *ask)
{
	for (size_t i = 0; i < ASK_DNS_OPEN; i++)
		cleanup_fd_(&ask->sockets[i]);
	cleanup_fd_(&ask->own_network);
}

/* Add the paths of the networks of NODE's pods to PATHS. */
static void find_pods(const struct profile *profile, const struct node *node, struct strlist *paths)
{
	cleanup_with(strbuf_release) struct strbuf pid = STRBUF_INIT;
	cleanup_free char *file = xasprintf("%s/nodes/%s/pid", profile->dir, node->name);
	cleanup_free char *dir = NULL;
	cleanup_dir DIR *stream = NULL;
	struct dirent *entry;

	if (file_read(file, 256, &pid, NULL) < 0)
		return;
	dir = xasprintf("/proc/%.*s/root/run/netns", (int)strcspn(pid.text, " \n"), pid.text);
	stream = opendir(dir);
	while (stream && (entry = readdir(stream)))
		if (entry->d_name[0] != '.')
			strlist_addf(paths, "%s/%s", dir, entry->d_name);
}

/* A socket in the network at PATH. */
static int open_in(struct ask_dns *ask, const char *path)
{
	cleanup_fd int network = open(path, O_RDONLY | O_CLOEXEC);
	int fd = -1;

	if (network < 0 || setns(network, CLONE_NEWNET) < 0)
		return -1;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (setns(ask->own_network, CLONE_NEWNET) < 0)
		abort();
	return fd;
}

static void add_name(struct strbuf *out, const char *name)
{
	cleanup_with(strlist_release) struct strlist labels = STRLIST_INIT;
	const char *label;

	strlist_split(&labels, name, '.');
	strlist_for_each(label, &labels) {
		strbuf_add_char(out, (char)strlen(label));
		strbuf_add(out, label);
	}
	strbuf_add_char(out, '\0');
}

static void send_question(const struct profile *profile, int fd)
{
	cleanup_with(strbuf_release) struct strbuf packet = STRBUF_INIT;
	cleanup_free char *name = xasprintf("kubernetes.default.svc.%s", profile->dns_domain);
	static const unsigned char head[12] = { QUESTION_ID >> 8, QUESTION_ID & 0xff, 1, 0, 0, 1 };
	static const unsigned char tail[4] = { 0, 1, 0, 1 };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(53) };
	struct subnet services;

	if (inet_parse_subnet(profile->service_subnet, &services, NULL) < 0 ||
	    inet_nth_address(&services, DNS_NUMBER, &to.sin_addr, NULL) < 0)
		return;
	strbuf_add_mem(&packet, head, sizeof(head));
	add_name(&packet, name);
	strbuf_add_mem(&packet, tail, sizeof(tail));
	(void)sendto(fd, packet.text, packet.len, 0, (struct sockaddr *)&to, sizeof(to));
}

static bool has_answer(int fd)
{
	unsigned char answer[1500];
	ssize_t len = recv(fd, answer, sizeof(answer), 0);

	return len > 12 && (answer[0] << 8 | answer[1]) == QUESTION_ID && answer[2] & 0x80 &&
	       (answer[3] & 0xf) == 0 && (answer[6] << 8 | answer[7]) > 0;
}

bool ask_dns_try(struct ask_dns *ask, const struct profile *profile)
{
	cleanup_with(strlist_release) struct strlist pods = STRLIST_INIT;
	const struct node *node;
	int *fd = &ask->sockets[ask->next_socket++ % ASK_DNS_OPEN];

	for (size_t i = 0; i < ASK_DNS_OPEN; i++)
		if (ask->sockets[i] >= 0 && has_answer(ask->sockets[i]))
			return true;
	profile_for_each_node(node, profile)
		find_pods(profile, node, &pods);
	if (pods.count == 0)
		return false;
	cleanup_fd_(fd);
	*fd = open_in(ask, pods.items[ask->next_pod++ % pods.count]);
	if (*fd >= 0)
		send_question(profile, *fd);
	return false;
}
