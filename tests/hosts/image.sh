#!/bin/bash
# Make the disks that guests begin with, unless they are there already:
#
#	image.sh base RELEASE       that Debian with systemd, its kernel and that of its backports, and
#	                            what people run beside us; "own" is this machine's release
#	image.sh payload VERSION    a /home that has the payload of that Kubernetes in cache/
#
# and for tests/fresh, which has no guests:
#
#	image.sh fresh RELEASE      root.tar: the smallest Debian in which a user can clone and run make
#	image.sh mirror VERSION     files/: the official releases of that Kubernetes, out of its payload
#
# and print the directory that holds them.  Each is named by what it is made of, complete or absent, and
# never changed afterwards: guests write into overlays of their own.  One that was not used for a
# month goes when the next is made.
set -eu

cd "$(dirname "$0")/../.."
cache=${MANYKUBE_CACHE:-/var/cache/manykube}
[ -e "$cache" ] || cache=$HOME/.manykube/cache # of an earlier version
images=${MANYKUBE_HOSTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/manykube-hosts}

kernel=linux-image-cloud-amd64
system='systemd-sysv dbus libpam-systemd udev initramfs-tools openssh-server sudo iproute2 kmod procps
	ca-certificates less'
# What nodes and the program itself want, as the README has it; the libraries are the program's.
ours='mount nftables iptables conntrack util-linux e2fsprogs
	libcurl4 libssl3 libyaml-0-2 libjansson4 libmnl0 libnftables1 libseccomp2'
tests='bats jq curl python3-minimal python3-jsonschema'
# Neighbours; each test turns on the one it is about.
neighbours='apparmor ufw firewalld docker.io quota selinux-policy-default selinux-utils policycoreutils'

# This machine's own release of Debian.
own_release() {
	# shellcheck source=/dev/null # of every system
	(. /etc/os-release && echo "$VERSION_CODENAME")
}

# Where this machine has its Debian from, whatever mirror that is, for the release $version.
sources() {
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN) $(CREATED_BY)' |
		awk -v own="$(own_release)" -v wanted="$version" '
			$5 != "Debian" || $6 != "Packages" { next }
			$3 == own { print $1, $2, wanted "-backports", $4 }
			{ sub("^" own, wanted, $3); print $1, $2, $3, $4 }' | sort -u
}

proxies() {
	apt-config dump | sed -n 's/^\(Acquire::https\?::[Pp]roxy.*\);$/--aptopt=\1/p'
}

# What is asked for in the new system, before its disk is made.
customise() {
	local root=$1

	echo host >"$root/etc/hostname"
	printf '127.0.0.1 localhost host\n::1 localhost\n' >"$root/etc/hosts"
	cat >"$root/etc/fstab" <<-'FSTAB'
		LABEL=base / ext4 noatime 0 0
		LABEL=home /home ext4 noatime 0 0
		LABEL=checkout /checkout ext4 ro,nofail 0 0
	FSTAB
	mkdir -p "$root/checkout"
	cat >"$root/etc/systemd/network/lan.network" <<-'NETWORK'
		[Match]
		Name=en*
		[Network]
		Address=10.0.2.15/24
		Gateway=10.0.2.2
	NETWORK
	echo 'nameserver 10.0.2.3' >"$root/etc/resolv.conf"
	mkdir -p "$root/etc/systemd/journald.conf.d"
	printf '[Journal]\nStorage=persistent\n' >"$root/etc/systemd/journald.conf.d/keep.conf"
	# The first limit on CPU time, and the last one to go, have the kernel change its scheduler's code
	# while other CPUs run it; emulated ones have died of that.  This one comes first and stays.
	mkdir -p "$root/etc/systemd/system/ssh.service.d"
	printf '[Service]\nCPUQuota=1000%%\n' >"$root/etc/systemd/system/ssh.service.d/limit.conf"
	echo 'person ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/person"
	for who in root person; do
		install -d -m 700 "$root/etc/ssh/keys"
		cp "$2" "$root/etc/ssh/keys/$who"
		chmod 644 "$root/etc/ssh/keys/$who"
	done
	chmod 755 "$root/etc/ssh/keys"
	printf 'AuthorizedKeysFile /etc/ssh/keys/%%u\nUseDNS no\nMaxSessions 50\n' \
		>"$root/etc/ssh/sshd_config.d/keys.conf"
}

