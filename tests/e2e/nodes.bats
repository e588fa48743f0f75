#!/usr/bin/env bats
# Nodes come, stop, start and go; whole clusters stop and start: what minikube tests of clusters with
# many nodes, in its order.

load helper

setup_file() {
	begin_file e2e-nodes
	manykube start --nodes=2 --offline
}

teardown_file() {
	end_file
}

# A pod $1 without a controller on node $2.
run_alone() {
	kubectl apply -f - <<-POD
		apiVersion: v1
		kind: Pod
		metadata: {name: $1}
		spec:
		  nodeName: $2
		  terminationGracePeriodSeconds: 0
		  containers:
		    - name: main
		      image: docker.io/library/busybox:latest
		      imagePullPolicy: Never
		      command: [sleep, infinity]
	POD
	kubectl wait --timeout=60s --for=condition=Ready "pod/$1"
}

# minikube's FreshStart2Nodes, DeployApp2Nodes, PingHostFrom2Pods.
@test "two nodes, an app on both, and both reach the host" {
	local pod gateway

	assert_all_ready
	apply_web
	gateway=$(profile_get .gateway)
	for pod in $(web_pods | cut -d' ' -f1); do
		kubectl exec "$pod" -- ping -c 1 -W 5 "$gateway"
	done
	make_claim
	run_with_claim writer node-2 'echo kept >/data/file'
	kubectl delete pod writer
}

# AddNode, MultiNodeLabels.
@test "node add: events, a node with its own memory, label and taint, known to all" {
	manykube node add --memory=1g --label=tier=db --taint=only=db:NoSchedule -o json \
		>"$BATS_TEST_TMPDIR/events"
	assert_schema_lines event <"$BATS_TEST_TMPDIR/events"
	assert_equal "$(jq -rs 'last.data.name' "$BATS_TEST_TMPDIR/events")" Done
	assert_all_ready
	assert_equal "$(node_names)" "node-1 node-2 node-3"
	assert_equal "$(kubectl get nodes -l tier=db -o name)" node/node-3
	assert_equal "$(kubectl get node node-3 -o json | jq -c '[.spec.taints[] | select(.key == "only")]')" \
		'[{"effect":"NoSchedule","key":"only","value":"db"}]'
	assert_equal "$(kubectl get node node-2 -o json | jq '[.spec.taints[]? | select(.key == "only")] | length')" 0
	within 60 web_is_ready
	on node-1 getent hosts node-3
	on node-1 curl -sS -m 5 "http://$(web_pods | awk '$2 == "node-3" { print $3 }'):8080"
	run -0 manykube logs --audit
	assert_output_has "node add"
}

# ProfileList, CopyFile.
@test "profile list counts it, cp reaches it" {
	assert_equal "$(manykube profile list -o json | jq '.valid[0].Config.nodes | length')" 3
	echo hello >"$BATS_TEST_TMPDIR/file"
	manykube cp "$BATS_TEST_TMPDIR/file" node-3:/var/tmp/file
	assert_equal "$(on node-3 cat /var/tmp/file)" hello
}

# StopNode, StartAfterStop.
@test "node stop and node start: the others run on, the node is as before" {
	local before

	before=$(identities)
	run -0 manykube node stop node-3
	assert_output_has "'manykube node start -p $MANYKUBE_PROFILE node-3'"
	assert_equal "$(hosts | xargs)" "node-1 Running node-2 Running node-3 Stopped"
	run manykube status
	[ "$status" -ne 0 ] || fail "all is said to be well"
	run manykube ssh node-3 -- true
	assert_status 83
	assert_output_has "node 'node-3' does not run"
	run manykube cp "$BATS_TEST_FILENAME" node-3:/var/tmp/x
	assert_status 83
	assert_equal "$(manykube ip -n node-3)" "$(profile_get '.nodes[2].address')"
	run -0 manykube logs node-3 -n 1
	run -0 manykube node stop node-3
	run -0 manykube node start node-3
	assert_equal "$(identities)" "$before"
	assert_all_ready
	assert_equal "$(on node-3 cat /var/tmp/file)" hello
	run -0 manykube node start node-3
	assert_output_has "already running"
}

@test "a node drained to be stopped gets pods again when it is started" {
	local before

	# One that nothing would make again, and that may not be lost therefore.
	run_alone alone node-3
	before=$(kubectl get pod alone -o jsonpath='{.metadata.uid}')
	run -0 manykube node stop node-3 --drain
	assert_output_has "pods without a controller stay on node 'node-3', and stop and start with it: default/alone"
	assert_equal "$(kubectl get node node-3 -o jsonpath='{.spec.unschedulable}')" true
	run -0 manykube node start node-3
	assert_equal "$(kubectl get node node-3 -o jsonpath='{.spec.unschedulable}')" ""
	assert_equal "$(kubectl get pod alone -o jsonpath='{.metadata.uid}')" "$before"
}

