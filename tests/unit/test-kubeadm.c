#include <ctype.h>

#include "cluster/kubeadm.h"
#include "test.h"

static struct node node = {
	.name = "node-1",
	.address = "192.168.39.2",
	.pod_cidr = "10.244.0.0/24",
	.control_plane = true,
	.primary = true,
};

static const struct profile profile = {
	.name = "dev",
	.kubernetes_version = "v1.36.3",
	.gateway = "192.168.39.1",
	.pod_subnet = "10.244.0.0/16",
	.service_subnet = "10.96.0.0/12",
	.dns_domain = "cluster.local",
	.nodes = &node,
	.node_count = 1,
};

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		test_fail(__FILE__, __LINE__, "'%s' is not in:\n%s", part, text);
}

TEST(the_control_plane_is_behind_a_name_from_the_beginning)
{
	cleanup_free char *text = kubeadm_init_config(&profile, &node, "abcdef.0123456789abcdef");

	assert_has(text, "\ncontrolPlaneEndpoint: front-door.manykube.internal:6443\n");
	assert_has(text, "  - 127.0.0.1\n");
	assert_has(text, "  - 192.168.39.1\n");
	assert_has(text, "\n  advertiseAddress: 192.168.39.2\n");
}

TEST(join_tokens_live_for_minutes)
{
	cleanup_free char *text = kubeadm_init_config(&profile, &node, "abcdef.0123456789abcdef");

	assert_has(text, "- token: abcdef.0123456789abcdef\n  ttl: 15m0s\n");
}

TEST(pods_may_run_on_every_node)
{
	cleanup_free char *text = kubeadm_join_config(&profile, &node, "abcdef.0123456789abcdef",
						      "/etc/manykube/discovery.conf");

	assert_has(text, "\n  taints: []\n");
	assert_has(text, "\n    kubeConfigPath: /etc/manykube/discovery.conf\n");
}

TEST(a_token_has_the_form_that_kubernetes_wants_and_is_never_the_same)
{
	cleanup_free char *one = kubeadm_new_token();
	cleanup_free char *two = kubeadm_new_token();

	ASSERT_INT(strlen(one), 23);
	ASSERT(one[6] == '.');
	for (size_t i = 0; one[i]; i++)
		ASSERT(i == 6 || isdigit((unsigned char)one[i]) || islower((unsigned char)one[i]));
	ASSERT(strcmp(one, two) != 0);
}

TEST(a_kubelet_is_told_where_its_certificate_is)
{
	cleanup_free char *text = kubeadm_kubelet_config("Q0E=", "node-2", "/var/lib/x.pem");

	assert_has(text, "\n    certificate-authority-data: Q0E=\n");
	assert_has(text, "\n    client-certificate: /var/lib/x.pem\n");
	assert_has(text, "\n- name: system:node:node-2\n");
}

TEST(a_name_stays_a_name_whatever_yaml_would_take_it_for)
{
	struct profile odd = profile;
	cleanup_free char *text = NULL;

	odd.name = "true";
	text = kubeadm_init_config(&odd, &node, "abcdef.0123456789abcdef");
	assert_has(text, "\nclusterName: \"true\"\n");
	assert_has(text, "\n  name: \"node-1\"\n");
}
