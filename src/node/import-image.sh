#!/bin/sh -e
# Import the image $1 from standard input unless it exists; $2 is a label for it, or "".
#
# Imported by ctr itself (--local), because containerd's transfer service takes twice as long.

[ -z "$(ctr -n k8s.io images ls -q "name==$1")" ] || exit 0
exec ctr -n k8s.io images import --local --snapshotter overlayfs \
	--label io.cri-containerd.image=managed ${2:+--label "$2"} -
