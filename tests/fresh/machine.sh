#!/bin/bash
# The fresh machine, from within its namespaces (see run.sh):
#
#	machine.sh make DIRECTORY   mount what a running system has in DIRECTORY/root, make that the
#	                            root, and go on with
#	machine.sh run              the tests; results are TAP
set -u

# shellcheck source=tests/groups.bash
. "$(dirname "$0")/groups.bash"

path=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin${GOROOT_OF_HOST:+:$GOROOT_OF_HOST/bin}
number=0 failed=0 settings=()

# What a running system has in /dev.
make_devices() {
	local name numbers

	mount -t tmpfs -o mode=755 tmpfs dev
	mkdir dev/pts dev/shm
	mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
	mount -t tmpfs tmpfs dev/shm
	ln -s pts/ptmx dev/ptmx
	ln -s /proc/self/fd dev/fd
	ln -s /proc/self/fd/0 dev/stdin
	ln -s /proc/self/fd/1 dev/stdout
	ln -s /proc/self/fd/2 dev/stderr
	while read -r name numbers; do
		# shellcheck disable=SC2086 # words
		mknod -m 666 "dev/$name" c $numbers
	done <<-'DEVICES'
		null 1 3
		zero 1 5
		full 1 7
		random 1 8
		urandom 1 9
		kmsg 1 11
		tty 5 0
	DEVICES
}

make() {
	set -e
	hostname fresh
	mount --bind "$1/root" "$1/root"
	cd "$1/root"
	mount -t proc proc proc
	mount -t sysfs sysfs sys
	mount -t tmpfs -o mode=755 tmpfs run
	mount -t tmpfs tmpfs tmp
	make_devices
	mount_groups "$(basename "$1")" ./sys/fs/cgroup
	if [ -n "${GOROOT_OF_HOST:-}" ]; then
		mkdir -p ".$GOROOT_OF_HOST"
		mount --bind -o ro "$GOROOT_OF_HOST" ".$GOROOT_OF_HOST"
	fi
	mkdir old
	pivot_root . old
	umount -l /old
	rmdir /old
	exec /machine.sh run
}

# Everything that a cluster could leave behind, one per line.
snapshot() {
	{
		find /sys/class/net -mindepth 1 -printf 'link %f\n'
		awk '{ print "route", $1, $2, $3, $8 }' /proc/net/route
		awk '{ print "mount", $5 }' /proc/self/mountinfo
		find /sys/fs/cgroup -type d -printf 'group %p\n'
		! command -v nft >/dev/null || nft list tables | sed 's/^/nft /'
		find / -xdev -name profile.json -printf 'file %p\n'
		grep -rs 'name: .*manykube' /home/user/.kube /root/.kube
		for process in /proc/[0-9]*; do
			tr '\0' ' ' 2>/dev/null <"$process/cmdline" | sed 's/^/process /'
		done | grep -vE '^process ($|[^ ]*bash /machine.sh|tr |sed |grep |sort )'
	} | sort
}

# Count the result $1 of the test $2.
result() {
	number=$((number + 1))
	[ "$1" -eq 0 ] || failed=1
	[ "$1" -eq 0 ] || printf 'not '
	echo "ok $number $2"
}

# The command $1 of the user, in the clone; each line of its output is preceded by the time in seconds.
as_user() {
	runuser -u user -- env -i HOME=/home/user USER=user LOGNAME=user TERM=dumb PATH="$path" "${settings[@]}" \
		bash -c "cd ~/manykube && $1" 2>&1 </dev/null | while IFS= read -r line; do echo "# $SECONDS $line"; done
	return "${PIPESTATUS[0]}"
}

run() {
	local command nodes

	PATH=$path
	mapfile -t settings < <(env | grep -E '^(MANYKUBE_|GO[A-Z]+=)')
	leave_root_group
	touch /made
	until [ -e /sys/class/net/tap0 ]; do sleep 0.1; done
	snapshot >/tmp/before
	echo 1..4
	SECONDS=0
	# The command is the README's.
	command=$(sed -n 's/^\t\(make up\) .*/\1/p' /home/user/manykube/README.md)
	[ -n "$command" ] && as_user "$command"
	result $? "the README's 'make up' succeeds, however long getting Kubernetes takes"
	nodes=$(as_user 'sudo build/manykube kubectl -- get nodes')
	echo "$nodes"
	[ "$(grep -c ' Ready ' <<<"$nodes")" -eq 3 ]
	result $? "three nodes are Ready"
	as_user 'sudo build/manykube delete'
	result $? "'manykube delete' succeeds"
	snapshot >/tmp/after
	diff /tmp/before /tmp/after >/tmp/left
	result $? "nothing is left"
	sed 's/^/# /' /tmp/left
	echo "# it took $SECONDS s"
	return $failed
}

"$@"
