#!/usr/bin/env bats
# What goes wrong when people, machines and files are not as one wishes: it is said what, why and
# what to do, with the exit status of docs/exit-codes.md, and nothing is made or lost.

load helper

setup_file() {
	begin_file e2e-broken
}

teardown_file() {
	end_file
}

# A command must end with the status $1 and say the words $2: refused STATUS WORDS COMMAND...
refused() {
	local want=$1 words=$2

	shift 2
	run "$@"
	assert_status "$want"
	assert_output_has "$words"
}

# Interrupt a command as Ctrl-C does as soon as another one succeeds: interrupted WHEN COMMAND...;
# its exit status and output are left as by run.
interrupted() {
	local when=$1 pid

	shift
	set -m # so that it may be interrupted at all
	"$MANYKUBE" "$@" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	pid=$!
	set +m
	until "$when" || ! kill -0 "$pid" 2>/dev/null; do
		sleep 0.02
	done
	kill -INT "$pid" 2>/dev/null || true
	status=0
	wait "$pid" || status=$?
	output=$(<"$BATS_TEST_TMPDIR/out")
}

has_begun_to_make() {
	grep -q "front door" "$BATS_TEST_TMPDIR/out"
}

holds_the_lock() {
	! flock --nonblock "$MANYKUBE_HOME/locks/e2e-broken" true
}

a_moment_later() {
	sleep 0.03
}

# A command in a terminal of so many columns: in_terminal COLUMNS ARGUMENTS
in_terminal() {
	run script -qec "stty cols $1; $MANYKUBE $2" /dev/null
}

@test "what other programs call it is understood" {
	refused 14 "manykube start" manykube create
	refused 14 "manykube delete" manykube destroy
	refused 14 "manykube ssh" manykube exec
	refused 14 "'manykube node list'" manykube node lits
}

@test "no nodes, half a node and too many nodes are refused" {
	refused 14 "at least 1" manykube start --offline --nodes=0
	refused 14 "whole number" manykube start --offline --nodes=2.5
	refused 14 "at most 250 nodes" manykube start --offline --nodes=500
	refused 14 "at most" manykube start --offline --nodes=99999999999999999999
	refused 14 "needs a value" manykube start --offline --nodes
	refused 14 "larger --subnet" manykube start --offline --nodes=40 --subnet=10.80.97.0/28
	refused 14 "at least 1h" manykube start --offline --cert-expiration=1s
	assert_no_trace
}

@test "names that 'profile' has a use for can't name a cluster" {
	refused 14 "profile list" manykube start --offline -p list
	refused 14 "profile help" manykube start --offline -p help
	assert_no_trace
}

@test "a wrong variable is named, unless the command line says it better" {
	refused 14 "unset MANYKUBE_NODES" env MANYKUBE_NODES=banana "$MANYKUBE" start --offline
	run -0 env MANYKUBE_NODES=banana "$MANYKUBE" start --offline --nodes=1 --dry-run
	run -0 env MANYKUBE_NODES=banana MANYKUBE_PROFILE=No_Name "$MANYKUBE" start --help
	run -0 env MANYKUBE_NODES=3 "$MANYKUBE" start --offline --dry-run
	assert_output_has node-3
	assert_no_trace
}

