#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
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

TEST(the_daemon_has_the_registries_of_the_cluster)
{
	cleanup_with(profile_release) struct profile profile;
	cleanup_free char *arguments = NULL;

	make_profile(&profile, "10.244.0.0/16");
	strlist_add(&profile.insecure_registries, "registry.local:5000");
	strlist_add(&profile.registry_mirrors, "docker.io=https://mirror.example");
	strlist_add(&profile.registry_mirrors, "quay.io=https://other.example");
	strlist_add(&profile.registry_mirrors, "docker.io=https://path.example/docker");
	arguments = docker_arguments(&profile, &profile.nodes[0]);
	ASSERT(strstr(arguments, " --insecure-registry=registry.local:5000"));
	ASSERT(strstr(arguments, " --registry-mirror=https://mirror.example"));
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
