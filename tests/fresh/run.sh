#!/bin/bash
# The README's first command on a machine that has never seen manykube; results are TAP:
#
#	run.sh           Kubernetes comes from a slow mirror of the official releases on this machine
#	run.sh source    Kubernetes is built from source, as where only a package registry can be reached
#
# The machine is a minimal Debian (tests/hosts/image.sh fresh) in namespaces of its own: mounts,
# processes, network, host name, IPC and control groups.  A clone of this checkout's last commit is in
# it, and neither a cache nor a home with anything else in it.  It reaches the outside, for apt, through
# slirp4netns.  The mirror needs longer than --wait-timeout, which must not matter.
#
# All processes end with the first one of the namespaces, and that one with this script.
set -u

cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/groups.bash
. tests/groups.bash
from=${1:-download}
place=/var/tmp/manykube-fresh
# How long waiting for the cluster may take.  The mirror alone takes as long, and images have to be
# made of what it has.
wait_seconds=${FRESH_WAIT_SECONDS:-30}
mirror_port=8000
machine='' pids=()

skip() {
	echo "1..0 # SKIP $*"
	exit 0
}

fail() {
	echo "# $*"
	echo "not ok 1 a fresh machine can be made"
	echo 1..1
	exit 1
}

# Remove the machine in the directory $1; its processes have ended or are about to.
remove() {
	remove_groups "$(basename "$1")"
	rm -rf --one-file-system "$1"
}

clean_up() {
	trap - EXIT
	for pid in "${pids[@]}"; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	[ -z "$machine" ] || remove "$machine"
}

# What runs that were killed have left: their locks are free.
sweep() {
	local old

	for old in "$place".*; do
		[ -d "$old" ] && flock --nonblock "$old" true && remove "$old"
	done
}

# The last commit of this checkout, which may belong to another user.
clone() {
	local config=$machine/gitconfig

	printf '[safe]\n\tdirectory = *\n' >"$config"
	GIT_CONFIG_GLOBAL=$config git clone --quiet "file://$PWD" "$machine/root/home/user/manykube" || return
	[ -z "$(GIT_CONFIG_GLOBAL=$config git status --porcelain)" ] ||
		echo "# what is not committed is not part of this test"
}

# Certificates that this network needs are part of any machine in it.
fill_root() {
	local root=$machine/root

	mkdir "$root"
	tar -C "$root" -xf "$image/root.tar" || return
	cp tests/fresh/machine.sh tests/groups.bash "$root/"
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/fresh" # it takes half of the time
	echo fresh >"$root/etc/hostname"
	echo '127.0.0.1 localhost fresh' >"$root/etc/hosts"
	echo 'nameserver 10.0.2.3' >"$root/etc/resolv.conf"
	echo 'user ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/user"
	chroot "$root" useradd -m -s /bin/bash user || return
	find /usr/local/share/ca-certificates -name '*.crt' -exec cp -t "$root/usr/local/share/ca-certificates" {} + 2>/dev/null
	chroot "$root" update-ca-certificates >/dev/null 2>&1
	clone || return
	chroot "$root" chown -R user:user /home/user
}

# Where the host has Go, and the settings with which it gets modules here.
go_settings() {
	local name

	echo "GOROOT_OF_HOST=$(go env GOROOT)"
	for name in GOPROXY GOSUMDB GONOSUMDB GONOPROXY GOPRIVATE GOINSECURE GOFLAGS; do
		echo "$name=$(go env "$name")"
	done
}

# Where the machine gets Kubernetes from, as variables.
source_settings() {
	if [ "$from" = source ]; then
		echo MANYKUBE_PAYLOAD_FROM=source
		go_settings
		return
	fi
	echo MANYKUBE_PAYLOAD_FROM=download
	echo "MANYKUBE_BINARY_MIRROR=http://127.0.0.1:$mirror_port"
	echo "MANYKUBE_WAIT_TIMEOUT=${wait_seconds}s"
}

[ "$(id -u)" = 0 ] || skip "needs root"
for program in mmdebstrap slirp4netns python3 jq $([ "$from" != source ] || echo go); do
	command -v "$program" >/dev/null || skip "needs $program; 'make deps' gets all but Go"
done
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
sweep
image=$(tests/hosts/image.sh fresh own) || skip "cannot make a Debian here"
if [ "$from" != source ]; then
	version=$(build/manykube version -o json | jq -r '.kubernetesVersions[0]')
	MANYKUBE_PAYLOAD_FROM=${MANYKUBE_PAYLOAD_FROM:-source} build/manykube start --download-only --quiet --yes -p fresh ||
		fail "there is no payload to make a mirror of"
	mirror=$(tests/hosts/image.sh mirror "$version") || fail "cannot make a mirror of $version"
fi
machine=$(mktemp -d "$place.XXXXXX") || exit
exec 8<"$machine"
flock 8
fill_root || fail "cannot fill the root file system"
make_groups "$(basename "$machine")" || fail "cannot make control groups"
mapfile -t settings < <(source_settings)

# In a shell of its own, which goes into the groups.
(
	enter_groups "$(basename "$machine")" || exit
	exec env -i PATH="$PATH" "${settings[@]}" setpriv --pdeathsig KILL unshare --mount --pid --net --uts --ipc --cgroup \
		--fork --kill-child --propagation=slave "$machine/root/machine.sh" make "$machine"
) </dev/null 8<&- &
pids+=($!)
until [ "$(readlink "/proc/$!/ns/net")" != "$(readlink /proc/self/ns/net)" ] && [ -e "$machine/root/made" ]; do
	kill -0 "${pids[0]}" 2>/dev/null || fail "the machine did not come up"
	sleep 0.1
done
nsenter --net="/proc/${pids[0]}/ns/net" ip link set lo up
setpriv --pdeathsig KILL slirp4netns --configure --mtu=65520 --disable-host-loopback \
	--netns-type=path "/proc/${pids[0]}/ns/net" tap0 >"$machine/slirp.log" 2>&1 </dev/null 8<&- &
pids+=($!)
if [ "$from" != source ]; then
	setpriv --pdeathsig KILL nsenter --net="/proc/${pids[0]}/ns/net" tests/fresh/mirror.py serve \
		"$mirror/files" "$mirror_port" "$wait_seconds" >"$machine/mirror.log" 2>&1 </dev/null 8<&- &
	pids+=($!)
fi
wait "${pids[0]}"
