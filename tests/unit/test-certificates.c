/* Certificates that end, in a fake world. */

#include "kubeadm/certificates.h"

#include "authority.h"
#include "base/clock.h"
#include "base/file.h"
#include "cluster/cluster.h"
#include "data/pki.h"
#include "fake-files.h"
#include "fake-world.h"
#include "kubeadm/bootstrap.h"
#include "record/options.h"
#include "rounds.h"
#include "test.h"

#define API_SERVER  "/etc/kubernetes/pki/apiserver.crt"
#define FRONT_PROXY "/etc/kubernetes/pki/front-proxy-client.crt"

static int start_all(void)
{
	struct cluster_options options = { .nodes = 2,
					   .kubernetes_version = "v1.36.3",
					   .wait = WAIT_API | WAIT_NODES,
					   .wait_seconds = 20 };
	struct cluster_outcome outcome;

	return cluster_start("test", &options, NULL, &outcome, NULL);
}

static char *path_of(const char *node, const char *file)
{
	return fake_files_path(node, file);
}

/* Put a certificate there that is good from BEGIN to END, in seconds from now. */
static void put(const char *node, const char *file, long begin, long end)
{
	cleanup_free char *path = path_of(node, file);
	cleanup_free char *dir = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	cleanup_free char *cert = NULL;
	cleanup_free char *key = NULL;

	authority_make_for(begin, end, &cert, &key);
	ASSERT_OK(file_make_dirs(dir, 0755, &err));
	ASSERT_OK(file_put(path, cert, strlen(cert), 0644, &err));
}

static bool is_ending(const char *node, const char *file)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = path_of(node, file);
	struct pki_times times;

	ASSERT_OK(file_read(path, 1 << 20, &text, &err));
	ASSERT_OK(pki_read_times(text.text, &times, &err));
	return pki_is_ending(&times, clock_wall_seconds());
}

static void stop_all(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;

	ASSERT_OK(profile_load("test", &profile, &err));
	ASSERT(cluster_stop(&profile, false, NULL, NULL) >= 0);
}

static void assert_history(const char *expected)
{
	cleanup_free char *history = fake_world_history();

	ASSERT_STR(history, expected);
}

#define STARTED "start node-1 v1.36.3; start node-2 v1.36.3"

TEST(a_start_renews_what_ends_and_leaves_the_rest)
{
	free(begin_round(1));
	ASSERT_INT(start_all(), 0);
	put("node-1", API_SERVER, -3000, 6000);
	put("node-1", FRONT_PROXY, -3000, 6000);
	stop_all();
	ASSERT_INT(start_all(), 0);
	assert_history(STARTED "; " STARTED);
	stop_all();
	put("node-1", FRONT_PROXY, -9000, 2900);
	ASSERT_INT(start_all(), 0);
	assert_history(STARTED "; " STARTED "; renew node-1 v1.36.3; " STARTED);
	ASSERT(!is_ending("node-1", FRONT_PROXY));
	ASSERT_INT(start_all(), 0);
	assert_history(STARTED "; " STARTED "; renew node-1 v1.36.3; " STARTED);
}

TEST(what_runs_is_told_of_new_certificates)
{
	free(begin_round(1));
	ASSERT_INT(start_all(), 0);
	put("node-1", API_SERVER, -9000, -10);
	ASSERT_INT(start_all(), 0);
	assert_history(STARTED "; renew node-1 v1.36.3; restart programs of node-1 v1.36.3");
}

TEST(a_kubelet_that_could_not_renew_its_own_gets_another)
{
	free(begin_round(1));
	ASSERT_INT(start_all(), 0);
	ASSERT(!is_ending("node-2", BOOTSTRAP_KUBELET_PEM));
	/* As long as it runs and can ask for another, that is its own business. */
	put("node-2", BOOTSTRAP_KUBELET_PEM, -9000, 100);
	ASSERT_INT(start_all(), 0);
	ASSERT(is_ending("node-2", BOOTSTRAP_KUBELET_PEM));
	stop_all();
	ASSERT_INT(start_all(), 0);
	ASSERT(!is_ending("node-2", BOOTSTRAP_KUBELET_PEM));
	assert_history(STARTED "; " STARTED);
	put("node-2", BOOTSTRAP_KUBELET_PEM, -9000, -10);
	ASSERT_INT(start_all(), 0);
	ASSERT(!is_ending("node-2", BOOTSTRAP_KUBELET_PEM));
	assert_history(STARTED "; " STARTED "; restart programs of node-2 v1.36.3");
}

