#!/bin/sh
# Fail if a source file or a directory is too large to find one's way around in it.
set -eu

cd "$(dirname "$0")/.."
wc -l src/*/*.[ch] | awk '
	$2 == "total" { next }
	{ split($2, part, "/"); lines[part[2]] += $1 }
	$2 ~ /\.c$/ { limit = (part[2] == "cmd") ? 250 : 600
	if ($1 > limit) { print $2 " has " $1 " lines, more than " limit; bad = 1 } }
	END {
		for (name in lines)
			if (name != "cmd" && lines[name] > 5000) {
				print "src/" name " has " lines[name] " lines, more than 5000"
				bad = 1
			}
		exit bad
	}'
