#!/usr/bin/env bats
# A node that is a VM, beside a native control plane.

load helper

setup_file() {
	command -v qemu-system-x86_64 >/dev/null || skip "needs QEMU"
	begin_file e2e-qemu
	manykube start --nodes=1 --offline
	manykube node add vm --driver=qemu --memory=1200m --cpus=2 --disk-size=16g
	kubectl apply -f "$BATS_TEST_DIRNAME/web.yaml"
}

teardown_file() {
	end_file
}

vm_dir() {
	echo "$(profile_dir)/nodes/vm"
}

# The pid of the VM's QEMU, or of its keeper.
qemu() {
	awk '{ print $3 }' "$(vm_dir)/pid"
}

keeper() {
	awk '{ print $1 }' "$(vm_dir)/pid"
}

pod_on() {
	kubectl get pods -l app=web -o jsonpath="{.items[?(@.spec.nodeName=='$1')].$2}"
}

# The name of the pod that answers PORT of ADDRESS, asked by the pod on NODE: answer NODE ADDRESS PORT
answer() {
	kubectl exec "$(pod_on "$1" metadata.name)" -- \
		sh -c "printf 'GET / HTTP/1.0\r\n\r\n' | nc -w 5 $2 $3 | tail -n 1"
}

answers() {
	[ "$(answer "$1" "$2" "$3")" = "$(pod_on "$4" metadata.name)" ]
}

service_answers() {
	[[ "$(answer vm "$(kubectl get service web -o jsonpath='{.spec.clusterIP}')" 80)" == web-* ]]
}

is_ready() {
	[ "$(kubectl get node "$1" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}')" = True ]
}

vm_service_answers() {
	[[ "$(answer vm "$(kubectl get service web -o jsonpath='{.spec.clusterIP}')" 80)" == web-* ]]
}

is_ready() {
	[ "$(manykube status -n vm --format='{{.Node}}')" = Ready ]
}

@test "a VM is a node with a kernel and cgroup v2 of its own" {
	run -0 --separate-stderr on vm uname -r
	[[ $output != "$(uname -r)" ]]
	run -0 --separate-stderr on vm cat /sys/fs/cgroup/cgroup.controllers
	[[ " $output " == *" memory "* ]]
	run -0 kubectl get nodes -o jsonpath='{.items[*].status.conditions[?(@.type=="Ready")].status}'
	assert_equal "$output" "True True"
}

@test "pods reach each other across the kernels, and services" {
	kubectl rollout status daemonset/web --timeout=60s
	within 20 answers node-1 "$(pod_on vm status.podIP)" 8080 vm
	within 20 answers vm "$(pod_on node-1 status.podIP)" 8080 node-1
	within 20 service_answers
}

@test "commands run in a VM as in any node: status, streams, files" {
	run -7 on vm sh -c 'exit 7'
	run -127 on vm no-such-program
	run -0 --separate-stderr on vm sh -c 'echo out; echo err >&2'
	assert_equal "$output" out
	assert_equal "$stderr" err
	head -c 2000000 /dev/urandom >"$BATS_TEST_TMPDIR/data"
	on vm cat <"$BATS_TEST_TMPDIR/data" | cmp - "$BATS_TEST_TMPDIR/data"
	manykube cp "$BATS_TEST_TMPDIR/data" vm:/root/data
	manykube cp vm:/root/data "$BATS_TEST_TMPDIR/again"
	cmp "$BATS_TEST_TMPDIR/data" "$BATS_TEST_TMPDIR/again"
	# Several at once, one of which reads nothing of what it is sent.
	on vm sleep 5 <"$BATS_TEST_TMPDIR/data" &
	for i in 1 2 3 4; do on vm sh -c "sleep 1; echo $i" & done >"$BATS_TEST_TMPDIR/numbers"
	run -0 on vm echo quick
	assert_equal "$output" quick
	wait
	assert_equal "$(sort "$BATS_TEST_TMPDIR/numbers" | tr -d '\n')" 1234
}

