#!/bin/sh
# Install missing packages for building and running manykube; with the argument "test" also those for
# tests, with "hosts" those for tests in QEMU guests, with "fuzz" libFuzzer.
# If nothing is missing, it needs neither root nor a network.
set -eu

build='make gcc libc6-dev meson ninja-build pkgconf libcurl4-openssl-dev libssl-dev libyaml-dev libjansson-dev libmnl-dev libnftables-dev zlib1g-dev libzstd-dev'
# For building the payload from source where releases cannot be downloaded.  Go is not in the list:
# that of Debian 12 is too old for current Kubernetes versions.
payload='libseccomp-dev busybox-static ca-certificates'
# Programs that nodes use from the host's /usr.
nodes='mount nftables iptables conntrack iproute2 procps e2fsprogs util-linux'
tests='bats clang clang-format shellcheck jq git curl zsh fish groff mandoc man-db debhelper dpkg-dev fakeroot lintian python3-jsonschema mmdebstrap slirp4netns qemu-system-x86 qemu-utils'
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
	echo "this is not Debian: make sure that the contents of these packages are installed: $wanted"
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
