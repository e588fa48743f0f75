#!/bin/sh
# Install what building and running manykube needs and this machine lacks; with the word "test" also
# what testing it needs, with "hosts" what testing it on other hosts does, which are guests of QEMU,
# with "fuzz" libFuzzer.
# On a complete machine it only looks, and needs neither root nor a network.
set -eu

build='make gcc libc6-dev meson ninja-build pkgconf libcurl4-openssl-dev libssl-dev libyaml-dev libjansson-dev libmnl-dev libnftables-dev'
# To build the payload from source where its releases can't be downloaded (Go itself is not among
# them: the one that Debian 12 has is too old for today's Kubernetes).
payload='libseccomp-dev busybox-static ca-certificates'
# What nodes run from the host's /usr.
nodes='mount nftables iptables conntrack iproute2 procps e2fsprogs util-linux'
tests='bats clang clang-format shellcheck jq git curl zsh fish groff mandoc man-db debhelper dpkg-dev fakeroot lintian python3-jsonschema mmdebstrap slirp4netns'
hosts='qemu-system-x86 qemu-utils mmdebstrap openssh-client python3'
fuzz=libclang-rt-dev
wanted="$build $payload $nodes"
for word; do
	case $word in
	test) wanted="$wanted $tests" ;;
	hosts) wanted="$wanted $hosts" ;;
	fuzz) wanted="$wanted $fuzz" ;;
	esac
done

if ! command -v dpkg-query >/dev/null 2>&1; then
	echo "not a Debian: see that what these packages hold is installed: $wanted"
	exit 0
fi
missing=
for package in $wanted; do
	state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=
	[ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

echo "installing:$missing"
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # words
$sudo apt-get install -y --no-install-recommends $missing ||
	{ $sudo apt-get update && $sudo apt-get install -y --no-install-recommends $missing; }