@test "the user's images reach a VM" {
	local image=docker.io/library/of-mine:1

	python3 "$BATS_TEST_DIRNAME/make-image.py" "$image" "$BATS_TEST_TMPDIR/image.tar" hello
	run -0 manykube image load "$BATS_TEST_TMPDIR/image.tar"
	assert_equal "$(on vm ctr -n k8s.io images ls -q "name==$image")" "$image"
}

@test "QEMU and its keeper have no rights on this host, and the node's limits" {
	local pid

	for pid in "$(qemu)" "$(keeper)"; do
		[ "$(awk '/^Uid:/ { print $2 }' "/proc/$pid/status")" -ge $((0xfffb0000)) ]
		assert_equal "$(awk '/^CapEff:/ { print $2 }' "/proc/$pid/status")" 0000000000000000
		assert_equal "$(awk '/^CapBnd:/ { print $2 }' "/proc/$pid/status")" 0000000000000000
		assert_equal "$(awk '/^NoNewPrivs:/ { print $2 }' "/proc/$pid/status")" 1
		[ "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ]
		grep -q "$(bridge_of e2e-qemu)/vm" "/proc/$pid/cgroup"
	done
	assert_equal "$(awk '/^Seccomp:/ { print $2 }' "/proc/$(qemu)/status")" 2
}

@test "a paused VM stands still, and its clock is right afterwards" {
	run -0 manykube pause -n vm
	assert_equal "$(manykube status -n vm --format='{{.Kubelet}}')" Paused
	run ! on vm true
	sleep 3
	run -0 manykube unpause -n vm
	run -0 --separate-stderr on vm date +%s
	[ $(($(date +%s) - output)) -le 2 ]
}

@test "a VM that stops keeps its disk, and joins no second time" {
	local uid

	uid=$(kubectl get node vm -o jsonpath='{.metadata.uid}')
	on vm sh -c 'echo kept >/root/kept'
	run -0 manykube node stop vm
	assert_equal "$(manykube status -n vm --format='{{.Host}}')" Stopped
	# The console tells that it went down by itself, and logs can still be read.
	grep -q 'reboot: Power down' "$(vm_dir)/console.log"
	run -0 manykube logs vm
	run -0 manykube node start vm
	assert_equal "$(on vm cat /root/kept)" kept
	assert_equal "$(kubectl get node vm -o jsonpath='{.metadata.uid}')" "$uid"
	within 60 is_ready vm
}

@test "a disk grows at the next start" {
	run -0 manykube node stop vm
	run -0 manykube node set vm --disk-size=24g
	run -0 manykube node start vm
	[ "$(on vm df -k / | awk 'END { print $2 }')" -gt $((23 << 20)) ]
	assert_equal "$(on vm cat /root/kept)" kept
}

@test "a VM whose QEMU was killed is down, and starts again" {
	local uid

	uid=$(kubectl get node vm -o jsonpath='{.metadata.uid}')
	kill -KILL "$(qemu)"
	within 5 test ! -e "/proc/$(keeper)"
	assert_equal "$(manykube status -n vm --format='{{.Host}}')" Stopped
	run -0 manykube node start vm
	assert_equal "$(kubectl get node vm -o jsonpath='{.metadata.uid}')" "$uid"
}

@test "a VM whose kernel panicked says so, and starts again" {
	on vm sh -c 'sleep 0.5; echo c >/proc/sysrq-trigger' &
	within 20 test ! -e "/proc/$(qemu)"
	wait || true
	run ! manykube status -n vm
	assert_output_has "reason: it is not running: its kernel panicked"
	run -0 manykube node start vm
	assert_equal "$(manykube status -n vm --format='{{.Host}}')" Running
}

@test "what a VM cannot have is said before anything changes" {
	run ! manykube node add other --driver=qemu --mount=/usr:/host:ro
	[[ $output == *"is a VM and cannot have directories or files of this host mounted"* ]]
	[ ! -e "$(profile_dir)/nodes/other" ]
}

@test "a deleted VM leaves nothing" {
	local pid

	pid=$(qemu)
	run -0 manykube node delete vm
	within 5 test ! -e "/proc/$pid"
	[ ! -e "$(vm_dir)" ]
	run ! ip link show "$(bridge_of e2e-qemu).3"
}
