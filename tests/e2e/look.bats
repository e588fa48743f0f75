#!/usr/bin/env bats
# Looking at a cluster in good and bad days: what is shown, and that JSON is what docs/schema says.

load helper

setup_file() {
	begin_file e2e-look broken
	manykube start --nodes=2 --offline --label=look=here --embed-certs
}

teardown_file() {
	end_file
}

# What a person on a terminal of $1 columns sees of a command.
on_terminal() {
	local columns=$1

	shift
	TERM=xterm script -qec "stty cols $columns; $MANYKUBE $*" /dev/null | tr -d '\r'
}

# End the node $1 as a crash would.
kill_node() {
	kill -KILL "$(cut -d' ' -f1 "$(profile_dir)/nodes/$1/pid")"
	within 10 host_is "$1" Stopped
}

host_is() {
	assert_equal "$(manykube status -n "$1" --format='{{.Host}}')" "$2"
}

# Everything that looks at the cluster prints JSON as its schema says, whatever its exit status.
assert_all_schemas() {
	local node

	{ manykube status -o json || true; } | assert_schema status
	{ manykube status -o json --layout=cluster || true; } | assert_schema status-cluster
	for node in $(profile_get '.nodes[].name'); do
		{ manykube status -o json -n "$node" || true; } | assert_schema status
	done
	manykube node list -o json | assert_schema node-list
	manykube profile list -o json | assert_schema profile-list
	manykube profile list -o json --light | assert_schema profile-list
}

# StatusCode and StatusName of the cluster must be $1, and the exit status $2.
assert_cluster_is() {
	run manykube status -o json --layout=cluster
	assert_status "$2"
	assert_equal "$(jq -r '"\(.StatusCode) \(.StatusName)"' <<<"$output")" "$1"
}

