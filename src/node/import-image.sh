#!/bin/sh -e
# Import the image $1 from standard input unless it exists with the ID $3; $2 is a label for it, or
# "".
#
# Imported by ctr itself (--local), because containerd's transfer service takes twice as long.

# shellcheck disable=SC2046 # words: name, type, digest, size, ...
set -- "$1" "$2" "$3" $(ctr -n k8s.io images ls "name==$1" | tail -n +2)
[ -z "$6" ] || ! ctr -n k8s.io content get "$6" | grep -qF "\"$3\"" || exit 0
exec ctr -n k8s.io images import --local --snapshotter overlayfs \
	--label io.cri-containerd.image=managed ${2:+--label "$2"} -
