#include "kubeconfig/context.h"

#include <sys/stat.h>

#include "base/file.h"
#include "kubeconfig/kubeconfig.h"
#include "look/status.h"
#include "test.h"

/* A profile that was started: its own kubeconfig is there. */
static void make_profile(struct profile *profile)
{
	const struct kubeconfig_entry entry = { "dev", "https://127.0.0.1:1", "CA", "CERT", "KEY" };
	cleanup_free char *own = xasprintf("%s/kubeconfig", test_dir());

	profile->name = xstrdup("dev");
	profile->dir = xstrdup(test_dir());
	profile->api_port = 41234;
	ASSERT_OK(kubeconfig_merge(own, &entry, &err));
}

static char *use_kubeconfig(const char *name)
{
	char *path = xasprintf("%s/%s", test_dir(), name);

	ASSERT_INT(setenv("KUBECONFIG", path, 1), 0);
	return path;
}

static char *read_text(const char *path)
{
	cleanup_with(strbuf_release) struct strbuf text = STRBUF_INIT;

	ASSERT_OK(file_read(path, 65536, &text, &err));
	return strbuf_take(&text);
}

TEST(certificates_are_files_of_the_profile_for_their_owner_only)
{
	static const char *const names[] = { "ca.crt", "client.crt", "client.key" };
	static const char *const pems[] = { "CA", "CERT", "KEY" };
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *path = use_kubeconfig("config");
	cleanup_free char *text = NULL;

	make_profile(&profile);
	ASSERT_INT(context_update(&profile, NULL), 1);
	ASSERT_INT(context_update(&profile, NULL), 0);
	text = read_text(path);
	ASSERT(!strstr(text, "-data"));
	ASSERT(strstr(text, "server: https://127.0.0.1:41234\n"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		cleanup_free char *file = xasprintf("%s/%s", profile.dir, names[i]);
		cleanup_free char *pem = read_text(file);
		struct stat st;

		ASSERT_STR(pem, pems[i]);
		ASSERT_INT(stat(file, &st), 0);
		ASSERT_INT(st.st_mode & 0777, 0600);
		ASSERT(strstr(text, file));
	}
}

TEST(embedded_certificates_need_no_files)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *path = use_kubeconfig("config");
	cleanup_free char *file = xasprintf("%s/client.key", test_dir());
	cleanup_free char *text = NULL;

	make_profile(&profile);
	profile.embed_certs = true;
	ASSERT_INT(context_update(&profile, NULL), 1);
	text = read_text(path);
	ASSERT(strstr(text, "client-key-data: S0VZ\n"));
	ASSERT(!file_exists(file));
}

TEST(an_update_makes_it_current_whatever_the_profile_says)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(kube_freep) struct kube *admin = NULL;
	cleanup_free char *path = use_kubeconfig("config");
	cleanup_free char *current = NULL;

	make_profile(&profile);
	profile.keep_context = true;
	ASSERT_OK(kube_new("https://x", "CA", "CERT", "KEY", &admin, &err));
	ASSERT_INT(context_put(&profile, admin, NULL), 1);
	ASSERT(!kubeconfig_current(path));
	ASSERT_INT(context_update(&profile, NULL), 1);
	current = kubeconfig_current(path);
	ASSERT_STR(current, "dev");
}

TEST(a_cluster_that_kubectl_knows_can_be_chosen)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_free char *path = use_kubeconfig("config");
	const struct kubeconfig_entry other = { "other", "https://x", "CA", "CERT", "KEY" };
	cleanup_free char *first = NULL;
	cleanup_free char *kept = NULL;
	cleanup_free char *chosen = NULL;

	make_profile(&profile);
	/* One that is not there is not put there. */
	ASSERT_INT(kubeconfig_merge(path, &other, NULL), 1);
	ASSERT_INT(context_choose(&profile, NULL), 0);
	first = kubeconfig_current(path);
	ASSERT_STR(first, "other");
	ASSERT_INT(context_update(&profile, NULL), 1);
	ASSERT_INT(context_choose(&profile, NULL), 1);
	ASSERT_INT(kubeconfig_merge(path, &other, NULL), 1);
	profile.keep_context = true;
	ASSERT_INT(context_choose(&profile, NULL), 0);
	kept = kubeconfig_current(path);
	ASSERT_STR(kept, "other");
	profile.keep_context = false;
	ASSERT_INT(context_choose(&profile, NULL), 1);
	chosen = kubeconfig_current(path);
	ASSERT_STR(chosen, "dev");
}

