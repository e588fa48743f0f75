#!/bin/sh -e
# Fail unless $1, which another node packed, is a directory ($3 is -d) or a file (-f) and not a link,
# or if merging its directories would follow a link in the target $2.

if [ -L "$1" ] || ! test "$3" "$1"; then
	echo 'the source was replaced meanwhile' >&2
	exit 1
fi
[ "$3" = -d ] || exit 0
cd "$1"
exec find . -mindepth 1 -type d -exec sh -c 'for path; do
	[ -L "$0/$path" ] || continue
	echo "in the target, $path is a link" >&2
	exit 1
done' "$2" {} +
