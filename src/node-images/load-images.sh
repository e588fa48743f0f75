#!/bin/sh
# Import images from standard input; wait for containerd, which may just have been started.

until ctr version >/dev/null 2>&1; do sleep 0.1; done
exec ctr -n k8s.io images import --local --snapshotter overlayfs -
