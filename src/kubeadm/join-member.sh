#!/bin/sh
# Run kubeadm, given as arguments, to join a control plane, and make its etcd member serve at once.
#
# A new member of etcd publishes its name and waits until it sees that in the log. Usually the name
# arrives in the snapshot with all other data, where it goes unnoticed, and the member does not serve
# until it has waited for 7 s and published its name again. A member that is restarted once it has the
# snapshot gets no other one, and serves at once. kubeadm is stopped meanwhile, so that the member has
# no vote while it is down; but not before etcd starts, because some of its requests must be answered
# within 2 s. All waits are limited, because a slow member joins as well.

snap=/var/lib/etcd/member/snap

etcd() {
	for process in /proc/[0-9]*; do
		read -r name <"$process/comm" && [ "$name" = etcd ] &&
			grep -q =/etc/kubernetes/pki/etcd/peer "$process/cmdline" &&
			echo "${process#/proc/}"
	done 2>/dev/null
}

# Try the command after $1 up to $1 times, every 20 ms, while kubeadm runs.
within() {
	left=$1
	shift
	until "$@"; do
		left=$((left - 1))
		[ "$left" -gt 0 ] || return 1
		kill -0 $$ || return 1
		sleep 0.02
	done
}

exists() { [ -e "$1" ]; }
has_snapshot() { exists "$snap"/*.snap && ! exists "$snap"/*.snap.db; }
is_back() {
	pid=$(etcd)
	[ -n "$pid" ] && [ "$pid" != "$old" ]
}

(
	within 3000 exists /etc/kubernetes/manifests/etcd.yaml || exit
	within 3000 exists "$snap" || exit
	kill -STOP $$
	within 500 has_snapshot
	old=$(etcd)
	has_snapshot && kill -9 "$old" && within 250 is_back
	kill -CONT $$
) &
exec "$@"
