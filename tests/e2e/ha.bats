#!/usr/bin/env bats
# Several control planes: minikube's scenario in its order, then what it does not try, with the
# primary in the place of a secondary.

load helper
load ha

setup_file() {
	begin_file e2e-ha
	build_writer || true
	manykube start --offline --control-planes=3 --nodes=4
}

teardown_file() {
	stop_writers
	end_file
}

# StartCluster, DeployApp, PingHostFromPods, HAppyAfterClusterStart.
@test "three control planes and a worker are HAppy, and apps run on all" {
	local pod

	assert_all_ready
	assert_equal "$(members)" "node-1 node-2 node-3"
	assert_equal "$(kubectl get nodes -l node-role.kubernetes.io/control-plane -o name | wc -l)" 3
	within 30 is_happy
	apply_web
	for pod in $(web_pods | cut -d' ' -f1); do
		kubectl exec "$pod" -- ping -c 1 -W 5 "$(profile_get .gateway)"
	done
	run -0 manykube status
	assert_output_has "control planes: 3 of 3 healthy, 1 may fail"
	manykube status -o json --layout=cluster | assert_schema status-cluster
	assert_equal "$(primary)" node-1
}

# The keys of the authorities are not for everybody.
@test "what control planes share is readable to root alone" {
	local file

	for file in ca.key sa.key front-proxy-ca.key etcd/ca.key; do
		assert_equal "$(stat -c %a "$(profile_dir)/nodes/node-3/tree/etc/kubernetes/pki/$file")" 600
		cmp "$(profile_dir)/nodes/node-3/tree/etc/kubernetes/pki/$file" \
			"$(profile_dir)/nodes/node-1/tree/etc/kubernetes/pki/$file"
	done
}

# AddWorkerNode, NodeLabels, CopyFile.
@test "a worker is added, and files are copied between control planes" {
	manykube node add --label=tier=db
	assert_all_ready
	assert_equal "$(kubectl get nodes -l tier=db -o name)" node/node-5
	echo copied >"$BATS_TEST_TMPDIR/file"
	manykube cp "$BATS_TEST_TMPDIR/file" node-2:/root/file
	manykube cp node-2:/root/file node-3:/root/file
	assert_equal "$(on node-3 cat /root/file)" copied
}

# Stop the node $1, and look at the cluster again and again meanwhile: it leaves, and does not join.
stop_and_look() {
	local pid

	"$MANYKUBE" node stop "$1" >"$BATS_TEST_TMPDIR/stop" 2>&1 3>&- &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		manykube status --layout=cluster || true
	done >"$BATS_TEST_TMPDIR/looks"
	wait "$pid" || fail "$(cat "$BATS_TEST_TMPDIR/stop")"
	run ! grep joining "$BATS_TEST_TMPDIR/looks"
}

# StopSecondaryNode, DegradedAfterControlPlaneNodeStop, RestartSecondaryNode,
# HAppyAfterSecondaryNodeRestart; then the same with the primary.
@test "a secondary, and the primary, is stopped and joins again as the same node, and no request fails" {
	local before node

	before=$(identities)
	begin_writing node-4
	for node in node-2 node-1; do
		stop_and_look "$node"
		assert_equal "$(health)" Degraded
		run -3 manykube status
		assert_output_has "control planes: 2 of 3 healthy, tolerates no failure; 1 is stopped"
		kubectl get nodes >/dev/null
		[[ " $(members) " != *" $node "* ]] || fail "$node is a member still: $(members)"
		assert_equal "$(profile_get ".nodes[] | select(.name == \"$node\") | .phase")" planned
		manykube node start "$node"
		assert_equal "$(members)" "node-1 node-2 node-3"
		within 30 is_happy
	done
	end_writing "stopped" planned
	assert_equal "$(identities)" "$before"
	[ "$(primary)" != node-1 ] || fail "the mark did not move"
}

@test "a member is kept if asked for, while the others are a majority, and no request fails" {
	begin_writing node-4
	manykube node stop node-3 --keep-member
	assert_equal "$(members)" "node-1 node-2 node-3"
	run manykube node stop node-1 --keep-member
	assert_status 100
	assert_output_has "1 of 3 members of etcd would run, and 2 are needed"
	run manykube node stop node-1
	assert_status 100
	run manykube status
	assert_output_has "control planes: 2 of 3 healthy, tolerates no failure"
	manykube node start node-3
	within 30 is_happy
	end_writing "stopped with its member" planned
}

# RestartClusterKeepsNodes, StopCluster, RestartCluster.
@test "the whole cluster stops without any reset, and comes back with all its members" {
	local before started

	before=$(identities)
	started=$(primary)
	manykube stop
	manykube start
	assert_equal "$(identities)" "$before"
	assert_equal "$(primary)" "$started"
	within 60 is_happy
	assert_equal "$(members)" "node-1 node-2 node-3"
}

# The API server that is left takes requests, but answers none without etcd's majority.
@test "a control plane is cut off: the majority goes on, and what it acknowledged is kept" {
	manykube fail partition node-3
	within 60 kubectl create configmap while-cut-off --from-literal=a=b
	run manykube start
	assert_output_has "fails on purpose (cut off)"
	within 60 kubectl create configmap after-start --from-literal=a=b
	manykube heal node-3
	assert_all_ready
	kubectl get configmap while-cut-off after-start
	within 60 is_happy
	assert_equal "$(members)" "node-1 node-2 node-3"
	run ! nft list table bridge "$(bridge_of e2e-ha)"
}

@test "most control planes are killed: they wait for none but themselves" {
	local left node address

	left=$(primary)
	for node in node-1 node-2 node-3; do
		[ "$node" = "$left" ] || kill_node "$node"
	done
	run -0 manykube start
	assert_all_ready
	for node in node-1 node-2 node-3; do
		[ "$node" != "$left" ] || continue
		address=$(profile_get ".nodes[] | select(.name == \"$node\") | .address")
		on "$node" grep -q "server: https://$address:6443" /etc/kubernetes/kubelet.conf
	done
	within 60 is_happy
}

@test "everything is killed: quorum is back, and nothing is lost" {
	local before node

	before=$(identities)
	kubectl create configmap before-the-kill
	for node in node-1 node-2 node-3 node-4 node-5; do
		kill_node "$node"
	done
	manykube start
	assert_all_ready
	assert_equal "$(identities)" "$before"
	kubectl get configmap before-the-kill
	assert_equal "$(members)" "node-1 node-2 node-3"
}

@test "a control plane whose directory is gone joins again, and nothing is lost" {
	local lost

	lost=$(primary)
	rm -rf "$(profile_dir)/nodes/$lost"
	run -0 manykube start
	assert_output_has "the directory of node '$lost' is missing"
	assert_all_ready
	[ "$(primary)" != "$lost" ] || fail "the mark did not move"
	assert_equal "$(members)" "node-1 node-2 node-3"
	kubectl get configmap before-the-kill
	within 60 is_happy
}

@test "bad counts are refused before anything is made" {
	run manykube start -p e2e-none --offline --control-planes=0
	assert_status 14
	run manykube start -p e2e-none --offline --control-planes=8 --dry-run
	assert_status 14
	assert_output_has "--force"
	run -0 manykube start -p e2e-none --offline --control-planes=2 --nodes=1 --dry-run
	assert_output_has "--nodes=1 is less than --control-planes=2"
	assert_output_has "Node node-2: control plane"
	run -0 manykube start -p e2e-none --offline --ha --no-schedule-control-planes --dry-run
	assert_output_has "Node node-3: control plane"
	[ ! -e "$MANYKUBE_HOME/profiles/e2e-none" ]
}
