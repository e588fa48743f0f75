#!/usr/bin/env bats
# A random sequence of failures and heals under a writer and a reader: SOAK_STEPS of them (100), of
# which SOAK_SEED decides.  Of 3+3 nodes up to three fail at a time, so the control plane may lose
# its majority; it must then acknowledge nothing that is lost later.
# shellcheck disable=SC2154 # bats sets status, output and lines

load ../e2e/helper
load ../e2e/ha

ACTIVE_MOST=3
NODES=(node-1 node-2 node-3 node-4 node-5 node-6)
CONTROL_PLANES=(node-1 node-2 node-3)

setup_file() {
	begin_file e2e-soak
	build_writer
	manykube start --offline --control-planes=3 --nodes=6 --failover=fast
}

teardown_file() {
	stop_reader
	stop_writers
	end_file
}

# One of the words.
pick() {
	local -a words=("$@")

	echo "${words[RANDOM % $#]}"
}

# The words of a random failure.
random_failure() {
	local node

	node=$(pick "${NODES[@]}")
	case $(pick freeze kill kubelet runtime api etcd partition port loss rate) in
	freeze) echo "freeze $node" ;;
	kill) echo "kill $node" ;;
	kubelet) echo "kubelet $node" ;;
	runtime) echo "runtime $node" ;;
	api) echo "api $(pick "${CONTROL_PLANES[@]}")" ;;
	etcd) echo "etcd $(pick "${CONTROL_PLANES[@]}")" ;;
	partition) echo "partition $node" ;;
	port) echo "partition $(pick "${CONTROL_PLANES[@]}") --port=2380" ;;
	loss) echo "slow $node --loss=$(pick 1 5 20)%" ;;
	rate) echo "slow $node --rate=$(pick 1 10)mbit" ;;
	esac
}

# The nodes that have failed, one per line.
failed_nodes() {
	manykube fail list -o json | jq -r '.[].nodes[]' | sort -u
}

# Read what was acknowledged, again and again: whatever was must be there whenever the API answers.
read_back() {
	local log=$BATS_FILE_TMPDIR/writer.log number answer

	while [ -e "$BATS_FILE_TMPDIR/reading" ]; do
		number=$(grep -v failed "$log" | tail -n 50 | shuf -n 1 | awk '{ print $2 }')
		[ -n "$number" ] || { sleep 0.2 && continue; }
		if answer=$(kubectl get --request-timeout=3s configmap "write-$number" -o name 2>&1); then
			echo "read $number"
		elif [[ $answer == *NotFound* ]]; then
			echo "LOST $number: $answer"
		else
			echo "no answer: ${answer##*$'\n'}"
		fi
		sleep 0.1
	done >"$BATS_FILE_TMPDIR/reader.log"
}

begin_reading() {
	touch "$BATS_FILE_TMPDIR/reading"
	read_back 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/reader.pid"
}

stop_reader() {
	local pid

	rm -f "$BATS_FILE_TMPDIR/reading"
	[ -e "$BATS_FILE_TMPDIR/reader.pid" ] || return 0
	pid=$(cat "$BATS_FILE_TMPDIR/reader.pid")
	while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
	rm "$BATS_FILE_TMPDIR/reader.pid"
}

@test "nothing that was acknowledged is lost in a random sequence of failures" {
	local steps=${SOAK_STEPS:-100} seed=${SOAK_SEED:-$RANDOM} step failed words

	echo "# $steps steps, SEED=$seed" >&3
	RANDOM=$seed
	begin_writing
	begin_reading
	for ((step = 1; step <= steps; step++)); do
		mapfile -t failed < <(failed_nodes)
		if [ "${#failed[@]}" -ge "$ACTIVE_MOST" ] || { [ "${#failed[@]}" -gt 0 ] && ((RANDOM % 2)); }; then
			words="heal $(pick "${failed[@]}")"
		else
			words="fail $(random_failure)"
		fi
		# Two failures of a node may exclude each other, which is said, and changes nothing.
		# shellcheck disable=SC2086 # words
		run manykube $words
		echo "# $step: $words: $status" >&3
		[[ $status == 0 || $status == 14 || $status == 83 ]] || fail "$words: $output"
		sleep "$(pick 1 2 5 10)"
	done
	manykube heal --all
	within 300 assert_all_ready
	within 120 is_happy
	stop_reader
	end_writing "soak"
	run ! grep LOST "$BATS_FILE_TMPDIR/reader.log"
	echo "# reader: $(grep -c ^read "$BATS_FILE_TMPDIR/reader.log") reads" >&3
	run -0 manykube fail list -o json
	assert_equal "$(jq length <<<"$output")" 0
	manykube delete -q
	assert_no_trace
}
