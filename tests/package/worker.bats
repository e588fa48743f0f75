#!/usr/bin/env bats
# `worker` is about workers only; what is said of nodes agrees, whichever command says it.  On a
# cluster that is only a record.

load helper

setup_file() {
	mkdir -p "$MANYKUBE_HOME/profiles/dev"
	cat >"$MANYKUBE_HOME/profiles/dev/profile.json" <<-'END'
	{"format": 1, "name": "dev", "kubernetesVersion": "v1.36.3", "subnet": "192.168.39.0/24",
	 "gateway": "192.168.39.1", "bridge": "mk-words", "podSubnet": "10.244.0.0/16", "apiPort": 41234, "nodes": [
		{"name": "node-1", "controlPlane": true, "worker": true, "phase": "joined", "driver": "native",
		 "address": "192.168.39.2"},
		{"name": "node-2", "worker": true, "phase": "joined", "driver": "native", "address": "192.168.39.3"},
		{"name": "node-3", "controlPlane": true, "worker": true, "primary": true, "phase": "joined",
		 "driver": "native", "address": "192.168.39.4"},
		{"name": "node-4", "worker": true, "phase": "planned", "driver": "native", "address": "192.168.39.5"}]}
	END
}

setup() {
	export KUBECONFIG=$BATS_TEST_TMPDIR/kubeconfig
}

# Worker command $1 refuses the control plane node-1 and names command $2 instead.
assert_refused() {
	local words

	read -ra words <<<"$1"
	run -14 "$MANYKUBE" -p dev worker "${words[@]}"
	assert_has "$output" "node 'node-1' is a control plane; 'manykube worker' is for workers only"
	assert_has "$output" "Suggestion: use '$2'"
	# The cluster that is the active one need not be named.
	MANYKUBE_HOME=$(active_home) run -14 "$MANYKUBE" worker "${words[@]}"
	assert_has "$output" "Suggestion: use '${2/ -p dev/}'"
}

# A home like that of the tests, but with dev as the active cluster.
active_home() {
	cp -r "$MANYKUBE_HOME/." "$BATS_TEST_TMPDIR/home"
	echo '{"profile": "dev"}' >"$BATS_TEST_TMPDIR/home/config.json"
	echo "$BATS_TEST_TMPDIR/home"
}

@test "worker list shows workers only, in every form" {
	run -0 "$MANYKUBE" worker list -p dev
	assert_equal "$output" $'node-2\t192.168.39.3\nnode-4\t192.168.39.5'
	assert_equal "$("$MANYKUBE" worker list -p dev -o json | jq -r '.[].Name' | xargs)" "node-2 node-4"
	run -0 "$MANYKUBE" worker list -p dev -o wide
	assert_equal "$(awk '{ print $1 }' <<<"$output" | xargs)" "NODE node-2 node-4"
	assert_equal "$("$MANYKUBE" node list -p dev | wc -l)" 4
}

@test "worker status shows workers only" {
	run "$MANYKUBE" worker status -p dev --format='{{.Name}}'
	assert_equal "$output" $'node-2\nnode-4'
	run "$MANYKUBE" worker status -p dev -o table
	assert_has "$output" "node-2  worker"
	[[ $output != *control-plane* ]] || fail "$output"
	run "$MANYKUBE" worker status node-4 -p dev --format='{{.Name}}'
	assert_equal "$output" node-4
}

@test "a worker that is not named is asked for, not replaced by the primary" {
	run -14 "$MANYKUBE" worker ip -p dev
	assert_has "$output" "no worker given"
	assert_has "$output" "'manykube worker list -p dev'"
	assert_equal "$("$MANYKUBE" worker ip -p dev node-2)" 192.168.39.3
	assert_equal "$("$MANYKUBE" ip -p dev)" 192.168.39.4
}

@test "looking at a control plane as a worker is refused, with the command that does it" {
	assert_refused "ip node-1" "manykube ip -p dev --node=node-1"
	assert_refused "status node-1" "manykube status -p dev --node=node-1"
	assert_refused "logs node-1" "manykube logs -p dev --node=node-1"
}

@test "-n of logs is the number of lines, as minikube and tail have it" {
	run -14 "$MANYKUBE" logs -p dev -n node-2
	assert_has "$output" "use --node=NODE"
	run -0 "$MANYKUBE" logs -p dev -n 50 --audit
}

@test "changing a control plane as a worker is refused, with the command that does it" {
	[ "$(id -u)" = 0 ] || skip "it needs root"
	assert_refused "stop node-1" "manykube node stop -p dev node-1"
	assert_refused "start node-2 node-1" "manykube node start -p dev node-1"
	assert_refused "delete node-1" "manykube node delete -p dev node-1"
	assert_refused "ssh node-1" "manykube ssh -p dev --node=node-1"
	run -14 "$MANYKUBE" worker ssh -p dev
	assert_has "$output" "no worker given"
	run -85 "$MANYKUBE" worker ssh -p dev 'uname -n'
	assert_has "$output" "has no node 'uname -n'"
}

@test "worker create makes no control plane" {
	run -14 "$MANYKUBE" worker create --control-plane -p dev
	assert_has "$output" "'manykube node add -p dev --control-plane' adds a control plane"
	run -14 "$MANYKUBE" worker create --worker=false -p dev
	assert_has "$output" "for workers only"
}

@test "shells are offered workers only" {
	run -0 "$MANYKUBE" __complete worker stop -p dev ""
	assert_has "$output" node-2
	[[ $output != *node-1* ]] || fail "$output"
	run -0 "$MANYKUBE" __complete node stop -p dev ""
	assert_has "$output" node-1
}

@test "node list, ip and profile list agree on the address of the primary" {
	local address

	address=$("$MANYKUBE" node list -p dev | awk '$1 == "node-3" { print $2 }')
	assert_equal "$address" 192.168.39.4
	assert_equal "$("$MANYKUBE" ip -p dev)" "$address"
	assert_equal "$("$MANYKUBE" profile list --light | sed -n 's/.*│ dev .* \([0-9.]\{9,\}\) .*/\1/p')" "$address"
}
