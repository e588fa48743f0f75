#!/usr/bin/env bats
# What a node can use up and call: limits that the host sets and the node's root can't change.

load helper

setup_file() {
	begin_file e2e-limits
	manykube start --offline --memory=3g
	within 60 apply_privileged
	kubectl wait --timeout=60s --for=condition=Ready pod/privileged
}

teardown_file() {
	end_file
}

apply_privileged() {
	kubectl apply -f - <<-POD
		apiVersion: v1
		kind: Pod
		metadata: {name: privileged}
		spec:
		  hostPID: true
		  terminationGracePeriodSeconds: 0
		  tolerations: [{operator: Exists}]
		  volumes: [{name: node, hostPath: {path: /}}]
		  containers:
		    - name: main
		      image: docker.io/library/busybox:latest
		      imagePullPolicy: Never
		      command: [sleep, "100000"]
		      securityContext: {privileged: true}
		      volumeMounts: [{name: node, mountPath: /node}]
		    - name: named
		      image: docker.io/library/busybox:latest
		      imagePullPolicy: Never
		      command: [sleep, "100000"]
		      securityContext: {capabilities: {add: [SYS_MODULE, SYS_TIME, SYSLOG, NET_ADMIN]}}
	POD
}

# The file $2 of the node's control group, which is in the hierarchy $1 on cgroup v1, on the host.
group_file() {
	find "/sys/fs/cgroup/$1" /sys/fs/cgroup -maxdepth 4 \
		-path "*/*$(bridge_of "$MANYKUBE_PROFILE")*/node-1/$2" 2>/dev/null | head -n 1
}

@test "a node has a share of the host's processes, which its root can't raise" {
	local most

	most=$(cat "$(group_file pids pids.max)")
	[ "$most" != max ]
	[ "$most" -le $(($(cat /proc/sys/kernel/pid_max) / 2)) ]
	[ "$most" -ge 2000 ]
	run on node-1 sh -c 'file=/sys/fs/cgroup/pids/pids.max
		[ -e $file ] || file=/sys/fs/cgroup/pids.max
		echo max >$file'
	[ "$status" -ne 0 ]
	assert_output_has "Permission denied"
	assert_equal "$(cat "$(group_file pids pids.max)")" "$most"
}

# Threads count as processes do, and are cheaper to make.
@test "a node that starts processes without end leaves the host its own" {
	local most

	most=$(cat "$(group_file pids pids.max)")
	run -0 on node-1 python3 - "$most" <<-'CODE'
		import sys, threading
		threading.stack_size(65536)
		never = threading.Event()
		for count in range(int(sys.argv[1]) + 100):
		    try:
		        threading.Thread(target=never.wait, daemon=True).start()
		    except RuntimeError:
		        print("refused after", count)
		        break
		sys.stdout.flush()
		import os
		os._exit(0)
	CODE
	assert_output_has "refused after"
	manykube status >/dev/null
}

@test "files in memory are limited to a share of the node's" {
	run on node-1 dd if=/dev/zero of=/run/full bs=1M count=700
	[ "$status" -ne 0 ] || fail "/run holds more than a fifth of the node's memory"
	assert_output_has "No space left on device"
	on node-1 rm /run/full
	for path in /run /tmp /dev/shm; do
		[ "$(on node-1 stat -f -c '%b * %S / 1048576' "$path" | xargs expr)" -le 1536 ]
		[ "$(on node-1 stat -f -c %c "$path")" -le 100000 ]
	done
	[ "$(on node-1 stat -f -c %c /)" -le 20000 ]
}

# Expected of ask-kernel.py.
expect_refusals() {
	local name

	for name in init_module kexec_load swapoff acct settimeofday open_by_handle_at perf_event_open \
		userfaultfd io_uring_setup bpf syslog; do
		echo "$name EPERM"
	done
	printf '%s\n' "keyctl ENOSYS" "add_key ENOSYS" "vsock EAFNOSUPPORT" "alg EAFNOSUPPORT" \
		"key EAFNOSUPPORT" "packet OK" "inet OK" "tiocsti EPERM"
}

@test "what nodes need for nothing is refused in the node and in a privileged pod" {
	local script=$E2E_ROOT/tests/e2e/ask-kernel.py

	run ! on node-1 test -e /dev/fuse
	assert_equal "$(on node-1 python3 - <"$script")" "$(expect_refusals)"
	assert_equal "$(kubectl exec -i privileged -- chroot /node python3 - <"$script")" "$(expect_refusals)"
}

# CAP_SYS_RAWIO (17) and CAP_AUDIT_READ (37) are gone, CAP_SYS_ADMIN (21) is there.
@test "PID 1, ssh and a privileged pod have the same capabilities" {
	local set

	set=$(on node-1 awk '/CapBnd/ { print $2 }' /proc/1/status)
	assert_equal "$(on node-1 awk '/CapBnd/ { print $2 }' /proc/self/status)" "$set"
	assert_equal "$(kubectl exec privileged -- awk '/CapBnd/ { print $2 }' /proc/self/status)" "$set"
	[ $((0x$set >> 17 & 1)) = 0 ]
	[ $((0x$set >> 37 & 1)) = 0 ]
	[ $((0x$set >> 21 & 1)) = 1 ]
}

@test "no other user keeps a start waiting" {
	local holder status=0

	setpriv --reuid=65534 --regid=65534 --clear-groups /usr/bin/python3 -c '
import fcntl, time
held = open("/proc/self/ns/net")
fcntl.flock(held, fcntl.LOCK_EX)
time.sleep(120)' 3>&- &
	holder=$!
	timeout 60 "$MANYKUBE" start --offline || status=$?
	kill "$holder"
	assert_equal "$status" 0
}

@test "a node with control groups of any depth and name can be stopped" {
	on node-1 python3 - <<-'CODE'
		import os
		top = "/sys/fs/cgroup/pids" if os.path.isdir("/sys/fs/cgroup/pids") else "/sys/fs/cgroup"
		os.chdir(top)
		try:
		    for _ in range(600):
		        os.mkdir(".deeper")
		        os.chdir(".deeper")
		except OSError:
		    assert top == "/sys/fs/cgroup"
	CODE
	run -0 manykube stop
	assert_equal "$(group_file pids pids.max)" ""
	run -0 manykube start --offline
	assert_all_ready
}

# The group that programs are run in is the node's root's to take away.
@test "a program that is run in a node is in its control group, whatever groups its root made" {
	run -0 on node-1 cat /proc/self/cgroup
	[[ $output != *:/..* ]] || fail "it is outside of the node's groups"
	on node-1 sh -c 'cd /sys/fs/cgroup/pids 2>/dev/null || exit 0; mv manykube aside; mkdir manykube; rmdir manykube'
	run -0 on node-1 cat /proc/self/cgroup
	[[ $output != *:/..* ]] || fail "it is outside of the node's groups"
	on node-1 sh -c 'cd /sys/fs/cgroup/pids 2>/dev/null || exit 0; mv aside manykube'
}

@test "its reboot is still its own" {
	on node-1 busybox reboot -f || true
	run -0 manykube start --offline
	assert_all_ready
}

@test "a node with a tree of any depth can be deleted" {
	on node-1 python3 - <<-'CODE'
		import os
		os.chdir("/var/tmp")
		for _ in range(30000):
		    os.mkdir("d")
		    os.chdir("d")
	CODE
	run -0 manykube delete
	[ ! -e "$(profile_dir)" ]
}
