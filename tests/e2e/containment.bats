#!/usr/bin/env bats
# A node's root, and a privileged pod in the node's own namespaces, must not reach the host.
# Every attempt must fail, and what it aimed at must be as it was before.

load helper

setup_file() {
	begin_file e2e-contain
	host_sysctls >"$BATS_FILE_TMPDIR/sysctls"
	manykube start --offline
	within 60 apply_villain
	kubectl wait --timeout=60s --for=condition=Ready pod/villain
}

teardown_file() {
	end_file
}

# A pod that may do all that Kubernetes can allow, with the node's root file system.
apply_villain() {
	kubectl apply -f - <<-POD
		apiVersion: v1
		kind: Pod
		metadata: {name: villain}
		spec:
		  hostPID: true
		  hostNetwork: true
		  hostIPC: true
		  terminationGracePeriodSeconds: 0
		  tolerations: [{operator: Exists}]
		  volumes: [{name: node, hostPath: {path: /}}]
		  containers:
		    - name: villain
		      image: docker.io/library/busybox:latest
		      imagePullPolicy: Never
		      command: [sleep, "100000"]
		      securityContext: {privileged: true}
		      volumeMounts: [{name: node, mountPath: /node, mountPropagation: Bidirectional}]
	POD
}

# Run a shell command as root in a place: "node", the node itself; "pod", the privileged pod with
# its own root; "chroot", that pod with the node's root.
in_place() {
	case $1 in
	node) on node-1 sh -c "$2" </dev/null ;;
	pod) kubectl exec villain -- sh -c "$2" </dev/null ;;
	chroot) kubectl exec villain -- chroot /node sh -c "$2" </dev/null ;;
	esac
}

# The shell command must fail in all places.
assert_refused() {
	local place

	for place in node pod chroot; do
		run in_place "$place" "$1"
		[ "$status" -ne 0 ] || fail "in the $place this succeeds: $1: $output"
	done
}

@test "the places that attempts are made from are root's" {
	local place

	for place in node pod chroot; do
		assert_equal "$(in_place "$place" 'id -u')" 0
		assert_equal "$(in_place "$place" 'grep CapEff /proc/self/status | cut -f2')" \
			"$(in_place node 'grep CapEff /proc/self/status | cut -f2')"
	done
}

@test "a node's root is nobody on the host" {
	local pid

	pid=$(cut -d' ' -f1 "$(profile_dir)/nodes/node-1/pid")
	[ "$(awk '/^Uid:/ { print $2 }' "/proc/$pid/status")" -ge 268435456 ]
	[ "$(readlink "/proc/$pid/ns/user")" != "$(readlink /proc/self/ns/user)" ]
}

# On disk, what a node's root makes is root's: who could reach it could run it.
@test "nobody on the host reaches a node's files but their owner" {
	local file

	file=$(profile_dir)/nodes/node-1/tree/var/tmp/e2e-setuid
	in_place node 'cp /bin/sh /var/tmp/e2e-setuid && chmod 4755 /var/tmp/e2e-setuid'
	[ -u "$file" ]
	as_nobody test -e "$(profile_dir)/profile.json"
	run as_nobody test -e "$file"
	assert_status 1
	rm "$file"
}

# Starts write into the /etc of nodes, as the host's root.
@test "a link in a node's /etc leads the host's root nowhere" {
	local outside=$BATS_TEST_TMPDIR/outside

	mkdir "$outside"
	in_place node "mv /etc/cni /etc/cni.kept && ln -s '$outside' /etc/cni"
	run manykube start --offline
	assert_status 80
	assert_output_has "Not a directory"
	assert_equal "$(ls -A "$outside")" ""
	in_place node 'rm /etc/cni && mv /etc/cni.kept /etc/cni'
	manykube start --offline
}

@test "it can't load a kernel module" {
	local before

	before=$(cat /proc/modules 2>/dev/null || true)
	assert_refused 'echo something >/tmp/x.ko && busybox insmod /tmp/x.ko'
	assert_refused 'busybox modprobe dummy'
	assert_refused 'echo /tmp/x >/proc/sys/kernel/modprobe'
	assert_equal "$(cat /proc/modules 2>/dev/null || true)" "$before"
}

# "MAJOR MINOR" of the disk that the host's root, or the first there is, lives on.
host_disk() {
	local name

	name=$(find /sys/block/ -mindepth 1 \( -name 'vd*' -o -name 'sd*' -o -name 'nvme*' \) | head -n 1)
	[ -n "$name" ] || skip "this host has no disk"
	tr ':' ' ' <"$name/dev"
}

@test "it can't open the host's disk" {
	local disk

	disk=$(host_disk)
	# On tmpfs, on the disk and in /dev: whatever way a file system treats devices.
	assert_refused "for directory in /tmp /var/tmp /dev /run /node/var; do
		mknod \$dir/e2e-disk b $disk && head -c 512 \$dir/e2e-disk && exit 0; done; exit 1"
	assert_refused "ls /dev/vd* /dev/sd* /dev/nvme* /dev/loop*"
	assert_refused 'mkdir -p /tmp/m && mount -t devtmpfs none /tmp/m'
}

