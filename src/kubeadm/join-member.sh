#!/bin/sh
# Run kubeadm, given as arguments, to join a control plane whose member of etcd is to serve at once.
#
# A new member of etcd announces its name and waits for that to come back in the log.  Mostly it
# comes back in the snapshot that brings all the rest, where it isn't noticed, and the member
# serves nobody until it has waited for 7 s and announced itself again.  One that is started anew
# once it has the snapshot gets no other, and serves at once.  Meanwhile kubeadm is held, so that
# the member has no vote while it is away; but not before etcd begins, for some of its questions
# must be answered within 2 s.  All is bounded, for one that is slow joins as well.

snap=/var/lib/etcd/member/snap

etcd() {
	for process in /proc/[0-9]*; do
		read -r name <"$process/comm" && [ "$name" = etcd ] &&
			grep -q =/etc/kubernetes/pki/etcd/peer "$process/cmdline" &&
			echo "${process#/proc/}"
	done 2>/dev/null
}

# Try the command behind $1 so often, every 20 ms, while kubeadm lives.
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
