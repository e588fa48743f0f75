#!/usr/bin/env bats
# Two clusters side by side do not disturb each other.

load helper

setup_file() {
	begin_file e2e-one e2e-two
	# At once: they must not choose the same networks and ports either.
	manykube start -p e2e-one --nodes=2 --offline >"$BATS_FILE_TMPDIR/one" 2>&1 3>&- &
	manykube start -p e2e-two --nodes=2 --offline
	wait $! || { cat "$BATS_FILE_TMPDIR/one" && return 1; }
}

teardown_file() {
	end_file
}

# Make the profile $1 the one that commands work on.
use() {
	export MANYKUBE_PROFILE=$1
}

@test "both are Ready, each with its own two nodes" {
	for name in e2e-one e2e-two; do
		use "$name"
		assert_all_ready
		assert_equal "$(kubectl get nodes --no-headers | wc -l)" 2
		run -0 manykube status
	done
	use e2e-one
	one=$(kubectl get namespace kube-system -o jsonpath='{.metadata.uid}')
	use e2e-two
	[ "$one" != "$(kubectl get namespace kube-system -o jsonpath='{.metadata.uid}')" ]
}

@test "they share no subnet, no pods' subnet, no bridge and no port" {
	for key in .subnet .podSubnet .bridge .apiPort; do
		use e2e-one
		one=$(profile_get "$key")
		use e2e-two
		[ "$one" != "$(profile_get "$key")" ] || fail "both have $key $one"
	done
}

@test "a start waits for another command, and then finds the cluster running" {
	local other

	# As a command does, the holder of the lock writes its pid there.
	# shellcheck disable=SC2016 # of that shell
	flock "$MANYKUBE_HOME/locks/e2e-one" sh -c 'echo "$PPID manykube start" >"$0" && sleep 3' \
		"$MANYKUBE_HOME/locks/e2e-one" 3>&- &
	other=$!
	within 5 locked e2e-one
	run -0 manykube start -p e2e-one
	assert_output_has "waiting for it to finish"
	assert_output_has "running and healthy"
	wait "$other"
}

@test "the person's kubeconfig has both" {
	run -0 kubectl config get-contexts -o name
	assert_equal "$(sort <<<"$output" | xargs)" "e2e-one e2e-two"
}

@test "the pods of each reach each other and not the other's" {
	local address

	for name in e2e-one e2e-two; do
		use "$name"
		apply_web
	done
	for name in e2e-one e2e-two; do
		use "$name"
		within 20 web_balances
	done
	use e2e-one
	address=$(web_pods | head -n 1 | cut -d' ' -f3)
	use e2e-two
	run kubectl exec "$(web_pods | head -n 1 | cut -d' ' -f1)" -- \
		timeout 3 wget -q -O - "http://$address:8080"
	[ "$status" -ne 0 ] || fail "a pod of one cluster reaches $address of the other"
}

locked() {
	! flock -n "$MANYKUBE_HOME/locks/$1" true
}

# Asked by its service, every pod answers.
web_balances() {
	local pods

	pods=$(web_pods | cut -d' ' -f1 | sort)
	assert_equal "$(kubectl exec "$(head -n 1 <<<"$pods")" -- sh -c \
		'for i in $(seq 40); do timeout 5 wget -q -O - http://web; done' | sort -u)" "$pods"
}

@test "delete of one leaves the other working" {
	use e2e-two
	uids=$(kubectl get nodes -o jsonpath='{.items[*].metadata.uid}')
	kubectl config use-context e2e-one
	manykube config set profile e2e-two
	run -0 manykube delete -p e2e-one
	# kubectl does not stay without a cluster while one is active.
	assert_output_has 'kubectl now uses the active cluster, "e2e-two"'
	assert_equal "$(grep '^current-context' "$KUBECONFIG")" "current-context: e2e-two"
	run manykube status -p e2e-one
	assert_status 85
	run -0 manykube status
	assert_all_ready
	assert_equal "$(kubectl get nodes -o jsonpath='{.items[*].metadata.uid}')" "$uids"
	web_balances
	run -0 kubectl config get-contexts -o name
	assert_equal "$output" e2e-two
}

@test "delete of the other leaves nothing" {
	manykube delete -p e2e-two
	assert_no_trace
}
