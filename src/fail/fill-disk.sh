#!/bin/sh
# Fill the file system of /var with the file $1, except for 1 % of it.
set -eu

df -P -k /var | {
	read -r _
	read -r _ size _ available _
	# Programs other than root's cannot use the reserved blocks, and kubelets do not count them.
	take=$((available - size / 100))
	if [ "$take" -gt 0 ]; then
		fallocate --append --length "${take}KiB" "$1" 2>/dev/null ||
			fallocate --offset "$(stat -c %s "$1" 2>/dev/null || echo 0)" \
				--length "${take}KiB" "$1"
	fi
}
