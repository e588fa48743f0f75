#!/usr/bin/env bats
# Nodes with disks and a /usr of their own, on a real cluster: every node has a disk, as start was
# told, and the worker's programs come from a tar with just what a node needs.

load helper

setup_file() {
	begin_file e2e-disk e2e-none
	make_base "$BATS_FILE_TMPDIR/base"
	tar -C "$BATS_FILE_TMPDIR/base" -czf "$BATS_FILE_TMPDIR/base.tar.gz" .
	manykube start -q --offline --disk-size=2g --container-runtime=containerd
	(cd "$BATS_FILE_TMPDIR" && manykube node add worker -q --base-image=base.tar.gz)
}

teardown_file() {
	end_file
}

# A root file system in the directory $1: some of this host's programs with what they load.
make_base() {
	local name path library

	mkdir -p "$1/etc" "$1"/usr/{bin,sbin,lib,lib64,share}
	for name in bin sbin lib lib64; do
		ln -s "usr/$name" "$1/$name"
	done
	for name in sh mount umount nft cat dd df fallocate rm sync; do
		path=$(command -v "$name")
		cp -L "$path" "$1$(readlink -f "$(dirname "$path")")"
		ldd "$path" | grep -o '/[^ ]*' | while read -r library; do
			path=$1$(readlink -f "$(dirname "$library")")
			mkdir -p "$path"
			cp -L "$library" "$path"
		done
	done
	cp /etc/ld.so.cache "$1/etc"
	echo "from the base" >"$1/usr/share/marker"
	printf 'ID=base\nPRETTY_NAME="The Base 7"\n' >"$1/usr/lib/os-release"
	ln -s ../usr/lib/os-release "$1/etc/os-release"
}

# The bytes that Kubernetes counts with for the disk of node $1.
capacity() {
	local text

	text=$(kubectl get node "$1" -o jsonpath='{.status.capacity.ephemeral-storage}')
	echo $((${text%Ki} << 10))
}

# The disk of node $1 must have $2 GiB but for what the file system takes.
assert_capacity() {
	local bytes

	bytes=$(capacity "$1")
	if [ "$bytes" -gt $(($2 << 30)) ] || [ "$bytes" -lt $(($2 * 900 << 20)) ]; then
		fail "Kubernetes counts with $bytes bytes"
	fi
}

# What of our nodes is mounted on the host, and the files that are disks.
list_disks() {
	host_snapshot | grep "^\(mount\|loop\) $MANYKUBE_HOME" || true
}

assert_refused() {
	local want=$1 words=$2

	shift 2
	run manykube "$@"
	assert_status "$want"
	assert_output_has "$words"
	assert_equal "$(profile_get '.nodes | length')" 2
}

@test "what can't be is refused before anything is made" {
	assert_refused 23 "at least 2 GiB" node add --disk-size=1g
	assert_refused 23 "at least 2 GiB" start -p e2e-none --disk-size=1g --offline
	assert_refused 14 "nodes run containerd" node add --container-runtime=docker
	assert_refused 14 "nodes run containerd" start -p e2e-none --container-runtime=cri-o
	assert_refused 14 "no directory 'usr'" node add --base-image=/etc
	rm "$BATS_FILE_TMPDIR/base/usr/sbin/nft"
	assert_refused 14 "nodes need: nft" node add --base-image="$BATS_FILE_TMPDIR/base"
	assert_refused 14 "--disk-size=2g" start --disk-size=3g
	[ ! -e "$MANYKUBE_HOME/profiles/e2e-none" ]
}

@test "without the program that makes disks only nodes with disks are refused" {
	run unshare --mount sh -c "
		mount --bind /dev/null '$(command -v mkfs.ext4)'
		'$MANYKUBE' start -p e2e-none --disk-size=2g --offline"
	assert_status 35
	assert_output_has "apt install e2fsprogs"
	[ ! -e "$MANYKUBE_HOME/profiles/e2e-none" ]
	run -0 unshare --mount sh -c "
		mount --bind /dev/null '$(command -v mkfs.ext4)'
		'$MANYKUBE' doctor"
	assert_output_has "mkfs.ext4"
}

