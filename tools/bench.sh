#!/usr/bin/env bash
# Measure clusters of several sizes, and plain kubeadm ("by the book") for comparison, in the same run:
#
#	tools/bench.sh [--nodes 1,3,10,3+2] [--runs N] [--json FILE] [--no-book]
#
# 3+2 means three control planes and two workers; a plain number has one control plane.
# Prints a table to standard output and progress to standard error, and writes JSON to FILE.  Slow
# results are no failures.  docs/speed.md explains the numbers.
#
# Needs root, the build (make), the payload in the cache, and the packages bash, jq, coreutils.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
manykube=${MANYKUBE:-$root/build/manykube}
measure=${MANYKUBE_BUILD:-$root/build}/tests/tools/measure
book=${MANYKUBE_BUILD:-$root/build}/tests/tools/by-the-book

sizes=1,3,10,3+2
runs=1
json=
with_book=yes
rest_seconds=20

# Plain kubeadm is measured only with these sizes; larger ones tell nothing new.
book_sizes=" 1 3 "

usage() {
	sed -n "4s/^#\t*//p" "$0" >&2
	exit "$1"
}

while [ $# -gt 0 ]; do
	case $1 in
	--nodes) sizes=${2:?} && shift ;;
	--nodes=*) sizes=${1#*=} ;;
	--runs) runs=${2:?} && shift ;;
	--runs=*) runs=${1#*=} ;;
	--json) json=${2:?} && shift ;;
	--json=*) json=${1#*=} ;;
	--no-book) with_book=no ;;
	-h | --help) usage 0 ;;
	*) usage 14 ;;
	esac
	shift
done

[ "$(id -u)" = 0 ] || { echo "bench: nodes need root" >&2; exit 37; }
for need in jq "$manykube" "$measure" "$book"; do
	command -v "$need" >/dev/null || { echo "bench: '$need' is missing; run 'make'" >&2; exit 35; }
done

# A separate home on the file system of the cache, because images are hard-linked into nodes.
MANYKUBE_CACHE=${MANYKUBE_CACHE:-${MANYKUBE_HOME:+$MANYKUBE_HOME/cache}}
MANYKUBE_CACHE=${MANYKUBE_CACHE:-/var/cache/manykube}
mkdir -p "$MANYKUBE_CACHE"
MANYKUBE_HOME=$(mktemp -d "${BENCH_TMP:-$(dirname "$MANYKUBE_CACHE")}/bench.XXXXXX")
KUBECONFIG=$MANYKUBE_HOME/kubeconfig
MANYKUBE_LIBEXEC=${MANYKUBE_LIBEXEC:-$(dirname "$manykube")}
export MANYKUBE_CACHE MANYKUBE_HOME KUBECONFIG MANYKUBE_LIBEXEC NO_COLOR=1
results=$MANYKUBE_HOME/results

clean_up() {
	local profile

	for profile in "$MANYKUBE_HOME"/profiles/*; do
		if [ -e "$profile" ]; then
			"$manykube" delete -q -p "${profile##*/}" || true
		fi
	done
	rm -rf "$MANYKUBE_HOME"
}
trap clean_up EXIT
trap 'exit 11' INT TERM

# Nothing is downloaded or built for offline clusters.
"$manykube" start --download-only --quiet --yes

say() {
	printf '%s\n' "$*" >&2
}

# Run COMMAND and print {"seconds": DURATION}.
timed() {
	"$measure" repeat 1 "$@" | jq -c '{seconds: .mean}'
}

# Measure adding nodes to a cluster of one node: workers one at a time, then twenty at once, then a
# control plane.
measure_adds() {
	local profile=$1 one twenty plane

	one=$("$measure" repeat 5 "$manykube" node add -p "$profile")
	remove_others "$profile"
	twenty=$(timed "$manykube" node add -p "$profile" --count=20)
	remove_others "$profile"
	plane=$(timed "$manykube" node add -p "$profile" --control-plane)
	remove_others "$profile"
	jq -nc --argjson one "$one" --argjson twenty "$twenty" --argjson plane "$plane" \
		'{one: $one, twenty: $twenty.seconds, control_plane: $plane.seconds}'
}

remove_others() {
	"$manykube" node list -p "$1" | cut -f1 | sed 1d |
		xargs "$manykube" node delete -q --force -p "$1"
}

