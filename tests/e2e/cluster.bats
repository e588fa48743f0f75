#!/usr/bin/env bats
# One cluster of a control plane and two workers: what it can do, and what it survives.

load helper

setup_file() {
	begin_file e2e-cluster
	manykube start --nodes=3 --offline --wait=all
}

teardown_file() {
	end_file
}

@test "all nodes are Ready" {
	assert_all_ready
	assert_equal "$(kubectl get nodes --no-headers | wc -l)" 3
}

@test "podCIDRs are those of the profile and do not overlap" {
	local got

	got=$(kubectl get nodes -o json | jq -r '.items[] | "\(.metadata.name) \(.spec.podCIDR)"' | sort)
	assert_equal "$got" "$(profile_get '.nodes[] | "\(.name) \(.podCidr)"' | sort)"
	assert_equal "$(cut -d' ' -f2 <<<"$got" | sort -u | wc -l)" 3
	# All of them are /24, so different ones can't overlap.
	assert_equal "$(grep -c '/24$' <<<"$got")" 3
}

@test "the pods of every node get addresses of its podCIDR" {
	local pod node address

	apply_web
	while read -r pod node address; do
		[[ $address == "$(profile_get ".nodes[] | select(.name == \"$node\") | .podCidr" |
			sed 's/0\/24$//')"* ]] || fail "$pod on $node has $address"
	done < <(web_pods)
}

@test "a pod on each node reaches the pods of every node by IP" {
	assert_web_reaches_web
}

# Ask the address $1 from every pod until each pod has answered.
assert_reaches_all_through() {
	local pods from

	pods=$(web_pods | cut -d' ' -f1 | sort)
	for from in $pods; do
		assert_equal "$(kubectl exec "$from" -- sh -c \
			"for i in \$(seq 60); do timeout 5 wget -q -O - http://$1 || echo failed; done" | sort -u)" \
			"$pods" "asked from $from"
	done
}

@test "a pod on each node reaches the pods of every node by service" {
	assert_reaches_all_through "$(kubectl get service web -o jsonpath='{.spec.clusterIP}')"
}

@test "a pod on each node reaches the pods of every node by DNS name" {
	assert_reaches_all_through web
	assert_reaches_all_through web.default.svc.cluster.local
}

@test "the host reaches pods" {
	local pod node address

	while read -r pod node address; do
		assert_equal "$(curl -sS -m 5 --noproxy '*' "http://$address:8080")" "$pod"
	done < <(web_pods)
}

@test "a claim is bound and written on a worker, and the next pod finds the data" {
	make_claim
	run_with_claim writer node-3 'echo kept >/data/file'
	assert_equal "$(kubectl get pvc data -o jsonpath='{.status.phase}')" Bound
	kubectl delete pod writer --wait
	run_with_claim reader '' 'cat /data/file'
	assert_equal "$(kubectl logs reader)" kept
	assert_equal "$(kubectl get pod reader -o jsonpath='{.spec.nodeName}')" node-3
	kubectl delete pod/reader pvc/data --wait
}

@test "status exits 0 and shows every node with its IP, one as primary" {
	run -0 manykube status
	assert_equal "$(grep -c '^IP: ' <<<"$output")" 3
	assert_equal "$(grep -c '(Primary)' <<<"$output")" 1
	assert_equal "$(grep '^IP: ' <<<"$output" | cut -d' ' -f2 | xargs)" \
		"$(profile_get '.nodes[].address' | xargs)"
	assert_equal "$(grep -c '^host: Running' <<<"$output")" 3
	assert_equal "$(grep -c '^kubelet: Running' <<<"$output")" 3
}

@test "status -o json is JSON with every node" {
	run -0 --separate-stderr manykube status -o json
	assert_equal "$(jq -r '.[] | "\(.Name) \(.Host) \(.Kubelet) \(.Primary)"' <<<"$output" | xargs)" \
		"node-1 Running Running true node-2 Running Running false node-3 Running Running false"
}

@test "ssh runs a command on a node and passes its exit status and input through" {
	assert_equal "$(on node-2 hostname)" node-2
	run on node-2 sh -c 'exit 42'
	assert_status 42
	assert_equal "$(echo through | on node-3 cat)" through
	assert_equal "$(manykube ssh -- hostname)" node-1
	assert_equal "$(manykube ssh -n node-3 -- hostname)" node-3
	run manykube ssh node-9 -- true
	assert_status 85
}

@test "kubectl is passed through, with its exit status" {
	manykube help kubectl >/dev/null 2>&1 || skip "there is no command kubectl yet"
	run -0 manykube kubectl -- get nodes -o name
	assert_equal "$(xargs <<<"$output")" "node/node-1 node/node-2 node/node-3"
	run manykube kubectl -- get pod no-such-pod
	assert_status 1
}

node_uids() {
	kubectl get nodes -o jsonpath='{range .items[*]}{.metadata.uid} {.status.addresses[0].address}{"\n"}{end}'
}

@test "start on a running cluster exits 0 and changes nothing" {
	local uids processes

	uids=$(node_uids)
	processes=$(cat "$(profile_dir)"/nodes/*/pid)
	cp "$(profile_dir)/profile.json" "$BATS_TEST_TMPDIR/profile.json"
	run -0 manykube start --offline
	assert_equal "$(node_uids)" "$uids"
	assert_equal "$(cat "$(profile_dir)"/nodes/*/pid)" "$processes"
	cmp "$(profile_dir)/profile.json" "$BATS_TEST_TMPDIR/profile.json"
}

# Kill the service $1 on the node $2, and see that another process takes its place.
kill_service() {
	local old

	old=$(on "$2" pidof "$1")
	on "$2" kill -KILL "$old"
	within 20 other_runs "$1" "$2" "$old"
}

other_runs() {
	local now

	now=$(on "$2" pidof "$1") && [ "$now" != "$3" ]
}

# The pod on the node $1 answers; the API may tell an old address for a while.
assert_web_answers_on() {
	local pod node address

	read -r pod node address < <(web_pods | grep " $1 ")
	assert_equal "$(curl -sS -m 5 --noproxy '*' "http://$address:8080")" "$pod" "on $node"
}

@test "a killed containerd comes back by itself, and its pods do not notice" {
	local before

	before=$(kubectl get pods -l app=web -o jsonpath='{.items[*].status.containerStatuses[*].containerID}')
	kill_service containerd node-2
	assert_web_answers_on node-2
	within 30 on node-2 ctr -n k8s.io version
	assert_equal "$(kubectl get pods -l app=web \
		-o jsonpath='{.items[*].status.containerStatuses[*].containerID}')" "$before"
}

@test "a killed kubelet comes back by itself" {
	kill_service kubelet node-2
	within 30 assert_kubelet_answers node-2
	assert_web_answers_on node-2
	assert_all_ready
}

@test "a node whose agent is killed is stopped, and start brings it back as it was" {
	local uids pid

	uids=$(node_uids)
	pid=$(cut -d' ' -f1 "$(profile_dir)/nodes/node-2/pid")
	kill -KILL "$pid"
	within 10 node_is_stopped node-2
	run manykube status
	assert_status 3
	run on node-2 true
	assert_status 83
	assert_output_has "does not run"
	run -0 manykube start --offline
	assert_kubelet_answers node-2
	run -0 manykube status
	assert_all_ready
	assert_equal "$(node_uids)" "$uids"
	within 60 assert_web_answers_on node-2
}

node_is_stopped() {
	manykube status -n "$1" | grep -q '^host: Stopped'
}

@test "the killed control plane comes back with start, and everything is as before" {
	local uids

	uids=$(node_uids)
	kill -KILL "$(cut -d' ' -f1 "$(profile_dir)/nodes/node-1/pid")"
	within 10 node_is_stopped node-1
	run -0 manykube start --offline
	assert_kubelet_answers node-1
	run -0 manykube status
	assert_equal "$(node_uids)" "$uids"
	within 60 assert_web_answers_on node-1
}

front_door_pid() {
	grep -o -m1 '[0-9][0-9]*' "$(profile_dir)/front-door.lock"
}

@test "a killed front door is back after start, at the same address" {
	local pid server

	pid=$(front_door_pid)
	server=$(kubectl config view -o jsonpath='{.clusters[0].cluster.server}')
	kill -KILL "$pid"
	run kubectl get --raw /readyz --request-timeout=3s
	[ "$status" -ne 0 ] || fail "the API answers without its front door"
	run -0 manykube start --offline
	assert_equal "$(kubectl get --raw /readyz)" ok
	assert_equal "$(kubectl config view -o jsonpath='{.clusters[0].cluster.server}')" "$server"
	[ "$(front_door_pid)" != "$pid" ] || fail "it is the old one"
}

@test "start with more nodes adds the missing ones" {
	run -0 manykube start --nodes=4 --offline
	assert_all_ready
	assert_equal "$(kubectl get nodes --no-headers | wc -l)" 4
	within 60 web_is_ready
	assert_web_answers_on node-4
	run manykube start --nodes=2 --offline
	assert_status 14
	assert_all_ready
}

@test "delete leaves nothing on the host" {
	run -0 manykube delete
	assert_no_trace
	run manykube status
	assert_status 85
}

@test "delete of what is gone is no error" {
	run -0 manykube delete
	assert_no_trace
}
