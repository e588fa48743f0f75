#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "data/pki.h"
#include "node/docker-api.h"
#include "node/docker-service.h"
#include "node/docker.h"
#include "record/setting-check.h"
#include "test.h"

/* A cluster in the test's directory, whose pods are in PODS. */
static void make_profile(struct profile *ret, const char *pods)
{
	struct node *node;

	*ret = PROFILE_INIT;
	ret->name = xstrdup("dev");
	ret->dir = xstrdup(test_dir());
	ret->subnet = xstrdup("192.168.39.0/24");
	ret->pod_subnet = xstrdup(pods);
	ret->service_subnet = xstrdup("10.96.0.0/12");
	node = profile_add_node(ret, "node-1");
	node->address = xstrdup("192.168.39.2");
}

TEST(the_daemon_has_no_way_in_without_certificates)
{
	cleanup_with(profile_release) struct profile profile;
	cleanup_free char *arguments = NULL;

	make_profile(&profile, "10.244.0.0/16");
	strlist_add(&profile.nodes[0].docker_opt, "debug");
	arguments = docker_arguments(&profile, &profile.nodes[0]);
	ASSERT(strstr(arguments, "--host=tcp://192.168.39.2:2376 --tlsverify "));
	ASSERT(strstr(arguments, " --bip=172.31.250.1/24 "));
	ASSERT(!strchr(arguments, '@'));
	ASSERT(!strchr(arguments, '\n'));
	/* The user's options come last, and so count. */
	ASSERT_STR(strrchr(arguments, ' '), " --debug");
}

TEST(the_daemon_has_the_registries_of_the_cluster_and_the_node)
{
	cleanup_with(profile_release) struct profile profile;
	cleanup_free char *arguments = NULL;

	make_profile(&profile, "10.244.0.0/16");
	strlist_add(&profile.insecure_registries, "registry.local:5000");
	strlist_add(&profile.registry_mirrors, "docker.io=https://mirror.example");
	strlist_add(&profile.registry_mirrors, "quay.io=https://other.example");
	strlist_add(&profile.registry_mirrors, "docker.io=https://path.example/docker");
	strlist_add(&profile.nodes[0].insecure_registries, "own.local");
	arguments = docker_arguments(&profile, &profile.nodes[0]);
	ASSERT(strstr(arguments, " --insecure-registry=registry.local:5000"));
	ASSERT(strstr(arguments, " --registry-mirror=https://mirror.example"));
	ASSERT(strstr(arguments, " --insecure-registry=own.local"));
	/* It has mirrors only of docker.io, and without a path. */
	ASSERT(!strstr(arguments, "other.example"));
	ASSERT(!strstr(arguments, "path.example"));
}

TEST(the_bridge_is_in_no_network_of_the_cluster)
{
	cleanup_with(profile_release) struct profile profile;
	cleanup_free char *arguments = NULL;

	make_profile(&profile, "172.31.0.0/16");
	arguments = docker_arguments(&profile, &profile.nodes[0]);
	ASSERT(strstr(arguments, " --bip=172.30.250.1/24 "));
}

static void read_client(const char *name, struct strbuf *ret)
{
	cleanup_free char *path = xasprintf("%s/docker/%s", test_dir(), name);
	struct stat st;

	ASSERT_INT(stat(path, &st), 0);
	ASSERT_INT(st.st_mode & 0777, 0600);
	ASSERT_OK(file_read(path, 1 << 16, ret, &err));
}

TEST(a_vm_has_no_daemon_and_nothing_is_changed_for_it)
{
	cleanup_with(profile_release) struct profile profile;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct node *node;

	make_profile(&profile, "10.244.0.0/16");
	node = &profile.nodes[0];
	ASSERT_OK(docker_service_check(node, &err));
	node->driver = xstrdup("qemu");
	ASSERT_INT(docker_service_check(node, &why), -ENOTSUP);
	ASSERT(strstr(why.text, "nodes of VMs have no Docker daemon"));
	ASSERT_INT(docker_service_up(&profile, node, NULL, &why), -ENOTSUP);
	ASSERT(!node->docker);
}

