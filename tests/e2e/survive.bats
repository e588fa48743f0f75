#!/usr/bin/env bats
# What several control planes survive, while somebody writes without pause.

load helper
load ha

setup_file() {
	begin_file e2e-survive
	build_writer || true
	manykube start --offline --ha --kubernetes-version=v1.35.4
}

teardown_file() {
	stop_writers
	end_file
}

@test "no acknowledged write is lost while each control plane is killed and started" {
	local node

	begin_writing
	for node in node-1 node-2 node-3; do
		kill_node "$node"
		sleep 6
		manykube node start "$node"
		within 30 is_happy
	done
	end_writing "killed"
}

@test "no request fails while all are upgraded, one after another" {
	begin_writing
	manykube upgrade
	end_writing "upgraded" planned
	assert_equal "$(profile_get .kubernetesVersion)" v1.36.3
}

@test "no request fails while each is restarted, since a file says something else of it" {
	begin_writing
	manykube config view | sed 's/^  name: node-.$/&\n  env: {CALLED: again}/' >"$BATS_TEST_TMPDIR/file.yaml"
	manykube apply -f "$BATS_TEST_TMPDIR/file.yaml" --yes
	end_writing "restarted" planned
	assert_equal "$(on node-2 sh -c 'tr "\0" "\n" </proc/$(pidof kubelet)/environ' | grep CALLED)" CALLED=again
	assert_equal "$(members)" "node-1 node-2 node-3"
}

@test "no acknowledged write is lost while each is frozen" {
	local node

	begin_writing
	for node in node-1 node-2 node-3; do
		manykube node pause "$node"
		sleep 6
		manykube node unpause "$node"
		within 30 is_happy
	done
	end_writing "frozen"
}

# DeleteSecondaryNode, AddSecondaryNode, HAppyAfterSecondaryNodeAdd; and the primary.
@test "no request fails while each is deleted and replaced" {
	local node

	begin_writing
	for node in node-1 node-2 node-3; do
		manykube node delete "$node"
		run kubectl get node "$node"
		assert_status 1
		manykube node add "$node" --control-plane
	done
	end_writing "deleted" planned
	within 30 is_happy
	assert_equal "$(members)" "node-1 node-2 node-3"
}

@test "one that was killed is deleted by the others, the primary too" {
	local dead

	dead=$(primary)
	kill_node "$dead"
	manykube node delete "$dead"
	[ "$(primary)" != "$dead" ]
	assert_equal "$(kubectl get nodes -o name | wc -l)" 2
	assert_equal "$(members | wc -w)" 2
}

# Down to one, and no further.
@test "three become two become one, and the last one stays" {
	local last

	manykube node delete "$(primary)"
	last=$(primary)
	assert_equal "$(members)" "$last"
	run manykube node delete "$last"
	assert_status 14
	assert_output_has "is the only control plane"
	kubectl get nodes >/dev/null
	manykube node stop "$last"
	manykube start
	assert_all_ready
}

@test "most are lost for good: one goes on, and takes in new ones" {
	local last

	last=$(primary)
	manykube node add spare-1 --control-plane
	manykube node add spare-2 --control-plane
	kubectl create configmap before-the-loss
	kill_node spare-1
	kill_node spare-2
	run manykube node delete spare-1
	assert_status 100
	assert_output_has "manykube node recover"
	manykube node delete spare-1 --force
	run manykube node recover </dev/null
	assert_status 14
	manykube node recover --yes
	assert_equal "$(primary)" "$last"
	kubectl get configmap before-the-loss
	manykube start
	assert_equal "$(members)" "$(printf '%s\n' "$last" spare-2 | sort | xargs)"
	run kubectl get node spare-1
	assert_status 1
	run manykube node recover --yes
	assert_status 14
	assert_output_has "nothing to recover"
}