TEST(a_cluster_that_was_never_started_has_no_context)
{
	cleanup_with(profile_release) struct profile profile = { .name = xstrdup("dev"),
								 .dir = xstrdup("/nowhere") };
	cleanup_with(error_clear) struct error why = ERROR_INIT;

	ASSERT_INT(context_update(&profile, &why), -ENOENT);
	ASSERT(why.reason == &reason_api_not_running);
}

static void assert_made_again(int code, const char *text, const struct error *why)
{
	ASSERT_INT(code == 0, false);
	ASSERT(why->reason == &reason_host_config);
	ASSERT(strstr(why->text, text));
	ASSERT_STR(error_advice(why), "'manykube start' writes it again");
}

TEST(a_started_cluster_whose_kubeconfig_is_lost_was_started)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error gone = ERROR_INIT;
	cleanup_with(error_clear) struct error damaged = ERROR_INIT;
	cleanup_free char *own = xasprintf("%s/kubeconfig", test_dir());
	struct node *primary;

	make_profile(&profile);
	primary = profile_add_node(&profile, "node-1");
	primary->primary = primary->control_plane = true;
	primary->phase = NODE_JOINED;
	primary->address = xstrdup("127.0.0.1");
	ASSERT_INT(unlink(own), 0);
	assert_made_again(context_update(&profile, &gone), "is missing", &gone);
	ASSERT_OK(file_put(own, "{", 1, 0600, &err));
	assert_made_again(context_update(&profile, &damaged), "is damaged", &damaged);
	/* Whether the API server runs can't be said. */
	ASSERT_STR(cluster_status_api(&profile, primary, 100), "Unknown");
	primary->phase = NODE_PLANNED;
	ASSERT_INT(unlink(own), 0);
	ASSERT_STR(cluster_status_api(&profile, primary, 100), "Stopped");
}

TEST(a_context_is_removed_from_every_file_of_the_variable)
{
	const struct kubeconfig_entry entry = { "dev", "https://x", "CA", "CERT", "KEY" };
	cleanup_free char *one = xasprintf("%s/one", test_dir());
	cleanup_free char *two = xasprintf("%s/two", test_dir());
	cleanup_free char *all = xasprintf(":%s:/nowhere/config:%s", one, two);

	ASSERT_INT(setenv("KUBECONFIG", all, 1), 0);
	ASSERT_OK(kubeconfig_merge(one, &entry, &err));
	ASSERT_OK(kubeconfig_merge(two, &entry, &err));
	ASSERT_OK(context_remove("dev", &err));
	ASSERT_INT(kubeconfig_points_at(one, "dev", "https://x"), KUBECONFIG_NONEXISTENT);
	ASSERT_INT(kubeconfig_points_at(two, "dev", "https://x"), KUBECONFIG_NONEXISTENT);
	ASSERT(!kubeconfig_current(two));
}

TEST(a_damaged_kubeconfig_is_left_as_it_is)
{
	cleanup_with(profile_release) struct profile profile = PROFILE_INIT;
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	cleanup_free char *path = use_kubeconfig("config");
	cleanup_free char *text = NULL;

	make_profile(&profile);
	ASSERT_OK(file_put(path, "a: [", 4, 0600, &err));
	ASSERT_INT(context_update(&profile, &why), -EBADMSG);
	ASSERT(why.reason == &reason_host_config);
	ASSERT(strncmp(why.text, path, strlen(path)) == 0);
	ASSERT_INT(context_remove("dev", NULL), -EBADMSG);
	text = read_text(path);
	ASSERT_STR(text, "a: [");
}
