#!/usr/bin/env bats
# In a guest with less and other things than most have: no IPv6, swap, AppArmor, little memory, and
# homes on other file systems.  Each works, or is refused with what to do.

load ../e2e/helper
load slow

setup_file() {
	begin_file odd
	fallocate -l 512M /home/swap
	chmod 600 /home/swap
	mkswap -q /home/swap
	swapon /home/swap
}

teardown_file() {
	end_file
	swapoff /home/swap
	umount /home/other 2>/dev/null || true
}

@test "the host is as odd as it should be" {
	[ ! -e /proc/sys/net/ipv6 ]
	grep -q /home/swap /proc/swaps
	assert_equal "$(cat /sys/module/apparmor/parameters/enabled)" Y
	[ "$(awk '/^MemTotal/ { print $2 }' /proc/meminfo)" -lt $((2100 << 10)) ]
	run -0 manykube doctor
	assert_output_has "AppArmor is enabled"
	assert_output_has "swap  "
}

@test "a cluster runs without IPv6, with swap and AppArmor, in 2 GiB" {
	make_cluster
	assert_all_ready
	manykube delete
	assert_no_trace
}

@test "a home on an ext4 with quotas" {
	truncate -s 6G /home/other.img
	mkfs.ext4 -q -O quota -E quotatype=usrquota:grpquota:prjquota /home/other.img
	mkdir -p /home/other
	mount -o loop,usrquota,grpquota,prjquota /home/other.img /home/other
	MANYKUBE_HOME=/home/other make_cluster
	MANYKUBE_HOME=/home/other assert_all_ready
	MANYKUBE_HOME=/home/other manykube delete
	umount /home/other
	rm /home/other.img
}

@test "a home in memory, which this kernel can't map ids on, is refused with what to do" {
	mkdir -p /home/other
	mount -t tmpfs -o size=1g tmpfs /home/other
	run -36 env MANYKUBE_HOME=/home/other "$E2E_ROOT/build/manykube" start --offline
	assert_output_has "set MANYKUBE_HOME to a directory on ext4, xfs or btrfs"
	umount /home/other
}

@test "a host whose /bin is not in /usr is refused with what to do" {
	mkdir /bin.own
	mv -T /bin /bin.link
	/usr/bin/mv -T /bin.own /bin
	/usr/bin/cp /usr/bin/sh /bin/
	run -36 manykube start --offline
	/usr/bin/rm -rf /bin
	/usr/bin/mv -T /bin.link /bin
	assert_output_has "usrmerge"
}
