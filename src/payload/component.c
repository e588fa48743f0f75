/* The components of payloads. */

#include "payload/component.h"

#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"

#define GITHUB "https://github.com/"

#define DOCKER_NUMBER "28.5.2"

static const struct program kubernetes_programs[] = {
	{ "kubeadm", USE_NODE, "k8s.io/kubernetes/cmd/kubeadm" },
	{ "kubelet", USE_NODE, "k8s.io/kubernetes/cmd/kubelet" },
	{ "kubectl", USE_NODE, "k8s.io/kubernetes/cmd/kubectl" },
	{ "kube-apiserver", USE_IMAGE, "k8s.io/kubernetes/cmd/kube-apiserver" },
	{ "kube-controller-manager", USE_IMAGE, "k8s.io/kubernetes/cmd/kube-controller-manager" },
	{ "kube-scheduler", USE_IMAGE, "k8s.io/kubernetes/cmd/kube-scheduler" },
	{ "kube-proxy", USE_IMAGE, "k8s.io/kubernetes/cmd/kube-proxy" },
	{ NULL },
};

static const struct program etcd_programs[] = {
	{ "etcd", USE_IMAGE, "go.etcd.io/etcd/server/v3", "server" },
	{ "etcdctl", USE_IMAGE | USE_NODE, "go.etcd.io/etcd/etcdctl/v3" },
	{ "etcdutl", USE_IMAGE, "go.etcd.io/etcd/etcdutl/v3" },
	{ NULL },
};

static const struct program containerd_programs[] = {
	{ "containerd", USE_NODE, "./cmd/containerd" },
	{ "ctr", USE_NODE, "./cmd/ctr" },
	{ "containerd-shim-runc-v2", USE_NODE, "./cmd/containerd-shim-runc-v2" },
	{ NULL },
};

static const struct program runc_programs[] = {
	{ "runc", USE_NODE, "." },
	{ NULL },
};

static const struct program cni_programs[] = {
	{ "bridge", USE_CNI, "./plugins/main/bridge" },
	{ "ptp", USE_CNI, "./plugins/main/ptp" },
	{ "loopback", USE_CNI, "./plugins/main/loopback" },
	{ "host-local", USE_CNI, "./plugins/ipam/host-local" },
	{ "portmap", USE_CNI, "./plugins/meta/portmap" },
	{ NULL },
};

static const struct program coredns_programs[] = {
	{ "coredns", USE_IMAGE, "." },
	{ NULL },
};

static const struct program local_path_programs[] = {
	{ "local-path-provisioner", USE_IMAGE, "." },
	{ NULL },
};

static const struct program docker_programs[] = {
	{ "dockerd", USE_NODE, "./cmd/dockerd" },
	{ NULL },
};

static const struct program registry_programs[] = {
	{ "registry", USE_NODE, "./cmd/" BUILD_OURS_NAME, BUILD_OURS_NAME },
	{ NULL },
};

static const struct program flannel_programs[] = {
	{ "flanneld", USE_NODE, ".", "flannel" },
	{ NULL },
};

static const char registry_main[] =
#include "registry-main.go.inc"
	;

