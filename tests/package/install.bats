#!/usr/bin/env bats
# make install and make uninstall, into a directory.

load helper

setup_file() {
	export INST=$BATS_FILE_TMPDIR/inst
	make -C "$ROOT" install "DESTDIR=$INST" PREFIX=/opt/many >"$BATS_FILE_TMPDIR/log" 2>&1 ||
		{ cat "$BATS_FILE_TMPDIR/log" && return 1; }
}

teardown_file() {
	# As it was.
	make -C "$ROOT" installable >/dev/null 2>&1
}

@test "everything is where it is looked for" {
	assert_equal "$(cd "$INST/opt/many" && find . -type f -printf '%m %P\n' | sort -k 2)" "\
755 bin/manykube
755 libexec/manykube/manykube-agent
755 libexec/manykube/manykube-pause
644 share/bash-completion/completions/manykube
644 share/doc/manykube/README.md
644 share/doc/manykube/cluster-file.md
644 share/doc/manykube/commands.md
644 share/doc/manykube/exit-codes.md
644 share/doc/manykube/schema/cluster.json
644 share/fish/vendor_completions.d/manykube.fish
644 share/man/man1/manykube.1
644 share/zsh/site-functions/_manykube"
}

@test "another prefix builds nothing anew" {
	run grep -c 'Compiling C' "$BATS_FILE_TMPDIR/log"
	assert_equal "$output" 0
}

@test "the installed program runs, and completes with the installed scripts" {
	local shell file

	run -0 "$INST/opt/many/bin/manykube" version
	for shell in bash zsh fish; do
		file=$(find "$INST/opt/many/share" -path "*$shell*" -name '*manykube*' -type f)
		"$INST/opt/many/bin/manykube" completion "$shell" | cmp - "$file"
	done
}

@test "uninstall leaves nothing" {
	make -C "$ROOT" uninstall "DESTDIR=$INST" PREFIX=/opt/many
	assert_equal "$(find "$INST" -type f)" ""
	[ ! -e "$INST/opt/many/libexec/manykube" ]
}