# Kill all processes of a cluster, like a power failure, and start it again.
measure_restart() {
	local dir=$MANYKUBE_HOME/profiles/$1

	cut -d' ' -f1 "$dir"/nodes/*/pid | xargs kill -KILL
	kill -KILL "$(jq .pid "$dir/front-door.status.json")"
	"$measure" again "$1" "$manykube" start -v -p "$1" --offline
}

# Start a cluster of SIZE nodes in the given WAY, measure it, and add the results.
measure_cluster() {
	local way=$1 size=$2 run=$3 profile=bench-$1-${2/+/-}
	local planes=1 nodes=$((size))
	local start rest=null status=null version=null adds=null again=null deleted busy

	[[ $size != *+* ]] || planes=${size%+*}
	busy=$(cut -d' ' -f1 /proc/loadavg)
	if [ "$way" = ours ]; then
		start=$("$measure" start "$profile" "$nodes" front-door \
			"$manykube" start -v -p "$profile" --nodes="$nodes" \
			--control-planes="$planes" --offline)
	else
		start=$("$measure" start "$profile" "$nodes" direct "$book" "$profile" "$nodes")
	fi
	if [ "$(jq .status <<<"$start")" != 0 ]; then
		jq -r '.steps[].text' <<<"$start" >&2
		say "bench: the start of '$profile' failed"
		exit 80
	fi
	if [ "$way" = ours ]; then
		sleep "$rest_seconds"
		rest=$("$measure" rest "$profile")
		status=$("$measure" repeat 20 "$manykube" status -p "$profile")
		version=$("$measure" repeat 20 "$manykube" version)
		[ "$size" != 1 ] || adds=$(measure_adds "$profile")
		[ "$size" != 3 ] || again=$(measure_restart "$profile")
	fi
	deleted=$(timed "$manykube" delete -q -p "$profile")
	jq -nc --arg way "$way" --arg size "$size" --argjson run "$run" \
		--argjson busy "$busy" --argjson start "$start" --argjson rest "$rest" \
		--argjson status "$status" --argjson version "$version" --argjson deleted "$deleted" \
		--argjson adds "$adds" --argjson again "$again" '
		{way: $way, size: $size, run: $run, load_before: $busy}
		+ ($start | {times, milestones, steps})
		+ {rest: $rest, status: $status, version: $version, adds: $adds, again: $again,
		   delete: $deleted.seconds}' \
		>>"$results"
	jq -r '"  " + (.times | to_entries | map("\(.key) \(.value * 10 | round / 10)") | join(", "))' \
		<<<"$start" >&2
}

# The medians of all runs, one object per way and size.
summarize() {
	jq -sc '
	def median: map(select(. != null)) | sort
		| if length == 0 then null
		  elif length % 2 == 1 then .[(length - 1) / 2]
		  else (.[length / 2 - 1] + .[length / 2]) / 2 end;
	def mean: if length == 0 then null else add / length end;
	group_by([.way, .size]) | map({
		way: .[0].way, size: .[0].size, runs: length,
		api: map(.times.api) | median,
		ready: map(.times.ready) | median,
		pod: map(.times.pod) | median,
		dns: map(.times.dns) | median,
		returned: map(.times.returned) | median,
		add: map(.adds.one.mean) | median,
		add_twenty: map(.adds.twenty) | median,
		add_control_plane: map(.adds.control_plane) | median,
		again_api: map(.again.times.api) | median,
		again_pods: map(.again.times.pods) | median,
		again_returned: map(.again.times.returned) | median,
		delete: map(.delete) | median,
		status: map(.status.mean) | median,
		version: map(.version.mean) | median,
		control_plane_memory: map(.rest.nodes[]? | select(.control_plane) | .memory_bytes) | median,
		worker_memory: map([.rest.nodes[]? | select(.control_plane | not) | .memory_bytes] | mean) | median,
		least_worker_memory: map([.rest.nodes[]? | select(.control_plane | not) | .memory_bytes] | min) | median,
		control_plane_disk: map(.rest.nodes[]? | select(.control_plane) | .disk_bytes) | median,
		worker_disk: map([.rest.nodes[]? | select(.control_plane | not) | .disk_bytes] | mean) | median,
		front_door_memory: map(.rest.front_door_bytes) | median
	})' "$results"
}

# The comparisons: size, description, path in the summary, unit, goal (optional).
table_rows() {
	jq -r '
	def goals: {
		"1 ready": 8, "1 dns": 11, "3 ready": 10, "10 ready": 25,
		"3+2 ready": 30, "add": 2, "add_twenty": 30, "add_control_plane": 10, "again_api": 10, "again_pods": 25,
		"worker_memory": 130e6, "worker_disk": 20e6, "status": 0.1, "version": 0.005 };
	def words: {
		api: "API answers", ready: "all nodes Ready", pod: "first pod runs",
		dns: "DNS answers", returned: "start returns",
		add: "node add (mean of 5)", add_twenty: "node add --count=20",
		add_control_plane: "node add --control-plane",
		again_api: "all killed: API answers", again_pods: "all killed: all pods run",
		again_returned: "all killed: start returns", delete: "delete",
		status: "status", version: "version",
		control_plane_memory: "memory, control plane",
		worker_memory: "memory, a worker (mean)",
		least_worker_memory: "memory, the least worker",
		control_plane_disk: "disk, control plane", worker_disk: "disk, a worker (mean)" };
	def in_unit($key):
		if . == null then "-"
		elif $key | test("memory|disk") then "\(. / 1e6 | round) MB"
		elif . < 0.1 then "\(. * 1e4 | round / 10) ms"
		else "\(. * 10 | round / 10) s" end;
	. as $all
	| [$all[].size] | unique[] as $size
	| ($all[] | select(.way == "ours" and .size == $size)) as $ours
	| ([$all[] | select(.way == "book" and .size == $size)][0]) as $book
	| words | keys_unsorted[] as $key
	| select($ours[$key] != null)
	| (goals["\($size) \($key)"] // goals[$key]) as $goal
	| [ $size, words[$key], ($ours[$key] | in_unit($key)),
	    ($book[$key]? | in_unit($key)),
	    (if $book[$key]? then "\($ours[$key] / $book[$key] * 100 | round / 100)" else "-" end),
	    (if $goal then "≤ " + ($goal | in_unit($key)) else "-" end),
	    (if $goal == null then "" elif $ours[$key] <= $goal then "met" else "missed" end) ]
	| @tsv'
}

print_table() {
	{
		printf 'nodes\twhat\tours\tby the book\tratio\tgoal\t\n'
		summarize | table_rows
	} | jq -Rrn '
	[inputs | split("\t")] as $rows
	| [range($rows[0] | length) as $i | [$rows[][$i] | length] | max] as $widths
	| $rows[] | [to_entries[] | .value + " " * ($widths[.key] - (.value | length))]
	| join("  ") | sub(" +$"; "")'
}

# Print the duration of each step of the last start of each size.
print_steps() {
	jq -sr '
	def seconds: . * 100 | round / 100 | tostring;
	group_by([.size, .way])[] | last
	| "", "\(.size) \(if .size == "1" then "node" else "nodes" end), \(if .way == "ours" then "ours" else "by the book" end): seconds after the command",
	  ([ (.steps[] | select(.text | startswith("*"))
	      | {at, text: (.text | sub("^\\* "; "") | sub("node-[0-9]+(, node-[0-9]+)+"; "the others"))}),
	     (.milestones | to_entries[] | {at: .value, text: "  \(.key)"}),
	     ({api: "API says it is ready", ready: "all nodes Ready", pod: "first pod runs", dns: "DNS answers"} as $words
	      | .times | to_entries[] | select($words[.key]) | {at: .value, text: "> \($words[.key])"}) ]
	   | sort_by(.at)[] | "\(" " * (7 - (.at | seconds | length)))\(.at | seconds)  \(.text)")
	' "$results"
}

say "bench: $(nproc) cores, $(awk '/MemTotal/ { printf "%.0f GB", $2 / 1e6 }' /proc/meminfo), Linux $(uname -r)"
"$manykube" start --download-only -q
for run in $(seq "$runs"); do
	for size in ${sizes//,/ }; do
		say "run $run of $runs: $size node(s), ours"
		measure_cluster ours "$size" "$run"
		if [ "$with_book" = yes ] && [[ $book_sizes == *" $size "* ]]; then
			say "run $run of $runs: $size node(s), by the book"
			measure_cluster book "$size" "$run"
		fi
	done
done

print_table
print_steps
echo
MANYKUBE=$manykube "$root/tools/bench-images.sh"
if [ -n "$json" ]; then
	summarize | jq --slurpfile runs "$results" --arg cores "$(nproc)" --arg kernel "$(uname -r)" \
		'{machine: {cores: ($cores | tonumber), kernel: $kernel}, summary: ., runs: $runs}' >"$json"
fi
