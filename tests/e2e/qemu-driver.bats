#!/usr/bin/env bats
# A node that is a VM, beside a native control plane and, if there is an engine, a node in a container.

load helper
load engine

setup_file() {
	command -v qemu-system-x86_64 >/dev/null || skip "needs QEMU"
	begin_file e2e-qemu
	manykube start --nodes=1 --offline
	export E2E_NODES="node-1 vm"
	if find_dockerd; then
		make_engine
		manykube node add box --driver=docker
		E2E_NODES+=" box"
	fi
	manykube node add vm --driver=qemu --memory=1200m --cpus=2 --disk-size=16g
	kubectl apply -f "$BATS_TEST_DIRNAME/web.yaml"
}

teardown_file() {
	end_file
	remove_engine
}

has_pressure() {
	[ "$(kubectl get node vm -o jsonpath="{.status.conditions[?(@.type==\"$1\")].status}")" = True ]
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

name_answers() {
	[[ "$(kubectl exec "$(pod_on "$1" metadata.name)" -- timeout 5 wget -q -O - http://web)" == web-* ]]
}

silent() {
	! answers "$@"
}

is_ready() {
	[ "$(manykube status -n vm --format='{{.Node}}')" = Ready ]
}

container() {
	echo "$(bridge_of e2e-qemu)-box"
}

@test "a VM is a node with a kernel and cgroup v2 of its own" {
	run -0 --separate-stderr on vm uname -r
	[[ $output != "$(uname -r)" ]]
	run -0 --separate-stderr on vm cat /sys/fs/cgroup/cgroup.controllers
	[[ " $output " == *" memory "* ]]
	assert_all_ready
	# What it has of its own is small.
	[ "$(du -sm "$(vm_dir)" | cut -f1)" -le 20 ]
	manykube profile list -o json | assert_schema profile-list
	manykube node list -o json | assert_schema node-list
}

@test "a VM fails in every way, also its clock, and is healed" {
	local address

	address=$(profile_get '.nodes[] | select(.name == "vm") | .address')
	manykube fail clock vm --offset=-2h
	[ "$(on vm date +%s)" -lt $(($(date +%s) - 7000)) ]
	manykube fail kubelet vm
	manykube fail runtime vm
	on vm grep -q '^kubelet held' /run/manykube/state
	manykube fail partition vm --port=10250
	run ! timeout 3 bash -c "</dev/tcp/$address/10250"
	manykube fail freeze vm
	manykube heal vm
	[ "$(on vm date +%s)" -gt $(($(date +%s) - 60)) ]
	manykube fail memory vm
	manykube fail disk-full vm
	within 300 has_pressure MemoryPressure
	within 300 has_pressure DiskPressure
	manykube fail kill vm --for=5s
	within 300 bash -c '[ "$("$MANYKUBE" fail list -o json | jq "[.[] | select(.kind == \"kill\")] | length")" = 0 ]'
	manykube heal vm
	within 300 is_ready vm
}

@test "pods on nodes of all kinds reach each other: by address, service and name" {
	local from to service

	kubectl rollout status daemonset/web --timeout=90s
	service=$(kubectl get service web -o jsonpath='{.spec.clusterIP}')
	for from in $E2E_NODES; do
		for to in $E2E_NODES; do
			within 20 answers "$from" "$(pod_on "$to" status.podIP)" 8080 "$to"
		done
		[[ "$(answer "$from" "$service" 80)" == web-* ]]
		within 20 name_answers "$from"
	done
}

@test "a network policy holds in a VM's own kernel" {
	kubectl label pod "$(pod_on vm metadata.name)" where=vm
	kubectl apply -f - <<-'END'
		{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "shut"},
		 "spec": {"podSelector": {"matchLabels": {"where": "vm"}}, "policyTypes": ["Ingress"]}}
	END
	within 20 silent node-1 "$(pod_on vm status.podIP)" 8080 vm
	on vm nft list table inet manykube-policy >/dev/null
	# It may ask others.
	answers vm "$(pod_on node-1 status.podIP)" 8080 node-1
	kubectl delete networkpolicy shut
	within 20 answers node-1 "$(pod_on vm status.podIP)" 8080 vm
}

@test "a LoadBalancer leads into a VM" {
	local address

	kubectl apply -f - <<-'END'
		{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "front"},
		 "spec": {"type": "LoadBalancer", "selector": {"where": "vm"}, "externalTrafficPolicy": "Local",
		          "ports": [{"port": 80, "targetPort": 8080}]}}
	END
	within 20 has_address
	address=$(address_of_front)
	within 20 curl -sf --max-time 3 "http://$address/"
	assert_equal "$(curl -sf --max-time 5 "http://$address/")" "$(pod_on vm metadata.name)"
	kubectl delete service front
}

address_of_front() {
	kubectl get service front -o jsonpath='{.status.loadBalancer.ingress[*].ip}'
}

has_address() {
	[ -n "$(address_of_front)" ]
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
	run -0 manykube stop
	assert_equal "$(manykube status -n vm --format='{{.Host}}')" Stopped
	# The console tells that it went down by itself, and logs can still be read.
	grep -q 'reboot: Power down' "$(vm_dir)/console.log"
	run -0 manykube logs vm
	run -0 manykube start
	assert_all_ready
	assert_equal "$(on vm cat /root/kept)" kept
	assert_equal "$(kubectl get node vm -o jsonpath='{.metadata.uid}')" "$uid"
	within 60 is_ready vm
}

@test "a disk grows at the next start, and programs of another payload are sent" {
	local payload

	payload=$MANYKUBE_CACHE/$(profile_get .kubernetesVersion)
	on vm sh -c 'echo old >/opt/cni/bin/loopback'
	run -0 manykube node stop vm
	run -0 manykube node set vm --disk-size=24g
	# As if the payload had been another one when the disk was made.
	grep -q '^/opt/cni/bin/loopback ' "$(vm_dir)/programs"
	sed -i 's|^/opt/cni/bin/loopback .*|/opt/cni/bin/loopback 4 1.000000000|' "$(vm_dir)/programs"
	run -0 manykube node start vm
	on vm cat /opt/cni/bin/loopback | cmp - "$payload/cni/loopback"
	on vm test -x /opt/cni/bin/loopback
	[ "$(on vm df -k / | awk 'END { print $2 }')" -gt $((23 << 20)) ]
	assert_equal "$(on vm cat /root/kept)" kept
}

@test "a VM whose QEMU was killed is down, and starts again, as does a container that Docker stopped" {
	local uid

	uid=$(kubectl get node vm -o jsonpath='{.metadata.uid}')
	kill -KILL "$(qemu)"
	within 5 test ! -e "/proc/$(keeper)"
	assert_equal "$(manykube status -n vm --format='{{.Host}}')" Stopped
	[[ $E2E_NODES != *box* ]] || engine "/containers/$(container)/stop" -X POST
	run -0 manykube start
	assert_all_ready
	assert_equal "$(kubectl get node vm -o jsonpath='{.metadata.uid}')" "$uid"
}

# A QEMU whose first guest panics at once.  Its user must reach it, and it is no script, since it is
# executed by a descriptor.
make_panicking_qemu() {
	local dir=$BATS_RUN_TMPDIR/qemu

	mkdir -m 777 "$dir"
	chmod 755 "$BATS_RUN_TMPDIR"
	cat >"$dir/qemu.c" <<-'END'
		#include <stdio.h>
		#include <string.h>
		#include <sys/stat.h>
		#include <unistd.h>

		int main(int argc, char **argv)
		{
			const char *console = "id=console,fd=";
			int boots = 0;

			for (int i = 1; i < argc; i++)
				boots |= strcmp(argv[i], "-append") == 0;
			if (!boots || mkdir(DIR "/panicked", 0777) < 0) {
				execv(QEMU, argv);
				return 1;
			}
			for (int i = 1; i < argc; i++) {
				char *at = strstr(argv[i], console);
				int fd;

				if (at && sscanf(at + strlen(console), "%d", &fd) == 1)
					dprintf(fd, "Kernel panic - not syncing: test\n");
			}
			return 1;
		}
	END
	cc -DDIR="\"$dir\"" -DQEMU="\"/usr/bin/qemu-system-$(uname -m)\"" \
		-o "$dir/qemu-system-$(uname -m)" "$dir/qemu.c"
}

@test "a VM whose kernel panicked says so, and starts again" {
	on vm sh -c 'sleep 0.5; echo c >/proc/sysrq-trigger' &
	within 60 test ! -e "/proc/$(qemu)"
	wait || true
	run ! manykube status -n vm
	assert_output_has "reason: it is not running: its kernel panicked"
	# If it panics once more before it answers, that is tried again.
	make_panicking_qemu
	PATH=$BATS_RUN_TMPDIR/qemu:$PATH run -0 manykube node start vm
	[ -d "$BATS_RUN_TMPDIR/qemu/panicked" ]
	assert_equal "$(manykube status -n vm --format='{{.Host}}')" Running
}

@test "an emulated VM as control plane is refused before anything is made" {
	manykube doctor | grep -q 'ok.*KVM' && skip "there is KVM"
	run -36 manykube node add --control-plane --driver=qemu
	assert_output_has "cannot be a control plane, since it would be emulated"
	run -36 manykube start -p e2e-other --driver=qemu --offline
	[ ! -e "$MANYKUBE_HOME/profiles/e2e-other" ]
	assert_equal "$(profile_get '.nodes | length')" "$(wc -w <<<"$E2E_NODES")"
}

@test "what a VM cannot have is said before anything changes" {
	run ! manykube node add other --driver=qemu --mount=/usr:/host:ro
	[[ $output == *"is a VM and cannot have directories or files of this host mounted"* ]]
	[ ! -e "$(profile_dir)/nodes/other" ]
}

@test "a deleted VM leaves nothing" {
	local pid address

	pid=$(qemu)
	address=$(manykube ip vm)
	run -0 manykube node delete vm
	within 5 test ! -e "/proc/$pid"
	[ ! -e "$(vm_dir)" ]
	ip link show "$(bridge_of e2e-qemu)"
	run ! ip link show "$(bridge_of e2e-qemu).${address##*.}"
}

@test "a deleted cluster with nodes of all kinds leaves nothing" {
	run -0 manykube delete
	assert_no_trace
	[[ $E2E_NODES == *box* ]] || return 0
	assert_equal "$(engine '/containers/json?all=1')" "[]"
	assert_equal "$(engine /volumes | jq '.Volumes | length')" 0
	assert_equal "$(engine /images/json)" "[]"
}
