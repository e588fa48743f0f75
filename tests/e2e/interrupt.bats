#!/usr/bin/env bats
# Start killed with SIGKILL at ten different moments: start again ends with a Ready cluster, and
# delete leaves nothing.

load helper

setup_file() {
	begin_file e2e-killed
}

teardown_file() {
	end_file
}

# Begin to start two nodes and kill the command itself after $1 seconds.
kill_start_after() {
	local pid

	"$MANYKUBE" start --nodes=2 --offline >"$BATS_TEST_TMPDIR/start" 2>&1 3>&- &
	pid=$!
	sleep "$1"
	if kill -KILL "$pid" 2>/dev/null; then
		# What it was doing tells where it was hit.
		tail -n 1 "$BATS_TEST_TMPDIR/start"
	else
		echo "it had ended: $(tail -n 1 "$BATS_TEST_TMPDIR/start")"
	fi
	wait "$pid" || true
}

assert_start_goes_on() {
	kill_start_after "$1"
	run -0 manykube start --nodes=2 --offline --wait-timeout=90s
	assert_all_ready
	assert_equal "$(kubectl get nodes --no-headers | wc -l)" 2
	run -0 manykube status
	manykube delete -q
	assert_no_trace
}

assert_delete_cleans_up() {
	kill_start_after "$1"
	run -0 manykube delete
	assert_no_trace
}

@test "killed after 0.05 s, delete leaves nothing" {
	assert_delete_cleans_up 0.05
}

@test "killed after 0.2 s, start goes on" {
	assert_start_goes_on 0.2
}

@test "killed after 0.4 s, delete leaves nothing" {
	assert_delete_cleans_up 0.4
}

@test "killed after 0.7 s, delete leaves nothing" {
	assert_delete_cleans_up 0.7
}

@test "killed after 1.5 s, start goes on" {
	assert_start_goes_on 1.5
}

@test "killed after 2.5 s, delete leaves nothing" {
	assert_delete_cleans_up 2.5
}

@test "killed after 3.5 s, start goes on" {
	assert_start_goes_on 3.5
}

@test "killed after 5 s, start goes on" {
	assert_start_goes_on 5
}

@test "killed after 6 s, start goes on" {
	assert_start_goes_on 6
}

@test "killed after 7 s, delete leaves nothing" {
	assert_delete_cleans_up 7
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
