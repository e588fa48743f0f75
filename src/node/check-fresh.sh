#!/bin/sh -e
# Fail unless $1, which another node packed, is a directory ($3 is -d) or a file (-f) and no link,
# and unless no directory in it would go through a link of the target $2.

if [ -L "$1" ] || ! test "$3" "$1"; then
	echo 'the source became something else meanwhile' >&2
	exit 1
fi
[ "$3" = -d ] || exit 0
cd "$1"
exec find . -mindepth 1 -type d -exec sh -c 'for path; do
	[ -L "$0/$path" ] || continue
	echo "in the target, $path is a link" >&2
	exit 1
done' "$2" {} +
