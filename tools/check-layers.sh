#!/bin/sh
# Fail if a source folder includes a header of a layer above its own.
# The order below is the architecture: each folder may use those before it.
set -eu

cd "$(dirname "$0")/.."
layers='base data host api image payload node balancer cluster cli cmd'
bad=0
above=$layers

for layer in $layers; do
	above=${above#"$layer"}
	above=${above# }
	if [ -z "$above" ] || [ ! -d "src/$layer" ]; then
		continue
	fi
	pattern="#include \"($(echo "$above" | tr ' ' '|'))/"
	if grep -EnHs "$pattern" "src/$layer"/*.[ch]; then
		echo "src/$layer must not include: $above" >&2
		bad=1
	fi
done
exit "$bad"