@test "it can't mount the host's disk" {
	local name

	for name in $(lsblk -ndo NAME 2>/dev/null); do
		assert_refused "mkdir -p /tmp/m && mount -t ext4 /dev/$name /tmp/m"
	done
	assert_refused 'mkdir -p /tmp/m && mount -t ext4 /dev/root /tmp/m'
}

@test "it can't see or signal the host's processes" {
	local place mark=$((RANDOM + 100000))

	sleep "$mark" &
	for place in node pod chroot; do
		run in_place "$place" "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"
		[[ $output != *"sleep $mark"* ]] || fail "it is seen from the $place"
		[[ $output == *manykube-agent* ]] || fail "the node's own are not seen from the $place"
	done
	assert_refused "kill -0 $!"
	assert_refused "kill -KILL $!"
	kill -0 $!
	kill $!
}

@test "it can't see or write the host's files" {
	local mark=$MANYKUBE_HOME/mark

	echo host >"$mark"
	assert_refused "cat $mark"
	assert_refused "cat /proc/1/root$mark"
	assert_refused "nsenter -t 1 -m cat $mark"
	assert_refused "echo changed >>/proc/1/root$mark"
	assert_equal "$(cat "$mark")" host
}

# Descriptors can be taken from any process that may be traced: PID 1 above all.
@test "no process of a node has a file of the host open" {
	run -0 on node-1 sh -c 'for fd in /proc/[0-9]*/fd/*; do readlink "$fd"; done'
	[[ $output == */var/log/agent.log* ]]
	[[ $output != *"$(profile_dir)"* ]] || fail "$(grep -F "$(profile_dir)" <<<"$output")"
	manykube status
	run -0 manykube logs node-1 --service=agent
	assert_output_has "kubelet started"
}

@test "what it writes to /usr stays in the node" {
	local before

	before=$(sha256sum /usr/lib/os-release)
	on node-1 sh -c 'echo changed >>/usr/lib/os-release && echo new >/usr/bin/manykube-e2e-mark'
	assert_equal "$(sha256sum /usr/lib/os-release)" "$before"
	[ ! -e /usr/bin/manykube-e2e-mark ]
	assert_equal "$(on node-1 cat /usr/bin/manykube-e2e-mark)" new
}

@test "it can't write the programs that nodes share" {
	local dir before

	before=$(sha256sum "$MANYKUBE_CACHE/$(profile_get .kubernetesVersion)"/bin/kubectl)
	for dir in /opt/manykube/bin /opt/cni/bin /opt/manykube/agent /opt/manykube/shared; do
		assert_refused "mount -o remount,rw $dir || mount -o remount,bind,rw $dir"
	done
	assert_refused 'test -d /opt/manykube && touch /opt/manykube/bin/x'
	assert_refused 'test -d /opt/manykube && echo x >>/opt/manykube/bin/kubectl'
	assert_refused 'mkdir -p /tmp/b && mount --bind /opt/manykube/bin /tmp/b && mount -o remount,bind,rw /tmp/b && touch /tmp/b/x'
	assert_equal "$(sha256sum "$MANYKUBE_CACHE/$(profile_get .kubernetesVersion)"/bin/kubectl)" "$before"
}

@test "it reads what all nodes share, and writes none of it" {
	local shared

	shared=$(profile_dir)/shared
	assert_equal "$(stat -c %a:%u "$shared")" 700:0
	echo told >"$shared/e2e-note"
	assert_equal "$(on node-1 sh -c 'cat /opt/manykube/shared/e2e-note && stat -c %u /opt/manykube/shared/e2e-note')" $'told\n0'
	assert_refused 'test -d /opt/manykube/shared && touch /opt/manykube/shared/x'
	assert_refused 'test -e /opt/manykube/shared/e2e-note && echo x >/opt/manykube/shared/e2e-note'
	assert_refused 'test -e /opt/manykube/shared/e2e-note && rm /opt/manykube/shared/e2e-note'
	rm "$shared/e2e-note"
}

# Write to the file $2 of the node's image store, of which the one in $1 must know nothing.
assert_not_shared() {
	local before after

	before=$(sha256sum <"$1/$2")
	on node-1 sh -c "cp /var/lib/containerd/$2 /tmp/kept && chmod u+w /var/lib/containerd/$2 &&
		echo changed >>/var/lib/containerd/$2" || true
	after=$(sha256sum <"$1/$2")
	on node-1 sh -c "cat /tmp/kept >/var/lib/containerd/$2" || true
	assert_equal "$after" "$before" "$2"
}

