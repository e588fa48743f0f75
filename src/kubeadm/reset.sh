#!/bin/sh
# Have a node forget that it ever joined.
#
# kubeadm knows no way to end our kubelet, which would bring its pods back.  Without that file the
# agent waits for the next join.

rm -f /var/lib/kubelet/kubeadm-flags.env
while read -r name _ pid _; do
	[ "$name" = kubelet ] || continue
	[ "$pid" -gt 0 ] || continue
	kill "$pid" || continue
	while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
done </run/manykube/state
exec kubeadm reset --force --v=1
