#!/usr/bin/env bats
# Start killed with SIGKILL at ten different moments: start again ends with a Ready cluster, and
# delete leaves nothing.

load helper

# How long a start takes here decides when it is killed, so that all moments are within it.
setup_file() {
	local began

	begin_file e2e-killed
	began=${EPOCHREALTIME/./}
	manykube start -q --nodes=2 --offline
	echo $(((${EPOCHREALTIME/./} - began) / 1000)) >"$BATS_FILE_TMPDIR/milliseconds"
	manykube delete -q
}

teardown_file() {
	end_file
}

# Begin to start two nodes and kill the command itself after $1 percent of the time that it takes.
kill_start_at() {
	local pid pause

	pause=$(awk -v percent="$1" '{ printf "%.3f", $1 * percent / 100000 }' \
		"$BATS_FILE_TMPDIR/milliseconds")
	"$MANYKUBE" start --nodes=2 --offline >"$BATS_TEST_TMPDIR/start" 2>&1 3>&- &
	pid=$!
	sleep "$pause"
	kill -KILL "$pid" 2>/dev/null || echo "it had ended before"
	wait "$pid" || true
	# Shown if the test fails: where it was hit.
	echo "after $pause s: $(tail -n 1 "$BATS_TEST_TMPDIR/start")"
}

assert_start_goes_on() {
	kill_start_at "$1"
	run -0 manykube start --nodes=2 --offline --wait-timeout=90s
	assert_all_ready
	assert_equal "$(kubectl get nodes --no-headers | wc -l)" 2
	run -0 manykube status
	manykube delete -q
	assert_no_trace
}

assert_delete_cleans_up() {
	kill_start_at "$1"
	run -0 manykube delete
	assert_no_trace
}

@test "killed at 1 % of its time, delete leaves nothing" {
	assert_delete_cleans_up 1
}

@test "killed at 3 % of its time, start goes on" {
	assert_start_goes_on 3
}

@test "killed at 6 % of its time, delete leaves nothing" {
	assert_delete_cleans_up 6
}

@test "killed at 10 % of its time, delete leaves nothing" {
	assert_delete_cleans_up 10
}

@test "killed at 20 % of its time, start goes on" {
	assert_start_goes_on 20
}

@test "killed at 35 % of its time, delete leaves nothing" {
	assert_delete_cleans_up 35
}

@test "killed at 50 % of its time, start goes on" {
	assert_start_goes_on 50
}

@test "killed at 65 % of its time, start goes on" {
	assert_start_goes_on 65
}

@test "killed at 80 % of its time, start goes on" {
	assert_start_goes_on 80
}

@test "killed at 95 % of its time, delete leaves nothing" {
	assert_delete_cleans_up 95
}

@test "delete killed half-way is finished by delete" {
	local pid

	manykube start -q --offline --wait=none
	"$MANYKUBE" delete >/dev/null 2>&1 3>&- &
	pid=$!
	sleep 0.05
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" || true
	run -0 manykube delete
	assert_no_trace
}

@test "Ctrl-C ends it with 11 and says how to go on" {
	local pid status=0

	"$MANYKUBE" start --nodes=2 --offline >"$BATS_TEST_TMPDIR/start" 2>&1 3>&- &
	pid=$!
	sleep 1
	kill -TERM "$pid"
	wait "$pid" || status=$?
	assert_equal "$status" 11
	grep -q 'run the same command again' "$BATS_TEST_TMPDIR/start"
	run -0 manykube delete
	assert_no_trace
}
