#!/usr/bin/env bats
# In a guest with systemd and cgroup v2: a cluster, where systemd has it, what its nodes are held
# to, and that nothing is left of it.  HOSTS_NODES is how many nodes it has; with 2, as in CI, only
# the first tests are run.

load ../e2e/helper
load slow

setup_file() {
	begin_file hosts
	make_cluster --nodes="${HOSTS_NODES:-3}"
}

teardown_file() {
	end_file
}

need_time() {
	[ "${HOSTS_NODES:-3}" -gt 2 ] || skip "not in the short part"
}

scope() {
	echo "manykube-$(profile_get .bridge).scope"
}

group_of() {
	echo "/sys/fs/cgroup/machine.slice/$(scope)/$1"
}

@test "this host has systemd and cgroup v2" {
	assert_equal "$(stat -fc %T /sys/fs/cgroup)" cgroup2fs
	[ -d /run/systemd/system ]
}

@test "groups and scopes behave here as the unit tests have it" {
	"$E2E_ROOT/build/tests/unit/test-cgroup"
	"$E2E_ROOT/build/tests/unit/test-scope"
}

@test "all nodes are Ready" {
	assert_all_ready
}

@test "systemd has the cluster as one scope that is handed over" {
	assert_equal "$(systemctl is-active "$(scope)")" active
	assert_equal "$(systemctl show -P Description "$(scope)")" "Kubernetes cluster 'hosts' of manykube"
	assert_equal "$(systemctl show -P Delegate "$(scope)")" yes
	assert_equal "$(systemctl show -P TasksMax "$(scope)")" infinity
	run systemd-cgls --no-pager -l -u "$(scope)"
	assert_output_has node-1
	assert_output_has kubelet
	assert_output_has front-door
}

@test "all of the cluster's processes are in that scope" {
	local outside

	outside=$(list_processes | awk '$3 !~ /^mk/')
	assert_equal "$outside" ""
}

@test "pods' requests and limits are in their own groups" {
	kubectl get pods -A -o wide
	[ -d "$(group_of node-1)/kubepods" ]
	grep -q memory "$(group_of node-1)/kubepods/cgroup.controllers"
	grep -q cpu "$(group_of node-1)/kubepods/cgroup.controllers"
}

@test "a node that is added is held to its CPUs and memory, also to others, and goes again" {
	need_time
	manykube node add small --cpus=1 --memory=600m
	assert_equal "$(cat "$(group_of small)/cpu.max")" "100000 100000"
	assert_equal "$(cat "$(group_of small)/memory.max")" $((600 << 20))
	assert_equal "$(on small grep -c ^processor /proc/cpuinfo)" 1
	manykube node set small --memory=700m
	assert_equal "$(cat "$(group_of small)/memory.max")" $((700 << 20))
	assert_equal "$(kubectl get node small -o jsonpath='{.status.capacity.memory}')" 700Mi
	manykube node set small --cpus=max --memory=max
	assert_equal "$(cat "$(group_of small)/cpu.max")" "max 100000"
	assert_equal "$(cat "$(group_of small)/memory.max")" "$(most_memory)"
	# Three nodes are enough for a guest to carry on with.
	manykube node delete small
	[ ! -d "$(group_of small)" ]
}

@test "pods on all nodes reach each other" {
	need_time
	apply_web
	assert_web_reaches_web
}

@test "a node is paused and goes on" {
	need_time
	manykube pause -n node-2
	assert_equal "$(awk '$1 == "frozen" { print $2 }' "$(group_of node-2)/cgroup.events")" 1
	manykube unpause -n node-2
	within 120 assert_kubelet_answers node-2
}

@test "a node is stopped and started" {
	need_time
	manykube node stop node-2
	[ ! -d "$(group_of node-2)" ]
	manykube node start node-2
	assert_all_ready
}

@test "a stopped cluster has no scope and comes back as it was" {
	local before

	need_time
	before=$(identities)
	manykube stop
	assert_equal "$(systemctl is-active "$(scope)")" inactive
	manykube start
	assert_equal "$(identities)" "$before"
	assert_equal "$(systemctl is-active "$(scope)")" active
}

@test "delete leaves no trace, nor does systemd know of it" {
	local unit

	unit=$(scope)
	manykube delete
	assert_no_trace
	assert_equal "$(systemctl list-units --all --plain --no-legend "$unit")" ""
}
