#!/bin/sh
# Fill the file system of /var with the file $1, except for 1 % of it.
set -eu

df -P -k /var | {
	read -r _
	read -r _ size _ available _
	# Programs other than root's cannot use the reserved blocks, and kubelets do not count them.
	take=$((available - size / 100))
	if [ "$take" -gt 0 ]; then
		size=0
		[ ! -e "$1" ] || size=$(stat -c %s "$1")
		# Only what BusyBox has, too.
		fallocate -o "$size" -l "$((take * 1024))" "$1"
	fi
}
