#!/usr/bin/env bats
# The pages in docs/experiments/ do what they show.
# shellcheck disable=SC2154 # bats sets status, output and lines

load helper

setup_file() {
	begin_file manykube quorum
	# As a person has it.
	unset MANYKUBE_PROFILE
	export MANYKUBE_OFFLINE=true PATH=${MANYKUBE%/*}:$PATH TERM=xterm LC_ALL=C.UTF-8
}

teardown_file() {
	end_file
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export HOME=$BATS_TEST_TMPDIR
}

# Do what the pages of these names show, one after the other.
take_tour() {
	"$E2E_ROOT/tests/e2e/tour.py" "${@/#/$E2E_ROOT/docs/experiments/}"
}

@test "every page is in the list, and every one is a tour of a test below" {
	local page

	for page in "$E2E_ROOT"/docs/experiments/*.md; do
		page=${page##*/}
		[ "$page" != README.md ] || continue
		grep -qF "($page)" "$E2E_ROOT/docs/experiments/README.md" || fail "$page is not listed"
		grep -q "take_tour.* $page" "$BATS_TEST_FILENAME" || fail "$page is not tested"
	done
}

@test "scheduling by resources, selectors, affinity and taints" {
	take_tour scheduling.md
}

@test "other pod networks for pods that run" {
	take_tour pod-network.md
}

@test "failures of nodes, and scenarios" {
	take_tour node-failure.md scenarios.md
}

# A watcher that shares nothing with the program: what kubectl shows, with the time of each look.
watch_nodes() {
	local line

	while [ -e "$BATS_TEST_TMPDIR/watching" ]; do
		line=$(kubectl get nodes --request-timeout=1s -o jsonpath='{range .items[*]} {.metadata.name}={.status.conditions[?(@.type=="Ready")].status}{end}' 2>/dev/null) || line=" silent"
		echo "$(date +%s%3N)$line"
		sleep 0.3
	done >"$BATS_TEST_TMPDIR/watch"
}

@test "the report about four failures has the times that a watcher of its own sees" {
	local begin

	export MANYKUBE_PROFILE=manykube
	manykube start --nodes=3 --failover=fast
	sed -n 's/^\t//p' "$E2E_ROOT/docs/experiments/node-failure.md" |
		sed -n '/^# web.yaml/,/^\$/p' | grep -v '^\$' >web.yaml
	kubectl apply -f web.yaml
	kubectl wait --for=condition=Available deployment/web --timeout=60s
	manykube service web --wait=60s
	touch "$BATS_TEST_TMPDIR/watching"
	watch_nodes 3>&- &
	begin=$(date +%s%3N)
	run -0 --separate-stderr manykube fail run "$E2E_ROOT/tests/e2e/four-failures.yaml" -o json
	sleep 1
	rm "$BATS_TEST_TMPDIR/watching"
	wait
	echo "$output" >report.json
	echo "$stderr"
	assert_schema fail-report <report.json
	"$E2E_ROOT/tests/e2e/compare-report.py" report.json "$BATS_TEST_TMPDIR/watch" "$begin"
	assert_equal "$(jq -r '.failures[].failure' report.json | xargs)" \
		"freeze node-2 kubelet node-3 api node-1 partition node-2"
	assert_equal "$(jq '[.failures[] | select(.end == null)] | length' report.json)" 0
	jq -e 'any(.pods[]; .from == "node-2" and .to == "node-3" and .ready > .left)' report.json
	jq -e '.api.total >= 8' report.json
	run -0 manykube fail list -o json
	assert_equal "$(jq length <<<"$output")" 0
	kubectl delete -f web.yaml
}

@test "a run that is interrupted undoes its failures" {
	local pid ended=0

	export MANYKUBE_PROFILE=manykube
	cat >long.yaml <<-END
		apiVersion: manykube/v1
		kind: Scenario
		steps:
		- {fail: freeze, nodes: [node-3]}
		- {at: 10m, heal: all}
	END
	"$MANYKUBE" fail run long.yaml >out 2>&1 3>&- &
	pid=$!
	within 60 grep "failed: freeze node-3" out
	kill -INT "$pid"
	wait "$pid" || ended=$?
	assert_equal "$ended" 11 "$(cat out)"
	grep "healed: freeze node-3" out
	run -0 manykube fail list -o json
	assert_equal "$(jq length <<<"$output")" 0
	within 60 assert_all_ready
}

@test "a scenario that is wrong changes nothing, and says where" {
	export MANYKUBE_PROFILE=manykube
	printf 'apiVersion: manykube/v1\nkind: Scenario\nsteps:\n- {fail: freeze, node: [node-2]}\n' >bad.yaml
	run manykube fail run bad.yaml
	assert_status 18
	assert_output_has "bad.yaml:4:18: unknown field 'node'; did you mean 'nodes'?"
	printf 'apiVersion: manykube/v1\nkind: Scenario\nsteps:\n- {fail: freeze, nodes: [node-2]}\n- {at: 1s, fail: kill, nodes: [node-9]}\n' >bad.yaml
	run manykube fail run bad.yaml
	assert_status 85
	assert_output_has "bad.yaml:5:3: "
	run manykube fail run missing.yaml
	assert_status 35
	run -0 manykube fail list -o json
	assert_equal "$(jq length <<<"$output")" 0
}

@test "the loss of a quorum, and recovering from it" {
	manykube delete -q -p manykube
	take_tour quorum.md
	assert_no_trace
}
