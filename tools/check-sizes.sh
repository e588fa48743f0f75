#!/bin/sh
# Fail if a source file is too long.
set -eu

cd "$(dirname "$0")/.."
wc -l src/*/*.c | awk '
	$2 != "total" { limit = ($2 ~ /^src\/cmd\//) ? 250 : 600
	if ($1 > limit) { print $2 " has " $1 " lines, more than " limit; bad = 1 } }
	END { exit bad }'
