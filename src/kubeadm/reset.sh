#!/bin/sh
# Remove everything that made a node a member.
#
# kubeadm cannot stop our kubelet, which would start its pods again. Without the removed file, the
# agent waits for the next join before it starts the kubelet.

rm -f /var/lib/kubelet/kubeadm-flags.env
while read -r name _ pid _; do
	[ "$name" = kubelet ] || continue
	[ "$pid" -gt 0 ] || continue
	kill "$pid" || continue
	while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
done </run/manykube/state
exec kubeadm reset --force --v=1