@test "every command has examples, and help is found wherever it is asked for" {
	local command

	for command in $(manykube --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'); do
		run -0 manykube "$command" --help
		assert_output_has "Examples:"
		assert_equal "$output" "$(manykube help "$command")"
		assert_equal "$output" "$(manykube -h "$command")"
	done
	run -0 manykube profile help list
	assert_output_has "manykube profile list"
	# The reader of a pipe may leave early.
	local i
	for i in {1..20}; do
		manykube start --help | true
		assert_equal "${PIPESTATUS[0]}" 0
	done
	manykube version -o json | jq -e .manykubeVersion
}

@test "results that can't be written are a failure that is told of" {
	refused 1 "standard output is closed" bash -c '"$MANYKUBE" version >&-'
	refused 1 "No space left" bash -c '"$MANYKUBE" version >/dev/full'
	run bash -c '"$MANYKUBE" frobnicate 2>&-'
	assert_status 14
}

@test "no file takes the place of a device" {
	local device=$BATS_TEST_TMPDIR/device

	mknod "$device" c 1 3
	refused 38 KUBECONFIG env KUBECONFIG="$device" "$MANYKUBE" start --offline
	[ -c "$device" ]
	assert_no_trace
}

@test "a kubeconfig that can't be used is found before anything is made" {
	local file=$BATS_TEST_TMPDIR/kubeconfig

	echo 'clusters: [' >"$file"
	refused 38 "was not changed" env KUBECONFIG="$file" "$MANYKUBE" start --offline
	assert_output_has "$file"
	assert_equal "$(<"$file")" 'clusters: ['
	refused 38 "kubeconfig" env KUBECONFIG="$BATS_TEST_TMPDIR" "$MANYKUBE" start --offline
	assert_output_has "KUBECONFIG"
	mkdir "$BATS_TEST_TMPDIR/ro"
	refused 38 "Read-only" unshare --mount sh -c "
		mount --bind '$BATS_TEST_TMPDIR/ro' '$BATS_TEST_TMPDIR/ro'
		mount -o remount,ro,bind '$BATS_TEST_TMPDIR/ro'
		KUBECONFIG='$BATS_TEST_TMPDIR/ro/config' '$MANYKUBE' start --offline"
	assert_output_has "KUBECONFIG"
	assert_no_trace
}

@test "damaged settings are named and kept" {
	local file=$MANYKUBE_HOME/config.json

	echo '{"memory": ' >"$file"
	refused 38 "$file" manykube start --offline
	refused 38 "was not changed" manykube config set memory 2g
	assert_equal "$(<"$file")" '{"memory": '
	run -0 manykube version
	run -0 manykube start --help
	echo '{"memory": "banana"}' >"$file"
	refused 38 "config unset" manykube start --offline
	rm "$file"
	mkdir "$file"
	refused 38 "remove it" manykube start --offline
	rmdir "$file"
	assert_no_trace
}

@test "damaged, foreign and newer profiles are named and kept" {
	local file text

	file=$(profile_dir)/profile.json
	mkdir -p "$(profile_dir)"
	for text in '{' '{"a": 1}' '{"format": 99, "name": "e2e-broken"}' \
		'{"format": 1, "name": "other", "nodes": []}'; do
		echo "$text" >"$file"
		refused 38 "$file" manykube status
		assert_output_has Suggestion
		refused 38 "$file" manykube start --offline
		assert_equal "$(<"$file")" "$text"
	done
	rm "$file"
	mkdir "$file"
	refused 38 "correct the file" manykube status
	run -0 manykube delete
	assert_no_trace
}

@test "settings that can't be written say so" {
	refused 38 "MANYKUBE_HOME" unshare --mount sh -c "
		mount --bind '$MANYKUBE_HOME' '$MANYKUBE_HOME'
		mount -o remount,ro,bind '$MANYKUBE_HOME'
		'$MANYKUBE' config set memory 2g"
	[ ! -e "$MANYKUBE_HOME/config.json" ]
}

@test "a home of somebody else is no riddle" {
	local command=$BATS_FILE_TMPDIR/manykube

	cp "$MANYKUBE" "$command"
	chmod 755 "$BATS_FILE_TMPDIR" "$command"
	chmod o+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/file" 2>/dev/null || true
	mkdir -p -m 700 "$BATS_TEST_TMPDIR/private"
	refused 38 sudo env MANYKUBE_HOME="$BATS_TEST_TMPDIR/private/x" \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$command" status
	refused 37 "sudo manykube delete" \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$command" delete
}

@test "purge leaves a cache alone that others may use" {
	local cache=$BATS_TEST_TMPDIR/cache

	mkdir -p "$cache/v1.36.3" "$BATS_TEST_TMPDIR/home"
	run -0 env MANYKUBE_HOME="$BATS_TEST_TMPDIR/home" MANYKUBE_CACHE="$cache" \
		"$MANYKUBE" delete --all --purge
	assert_output_has "$cache"
	[ -d "$cache/v1.36.3" ]
	[ ! -e "$BATS_TEST_TMPDIR/home" ]
}

@test "Ctrl-C in the middle of start ends with 11, and limits that can't be raised are told of" {
	local file=$BATS_TEST_TMPDIR/limit

	# Not the host's own limit, which others need: something in its place.
	echo 128 >"$file"
	run unshare --mount sh -c "
		mount --bind '$file' /proc/sys/fs/inotify/max_user_instances
		mount -o remount,ro,bind /proc/sys/fs/inotify/max_user_instances
		timeout --signal=INT 1 '$MANYKUBE' start --offline"
	assert_output_has "sysctl -w fs.inotify.max_user_instances=8192"
	interrupted has_begun_to_make start --offline
	assert_status 11
	assert_output_has "run the same command again"
}

@test "the same command finishes it; on a terminal with its progress, in 20 columns, too" {
	in_terminal 20 "start --offline"
	assert_status 0
	assert_output_has "e2e-broken"
	assert_all_ready
	in_terminal 20 "profile list"
	assert_status 0
	assert_output_has "STATUS: OK"
}

@test "the cluster's own kubeconfig is made anew if it is damaged" {
	echo nonsense >"$(profile_dir)/kubeconfig"
	run -0 manykube start -q --offline
	run -0 manykube kubectl get nodes
	assert_output_has node-1
}

@test "quiet is quiet, and there is colour only where it is wanted" {
	run -0 manykube start -q --offline
	assert_equal "$output" ""
	run -0 manykube start -vv --offline
	assert_output_has "API: GET"
	run -0 --separate-stderr manykube start --offline
	assert_equal "$output" ""
	# shellcheck disable=SC2154 # bats sets it
	assert_equal "${stderr_lines[-1]}" "Try: manykube kubectl -p e2e-broken -- get nodes"
	unset NO_COLOR
	in_terminal 80 "start --offline"
	assert_output_has $'\033[32m'
	NO_COLOR=1 in_terminal 80 "start --offline"
	[[ $output != *$'\033[32m'* ]]
}

@test "a bundle is an archive or nothing" {
	local dir=$BATS_TEST_TMPDIR/bundles

	mkdir "$dir"
	refused 14 ".tar.gz" manykube logs --file="$dir/logs.txt"
	mknod "$dir/device.tar" c 1 3
	refused 14 "not a file" manykube logs --file="$dir/device.tar"
	[ -c "$dir/device.tar" ]
	rm "$dir/device.tar"
	interrupted a_moment_later logs --file="$dir/x.tar.gz"
	[ "$status" -eq 130 ] || [ "$status" -eq 0 ] || fail "it ended with $status: $output"
	assert_equal "$(find "$dir" -type f ! -name x.tar.gz)" ""
	manykube logs --file="$dir/x.tar.gz"
	gzip -t "$dir/x.tar.gz"
}

@test "Ctrl-C in the middle of delete ends with 11, and the same command finishes it" {
	interrupted holds_the_lock delete
	assert_status 11
	assert_output_has "run the same command again to remove the rest"
	run -0 manykube delete
	assert_output_has "Removed all traces"
	assert_no_trace
}

@test "a cluster whose directory is gone is removed all the same" {
	manykube start -q --offline --wait=none
	# The node still writes there.
	within 10 rm -rf "$(profile_dir)"
	run -0 manykube delete
	assert_output_has "Nothing is left"
	assert_no_trace
}

@test "a kubeconfig that can't be read does not keep a cluster from being deleted" {
	local file=$BATS_TEST_TMPDIR/kubeconfig

	echo 'clusters: [' >"$file"
	KUBECONFIG=$file run -0 manykube delete
	assert_output_has "cannot remove the cluster from the kubeconfig"
	assert_equal "$(cat "$file")" 'clusters: ['
	manykube delete -q
}