@test "nodes have disks as start was told, and Kubernetes counts with them" {
	assert_all_ready
	assert_capacity node-1 2
	assert_capacity worker 2
	manykube node list -o json | assert_schema node-list
	manykube profile list -o json | assert_schema profile-list
	assert_equal "$(manykube node list -o json | jq '.[1].DiskBytes')" $((2 << 30))
	run -0 manykube node list -o wide
	assert_output_has "Gi of 2.0Gi"
}

@test "the worker has its programs from the tar" {
	assert_equal "$(on worker cat /usr/share/marker)" "from the base"
	assert_equal "$(kubectl get node worker -o jsonpath='{.status.nodeInfo.osImage}')" "The Base 7"
	assert_equal "$(on worker cat /etc/os-release)" "$(cat "$BATS_FILE_TMPDIR/base/usr/lib/os-release")"
	run ! on worker ls /
	run ! on node-1 cat /usr/share/marker
	# Once it was unpacked, nobody needs it.
	rm "$BATS_FILE_TMPDIR/base.tar.gz"
}

@test "what does not fit on a node's disk fails there, and the host has room" {
	run ! on worker fallocate -l 3g /var/large
	assert_output_has "No space left on device"
	on worker fallocate -l 600m /var/large
	run ! on worker dd if=/dev/zero of=/var/more bs=1M count=1500
	assert_output_has "No space left on device"
	fallocate -l 1g "$MANYKUBE_HOME/room"
	rm "$MANYKUBE_HOME/room"
	on worker rm -f /var/large /var/more
	on worker sh -c 'echo "on the disk" >/var/kept && sync'
}

@test "a node whose disk is full gets an image when there is room, and the others at once" {
	"$BATS_TEST_DIRNAME/make-image.py" full:1 "$BATS_TEST_TMPDIR/full.tar" full
	run ! on worker dd if=/dev/zero of=/var/large bs=1M
	run ! on worker dd if=/dev/zero of=/var/more bs=4k
	run manykube image load "$BATS_TEST_TMPDIR/full.tar"
	assert_status 26
	assert_output_has "worker: "
	assert_output_has "complete: node-1; free space"
	on worker rm -f /var/large /var/more
	run -0 manykube image load "$BATS_TEST_TMPDIR/full.tar"
	run -0 manykube image ls
	[[ $output =~ full:1\ .*\ all ]]
}

@test "a stopped node has nothing mounted, and its logs can be read" {
	manykube node stop worker -q
	assert_equal "$(list_disks | grep -c worker)" 0 "what is mounted"
	run -0 manykube logs worker --service=kubelet
	assert_output_has "kubelet.go:"
	assert_equal "$(list_disks | grep -c worker)" 0 "what is mounted"
}

@test "a disk grows with the next start, and never shrinks" {
	run manykube node set worker --disk-size=2047m
	assert_status 23
	manykube node set worker -q --disk-size=3g
	run manykube node set worker --disk-size=2g
	assert_status 14
	assert_output_has "can only grow"
	manykube node start worker -q
	assert_equal "$(on worker cat /var/kept)" "on the disk"
	within 30 assert_capacity worker 3
}

@test "a killed node comes back with what was on its disk" {
	on worker sh -c 'echo "once more" >/var/kept'
	kill -KILL "$(cut -d' ' -f1 "$(profile_dir)/nodes/worker/pid")"
	kill -KILL "$(cut -d' ' -f1 "$(profile_dir)/nodes/node-1/pid")"
	manykube start -q
	assert_equal "$(on worker cat /var/kept)" "once more"
	assert_all_ready
}

@test "one node's delete leaves nothing of its disk" {
	manykube node delete worker -q
	assert_equal "$(list_disks | grep -c worker)" 0 "what is mounted"
}

@test "a cluster whose record is damaged is deleted with its disks" {
	[ "$(list_disks | wc -l)" -eq 2 ]
	echo garbage >"$(profile_dir)/profile.json"
	manykube delete -q
	assert_no_trace
}