/* As kubelets leave it: a link that means something in the node only. */
TEST(a_link_is_followed_in_the_node)
{
	cleanup_free char *path = NULL;

	free(begin_round(1));
	ASSERT_INT(start_all(), 0);
	stop_all();
	put("node-2", "/var/lib/kubelet/pki/renewed.pem", -9000, -10);
	path = path_of("node-2", BOOTSTRAP_KUBELET_PEM);
	ASSERT(unlink(path) == 0 && symlink("/var/lib/kubelet/pki/renewed.pem", path) == 0);
	ASSERT_INT(start_all(), 0);
	ASSERT(!is_ending("node-2", BOOTSTRAP_KUBELET_PEM));
	ASSERT(is_ending("node-2", "/var/lib/kubelet/pki/renewed.pem"));
}

TEST(a_link_out_of_the_node_is_not_written_through)
{
	cleanup_free char *path = NULL;
	cleanup_free char *aside = NULL;

	free(begin_round(1));
	ASSERT_INT(start_all(), 0);
	stop_all();
	put("node-2", BOOTSTRAP_KUBELET_PEM, -9000, -10);
	path = path_of("node-2", "/var/lib/kubelet/pki");
	aside = path_of("node-2", "/aside");
	ASSERT(rename(path, aside) == 0 && symlink("/aside", path) == 0);
	ASSERT_INT(start_all(), -ENOTDIR);
	ASSERT(is_ending("node-2", "/aside/kubelet-client-current.pem"));
}

static bool warned_of_authority(void)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;
	cleanup_free char *path = NULL;

	ASSERT_OK(profile_load("test", &profile, &err));
	path = xasprintf("%s/logs/last-start.log", profile.dir);
	ASSERT_OK(file_read(path, 1 << 20, &text, &err));
	return strstr(text.text, "create a new cluster before that");
}

TEST(of_an_authority_that_ends_people_are_warned)
{
	free(begin_round(1));
	ASSERT_INT(start_all(), 0);
	ASSERT_INT(start_all(), 0);
	ASSERT(!warned_of_authority());
	put("node-1", "/etc/kubernetes/pki/etcd/ca.crt", -9000, 2900);
	ASSERT_INT(start_all(), 0);
	ASSERT(warned_of_authority());
}

static int with_ended_ones(void)
{
	int r = start_all();

	if (r < 0)
		return r;
	stop_all();
	put("node-1", API_SERVER, -9000, -10);
	put("node-1", FRONT_PROXY, -9000, -10);
	put("node-2", BOOTSTRAP_KUBELET_PEM, -9000, -10);
	return 0;
}

static void check_renewed(void)
{
	ASSERT_INT(start_all(), 0);
	ASSERT(!is_ending("node-1", API_SERVER));
	ASSERT(!is_ending("node-1", FRONT_PROXY));
	ASSERT(!is_ending("node-2", BOOTSTRAP_KUBELET_PEM));
}

TEST(renewing_cut_short_is_finished_by_the_next_start)
{
	cut_short(with_ended_ones, start_all, check_renewed, 6);
}

static int with_ended_one_that_runs(void)
{
	int r = start_all();

	put("node-1", API_SERVER, -9000, -10);
	put("node-2", BOOTSTRAP_KUBELET_PEM, -9000, -10);
	return r;
}

static void check_put_to_use(void)
{
	cleanup_free char *history = NULL;

	ASSERT_INT(start_all(), 0);
	history = fake_world_history();
	ASSERT(!is_ending("node-1", API_SERVER));
	ASSERT(!is_ending("node-2", BOOTSTRAP_KUBELET_PEM));
	ASSERT(strstr(history, "restart programs of node-1"));
	ASSERT(strstr(history, "restart programs of node-2"));
	/* That was all: another start finds nothing to do. */
	ASSERT_INT(start_all(), 0);
	assert_history(history);
}

TEST(new_certificates_are_put_to_use_also_after_renewing_was_cut_short)
{
	cut_short(with_ended_one_that_runs, start_all, check_put_to_use, 4);
}
