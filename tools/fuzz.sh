#!/bin/bash
# Run libFuzzer on the parsers: fuzz.sh SECONDS [TARGET...]
#
# Each target, or each named one, runs for SECONDS.  Interesting inputs are kept in
# build-fuzz/corpus/TARGET, failing ones in build-fuzz/broken/; add the latter to
# tests/fuzz/corpus/TARGET once the bug is fixed.
set -eu

cd "$(dirname "$0")/.."
seconds=$1
shift
if [ $# -eq 0 ]; then
	for source in tests/fuzz/fuzz-*.c; do
		name=$(basename "$source" .c)
		[ "$name" = fuzz-main ] || set -- "$@" "${name#fuzz-}"
	done
fi
mkdir -p build-fuzz/broken
broken=0
for target; do
	ninja --quiet -C build-fuzz "tests/fuzz/fuzz-$target"
	mkdir -p "build-fuzz/corpus/$target"
	echo "fuzzing $target for $seconds s"
	"build-fuzz/tests/fuzz/fuzz-$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-max_len=65536 -verbosity=0 -print_final_stats=1 -artifact_prefix="build-fuzz/broken/$target-" \
		"build-fuzz/corpus/$target" "tests/fuzz/corpus/$target" || broken=$((broken + 1))
done
echo "$# targets, $broken broken"
[ "$broken" -eq 0 ]