const struct component components[COMPONENT_END] = {
	[COMPONENT_KUBERNETES] = {
		.name = "kubernetes",
		.programs = kubernetes_programs,
		.url = "https://dl.k8s.io/release/{version}/bin/linux/{arch}/{program}",
		.checksum_url = "https://dl.k8s.io/release/{version}/bin/linux/{arch}/{program}.sha256",
		.style = BUILD_KUBERNETES,
		.module = "k8s.io/kubernetes",
		.packages = 2800,
		.ldflags = "-s -w -X k8s.io/component-base/version.gitVersion={version}"
			   " -X k8s.io/component-base/version.gitMajor=1"
			   " -X k8s.io/component-base/version.gitMinor={minor}"
			   " -X k8s.io/component-base/version.gitTreeState=clean"
			   " -X k8s.io/client-go/pkg/version.gitVersion={version}",
	},
	[COMPONENT_ETCD] = {
		.name = "etcd",
		.programs = etcd_programs,
		.url = GITHUB "etcd-io/etcd/releases/download/{version}/etcd-{version}-linux-{arch}.tar.gz",
		.checksum_url = GITHUB "etcd-io/etcd/releases/download/{version}/SHA256SUMS",
		.inside = "etcd-{version}-linux-{arch}",
		.style = BUILD_WRAPPED,
		.module = "go.etcd.io/etcd/server/v3",
		.packages = 550,
		.go_version = "1.24.0",
		.ldflags = "-s -w",
	},
	[COMPONENT_CONTAINERD] = {
		.name = "containerd",
		.programs = containerd_programs,
		/* The static build, which runs in any root file system. */
		.url = GITHUB "containerd/containerd/releases/download/{version}/containerd-static-{number}-linux-{arch}.tar.gz",
		.checksum_url = GITHUB "containerd/containerd/releases/download/{version}/containerd-static-{number}-linux-{arch}.tar.gz.sha256sum",
		.inside = "bin",
		.style = BUILD_IN_MODULE,
		.module = "github.com/containerd/containerd/v2",
		.packages = 750,
		.tags = "no_btrfs,no_zfs,no_devmapper",
		.ldflags = "-s -w -X github.com/containerd/containerd/v2/version.Version={version}",
	},
	[COMPONENT_RUNC] = {
		.name = "runc",
		.programs = runc_programs,
		.url = GITHUB "opencontainers/runc/releases/download/{version}/runc.{arch}",
		.checksum_url = GITHUB "opencontainers/runc/releases/download/{version}/runc.sha256sum",
		.style = BUILD_IN_MODULE,
		.module = "github.com/opencontainers/runc",
		.packages = 230,
		.tags = "seccomp,netgo,osusergo",
		.ldflags = "-s -w -extldflags -static -X main.version={number}",
		.cgo = true,
		.needs = "gcc, pkg-config and libseccomp with its static library (Debian: gcc pkg-config libseccomp-dev)",
	},
	[COMPONENT_CNI] = {
		.name = "cni-plugins",
		.programs = cni_programs,
		.url = GITHUB "containernetworking/plugins/releases/download/{version}/cni-plugins-linux-{arch}-{version}.tgz",
		.checksum_url = GITHUB "containernetworking/plugins/releases/download/{version}/cni-plugins-linux-{arch}-{version}.tgz.sha256",
		.inside = ".",
		.style = BUILD_IN_MODULE,
		.module = "github.com/containernetworking/plugins",
		.packages = 60,
		.ldflags = "-s -w",
	},
	[COMPONENT_COREDNS] = {
		.name = "coredns",
		.programs = coredns_programs,
		.url = GITHUB "coredns/coredns/releases/download/{version}/coredns_{number}_linux_{arch}.tgz",
		.checksum_url = GITHUB "coredns/coredns/releases/download/{version}/coredns_{number}_linux_{arch}.tgz.sha256",
		.inside = ".",
		.style = BUILD_IN_MODULE,
		.module = "github.com/coredns/coredns",
		.packages = 1000,
		.ldflags = "-s -w",
	},
	[COMPONENT_LOCAL_PATH] = {
		/* Released only as an image, so it is always built, and missing without Go. */
		.without = "volumes are not provisioned automatically",
		.name = "local-path-provisioner",
		.programs = local_path_programs,
		.style = BUILD_IN_MODULE,
		.module = "github.com/rancher/local-path-provisioner",
		.packages = 450,
		.ldflags = "-s -w -X main.VERSION={version}",
	},
	[COMPONENT_DOCKER] = {
		/* Releases have no published checksums, so it is always built. */
		.name = "docker",
		.programs = docker_programs,
		.style = BUILD_VENDORED,
		.module = "github.com/docker/docker",
		.packages = 1870,
		.tags = "netgo,osusergo,static_build,exclude_graphdriver_btrfs,exclude_disk_quota",
		.ldflags = "-s -w -X github.com/docker/docker/dockerversion.Version=" DOCKER_NUMBER,
	},
	[COMPONENT_REGISTRY] = {
		.name = "distribution", /* its releases have another main program */
		.programs = registry_programs,
		.style = BUILD_OURS,
		.module = "github.com/distribution/distribution/v3",
		.packages = 700,
		.ldflags = "-s -w",
		.main = registry_main,
	},
	[COMPONENT_FLANNEL] = {
		.name = "flannel",
		.programs = flannel_programs,
		.style = BUILD_IN_MODULE,
		.module = "github.com/flannel-io/flannel",
		.packages = 900,
		.tags = "netgo,osusergo",
		.ldflags = "-s -w -linkmode external -extldflags -static -X github.com/flannel-io/flannel/pkg/version.Version={version}",
		.cgo = true,
		.needs = "gcc and the static C library (Debian: gcc libc6-dev)",
	},
};

