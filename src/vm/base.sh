#!/bin/sh
# Make what the VMs of one Kubernetes version share, in the directory $1: the kernel, an initramfs
# and a disk image.  Nobody writes to them afterwards; each VM has a layer of its own above the
# image.
#   $1 an empty directory   $2 the directory of the kernel's files   $3 the payload
#   $4 a root file system, directory or tar archive, whose /usr they get; empty: programs of this host
set -eu

out=$1 kernel=$2 payload=$3 image=$4
root=$out/root
version=$(ls "$kernel/lib/modules")
busybox=$(command -v busybox)
PATH=$PATH:/usr/sbin:/sbin

# Copy a program of this host, with the libraries that it is linked with.
copy_program() {
	path=$(command -v "$1") || return 0
	mkdir -p "$root/usr/bin"
	cp -L "$path" "$root/usr/bin/$1"
	ldd "$path" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
		case $library in /usr/*) to=$library ;; *) to=/usr$library ;; esac
		mkdir -p "$root$(dirname "$to")"
		[ -e "$root$to" ] || cp -L "$library" "$root$to"
	done
}

# The programs of this host.
copy_programs() {
	ln -s bin usr/sbin
	copy_program busybox
	for name in $("$busybox" --list); do
		case $name in busybox | init | linuxrc | reboot | poweroff | halt) ;;
		*) ln -s busybox "usr/bin/$name" ;;
		esac
	done
	# Commands that manykube runs in nodes expect those of GNU, and Kubernetes those of util-linux.
	for name in bash mount umount nsenter nft ip tc losetup blkid mkfs.ext4 conntrack socat ethtool tar \
		realpath mv mktemp find cp ls ps; do
		command -v "$name" >/dev/null || continue
		rm -f "usr/bin/$name"
		copy_program "$name"
	done
	for name in bash mount umount nsenter losetup tar realpath mv mktemp find cp ls ps; do
		[ -e "usr/bin/$name" ] || ln -s busybox "usr/bin/$name"
	done
	[ -n "$(command -v xtables-nft-multi)" ] || return 0
	copy_program xtables-nft-multi
	for name in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
		ln -s xtables-nft-multi "usr/bin/$name"
	done
	for dir in /usr/lib/*/xtables /usr/lib64/xtables; do
		[ -d "$dir" ] || continue
		mkdir -p ".$dir"
		cp "$dir"/*.so ".$dir/"
	done
}

# The /usr of the root file system that the user chose.
copy_usr() {
	if [ -d "$image" ]; then
		cp -a "$image/usr/." usr/
		return
	fi
	mkdir "$out/image"
	tar --extract --force-local --numeric-owner --preserve-permissions --anchored \
		--exclude=dev --exclude=./dev --exclude=proc --exclude=./proc \
		--directory="$out/image" --file="$image"
	cp -a "$out/image/usr/." usr/
	rm -rf "$out/image"
}

mkdir -p "$root/usr"
cd "$root"
[ -z "$image" ] || copy_usr
mkdir -p usr/bin usr/lib/modules usr/lib64 etc var/lib/containerd var/lib/kubelet var/lib/etcd var/log/pods \
	var/log/containers var/tmp var/cache proc sys dev run tmp root mnt srv \
	home opt/manykube opt/cni/bin opt/local-path-provisioner
[ -n "$image" ] || copy_programs
for name in bin sbin lib lib64; do ln -s "usr/$name" "$name"; done
ln -s /run var/run
chmod 700 root var/lib/etcd
chmod 750 var/lib/kubelet
chmod 1777 tmp var/tmp

# The modules: only those of file systems, networks and virtual devices.
modules=usr/lib/modules/$version
mkdir -p "$modules/kernel"
for dir in crypto fs lib net drivers/block drivers/char drivers/net drivers/virtio drivers/md arch; do
	[ -d "$kernel/lib/modules/$version/kernel/$dir" ] || continue
	mkdir -p "$modules/kernel/$dir"
	cp -r "$kernel/lib/modules/$version/kernel/$dir/." "$modules/kernel/$dir/"
done
for name in modules.builtin modules.builtin.modinfo modules.order; do
	[ ! -e "$kernel/lib/modules/$version/$name" ] || cp "$kernel/lib/modules/$version/$name" "$modules/"
done
# The agent loads none that are compressed.
find "$modules" -name '*.ko.xz' -exec xz -d {} +
find "$modules" -name '*.ko.gz' -exec gzip -d {} +
find "$modules" -name '*.ko.zst' -exec zstd -q -d --rm {} +
"$busybox" depmod -b "$root" "$version"

for name in virtio_pci virtio_blk virtio_net virtio_console ext4 overlay br_netfilter veth nf_tables; do
	if ! cat "$modules"/modules.dep "$modules"/modules.builtin 2>/dev/null | grep -q "/$name\.ko"; then
		echo "the kernel $version lacks what VMs need: $name" >&2
		exit 1
	fi
done

# List the files of the modules $@ and of those that they need, in the order of loading.
in_order() {
	for name; do
		line=$(grep -E "/$name\.ko[.a-z]*:" "$modules/modules.dep" || true)
		[ -n "$line" ] || continue
		needed=$(echo "${line#*:}" | tr ' ' '\n' | "$busybox" tac)
		for file in $needed "${line%%:*}"; do echo "$file"; done
	done | awk '!seen[$0]++'
}

# The agent is mounted there.
: >opt/manykube/agent
in_order virtio_net virtio_console virtio_rng overlay br_netfilter veth nf_tables nf_conntrack nf_nat \
	nft_ct nft_nat nft_masq nft_chain_nat nft_reject_ipv4 nft_reject_ipv6 nft_compat xt_MASQUERADE \
	xt_conntrack xt_comment xt_addrtype xt_mark xt_nat nf_conntrack_netlink |
	sed "s|^|/lib/modules/$version/|; s|/kernel//*|/kernel/|" >opt/manykube/modules
cp -al "$payload/bin" opt/manykube/bin
cp -al "$payload/cni/." opt/cni/bin/
cp -al "$payload/store/." var/lib/containerd/
printf 'ID=manykube\nNAME=manykube\nPRETTY_NAME="manykube VM"\n' >etc/os-release
: >etc/resolv.conf
ldconfig -r "$root" 2>/dev/null || true

# The initramfs: the modules for the disk.  Each VM gets its agent beside them.
mkdir -p "$out/early/m" "$out/early/dev" "$out/early/proc" "$out/early/sys"
mknod "$out/early/dev/console" c 5 1
in_order virtio_pci virtio_blk ext4 | while read -r file; do
	cp "$modules/$file" "$out/early/m/"
	echo "/m/$(basename "$file")"
done >"$out/early/modules"
(cd "$out/early" && find . | "$busybox" cpio -o -H newc >"$out/initrd") 2>/dev/null
cp "$kernel/boot/vmlinuz-$version" "$out/kernel"

# It grows to the size of the disk in each VM.
size=$(du -sm "$root" | cut -f1)
mke2fs -q -F -t ext4 -m 0 -E lazy_itable_init=1,lazy_journal_init=1 -J size=16 -d "$root" \
	"$out/disk" "$((size + size / 8 + 256))M"
cd /
rm -rf "$root" "$out/early"
chmod 644 "$out/kernel" "$out/initrd" "$out/disk"
