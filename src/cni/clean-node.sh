#!/bin/sh
# Remove the links $1... of a pod network that this node no longer has.

for link; do
	[ ! -e "/sys/class/net/$link" ] || ip link delete "$link"
done