const struct release docker_release = {
	.version = "v" DOCKER_NUMBER,
	.versions[COMPONENT_DOCKER] = "v" DOCKER_NUMBER "+incompatible",
};

const struct release registry_release = {
	.version = "v3.1.2",
	.versions[COMPONENT_REGISTRY] = "v3.1.2",
};

const struct release flannel_release = {
	.version = FLANNEL_VERSION,
	.versions[COMPONENT_FLANNEL] = "v0.26.7",
};

const struct release releases[] = {
	{
		.version = "v1.36.3",
		.pause = "3.10.2",
		.etcd_image_tag = "3.6.8-0",
		.versions = {
			[COMPONENT_KUBERNETES] = "v1.36.3",
			[COMPONENT_ETCD] = "v3.6.8",
			[COMPONENT_CONTAINERD] = "v2.4.2",
			[COMPONENT_RUNC] = "v1.5.2",
			[COMPONENT_CNI] = "v1.9.1",
			[COMPONENT_COREDNS] = "v1.14.2",
			[COMPONENT_LOCAL_PATH] = "v0.0.30",
		},
	},
	{
		.version = "v1.35.4",
		.pause = "3.10.1",
		.etcd_image_tag = "3.6.6-0",
		.versions = {
			[COMPONENT_KUBERNETES] = "v1.35.4",
			[COMPONENT_ETCD] = "v3.6.6",
			[COMPONENT_CONTAINERD] = "v2.4.2",
			[COMPONENT_RUNC] = "v1.5.2",
			[COMPONENT_CNI] = "v1.9.1",
			[COMPONENT_COREDNS] = "v1.13.1",
			[COMPONENT_LOCAL_PATH] = "v0.0.30",
		},
	},
	{ NULL },
};

const struct release *release_find(const char *version)
{
	for (const struct release *release = releases; release->version; release++)
		if (strcmp(release->version, version) == 0)
			return release;
	return NULL;
}

/* Add the value of the template word of LEN bytes at WORD to OUT; false if the word is unknown. */
static bool add_template_word(struct strbuf *out, const char *word, size_t len, const char *version,
			      const char *arch, const char *program)
{
	const char *number = version + 1;
	const char *rest = strchr(number, '.');

	rest = rest ? rest + 1 : number;
	if (len == 7 && memcmp(word, "version", 7) == 0)
		strbuf_add(out, version);
	else if (len == 6 && memcmp(word, "number", 6) == 0)
		strbuf_add(out, number);
	else if (len == 4 && memcmp(word, "rest", 4) == 0)
		strbuf_add(out, rest);
	else if (len == 5 && memcmp(word, "minor", 5) == 0)
		strbuf_add_mem(out, rest, strcspn(rest, "."));
	else if (len == 4 && memcmp(word, "arch", 4) == 0)
		strbuf_add(out, arch);
	else if (len == 7 && memcmp(word, "program", 7) == 0 && program)
		strbuf_add(out, program);
	else
		return false;
	return true;
}

char *component_expand(const char *template, const char *version, const char *arch,
		       const char *program)
{
	struct strbuf out = STRBUF_INIT;

	for (const char *p = template; *p; p++) {
		size_t len = *p == '{' ? strcspn(p + 1, "}") : 0;

		if (*p != '{') {
			strbuf_add_char(&out, *p);
			continue;
		}
		if (!add_template_word(&out, p + 1, len, version, arch, program))
			assert(!"a template has an unknown word");
		p += len + 1;
	}
	return strbuf_take(&out);
}
