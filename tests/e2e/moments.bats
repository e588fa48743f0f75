#!/usr/bin/env bats
# Ctrl-C at ten moments of every command that takes something down: the next command finishes what
# was begun, and then does its own work.  One cluster serves all tests; it begins with the older
# version so that it can be upgraded at the end.

load helper

NEW=v1.36.3
OLD=v1.35.4

setup_file() {
	begin_file e2e-moments
	manykube start -q --nodes=2 --offline --kubernetes-version=$OLD
}

teardown_file() {
	end_file
}

# Milliseconds that a command takes: duration COMMAND...
duration() {
	local began=${EPOCHREALTIME/./}

	manykube "$@" -q >&2
	echo $(((${EPOCHREALTIME/./} - began) / 1000))
}

# Interrupt a command after $1 milliseconds: interrupt_after MILLISECONDS COMMAND...
interrupt_after() {
	local pause pid

	pause=$(awk -v ms="$1" 'BEGIN { printf "%.3f", ms / 1000 }')
	shift
	"$MANYKUBE" "$@" >"$BATS_TEST_TMPDIR/interrupted" 2>&1 3>&- &
	pid=$!
	sleep "$pause"
	kill -TERM "$pid" 2>/dev/null || true
	wait "$pid" || true
	# Shown if the test fails: where it was hit.
	echo "after $pause s: $(grep '^\*' "$BATS_TEST_TMPDIR/interrupted" | tail -n 2 | head -n 1)"
}

# Interrupt a command at ten moments of the milliseconds that it takes, and call THEN after each:
# at_ten_moments MILLISECONDS THEN COMMAND...
at_ten_moments() {
	local all=$1 then=$2 percent

	shift 2
	for percent in 4 14 24 34 44 54 64 74 84 94; do
		interrupt_after $((all * percent / 100)) "$@"
		"$then"
		assert_all_ready
		assert_equal "$(node_names)" "node-1 node-2"
	done
}

# A command that must work now: next COMMAND...
next() {
	run manykube "$@"
	[ "$status" = 0 ] || fail "'$*' ended with $status: $output"
}

node_names() {
	kubectl get nodes -o jsonpath='{.items[*].metadata.name}'
}

start_all() {
	next start
}

start_second() {
	next node start node-2
}

# What is half deleted can only be deleted; what was only drained may stay.
delete_and_add() {
	if [ "$(profile_get '.nodes | length')" = 2 ]; then
		next node delete node-2
	fi
	next node add node-2
}

unpause_all() {
	next unpause
	within 60 kubectl wait --for=condition=Ready node --all --timeout=5s
}

@test "stop, then start" {
	local all

	all=$(duration stop)
	manykube start -q
	at_ten_moments "$all" start_all stop
}

@test "node stop, then node start" {
	local all

	all=$(duration node stop node-2)
	manykube node start -q node-2
	at_ten_moments "$all" start_second node stop node-2
}

@test "node delete, then node delete and node add" {
	local all

	all=$(duration node delete node-2)
	manykube node add -q node-2
	at_ten_moments "$all" delete_and_add node delete node-2
}

@test "pause, then unpause" {
	local all

	all=$(duration pause)
	manykube unpause -q
	at_ten_moments "$all" unpause_all pause
}

# Each resumes where the one before was interrupted, and is given a second more, so that they are hit
# all over the upgrade's course.
@test "upgrade, ten times in succession, and then to its end" {
	local seconds

	for seconds in 1 2 3 4 5 6 7 8 9 10; do
		interrupt_after $((seconds * 1000)) upgrade
	done
	next upgrade
	assert_all_ready
	assert_equal "$(kubectl get nodes -o jsonpath='{.items[*].status.nodeInfo.kubeletVersion}')" \
		"$NEW $NEW"
	assert_equal "$(profile_get '.upgradingFrom // ""')" ""
	next start
}
