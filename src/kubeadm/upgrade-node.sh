#!/bin/sh -e
# Prepare a node for the version $1: its role is $2, and $3 is an option with patches, or "".
#
# The new kubeadm is read from standard input, because the node has that of the old payload.
#
# The manifests are those that `kubeadm upgrade` writes. But that command waits until a running kubelet
# has applied each of them, which took three minutes on a single control plane: the kubelet waits until
# the API has deleted the old pod, and the API waits for etcd, which is that pod. A kubelet that starts
# with the new manifests need not wait.

kubeadm=/run/kubeadm
config=--config=/etc/manykube/upgrade.yaml
cat >$kubeadm
chmod 700 $kubeadm
if [ "$2" != worker ]; then
	export KUBEADM_INIT_DRYRUN_DIR=/etc/kubernetes/upgraded
	rm -rf $KUBEADM_INIT_DRYRUN_DIR
	mkdir $KUBEADM_INIT_DRYRUN_DIR
	$kubeadm init phase control-plane all --dry-run $config ${3:+"$3"}
	$kubeadm init phase etcd local --dry-run $config ${3:+"$3"}
	$kubeadm certs renew all $config
fi
[ "$2" != primary ] || $kubeadm upgrade apply phase upload-config kubelet "$1"
$kubeadm upgrade node --skip-phases=preflight,control-plane,addon --v=1 ${3:+"$3"}
rm $kubeadm
