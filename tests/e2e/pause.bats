#!/usr/bin/env bats
# A cluster is paused and goes on where it was.

load helper

setup_file() {
	begin_file e2e-pause
	manykube start --nodes=2 --offline
	kubectl apply -f - <<-END
		apiVersion: v1
		kind: Pod
		metadata:
		  name: counter
		spec:
		  nodeName: node-2
		  terminationGracePeriodSeconds: 0
		  containers:
		    - name: counter
		      image: docker.io/library/busybox:latest
		      imagePullPolicy: Never
		      command: [sh, -c, 'i=0; while sleep 0.1; do i=\$((i + 1)); echo \$i; done']
	END
}

teardown_file() {
	end_file
}

# The pod's last number, as the host finds it in the node's files.
count() {
	local dir

	dir=$(profile_dir)/nodes/node-2/tree/var/log/pods
	tail -qn 1 "$dir"/default_counter_*/counter/0.log | awk '{ print $NF }'
}

counts_beyond() {
	[ "$(count)" -gt "$1" ]
}

assert_paused() {
	assert_equal "$(manykube status -n "$1" --format='{{.Kubelet}}')" Paused
}

# The pod was not started anew, and goes on counting from $1.
assert_went_on() {
	within 10 counts_beyond "$1"
	assert_equal "$(kubectl get pod counter -o jsonpath='{.status.containerStatuses[0].restartCount}')" 0
}

@test "a paused node stands still and goes on where it was" {
	local before

	within 30 counts_beyond 0
	run -0 --separate-stderr manykube pause -n node-2
	assert_equal "$output" ""
	assert_equal "${stderr_lines[-1]}" "Paused node node-2."
	assert_paused node-2
	before=$(count)
	# The others have no part in it, and time passes there.
	assert_equal "$(manykube status -n node-1 --format='{{.Kubelet}} {{.APIServer}}')" "Running Running"
	kubectl create configmap meanwhile --from-literal=a=1
	on node-1 sleep 1
	assert_equal "$(count)" "$before"
	run -0 manykube unpause -n node-2
	assert_equal "${lines[-1]}" "Unpaused node node-2."
	assert_went_on "$before"
	assert_kubelet_answers node-2
}

@test "doing it twice is no error" {
	run -0 manykube node pause node-2
	assert_equal "${lines[-1]}" "Paused node node-2."
	run -0 manykube pause -n node-2
	assert_equal "$output" "Node node-2 is already paused."
	run -0 manykube node unpause node-2 node-1
	assert_equal "${lines[-1]}" "Unpaused node node-2; node node-1 was not paused."
	run -0 manykube unpause
	assert_equal "$output" 'Cluster "e2e-pause" is not paused.'
}

@test "a name that is wrong changes nothing" {
	run manykube node pause node-2 node-9
	assert_status 85
	assert_equal "$(manykube status -n node-2 --format='{{.Kubelet}}')" Running
	run manykube node pause
	assert_status 14
}

@test "whoever wants something of what is paused is told at once" {
	local command

	manykube pause
	run timeout 5 "$MANYKUBE" ssh node-2 -- true
	assert_status 83
	assert_output_has "GUEST_PAUSED: node 'node-2' is paused"
	assert_output_has "'manykube unpause -p e2e-pause -n node-2'"
	run timeout 5 script -qec "$MANYKUBE ssh node-2" /dev/null
	assert_output_has "GUEST_PAUSED"
	run timeout 5 "$MANYKUBE" cp /etc/hostname node-2:/root/
	assert_status 83
	run timeout 5 "$MANYKUBE" kubectl get nodes
	assert_status 103
	assert_output_has "the control plane of cluster 'e2e-pause' is paused"
	assert_output_has "'manykube unpause"
	for command in "node set node-2 --label=a=b" "node set node-2 --cpus=1" "node add more" \
		"node delete node-2" "node stop node-2 --drain"; do
		# shellcheck disable=SC2086
		run timeout 5 "$MANYKUBE" $command
		assert_status 103
		assert_output_has "the control plane of cluster 'e2e-pause' is paused"
		assert_output_has "'manykube unpause -p e2e-pause'"
	done
	assert_equal "$(profile_get '.nodes | length')" 2
	run timeout 5 "$MANYKUBE" status -o table
	assert_status 2
	assert_output_has "'manykube unpause -p e2e-pause' resumes it"
	run manykube status -o json --layout=cluster
	assert_equal "$(jq -r .StatusName <<<"$output")" Paused
}

@test "a whole cluster goes on, with what was written before" {
	local before

	assert_paused node-1
	before=$(count)
	run -0 --separate-stderr manykube unpause -o json
	assert_schema_lines event <<<"$output"
	assert_equal "$(jq -r .data.message <<<"$output")" "Unpausing node: node-1
Unpausing node: node-2
Unpaused cluster \"e2e-pause\": 2 nodes."
	assert_equal "$stderr" ""
	assert_equal "$(kubectl get configmap meanwhile -o jsonpath='{.data.a}')" 1
	kubectl create configmap afterwards --from-literal=a=2
	assert_went_on "$before"
	within 30 assert_all_ready
	run -0 manykube logs --audit
	assert_output_has unpause
}

# It takes milliseconds, so the signal may come when all is done.
@test "Ctrl-C in pause and unpause: the same command finishes it" {
	local command pid status

	for command in pause unpause; do
		status=0
		"$MANYKUBE" "$command" >/dev/null 2>&1 3>&- &
		pid=$!
		sleep 0.02
		kill -INT "$pid" || true
		wait "$pid" || status=$?
		[ "$status" -eq 0 ] || assert_equal "$status" 11
		run -0 manykube "$command"
		if [ "$command" = pause ]; then
			assert_paused node-1
			assert_paused node-2
		fi
	done
	within 30 assert_all_ready
	assert_kubelet_answers node-2
}

@test "start lets go on what is paused" {
	local before

	manykube pause
	before=$(count)
	run -0 manykube start
	assert_output_has 'Done: cluster "e2e-pause" with 2 nodes is up'
	assert_output_has "Unpausing node: node-1"
	[[ $output != *"Making the network"* && $output != *"Starting node"* ]] || fail "$output"
	assert_all_ready
	assert_went_on "$before"
}

@test "a paused cluster can be deleted, also with a container that is paused by itself" {
	local id

	id=$(on node-2 ctr -n k8s.io tasks ls -q | head -n 1)
	on node-2 ctr -n k8s.io tasks pause "$id"
	assert_equal "$(on node-2 ctr -n k8s.io tasks ls | grep -c PAUSED)" 1
	manykube pause
	manykube delete
	assert_no_trace
}
