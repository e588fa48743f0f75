#!/bin/bash
# Run a command as if on a machine of its own, so that tests in several rooms at once neither disturb
# nor see each other:
#
#	room.sh COMMAND [ARGUMENT]...
#
# A room has processes, mounts, a network with nothing but a loopback interface, and control groups of its
# own, and its /run and /var/lib/manykube are empty. All its processes end with the command, and the
# command with this script.
set -u

top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=tests/groups.bash
. "$top/tests/groups.bash"

# Within the namespaces: furnish the room, in the directory $1, and run the command.
furnish() {
	local room=$1

	shift
	mount -t proc proc /proc || exit
	mkdir "$room/groups" "$room/state" || exit
	mount_groups "$(basename "$room")" "$room/groups" || exit
	mount -t sysfs sysfs /sys || exit
	mount --rbind "$room/groups" /sys/fs/cgroup || exit
	umount -R "$room/groups"
	mount -t tmpfs -o mode=755 tmpfs /run || exit
	# As 'ip netns' makes it for the first namespace with a name.
	mkdir /run/netns
	mount --bind /run/netns /run/netns && mount --make-shared /run/netns || exit
	mkdir -p /var/lib/manykube
	mount --bind "$room/state" /var/lib/manykube || exit
	leave_root_group
	ip link set lo up
	"$@"
}

if [ "${1:-}" = --inside ]; then
	shift
	furnish "$@"
	exit
fi

clean_up() {
	trap - EXIT
	kill -KILL "$inside" 2>/dev/null
	wait "$inside" 2>/dev/null
	remove_groups "$groups"
	rm -rf --one-file-system "$room"
	[ "$had_state" = yes ] || rmdir /var/lib/manykube 2>/dev/null
}

had_state=no
[ ! -d /var/lib/manykube ] || had_state=yes
room=$(mktemp -d "${E2E_TMP:-/var/tmp}/manykube-room.XXXXXX") || exit
groups=$(basename "$room") inside=
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
make_groups "$groups" || exit
# In a shell of its own, which goes into the groups.
(
	enter_groups "$groups" || exit
	exec setpriv --pdeathsig KILL unshare --mount --pid --net --uts --ipc --cgroup --fork --kill-child \
		--propagation=private "$0" --inside "$room" "$@"
) &
inside=$!
wait "$inside"
