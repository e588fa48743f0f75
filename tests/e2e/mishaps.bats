#!/usr/bin/env bats
# What happens to nodes that nobody planned: commands at the same moment, Ctrl-C, SIGKILL, no control
# plane.

load helper

setup_file() {
	begin_file e2e-mishaps
	manykube start --nodes=2 --offline
}

teardown_file() {
	nft delete table inet strict-e2e-mishaps 2>/dev/null || true
	end_file
}

@test "two node add at the same moment both succeed; stop meanwhile is told to wait" {
	local first second

	apply_web
	"$MANYKUBE" node add >"$BATS_TEST_TMPDIR/first" 2>&1 3>&- &
	first=$!
	"$MANYKUBE" node add --count=2 >"$BATS_TEST_TMPDIR/second" 2>&1 3>&- &
	second=$!
	within 10 grep -q . "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/second"
	run manykube stop
	assert_status 11
	assert_output_has busy
	wait "$first" || fail "$(cat "$BATS_TEST_TMPDIR/first")"
	wait "$second" || fail "$(cat "$BATS_TEST_TMPDIR/second")"
	assert_equal "$(node_names)" "node-1 node-2 node-3 node-4 node-5"
	assert_all_ready
}

@test "several nodes go at once, also one whose first process was killed, and their pods" {
	kill -KILL "$(cut -d' ' -f1 "$(profile_dir)/nodes/node-4/pid")"
	run -0 manykube node delete node-3 node-4 node-5
	assert_equal "$(node_names)" "node-1 node-2"
	assert_equal "$(profile_get '.nodes | length')" 2
	assert_equal "$(web_pods | cut -d' ' -f2 | sort | xargs)" "node-1 node-2"
}

# Stop the process of a service of node-2: stop_service kubelet|containerd.
stop_service() {
	on node-2 sh -c "kill -STOP \$(sed -n 's/^$1 running \([0-9]*\) .*/\1/p' /run/manykube/state)"
}

node_2_is_lost() {
	[ "$(kubectl get node node-2 -o json |
		jq -r '.status.conditions[] | select(.type == "Ready") | .status')" = Unknown ]
}

@test "a kubelet that hangs keeps nobody else waiting, is mentioned, and repaired by start" {
	stop_service kubelet
	# The API still calls its node Ready.
	run manykube status -o json
	assert_status 2
	assert_schema status <<<"$output"
	assert_equal "$(jq -r '.[] | select(.Name == "node-2") | .Kubelet + " " + .Node' <<<"$output")" \
		"Unresponsive NotReady"
	assert_equal "$(jq -r '.[] | select(.Name == "node-2") | .Reason + "; " + .Advice[0]' <<<"$output")" \
		"its kubelet does not answer; 'manykube start -p e2e-mishaps' repairs it"
	run manykube status -o table
	assert_output_has "node-2 is NotReady: its kubelet does not answer"
	within 120 node_2_is_lost
	run -0 manykube node add other
	assert_output_has "node-2 is not Ready"
	run -0 manykube node set other --label=tier=db
	assert_output_has "node-2 is not Ready"
	run -0 manykube node stop other
	run -0 manykube node start other
	assert_output_has "node-2 is not Ready"
	run -0 manykube start
	assert_output_has "Restarting hung kubelet: node-2"
	assert_all_ready
	stop_service containerd
	run manykube status
	assert_status 2
	assert_output_has "reason: its containerd does not answer"
	assert_equal "$(manykube status -o json --layout=cluster |
		jq -r '.Nodes[] | select(.Name == "node-2") | .StatusDetail, .Components.containerd.StatusName')" \
		$'its containerd does not answer\nError'
	run -0 manykube node start node-2
	assert_output_has "Restarting hung containerd: node-2"
	assert_output_has "Successfully started node node-2!"
	assert_all_ready
	# Without its agent, nothing of a node is restarted.
	kill -STOP "$(cut -d' ' -f1 "$(profile_dir)/nodes/node-2/pid")"
	run manykube status
	assert_status 2
	assert_output_has "reason: its agent does not answer"
	run -0 manykube start
	assert_output_has "Resuming agent: node-2"
	assert_all_ready
	run -0 manykube node delete other
}

