# What the tests of what is installed and packaged use; none of them needs root or a cluster.
# shellcheck shell=bash
# shellcheck disable=SC2154 # bats sets status and output

bats_require_minimum_version 1.5.0

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
# Nothing of the person's is to be seen in what is tested.
unset "${!MANYKUBE_@}" KUBECONFIG
export MANYKUBE=$ROOT/build/manykube MANYKUBE_HOME=$BATS_FILE_TMPDIR/home

fail() {
	echo "$*" >&2
	return 1
}

assert_equal() {
	[ "$1" = "$2" ] || fail "it is '$1', not '$2'"
}

assert_has() {
	[[ $1 == *"$2"* ]] || fail "there is no '$2' in: ${1:0:2000}"
}

need() {
	command -v "$1" >/dev/null || skip "$1 is not installed"
}