# RestartKeepsNodes.
@test "stop and start: same nodes, addresses, data; what was added meanwhile comes with them" {
	local before

	before=$(identities)
	manykube stop -o json >"$BATS_TEST_TMPDIR/events"
	assert_schema_lines event <"$BATS_TEST_TMPDIR/events"
	assert_equal "$(hosts | xargs)" "node-1 Stopped node-2 Stopped node-3 Stopped"
	run manykube status
	assert_status 7
	[ -z "$(list_processes | grep "$(bridge_of e2e-nodes)")" ] || fail "processes are left"
	run -0 kubectl config get-contexts -o name
	assert_equal "$output" ""
	run -0 manykube stop
	run -0 manykube stop --all
	run manykube kubectl get nodes
	assert_status 103
	run -0 manykube node add extra
	assert_output_has "Registered node extra"
	run -0 manykube start
	assert_equal "$(identities | grep -v '^extra ')" "$before"
	assert_equal "$(node_names)" "extra node-1 node-2 node-3"
	assert_all_ready
	assert_data_is_there
	run -0 manykube logs --audit
	assert_output_has " stop "
}

# DeleteNode.
@test "node delete: no trace of the node, its Node object is gone, the name is free" {
	local link

	manykube node delete extra --force
	link=$(ip -o link | grep -c "$(bridge_of e2e-nodes)")
	run script -qec "$MANYKUBE node delete node-3" /dev/null <<<n
	assert_output_has "are deleted with node 'node-3' and not recreated: default/alone"
	assert_output_has "nothing was done"
	kubectl get pod alone
	run -0 manykube node delete node-3
	assert_output_has "are deleted with node 'node-3' and not recreated: default/alone"
	assert_output_has "Node node-3 was successfully deleted."
	run ! kubectl get pod alone
	assert_equal "$(node_names)" "node-1 node-2"
	[ ! -e "$(profile_dir)/nodes/node-3" ]
	[ "$(ip -o link | grep -c "$(bridge_of e2e-nodes)")" -lt "$link" ]
	run on node-1 getent hosts node-3
	[ "$status" -ne 0 ]
	run -0 manykube status
}

# StopMultiNode, RestartMultiNode.
@test "Ctrl-C in stop and start of the cluster: the same command finishes it" {
	local before

	before=$(identities)
	interrupt "Stopping node: node-1" stop
	run -0 manykube stop
	assert_equal "$(hosts | xargs)" "node-1 Stopped node-2 Stopped"
	interrupt "Waiting for the API" start
	run -0 manykube start
	assert_equal "$(identities)" "$before"
	assert_all_ready
	assert_data_is_there
}

# ValidateNameConflict, and whatever else is wrong: nothing is made of it.
@test "wrong words are refused, with a way out" {
	local before

	before=$(profile_get .)
	assert_each <<-EOF
		85|node delete node-9|its nodes: node-1, node-2
		85|node start node-9|its nodes: node-1, node-2
		85|node stop node-9|its nodes: node-1, node-2
		14|node delete node-1|'manykube node add -p $MANYKUBE_PROFILE --control-plane'
		14|node add node-2|has a node 'node-2' already
		14|node add Node|is not a valid node name
		14|node add a --name=b|'a' and 'b'
		14|node add a --count=2|for one node
		14|node add --memory=banana|banana
		14|node add --cpus=0|--cpus
		14|node add --count=0|--count
		14|node add --static-ip=10.99.0.7|not a usable node address
		14|node add --static-ip=$(profile_get '.nodes[1].address')|another node has
		14|node add --mount=/no/such/dir:/x|/no/such/dir
		14|node add --taint=wrong|--taint
		14|node add --taint=only=db:Never|--taint
		14|node add --taint=a/b/c=db:NoSchedule|--taint
		14|node set node-2 --taint=only=d/b:NoSchedule|--taint
		14|node set node-2|nothing to change
		23|node set node-2 --memory=100m|512 MiB
		85|node set node-9 --label=a=b|its nodes: node-1, node-2
		14|node add --label=a=b=c:|--label
		23|node add --memory=100m|512 MiB
		23|worker create small --memory=100m|512 MiB
		14|worker create --control-plane|'manykube node add -p e2e-nodes --control-plane'
		14|worker stop node-1|use 'manykube node stop -p e2e-nodes node-1'
		14|worker delete node-2 node-1|use 'manykube node delete -p e2e-nodes node-1'
		14|worker ssh node-1|use 'manykube ssh -p e2e-nodes --node=node-1'
		14|node start|no node given
		14|node start --all node-2|--all
		14|node delete|NAME
		85|stop -p e2e-nowhere|e2e-nowhere
		85|node add -p e2e-nowhere|e2e-nowhere
	EOF
	assert_equal "$(profile_get .)" "$before"
	assert_all_ready
}