@test "it can't change the images that nodes share" {
	local store file

	store=$MANYKUBE_CACHE/$(profile_get .kubernetesVersion)/store
	file=$(cd "$store" && find io.containerd.content.v1.content/blobs -type f -size -64k | sort | head -n 1)
	assert_not_shared "$store" "$file"
	file=$(cd "$store" && find io.containerd.snapshotter.v1.overlayfs/snapshots -type f -name etcd | head -n 1)
	assert_not_shared "$store" "$file"
}

@test "it can't change the host's clock" {
	local before

	before=$(date +%s)
	# busybox's date says why and ends with 0 all the same.
	assert_refused '! busybox date -s "2001-01-01 00:00:00" 2>&1 | grep -q "not permitted"'
	assert_refused 'busybox hwclock -w'
	[ $(($(date +%s) - before)) -lt 60 ]
}

# Sysctls that are the whole host's, as lines of "NAME VALUE".
host_sysctls() {
	local key

	for key in kernel/panic kernel/panic_on_oops vm/overcommit_memory vm/panic_on_oom \
		kernel/core_pattern kernel/sysrq fs/file-max kernel/keys/root_maxkeys \
		kernel/keys/root_maxbytes kernel/pid_max kernel/threads-max; do
		[ ! -e "/proc/sys/$key" ] || echo "$key $(cat "/proc/sys/$key")"
	done
}

@test "the kubelet has left the host's sysctls alone" {
	assert_equal "$(host_sysctls)" "$(cat "$BATS_FILE_TMPDIR/sysctls")"
}

@test "it can't set sysctls that are not its own, not even through a proc of its own" {
	local place keys

	keys="$(host_sysctls | cut -d' ' -f1 | xargs) vm/drop_caches fs/inotify/max_user_instances"
	for place in node pod chroot; do
		run in_place "$place" "mount -o remount,rw /proc/sys
			mkdir -p /tmp/p
			mount -t proc proc /tmp/p
			for key in $keys; do
				echo 1 >/proc/sys/\$key && echo \$key was written
				echo 1 >/tmp/p/sys/\$key && echo \$key was written in a proc of its own
			done"
		[[ $output != *written* ]] || fail "in the $place: $output"
		[[ $output == *denied* || $output == *Read-only* ]] || fail "not tried: $output"
	done
	assert_equal "$(host_sysctls)" "$(cat "$BATS_FILE_TMPDIR/sysctls")"
}

@test "its own sysctls are its own" {
	local before

	before=$(cat /proc/sys/net/ipv4/ip_default_ttl)
	on node-1 sh -c 'echo 42 >/proc/sys/net/ipv4/ip_default_ttl'
	assert_equal "$(cat /proc/sys/net/ipv4/ip_default_ttl)" "$before"
}

@test "it can't use sysrq" {
	assert_refused 'echo h >/proc/sysrq-trigger'
	assert_refused 'mkdir -p /tmp/p && mount -t proc proc /tmp/p && echo h >/tmp/p/sysrq-trigger'
}

@test "it can't mount the kernel's own file systems" {
	assert_refused 'mkdir -p /tmp/m; for type in debugfs tracefs securityfs configfs efivarfs pstore; do
		mount -t $type none /tmp/m && exit 0; done; exit 1'
}

@test "it can't access the host's memory" {
	assert_refused 'mknod /tmp/mem c 1 1 && head -c 1 /tmp/mem'
	assert_refused 'mknod /var/mem c 1 1 && head -c 1 /var/mem'
	assert_refused 'head -c 1 /dev/mem'
	assert_refused 'test "$(head -c 1 /proc/kcore | wc -c)" = 1'
}

@test "it can't run a program on the host through the kernel" {
	assert_refused 'echo /tmp/x >/sys/kernel/uevent_helper'
	assert_refused 'echo "|/tmp/x" >/proc/sys/kernel/core_pattern'
	assert_refused 'for f in $(find /sys/fs/cgroup -name release_agent); do echo /tmp/x >$f && exit 0; done; exit 1'
	assert_refused 'mkdir -p /tmp/c && mount -t cgroup -o none,name=e2e cgroup /tmp/c && echo /tmp/x >/tmp/c/release_agent'
	assert_refused 'echo ":e2e:M::x::/bin/sh:" >/proc/sys/fs/binfmt_misc/register'
}

@test "it can't leave its control groups" {
	local place file

	# What the pod itself sees is the pod's own group.
	for place in node chroot; do
		for file in memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us devices/devices.allow \
			memory.max cpu.max; do
			run in_place "$place" "test -e /sys/fs/cgroup/$file && echo -1 >/sys/fs/cgroup/$file"
			[ "$status" -ne 0 ] || fail "in the $place $file can be written"
		done
	done
	assert_refused 'ls -d /sys/fs/cgroup/*/manykube/mk* /sys/fs/cgroup/manykube/mk*'
}

@test "its reboot is the node's, not the host's" {
	local before

	before=$(cat /proc/sys/kernel/random/boot_id)
	on node-1 busybox reboot -f || true
	assert_equal "$(cat /proc/sys/kernel/random/boot_id)" "$before"
	run -0 manykube start --offline
	assert_all_ready
}
