#!/bin/sh
# Install what building, running and testing manykube needs and this machine lacks; with the word
# "hosts" also what testing it on other hosts does, which are guests of QEMU, with "fuzz" libFuzzer.
# On a complete machine it only looks, and needs neither root nor a network.
set -eu

build='make gcc libc6-dev meson ninja-build pkgconf libcurl4-openssl-dev libssl-dev libyaml-dev libjansson-dev libmnl-dev libnftables-dev'
# To build the payload from source where its releases can't be downloaded (Go itself is not among
# them: the one that Debian 12 has is too old for today's Kubernetes).
payload='libseccomp-dev busybox-static ca-certificates'
# What nodes run from the host's /usr.
nodes='mount nftables iptables conntrack iproute2 procps e2fsprogs util-linux'
tests='bats clang clang-format shellcheck jq git curl zsh fish groff mandoc man-db debhelper dpkg-dev fakeroot lintian python3-jsonschema'
case ${1:-} in
hosts) more='qemu-system-x86 qemu-utils mmdebstrap openssh-client python3' ;;
fuzz) more=libclang-rt-dev ;;
*) more= ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
	echo "not a Debian: see that what these packages hold is installed: $build $payload $nodes $tests $more"
	exit 0
fi
missing=
for package in $build $payload $nodes $tests $more; do
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
