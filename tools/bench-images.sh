#!/usr/bin/env bash
# Measure how an image of 200 MB with 5 layers gets to the nodes of a cluster of 1+4: to one node, to
# all, again, and for comparison by ctr's import in every node, all at once.
#
#	MANYKUBE_HOME=DIR tools/bench-images.sh
#
# Called by bench.sh, which prepares the environment; prints a table.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
manykube=${MANYKUBE:-$root/build/manykube}
profile=bench-images
nodes=5
runs=3

remove() {
	"$manykube" delete -q -p "$profile" || true
	rm -f "$MANYKUBE_HOME"/image-*.tar
}
trap remove EXIT

# The archive of a new image called $1; its path.
make_archive() {
	local path=$MANYKUBE_HOME/image-$1.tar

	MEGABYTES=200 "$root/tests/e2e/make-image.py" "$1:1" "$path" "$1"
	echo "$path"
}

# How long a command takes, in seconds.
seconds() {
	local begin=$EPOCHREALTIME

	"$@" >/dev/null
	jq -n --argjson from "$begin" --argjson to "$EPOCHREALTIME" '$to - $from'
}

load() {
	"$manykube" image load -q -p "$profile" "$@"
}

import_everywhere() {
	local number pids=()

	for number in $(seq "$nodes"); do
		"$manykube" ssh -p "$profile" "node-$number" -- ctr -n k8s.io images import --local - <"$1" 2>/dev/null &
		pids+=($!)
	done
	wait "${pids[@]}"
}

import_once() {
	"$manykube" ssh -p "$profile" node-1 -- ctr -n k8s.io images import --local - <"$1" 2>/dev/null
}

"$manykube" start -q -p "$profile" --nodes="$nodes" --offline --wait=all
for run in $(seq "$runs"); do
	one=$(seconds load "$(make_archive "one-$run")" --node=node-1)
	archive=$(make_archive "all-$run")
	all=$(seconds load "$archive")
	again=$(seconds load "$archive")
	book_one=$(seconds import_once "$(make_archive "book-one-$run")")
	book_all=$(seconds import_everywhere "$(make_archive "book-all-$run")")
	jq -nc --argjson one "$one" --argjson all "$all" --argjson again "$again" \
		--argjson book_one "$book_one" --argjson book_all "$book_all" \
		'{one: $one, all: $all, again: $again, book_one: $book_one, book_all: $book_all}'
	rm -f "$MANYKUBE_HOME"/image-*.tar
done | jq -rs '
	def median($key): map(.[$key]) | sort | .[length / 2 | floor];
	def shown: . * 100 | round / 100 | tostring;
	"an image of 200 MB, medians of \(length) runs, in seconds:",
	"  one node            \(median("one") | shown), by the book \(median("book_one") | shown)",
	"  1+4 nodes           \(median("all") | shown), by the book \(median("book_all") | shown)",
	"  1+4 to one node     \(median("all") / median("one") | shown)  (goal 1.5)",
	"  loaded again        \(median("again") | shown)  (goal 0.3)"'