@test "the schemas are strict: a field more or less, and they refuse" {
	manykube version -o json | assert_schema version
	manykube version -o json | assert_schema_lines version
	run ! assert_schema version <<<'{}'
	run ! assert_schema version <<<'{"manykubeVersion":"v1.0.0","kubernetesVersions":["v1.0.0"],"cachedVersions":[],"more":1}'
	run ! assert_schema_lines version </dev/null
	for schema in "$E2E_ROOT"/docs/schema/*.json; do
		run jq -e '[.. | objects | select(.type == "object" and has("properties")) |
			select(.additionalProperties != false or (has("required") | not))] == []' "$schema"
		[ "$status" -eq 0 ] || fail "$schema: $output"
		run ! assert_schema "$(basename "$schema" .json)" <<<'{"x":1}'
	done
}

@test "events, audit entries, settings and checks have schemas that take what they are for" {
	local id=01234567-89ab-4cde-8f01-23456789abcd
	local head="{\"specversion\":\"1.0\",\"id\":\"$id\",\"source\":\"manykube\",\"datacontenttype\":\"application/json\""

	assert_schema_lines event <<-EOF
		$head,"type":"io.manykube.step","data":{"currentstep":"1","message":"m","name":"Network","totalsteps":"9"}}
		$head,"type":"io.manykube.download.progress","data":{"artifact":"a","progress":"0.50"}}
		$head,"type":"io.manykube.info","data":{"message":"m"}}
		$head,"type":"io.manykube.warning","data":{"message":"m"}}
		$head,"type":"io.manykube.error","data":{"advice":"","exitcode":"80","message":"m","name":"MK_FAILURE"}}
	EOF
	run ! assert_schema event <<<"$head,\"type\":\"io.manykube.step\",\"data\":{\"message\":\"m\"}}"
	run ! assert_schema event <<<"$head,\"type\":\"io.manykube.info\",\"data\":{\"message\":1}}"
	assert_schema audit <<-EOF
		$head,"type":"io.manykube.audit","data":{"args":"","command":"start","endTime":"2026-01-31T12:00:09Z","exitCode":"0","id":"$id","profile":"p","startTime":"2026-01-31T12:00:00Z","user":"u","version":"v0.1.0"}}
	EOF
	assert_schema config <<<'{"nodes":"3","container-runtime":"containerd"}'
	run ! assert_schema config <<<'{"nodes":3}'
	manykube config set cpus 1
	manykube config get -o json | assert_schema config
	manykube config unset cpus
	assert_schema doctor <<<'{"ok":true,"checks":[{"name":"cgroup","state":"ok","detail":"v2","remedy":""}]}'
	run ! assert_schema doctor <<<'{"ok":true,"checks":[{"name":"cgroup","state":"fine","detail":"v2","remedy":""}]}'
}

@test "of a cluster that is well, all JSON is as its schema says" {
	assert_all_schemas
	assert_cluster_is "200 OK" 0
	assert_equal "$(manykube profile list -o json | jq -r '.valid[] | "\(.Status) \(.Active)"')" "OK true"
}

@test "a template picks fields, of all nodes or of one" {
	run -0 manykube status --format='{{.Name}}\t{{.IP}} {{.Role}}'
	assert_equal "$output" "$(profile_get '.nodes[] | "\(.name)\t\(.address) " +
		if .controlPlane then "control-plane" else "worker" end')"
	run -0 manykube status -n node-2 -f '{{.Host}}/{{.APIServer}}'
	assert_equal "$output" Running/Irrelevant
	run manykube status --format='{{.Hots}}'
	assert_status 14
	assert_output_has "did you mean '.Host'"
	run manykube status --format='{{.Host}}' -o json
	assert_status 14
}

@test "on a terminal there is a table, with what the nodes use" {
	run -0 on_terminal 120 status
	assert_equal "${lines[0]}" "e2e-look: Running, 2 nodes, Kubernetes $(profile_get .kubernetesVersion), API https://127.0.0.1:$(profile_get .apiPort)"
	[[ ${lines[1]} =~ ^NODE\ +ROLE\ +STATE\ +IP\ +VERSION\ +CPUS\ +MEMORY\ +PODS\ +AGE$ ]]
	[[ ${lines[2]} =~ ^node-1\ +control-plane\ +Ready\ +[0-9.]+\ +v[0-9.]+\ +[0-9]+\ +[0-9.]+[MG]i\ of\ [0-9.]+[MG]i\ +[1-9][0-9]*\ +[0-9a-z]+$ ]] ||
		fail "${lines[2]}"
	[ "${#lines[@]}" -eq 4 ] || fail "more is said of a cluster that is well: $output"
	assert_equal "$(manykube node list -o wide | awk '{ print $1, $2, $3 }' | xargs)" \
		"NODE ROLE STATE node-1 control-plane Ready node-2 worker Ready"
}

@test "states have colours on a terminal unless NO_COLOR is set" {
	run -0 on_terminal 120 status
	[[ $output != *$'\033'* ]] || fail "colours although NO_COLOR is set"
	NO_COLOR='' run -0 on_terminal 120 status
	assert_output_has $'\033[32mReady\033[0m'
	NO_COLOR='' run -0 manykube status -o table
	[[ $output != *$'\033'* ]] || fail "colours without a terminal"
}

@test "narrow terminals get all columns, too: packed, in several tables, or as records" {
	local columns heading

	for columns in 80 60 40 20; do
		run -0 on_terminal "$columns" status
		for heading in NODE ROLE STATE IP VERSION CPUS MEMORY PODS AGE; do
			assert_output_has "$heading"
		done
		[ "$columns" -lt 40 ] || [ "$(wc -L <<<"$output")" -le "$columns" ] ||
			fail "a line is longer than $columns: $output"
	done
	assert_output_has "STATE: Ready"
	run -0 on_terminal 80 status
	assert_equal "$(grep -c '^NODE' <<<"$output")" 1
	run -0 on_terminal 40 status
	assert_output_has "node-2  worker         Ready"
	run -0 on_terminal 60 profile list
	assert_output_has "PROFILE: e2e-look"
}

@test "a cordoned node is shown as one" {
	kubectl cordon node-2
	run -0 manykube status -o table -n node-2
	kubectl uncordon node-2
	assert_output_has "Ready,SchedulingDisabled"
}

@test "watch shows it again and again until Ctrl-C, which is no failure" {
	local pid code=0

	# In the background SIGINT would be ignored from birth on.
	env --default-signal=INT "$MANYKUBE" status --watch --format='{{.Name}}' \
		>"$BATS_TEST_TMPDIR/seen" 3>&- &
	pid=$!
	within 10 eval "[ \$(grep -c node-2 '$BATS_TEST_TMPDIR/seen') -ge 2 ]"
	kill -INT "$pid"
	wait "$pid" || code=$?
	assert_equal "$code" 0
	timeout 20 "$MANYKUBE" status -w | head -n 1 | grep node-1
}

@test "a command at work on the cluster is told of, with its step" {
	local events
	events=$(profile_dir)/logs/events.json

	[ ! -e "$events" ] || mv "$events" "$BATS_TEST_TMPDIR/events"
	# As a command does, the holder of the lock writes its pid there, and its steps after that.
	# shellcheck disable=SC2016 # of that shell
	run -0 flock "$MANYKUBE_HOME/locks/e2e-look" \
		sh -c 'echo "$PPID manykube start" >"$0" && cp "$1" "$2" && shift 2 && exec "$@"' \
		"$MANYKUBE_HOME/locks/e2e-look" "$E2E_ROOT/tests/fuzz/corpus/status/events" "$events" \
		"$MANYKUBE" status -o json --layout=cluster
	rm "$events"
	[ ! -e "$BATS_TEST_TMPDIR/events" ] || mv "$BATS_TEST_TMPDIR/events" "$events"
	assert_schema status-cluster <<<"$output"
	assert_equal "$(jq -r '"\(.StatusName) \(.Step)"' <<<"$output")" "Starting network"
}

@test "an API server that does not answer is not waited for" {
	local pid

	pid=$(apiserver_pid)
	kill -STOP "$pid"
	run timeout 20 "$MANYKUBE" status -o table
	assert_status 2
	assert_output_has "node-1 is NotReady: its API server does not answer"
	run -2 manykube status --format='{{.APIServer}}' -n node-1
	assert_equal "$output" Unresponsive
	# The kubelet would need two minutes.
	run -0 timeout 60 "$MANYKUBE" start
	assert_output_has "Restarting hung API server: node-1"
	within 30 manykube status
}

apiserver_pid() {
	ps -ewwo pid=,comm=,cgroup:800= | awk -v group="/manykube/$(profile_get .bridge)/" \
		'$2 == "kube-apiserver" && index($3, group) { print $1 }'
}

# Keep the kubelet of node-2 from reporting to the API, or let it again.
mute_kubelet() {
	nsenter -t "$(cut -d' ' -f1 "$(profile_dir)/nodes/node-2/pid")" -n nft "
		add table inet e2e-mute
		add chain inet e2e-mute out { type filter hook output priority 0; }
		add rule inet e2e-mute out tcp dport 6443 drop"
}

unmute_kubelet() {
	nsenter -t "$(cut -d' ' -f1 "$(profile_dir)/nodes/node-2/pid")" -n nft delete table inet e2e-mute
}

# Have the API say of node-2 that it is Ready ($1: True or False) and has DiskPressure ($2).
set_conditions() {
	kubectl patch node node-2 --subresource=status --type=strategic -p "{\"status\": {\"conditions\": [
		{\"type\": \"Ready\", \"status\": \"$1\", \"message\": \"it is not\"},
		{\"type\": \"DiskPressure\", \"status\": \"$2\", \"message\": \"it is full\"}]}}"
}

# Its kubelet takes the pressure back within 10 s, so that a start may come too late to see it.
start_sees_pressure() {
	set_conditions True True
	run manykube start
	[[ $output == *DiskPressure* ]]
}

@test "a node that Kubernetes calls NotReady, or that is short of something, makes a cluster Degraded" {
	mute_kubelet
	set_conditions False False
	assert_all_schemas
	assert_cluster_is "204 Degraded" 8
	run manykube status
	assert_status 8
	assert_output_has "node: NotReady"
	assert_output_has "reason: it is not"
	assert_output_has "restarts what hangs"
	run manykube status -o table
	assert_status 8
	assert_output_has "e2e-look: Degraded"
	assert_output_has "node-2 is NotReady: it is not"
	run manykube status --layout=cluster
	assert_output_has "nodes: 1 of 2 healthy"
	assert_equal "$(manykube profile list -o json | jq -r '.valid[].Status')" Degraded
	set_conditions True True
	assert_all_schemas
	assert_cluster_is "204 Degraded" 8
	run manykube status
	assert_output_has "node: Ready,DiskPressure"
	assert_output_has "reason: DiskPressure"
	assert_output_has "node-2: free space on the file system of"
	run -0 manykube status -n node-1
	unmute_kubelet
	within 60 start_sees_pressure
	assert_status 0
	assert_output_has "but has problems"
	assert_output_has "node 'node-2' reports DiskPressure: it is full; free space"
	[[ $output != *"running and healthy"* ]]
	within 60 manykube status
	run -0 manykube start
	assert_output_has "running and healthy"
	assert_cluster_is "200 OK" 0
}

# On a machine that is too slow to tell, status says nothing of the front door.
is_shut() {
	run manykube status --layout=cluster
	[[ $output == *"front door: Stopped"* ]]
}

@test "a front door that leads nowhere makes a cluster Degraded" {
	local worker found=0

	worker=$(jq .worker "$(profile_dir)/front-door.status.json")
	kill -STOP "$worker"
	within 60 is_shut || found=$?
	kill -CONT "$worker"
	assert_equal "$found" 0
	assert_status 2
	assert_output_has "status: 204 Degraded"
	assert_output_has "advice: 'manykube start -p e2e-look' restarts the front door"
	within 30 manykube status
}

@test "start makes the cluster's own files again" {
	local dir

	dir=$(profile_dir)
	rm "$dir/kubeconfig"
	run manykube kubectl get nodes
	assert_status 38
	assert_output_has "the kubeconfig of cluster 'e2e-look' is missing"
	assert_output_has "'manykube start -p e2e-look'"
	manykube start
	run -0 manykube kubectl get nodes
	echo "{" >"$dir/kubeconfig"
	run manykube kubectl get nodes
	assert_status 38
	assert_output_has "is damaged"
	rm "$dir/profile.json"
	run -0 manykube start
	assert_output_has "its copy"
	run -0 manykube kubectl get nodes
	cp "$dir/profile.json" "$BATS_TEST_TMPDIR"
	rm "$dir/profile.json" "$dir/profile.json.copy"
	run manykube start
	assert_status 38
	assert_output_has "is missing, but cluster 'e2e-look' has 2 nodes"
	run -0 manykube profile list
	assert_output_has Damaged
	cp "$BATS_TEST_TMPDIR/profile.json" "$dir"
	cp "$KUBECONFIG" "$BATS_TEST_TMPDIR/kubeconfig"
	echo "{" >"$KUBECONFIG"
	run manykube status --layout=cluster
	assert_status 4
	assert_output_has "kubeconfig: Misconfigured"
	run manykube status -o table
	assert_status 4
	assert_output_has "$KUBECONFIG:2:1: "
	assert_output_has "correct or remove that kubeconfig"
	[[ $output != *repairs* ]] || fail "a start is said to repair it"
	run manykube start
	assert_status 38
	assert_output_has "the file was not changed"
	assert_equal "$(cat "$KUBECONFIG")" "{"
	cp "$BATS_TEST_TMPDIR/kubeconfig" "$KUBECONFIG"
	run -0 manykube status
}

@test "a damaged profile is listed as one, and hides no other" {
	mkdir "$MANYKUBE_HOME/profiles/broken"
	echo '{"format":' >"$MANYKUBE_HOME/profiles/broken/profile.json"
	assert_all_schemas
	run -0 --separate-stderr manykube profile list -o json
	assert_equal "$(jq -r '"\(.invalid[].Name) \(.valid[].Name)"' <<<"$output")" "broken e2e-look"
	run -0 manykube profile list
	assert_output_has Damaged
	assert_output_has e2e-look
	run manykube status -p broken
	assert_status 38
	manykube delete -q -p broken
}

@test "a worker that has died is told of, with what to do" {
	kill_node node-2
	assert_all_schemas
	assert_cluster_is "204 Degraded" 3
	run manykube status -o table
	assert_status 3
	assert_output_has "e2e-look: Degraded, 2 nodes"
	assert_output_has "node-2 is Stopped: it is not running"
	assert_output_has "'manykube start -p e2e-look' repairs it"
	run -0 manykube status -n node-1
}

@test "a cluster that is all down is Stopped" {
	kill_node node-1
	assert_all_schemas
	# It was killed, so the kubeconfig has it still.
	assert_cluster_is "405 Stopped" 3
	run manykube status --layout=cluster
	assert_status 3
	assert_output_has "control planes: 0 of 1 healthy"
	assert_output_has "kubeconfig: Configured"
	manykube stop -q
	assert_cluster_is "405 Stopped" 7
	run manykube status --layout=cluster
	assert_output_has "kubeconfig: Nonexistent"
	assert_equal "$(manykube profile list -o json | jq -r '.valid[].Status')" Stopped
}

@test "without a cluster there is nothing to show" {
	manykube delete -q
	run manykube status
	assert_status 85
	run -0 --separate-stderr manykube profile list
	assert_equal "$output" ""
	output=$stderr assert_output_has "'manykube start -p e2e-look' creates one"
	assert_equal "$(manykube profile list -o json)" '{"invalid":[],"valid":[]}'
	manykube profile list -o json | assert_schema profile-list
}