@test "start waits for a kubelet that has ended, whatever the API still says of its node" {
	on node-2 sh -c 'mv /var/lib/kubelet/config.yaml /var/lib/kubelet/kept && kill -KILL $(pidof kubelet)'
	run manykube start
	on node-2 mv /var/lib/kubelet/kept /var/lib/kubelet/config.yaml
	assert_status 100
	assert_output_has "the kubelet of node 'node-2' keeps exiting"
	run -0 manykube start
	assert_output_has "running and healthy"
	run -0 manykube status
	assert_kubelet_answers node-2
}

@test "Ctrl-C in node add, stop, start and delete: the same command finishes it" {
	interrupt "Joining node: late" node add late --label=tier=db
	run manykube node add late --label=tier=web
	assert_status 14
	assert_output_has "'manykube node start -p e2e-mishaps late' continues with it"
	run -0 manykube node add late --label=tier=db
	assert_all_ready
	interrupt "Stopping node: late" node stop late
	run -0 manykube node stop late
	assert_equal "$(hosts | xargs)" "node-1 Running node-2 Running late Stopped"
	interrupt "Starting node: late" node start late
	run -0 manykube node start late
	assert_all_ready
	interrupt "Draining node: late" node stop late --drain
	# What evicted pods have lost is only told if there are any.
	[[ $ADVICE == *"'manykube start -p e2e-mishaps' to let all nodes run and get pods again"* ]] ||
		fail "it suggests '$ADVICE'"
	# Whoever thinks better of it has a node that gets pods as before.
	interrupt "Draining node: late" node delete late
	[[ $ADVICE == *"'manykube start -p e2e-mishaps' to keep"* ]] || fail "it suggests '$ADVICE'"
	# The signal may have come before the API was told.
	kubectl cordon late
	run -0 manykube status
	assert_output_has "late gets no new pods"
	run -0 manykube start
	assert_equal "$(kubectl get node late -o jsonpath='{.spec.unschedulable}')" ""
	assert_equal "$(profile_get '.drained // [] | length')" 0
	interrupt "Removing node: late" node delete late --force
	run -0 manykube node delete late
	assert_equal "$(node_names)" "node-1 node-2"
}

@test "Ctrl-C in node add: what it suggests finishes it, also for a node without a name" {
	interrupt "Joining node: node-3" node add
	assert_equal "$ADVICE" "nothing is lost: 'manykube node start -p e2e-mishaps node-3' continues"
	run -0 follow_advice
	assert_equal "$(node_names)" "node-1 node-2 node-3"
	assert_all_ready
	run -0 manykube node delete node-3
}

@test "without its control plane: a clear word, and a node can go all the same" {
	local address

	manykube node add late
	address=$(web_pods | awk '$2 == "node-2" { print $3 }')
	run -0 manykube node stop node-1
	run manykube kubectl get nodes
	assert_status 103
	assert_output_has "the control plane of cluster 'e2e-mishaps' does not run"
	assert_output_has "'manykube start"
	assert_equal "$(hosts | xargs)" "node-1 Stopped node-2 Running late Running"
	run manykube status
	[ "$status" -ne 0 ]
	# Workers and their pods go on.
	curl -sS -m 5 --noproxy '*' "http://$address:8080"
	run -0 manykube node delete late
	assert_output_has "the next 'manykube start -p e2e-mishaps'"
	run -0 manykube worker create spare
	run -0 manykube node delete spare
	[[ $output != *"next 'manykube start"* ]]
	run manykube node start node-2
	assert_status 103
	run -0 manykube node start node-1
	assert_equal "$(node_names)" "node-1 node-2"
	assert_all_ready
}

