#!/bin/bash
# A QEMU guest as a host for clusters, in a directory of its own:
#
#	guest.sh up DIR             make its disks, boot it, wait until it answers
#	guest.sh run DIR COMMAND    as root, or as GUEST_USER, in a shell of its own
#	guest.sh await DIR [BOOT]   wait until it answers, and not from the boot of that id
#	guest.sh is_stuck DIR       whether it has locked up, as emulated CPUs do at times
#	guest.sh down DIR           end it; its disks go, its console's log stays
#
# It has this checkout's build and tests at /checkout, the payload in /home/cache, and no network
# but the one way in.  GUEST_RELEASE (of Debian; this machine's unless given), GUEST_KERNEL (oldest or
# newest of those that release has), GUEST_CPUS, GUEST_MEMORY (MiB) and GUEST_APPEND (to the kernel's
# command line) say what kind of host it is; DIR/host has that in words.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
checkout=$(cd "$here/../.." && pwd)

# All the guest needs of the checkout; nothing is compiled there.
make_checkout() {
	local tree=$1/checkout.tree

	mkdir -p "$tree/build/tests/unit" "$tree/docs"
	cp "$checkout"/build/tests/unit/test-{cgroup,scope} "$tree/build/tests/unit/"
	cp "$checkout"/build/manykube{,-agent,-pause} "$tree/build/"
	cp -r "$checkout/tests" "$checkout/README.md" "$tree/"
	cp -r "$checkout/docs/schema" "$tree/docs/"
	mke2fs -q -F -t ext4 -L checkout -d "$tree" "$1/checkout.ext4" 128M >/dev/null
	rm -rf "$tree"
}

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

boot() {
	local dir=$1 base kernel order=

	base=$(cat "$dir/base")
	[ "${GUEST_KERNEL:-oldest}" = oldest ] || order=r
	kernel=$(find "$base" -name 'vmlinuz-*' | sort "-V$order" | head -n 1)
	# shellcheck source=/dev/null # of every system
	(. "$base/os-release" && echo "$NAME $VERSION_ID, ${kernel##*vmlinuz-}") |
		sed -E 's|( GNU/Linux)?( [0-9]+), ([0-9]+\.[0-9]+).*|\2, Linux \3|' >"$dir/host"
	free_port >"$dir/port"
	# Each CPU is a thread of its own, for which this size of translated code has been steady.  A
	# cluster works as long as the machine is quiet: then the guest is some 30 times slower than it.
	# Large pages would have the emulator forget all translations of addresses at once; and code
	# that is found at the same address in each process is translated once.  The guest reaches
	# nothing outside.
	setsid qemu-system-x86_64 -M q35 -accel tcg,thread=multi,tb-size=1024 -cpu max \
		-smp "${GUEST_CPUS:-2}" -m "${GUEST_MEMORY:-4096}" -nodefaults -no-user-config -display none \
		-kernel "$kernel" -initrd "${kernel/vmlinuz/initrd.img}" \
		-append "root=LABEL=base rw console=ttyS0 loglevel=4 mitigations=off transparent_hugepage=never norandmaps random.trust_cpu=on ${GUEST_APPEND:-}" \
		-drive "if=virtio,file=$dir/base.qcow2,format=qcow2,cache=unsafe,discard=unmap" \
		-drive "if=virtio,file=$dir/home.qcow2,format=qcow2,cache=unsafe,discard=unmap" \
		-drive "if=virtio,file=$dir/checkout.ext4,format=raw,read-only=on" \
		-netdev "user,id=lan,restrict=on,hostfwd=tcp:127.0.0.1:$(cat "$dir/port")-:22" \
		-device virtio-net-pci,netdev=lan,romfile= -device virtio-rng-pci \
		-serial "file:$dir/console.log" -pidfile "$dir/pid" \
		>"$dir/qemu.log" 2>&1 </dev/null &
}

is_up() {
	[ -s "$1/pid" ] && kill -0 "$(cat "$1/pid")" 2>/dev/null
}

# Does the guest of $1 answer, from another boot than $2?
answers() {
	local boot

	boot=$(GUEST_USER=root timeout 40 "$0" run "$1" cat /proc/sys/kernel/random/boot_id 2>/dev/null) &&
		[ "$boot" != "${2:-}" ]
}

# Its kernel says so; it never recovered from that.
is_stuck() {
	grep -qE 'Kernel panic|soft lockup - CPU#[0-9]+ stuck for ([5-9][0-9]|[0-9]{3,})s' "$1/console.log" 2>/dev/null
}

await() {
	local deadline=$((SECONDS + ${GUEST_BOOT_SECONDS:-240}))

	until answers "$@"; do
		if [ "$SECONDS" -ge "$deadline" ] || is_stuck "$1"; then
			echo "the guest does not answer; its console ends with:" >&2
			tail -n 15 "$1/console.log" >&2
			return 1
		fi
		sleep 1
	done
}

up() {
	local dir=$1 base home

	base=$("$here/image.sh" base "${GUEST_RELEASE:-own}")
	home=$("$here/image.sh" payload "${GUEST_KUBERNETES:-v1.36.3}")
	rm -rf "$dir"
	mkdir -p "$dir"
	echo "$base" >"$dir/base"
	install -m 600 "$base/key" "$dir/key"
	qemu-img create -q -f qcow2 -F raw -b "$base/base.ext4" "$dir/base.qcow2"
	qemu-img create -q -f qcow2 -F raw -b "$home/home.ext4" "$dir/home.qcow2"
	make_checkout "$dir"
	boot "$dir"
	await "$dir"
}

run() {
	local dir=$1

	shift
	ssh -q -i "$dir/key" -p "$(cat "$dir/port")" -o StrictHostKeyChecking=no \
		-o UserKnownHostsFile=/dev/null -o BatchMode=yes -o ConnectTimeout=30 \
		-o ServerAliveInterval=20 -o ServerAliveCountMax=6 -o LogLevel=ERROR \
		"${GUEST_USER:-root}@127.0.0.1" "$@"
}

down() {
	local dir=$1 pid

	# It removes the file itself on its way out.
	if is_up "$dir"; then
		pid=$(cat "$dir/pid")
		kill "$pid" || true
		timeout 20 tail --pid="$pid" -f /dev/null || kill -9 "$pid" || true
	fi
	rm -f "$dir"/*.qcow2 "$dir/checkout.ext4" "$dir/key" "$dir/pid"
}

command=$1
shift
"$command" "$@"
