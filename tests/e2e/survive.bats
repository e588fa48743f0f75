#!/usr/bin/env bats
# What several control planes survive, while somebody writes without pause.

load helper
load ha

setup_file() {
	begin_file e2e-survive
	manykube start --offline --ha
}

teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/writer" ] || kill "$(cat "$BATS_FILE_TMPDIR/writer")" || true
	end_file
}

begin_writing() {
	kubectl delete configmap --all --wait=false >/dev/null
	python3 "$BATS_TEST_DIRNAME/writer.py" write "$KUBECONFIG" "$BATS_FILE_TMPDIR/writes" \
		>&2 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/writer"
}

# End the writer and see that nothing that was acknowledged is lost; how long writes stood still
# is told, and not judged: machines differ.
end_writing() {
	local result

	kill "$(cat "$BATS_FILE_TMPDIR/writer")"
	rm "$BATS_FILE_TMPDIR/writer"
	result=$(python3 "$BATS_TEST_DIRNAME/writer.py" check "$KUBECONFIG" "$BATS_FILE_TMPDIR/writes")
	echo "# $1: $result" >&3
	[[ $result == *" 0 lost,"* ]] || fail "$1: $result"
	[[ $result != "0 acknowledged"* ]] || fail "$1: nothing was written"
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

@test "no acknowledged write is lost while each is stopped and started" {
	local node

	begin_writing
	for node in node-3 node-2 node-1; do
		manykube node stop "$node"
		manykube node start "$node"
	done
	end_writing "stopped"
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
@test "no acknowledged write is lost while each is deleted and replaced" {
	local node

	begin_writing
	for node in node-1 node-2 node-3; do
		manykube node delete "$node"
		run kubectl get node "$node"
		assert_status 1
		manykube node add "$node" --control-plane
	done
	end_writing "deleted"
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
