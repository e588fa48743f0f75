# Control groups of tests that run in namespaces of their own.
# shellcheck shell=bash

# The groups called $1 below the groups' roots, one in each hierarchy.
groups_of() {
	awk -v name="$1" '$2 ~ "^/sys/fs/cgroup" && $3 ~ /^cgroup2?$/ { print $2 "/" name }' /proc/mounts
}

# In each hierarchy a group $1, the root of what such a test sees of it.
make_groups() {
	local group words word

	for group in $(groups_of "$1"); do
		words=()
		mkdir "$group" || return
		# Version 1: a new cpuset is empty, and nothing can run in it.
		if [ -e "$group/cpuset.cpus" ] && [ -e "$group/cgroup.clone_children" ]; then
			cat "${group%/*}/cpuset.cpus" >"$group/cpuset.cpus"
			cat "${group%/*}/cpuset.mems" >"$group/cpuset.mems"
		fi
		# Version 2: controllers have to be handed down.
		[ ! -e "$group/cgroup.controllers" ] || read -ra words <"${group%/*}/cgroup.controllers"
		for word in "${words[@]}"; do
			echo "+$word" 2>/dev/null >"${group%/*}/cgroup.subtree_control"
		done
	done
}

# Move this shell into the groups $1.
enter_groups() {
	local group

	for group in $(groups_of "$1"); do
		echo "$BASHPID" >"$group/cgroup.procs" || return
	done
}

# Remove the groups $1; their processes have ended or are about to, also those of frozen nodes, which end
# when they are let go on.
remove_groups() {
	local group file tries=50

	while read -r file; do
		case $file in
		*/freezer.state) echo THAWED >"$file" ;;
		*) echo 0 >"$file" ;;
		esac
	done < <(groups_of "$1" | xargs -r -I{} find {} -name freezer.state -o -name cgroup.freeze) 2>/dev/null
	for group in $(groups_of "$1"); do
		while [ -d "$group" ] && [ $((tries--)) -gt 0 ]; do
			find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.2
		done
	done
}

# Mount the hierarchies, from the groups $1 down, in the directory $2, where /sys/fs/cgroup will be.
mount_groups() {
	local mounts where type

	mounts=$(awk '$2 ~ "^/sys/fs/cgroup" { print $2, $3 }' /proc/mounts)
	while read -r where type; do
		case $type in
		tmpfs)
			mount -t tmpfs -o mode=755 tmpfs "$2"
			find "$where" -maxdepth 1 -type l -exec cp -dt "$2" {} +
			;;
		cgroup*)
			mkdir -p "$2${where#/sys/fs/cgroup}"
			mount --bind "$where/$1" "$2${where#/sys/fs/cgroup}"
			;;
		esac
	done <<<"$mounts"
}

# Where there is only version 2, groups below one that holds processes get no controllers.
leave_root_group() {
	[ -e /sys/fs/cgroup/cgroup.procs ] || return 0
	mkdir /sys/fs/cgroup/init
	echo $$ >/sys/fs/cgroup/init/cgroup.procs
}
