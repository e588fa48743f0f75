#!/bin/sh -e
# Prepare a node for the version $1: its role is $2, an option with patches is $3, or "".
#
# The new kubeadm comes in by standard input: the node has that of the old payload.
#
# The manifests are the very same that `kubeadm upgrade` writes.  It then waits until a kubelet that
# runs has taken each of them over, which took three minutes on a single control plane: the kubelet
# waits for the API to forget the old pod, and the API waits for etcd, which is that pod.  A kubelet
# that starts with them has nothing to forget.

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