@test "all processes killed at once: start brings everything back" {
	local before

	make_claim
	run_with_claim writer node-2 'echo kept >/data/file'
	kubectl delete pod writer
	before=$(identities)
	# With its first process all of a node's end.
	cut -d' ' -f1 "$(profile_dir)"/nodes/*/pid | xargs kill -KILL
	kill -KILL "$(grep -o -m1 '[0-9][0-9]*' "$(profile_dir)/front-door.lock")"
	run -0 manykube start
	assert_equal "$(identities)" "$before"
	assert_all_ready
	assert_data_is_there
}

@test "a worker whose directory is gone joins again; without that of the only control plane nothing is done" {
	local nodes

	nodes=$(profile_dir)/nodes
	# It runs on meanwhile, and nobody knows.
	rm -rf "${nodes:?}/node-2"
	run -0 manykube start
	assert_output_has "the directory of node 'node-2' is missing: it is created again and joins again"
	assert_all_ready
	assert_kubelet_answers node-2
	assert_equal "$(profile_get '.nodes[].phase' | xargs)" "joined joined"
	mv "$nodes/node-1" "$BATS_FILE_TMPDIR/kept"
	run manykube start
	mv "$BATS_FILE_TMPDIR/kept" "$nodes/node-1"
	assert_status 100
	assert_output_has "is missing, and with it the data of cluster 'e2e-mishaps'"
	assert_output_has "restore what is missing"
	[[ $output != *delete* ]] || fail "it suggests to destroy something: $output"
	run -0 manykube start
	assert_output_has "running and healthy"
}

@test "a node whose programs were removed is restarted by start" {
	local cache=$MANYKUBE_HOME/cache version

	version=$(profile_get .kubernetesVersion)
	mkdir "$cache"
	cp -al "$MANYKUBE_CACHE/$version" "$cache" 2>/dev/null || cp -a "$MANYKUBE_CACHE/$version" "$cache"
	manykube node stop node-2 -q
	MANYKUBE_CACHE=$cache manykube node start node-2 -q
	rm -rf "$cache"
	on node-2 sh -c 'kill -KILL $(pidof kubelet)'
	run -0 manykube start
	assert_output_has "Stopping node that has lost its programs: node-2"
	assert_all_ready
	assert_kubelet_answers node-2
}

@test "kubectl opens the front door although it is itself not in the cache" {
	local pid

	pid=$(grep -o -m1 '[0-9][0-9]*' "$(profile_dir)/front-door.lock")
	kill -KILL "$pid"
	within 10 test ! -e "/proc/$pid"
	MANYKUBE_CACHE=$BATS_TEST_TMPDIR/empty run manykube kubectl get nodes
	assert_output_has "is not in the cache"
	kubectl get nodes
}

@test "a firewall that keeps nodes from the host is named, and nothing is lost by it" {
	local before

	before=$(identities)
	manykube stop -q
	nft -f - <<-RULES
		table inet strict-e2e-mishaps {
			chain input {
				type filter hook input priority 10
				iifname "$(profile_get .bridge)" drop
			}
		}
	RULES
	run -70 manykube start
	nft delete table inet "strict-e2e-mishaps"
	assert_output_has "node 'node-1' cannot reach this host at $(profile_get .gateway):6443"
	assert_output_has "accept packets from $(profile_get .subnet)"
	run -0 manykube start
	assert_equal "$(identities)" "$before"
	assert_all_ready
}

@test "delete with stopped and half made nodes leaves nothing, and the names are as new" {
	local pid

	on node-2 touch /var/tmp/old
	manykube node stop node-2
	"$MANYKUBE" node add half >"$BATS_TEST_TMPDIR/add" 2>&1 3>&- &
	pid=$!
	within 20 test -e "$(profile_dir)/nodes/half/pid"
	kill -KILL "$pid"
	wait "$pid" || true
	run -0 manykube delete
	assert_no_trace
	run manykube stop
	assert_status 85
	manykube start --nodes=2 --offline
	manykube node add half
	assert_all_ready
	on node-2 test ! -e /var/tmp/old
}