make_base() {
	local tree=$1/tree

	ssh-keygen -q -t ed25519 -N '' -C manykube-tests -f "$1/key"
	# Backports are only taken by who asks for them: this kernel comes beside the first one.
	# shellcheck disable=SC2016,SC2046,SC2086 # hooks are for a shell of their own; words
	sources | mmdebstrap --variant=apt --mode=root $(proxies) \
		--include="$(echo $kernel $system $ours $tests $neighbours | tr ' ' ',')" \
		--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--essential-hook='mkdir -p "$1/etc/initramfs-tools/conf.d" && printf "MODULES=list\nCOMPRESS=lz4\nFSTYPE=ext4\n" >"$1/etc/initramfs-tools/conf.d/small" && printf "virtio_pci\nvirtio_blk\next4\n" >"$1/etc/initramfs-tools/modules"' \
		--include=lz4 \
		--customize-hook='chroot "$1" useradd -m -u 1000 -s /bin/bash person' \
		--customize-hook='chroot "$1" systemctl enable systemd-networkd' \
		--customize-hook='chroot "$1" systemctl disable docker.service docker.socket containerd.service firewalld.service ufw.service apt-daily.timer apt-daily-upgrade.timer' \
		--customize-hook="chroot \"\$1\" apt-get install --yes --target-release $version-backports $kernel" \
		"$version" "$tree" -
	customise "$tree" "$1/key.pub"
	for kernel in "$tree"/boot/vmlinuz-*; do
		cp "$kernel" "$1/"
		cp "${kernel/vmlinuz/initrd.img}" "$1/"
	done
	cp -L "$tree/etc/os-release" "$1/"
	rm -rf "$tree"/var/cache/apt/* "$tree"/var/lib/apt/lists/*
	mke2fs -q -F -t ext4 -L base -m 0 -d "$tree" "$1/base.ext4" 12G
	rm -rf "$tree"
}

# The cache's files have to be on the file system of the clusters: nodes get links to them.
make_payload() {
	local tree=$1/tree

	mkdir -p "$tree/cache/$version" "$tree/person"
	chown 1000:1000 "$tree/person"
	# shellcheck disable=SC2016 # for that shell
	unshare --mount sh -eu -c '
		mount --bind "$1" "$2/cache/$3"
		mke2fs -q -F -t ext4 -L home -m 0 -d "$2" "$4" 24G' sh \
		"$cache/$version" "$tree" "$version" "$1/home.ext4"
	rm -rf "$tree"
}

# Nothing but what Debian can't do without, and what a user needs before the first `make`.
make_fresh() {
	# shellcheck disable=SC2046 # words
	sources | mmdebstrap --variant=minbase --mode=root $(proxies) \
		--include=make,git,sudo,ca-certificates "$version" "$1/root.tar" -
}

make_mirror() {
	tests/fresh/mirror.py make "$cache/$version" "$1/files"
}

kind=$1 version=$2
[ "$version" != own ] || version=$(own_release)
case $kind in
base) recipe=$({ declare -f make_base customise; echo "$kernel $system $ours $tests $neighbours"; } | sha256sum) ;;
payload) recipe=$({ declare -f make_payload; cat "$cache/$version/payload.json"; } | sha256sum) ;;
fresh) recipe=$(declare -f make_fresh | sha256sum) ;;
mirror) recipe=$(cat tests/fresh/mirror.py "$cache/$version/payload.json" | sha256sum) ;;
esac
dir=$images/$kind-$version-${recipe:0:12}
mkdir -p "$images"
exec 9>"$images/lock"
flock 9
if [ ! -d "$dir" ]; then
	echo "making the $kind of $version in $images, once" >&2
	rm -rf "$dir.new"
	mkdir -p "$dir.new"
	# Images of containers come without lists.
	[ "$kind" != base ] && [ "$kind" != fresh ] || [ -n "$(sources)" ] || apt-get update >&2
	"make_$kind" "$dir.new" >&2
	mv "$dir.new" "$dir"
	# Those that older checkouts were the last to use.
	find "$images" -mindepth 1 -maxdepth 1 -type d -mtime +30 -exec rm -rf {} +
fi
touch "$dir"
echo "$dir"
