/*
 * The default storage class: volumes are folders of the node that a pod runs on.
 *
 * local-path-provisioner makes them once a pod is scheduled (WaitForFirstConsumer), so a
 * volume is always where its pod is, on any node.
 */

#include "kubeadm/storage.h"

#include <stddef.h>

#define NS "local-path-storage"

/* clang-format off */
static const struct storage_object objects[] = {
	/* The controller-manager makes it too, seconds later; until then nobody could create a pod. */
	{ "/api/v1/namespaces/default/serviceaccounts/default",
	  "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"name\":\"default\",\"namespace\":\"default\"}}" },
	{ "/api/v1/namespaces/" NS,
	  "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"" NS "\"}}" },
	{ "/api/v1/namespaces/" NS "/serviceaccounts/local-path-provisioner",
	  "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\","
	  "\"metadata\":{\"name\":\"local-path-provisioner\",\"namespace\":\"" NS "\"}}" },
	{ "/apis/rbac.authorization.k8s.io/v1/clusterroles/local-path-provisioner",
	  "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\","
	  "\"metadata\":{\"name\":\"local-path-provisioner\"},\"rules\":["
	  "{\"apiGroups\":[\"\"],\"resources\":[\"nodes\",\"persistentvolumeclaims\",\"configmaps\",\"pods/log\"],\"verbs\":[\"get\",\"list\",\"watch\"]},"
	  "{\"apiGroups\":[\"\"],\"resources\":[\"pods\",\"persistentvolumes\",\"events\"],\"verbs\":[\"get\",\"list\",\"watch\",\"create\",\"patch\",\"update\",\"delete\"]},"
	  "{\"apiGroups\":[\"storage.k8s.io\"],\"resources\":[\"storageclasses\"],\"verbs\":[\"get\",\"list\",\"watch\"]}]}" },
	{ "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/local-path-provisioner",
	  "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRoleBinding\","
	  "\"metadata\":{\"name\":\"local-path-provisioner\"},"
	  "\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"local-path-provisioner\"},"
	  "\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"local-path-provisioner\",\"namespace\":\"" NS "\"}]}" },
	{ "/api/v1/namespaces/" NS "/configmaps/local-path-config",
	  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"local-path-config\",\"namespace\":\"" NS "\"},\"data\":{"
	  "\"config.json\":\"{\\\"nodePathMap\\\":[{\\\"node\\\":\\\"DEFAULT_PATH_FOR_NON_LISTED_NODES\\\",\\\"paths\\\":[\\\"/var/local-path-provisioner\\\"]}]}\","
	  "\"setup\":\"#!/bin/sh\\nset -eu\\nmkdir -m 0777 -p \\\"$VOL_DIR\\\"\\n\","
	  "\"teardown\":\"#!/bin/sh\\nset -eu\\nrm -rf \\\"$VOL_DIR\\\"\\n\","
	  "\"helperPod.yaml\":\"apiVersion: v1\\nkind: Pod\\nmetadata:\\n  name: helper-pod\\nspec:\\n  priorityClassName: system-node-critical\\n"
	  "  tolerations:\\n  - operator: Exists\\n  containers:\\n  - name: helper-pod\\n    image: docker.io/library/busybox:latest\\n    imagePullPolicy: IfNotPresent\\n\"}}" },
	{ "/apis/apps/v1/namespaces/" NS "/deployments/local-path-provisioner",
	  "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"local-path-provisioner\",\"namespace\":\"" NS "\"},\"spec\":{"
	  "\"replicas\":1,\"selector\":{\"matchLabels\":{\"app\":\"local-path-provisioner\"}},"
	  "\"template\":{\"metadata\":{\"labels\":{\"app\":\"local-path-provisioner\"}},\"spec\":{"
	  "\"serviceAccountName\":\"local-path-provisioner\",\"priorityClassName\":\"system-cluster-critical\","
	  "\"containers\":[{\"name\":\"local-path-provisioner\",\"image\":\"docker.io/rancher/local-path-provisioner:v0.0.30\",\"imagePullPolicy\":\"IfNotPresent\","
	  "\"command\":[\"local-path-provisioner\",\"start\",\"--config\",\"/etc/config/config.json\","
	  /* Else it asks the API for it, fails if services do not work yet, and is started again seconds later. */
	  "\"--helper-pod-file\",\"/etc/config/helperPod.yaml\"],"
	  "\"env\":[{\"name\":\"POD_NAMESPACE\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.namespace\"}}},"
	  "{\"name\":\"SERVICE_ACCOUNT_NAME\",\"value\":\"local-path-provisioner\"},"
	  "{\"name\":\"CONFIG_MOUNT_PATH\",\"value\":\"/etc/config/\"}],"
	  "\"volumeMounts\":[{\"name\":\"config\",\"mountPath\":\"/etc/config/\"}]}],"
	  "\"volumes\":[{\"name\":\"config\",\"configMap\":{\"name\":\"local-path-config\"}}]}}}}" },
	{ "/apis/storage.k8s.io/v1/storageclasses/standard",
	  "{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":\"standard\","
	  "\"annotations\":{\"storageclass.kubernetes.io/is-default-class\":\"true\"}},"
	  "\"provisioner\":\"rancher.io/local-path\",\"volumeBindingMode\":\"WaitForFirstConsumer\",\"reclaimPolicy\":\"Delete\"}" },
	{ NULL, NULL },
};
/* clang-format on */

const struct storage_object *storage_objects(void)
{
	return objects;
}