TEST(a_client_is_made_once_and_again_when_a_part_is_lost)
{
	cleanup_with(profile_release) struct profile profile;
	cleanup_with(strbuf_release) struct strbuf first = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf second = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf third = STRBUF_INIT;
	cleanup_with(strbuf_release) struct strbuf ca = STRBUF_INIT;
	cleanup_free char *key = xasprintf("%s/docker/key.pem", test_dir());

	make_profile(&profile, "10.244.0.0/16");
	ASSERT_OK(docker_make_client(&profile, &err));
	read_client("cert.pem", &first);
	read_client("ca.pem", &ca);
	ASSERT(!strstr(ca.text, "PRIVATE KEY"));
	ASSERT(!strstr(first.text, "PRIVATE KEY"));
	ASSERT_OK(docker_make_client(&profile, &err));
	read_client("cert.pem", &second);
	ASSERT_STR(second.text, first.text);
	ASSERT_INT(unlink(key), 0);
	ASSERT_OK(docker_make_client(&profile, &err));
	read_client("cert.pem", &third);
	ASSERT(strcmp(third.text, first.text) != 0);
}

TEST(options_that_open_the_daemon_are_refused)
{
	static const char *const good[] = { "debug", "dns=192.0.2.53",
					    "default-ulimit=nofile=9:9" };
	static const char *const bad[] = { "",
					   "--debug",
					   "=x",
					   "host=tcp://0.0.0.0:2375",
					   "H=unix:///x",
					   "tlsverify=false",
					   "log-opt=tag=a b",
					   "containerd-namespace=moby",
					   "metrics-addr=0.0.0.0:9323",
					   "label=a\nb" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ASSERT_OK(setting_check_docker_option(good[i], &err));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ASSERT_INT(setting_check_docker_option(bad[i], NULL), -EINVAL);
}

/* Greet one client with the certificate in the file PEM, and answer with one byte after the other.
 */
static _Noreturn void drip(int listener, const char *pem)
{
	static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	SSL *connection = SSL_new(context);
	bool is_ready;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	is_ready = SSL_use_certificate_file(connection, pem, SSL_FILETYPE_PEM) == 1 &&
		   SSL_use_PrivateKey_file(connection, pem, SSL_FILETYPE_PEM) == 1 &&
		   SSL_set_fd(connection, accept(listener, NULL, NULL)) == 1 &&
		   SSL_accept(connection) == 1 && SSL_write(connection, head, strlen(head)) > 0;
	while (is_ready && SSL_write(connection, "x", 1) == 1)
		(void)usleep(100000);
	_exit(1);
}

static int count_bytes(void *data, arg_unused const char *bytes, size_t len,
		       arg_unused struct error *err)
{
	*(size_t *)data += len;
	return 0;
}

TEST(a_daemon_that_drips_is_given_up)
{
	static const char address[] = "127.93.2.1";
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strbuf_release) struct strbuf ca = STRBUF_INIT;
	cleanup_free char *authority = xasprintf("%s/docker/authority.pem", test_dir());
	cleanup_free char *file = xasprintf("%s/server.pem", test_dir());
	cleanup_free char *pem = NULL;
	size_t count = 0;
	struct engine_request request = {
		.path = "/images/get", .take = count_bytes, .data = &count, .slow_seconds = 1
	};
	int64_t begin_ms = clock_now_ms();
	int listener = test_listen(address, 2376);
	pid_t pid;

	make_profile(&profile, "10.244.0.0/16");
	setting_set_word(&profile.nodes[0].address, address);
	ASSERT_OK(docker_make_client(&profile, &err));
	ASSERT_OK(file_read(authority, 1 << 16, &ca, &err));
	ASSERT_OK(pki_sign_server(ca.text, pki_find_key(ca.text), address, "test", 1, &pem, &err));
	ASSERT_OK(file_put(file, pem, strlen(pem), 0600, &err));
	pid = fork();
	if (pid == 0)
		drip(listener, file);
	ASSERT_INT(docker_api_send(&profile, &profile.nodes[0], &request, NULL), -ETIMEDOUT);
	ASSERT(count > 0);
	ASSERT(clock_now_ms() - begin_ms < 20000);
	(void)kill(pid, SIGKILL);
}
