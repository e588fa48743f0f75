#!/usr/bin/env bats
# The Debian package: built, looked at, unpacked and run; never installed.

load helper

setup_file() {
	command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null || skip "needs dpkg-dev and debhelper"
	make -C "$ROOT" deb >"$BATS_FILE_TMPDIR/log" 2>&1 || { tail -n 40 "$BATS_FILE_TMPDIR/log" && return 1; }
}

setup() {
	VERSION=$(sed -n "s/^  version : '\(.*\)',/\1/p" "$ROOT/meson.build")
	DEB=$ROOT/build/manykube_${VERSION}_$(dpkg --print-architecture).deb
}

@test "the package has the version of the program" {
	assert_equal "$(dpkg-deb --field "$DEB" Version)" "$VERSION"
}

@test "lintian has nothing to say" {
	need lintian
	run -0 lintian --allow-root --info --display-info --fail-on error,warning,info "$DEB"
	assert_equal "$output" ""
}

@test "it holds what is installed" {
	local list file

	list=$(dpkg-deb --contents "$DEB" | awk '{ print $6 }')
	for file in bin/manykube libexec/manykube/manykube-agent libexec/manykube/manykube-pause \
		share/man/man1/manykube.1.gz share/bash-completion/completions/manykube \
		share/zsh/vendor-completions/_manykube share/fish/vendor_completions.d/manykube.fish; do
		grep -qx "./usr/$file" <<<"$list" || fail "there is no $file in: $list"
	done
}

@test "it names what nodes need" {
	local package

	for package in mount nftables iptables conntrack libcurl4 libnftables1; do
		assert_has "$(dpkg-deb --field "$DEB" Depends)" "$package"
	done
}

@test "unpacked, it runs and completes" {
	local program=$BATS_TEST_TMPDIR/usr/bin/manykube

	dpkg-deb --extract "$DEB" "$BATS_TEST_TMPDIR"
	assert_equal "$("$program" version --short)" "v$VERSION"
	assert_equal "$("$program" __complete -- statu | cut -f 1)" status
	grep -q '\.\./libexec/manykube' "$program" || fail "it looks elsewhere for the agent"
}
