#include <string.h>

#include "data/yaml.h"
#include "kubeadm/addons.h"
#include "record/world.h"
#include "test.h"

static struct strlist applied;

/* A world in which everything can be applied; its requests are kept. */
static int keep_request(arg_unused const struct profile *profile, enum kube_verb verb,
			const char *path, const json_t *body, arg_unused json_t **ret_answer,
			arg_unused struct error *err)
{
	const json_t *about = json_object_get(body, "metadata");

	ASSERT_INT(verb, KUBE_APPLY);
	ASSERT_STR(strrchr(path, '/') + 1, json_string_value(json_object_get(about, "name")));
	strlist_add(&applied, path);
	return 0;
}

static int refuse_request(arg_unused const struct profile *profile, arg_unused enum kube_verb verb,
			  arg_unused const char *path, arg_unused const json_t *body,
			  arg_unused json_t **ret_answer, struct error *err)
{
	return error_set(err, -EPERM, "no");
}

TEST(every_object_is_at_the_path_of_its_kind_and_name)
{
	for (const struct addon *addon = addons_all(); addon->name; addon++) {
		for (const struct addon_object *object = addon->objects; object->path; object++) {
			cleanup_with(yaml_value_release) struct yaml_value yaml = YAML_VALUE_INIT;
			json_auto_t *json = NULL;
			const json_t *about;
			const char *version;
			const char *place;

			ASSERT_OK(yaml_read(object->path, object->yaml, strlen(object->yaml), &yaml,
					    &err));
			json = yaml_to_json(&yaml);
			about = json_object_get(json, "metadata");
			version = json_string_value(json_object_get(json, "apiVersion"));
			place = json_string_value(json_object_get(about, "namespace"));
			ASSERT(version && strstr(object->path, version));
			ASSERT(!place || strstr(object->path, place));
			ASSERT(json_is_string(json_object_get(json, "kind")));
			ASSERT_STR(strrchr(object->path, '/') + 1,
				   json_string_value(json_object_get(about, "name")));
		}
	}
}

TEST(each_stage_installs_its_addons_and_both_install_all)
{
	struct profile profile = PROFILE_INIT;
	struct world all = world_real;
	size_t count = 0;

	all.kube = keep_request;
	world = &all;
	ASSERT_OK(addons_install(&profile, ADDON_WITH_API, &err));
	ASSERT_OK(addons_install(&profile, ADDON_AT_START, &err));
	ASSERT(strlist_has(&applied, "/apis/storage.k8s.io/v1/storageclasses/standard"));
	ASSERT(!strlist_has(&applied, "/apis/apps/v1/namespaces/kube-system/deployments/coredns"));
	ASSERT_OK(addons_install(&profile, ADDON_AFTER_KUBEADM, &err));
	ASSERT(strlist_has(&applied, "/apis/apps/v1/namespaces/kube-system/deployments/coredns"));
	for (const struct addon *addon = addons_all(); addon->name; addon++)
		for (const struct addon_object *object = addon->objects; object->path; object++)
			count++;
	ASSERT_INT(applied.count, count);
}

TEST(an_error_names_the_addon)
{
	cleanup_with(error_clear) struct error why = ERROR_INIT;
	struct profile profile = PROFILE_INIT;
	struct world none = world_real;

	none.kube = refuse_request;
	world = &none;
	ASSERT_INT(addons_install(&profile, ADDON_AFTER_KUBEADM, &why), -EPERM);
	ASSERT_STR(why.text, "cannot set up DNS: no");
}
