#!/usr/bin/env bats
# The tour in README.md does what it shows.

load helper

setup_file() {
	begin_file manykube dev
	# As a person has it.
	unset MANYKUBE_PROFILE
	export MANYKUBE_OFFLINE=true PATH=${MANYKUBE%/*}:$PATH TERM=xterm LC_ALL=C.UTF-8
}

teardown_file() {
	end_file
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	export HOME=$BATS_TEST_TMPDIR
}

# A document on stdin is refused with these words.
refused() {
	cat >document
	run "$E2E_ROOT/tests/e2e/tour.py" document
	assert_status 1
	assert_output_has "$1"
}

@test "a tour that shows what does not happen is refused" {
	printf '\t$ echo one\n\ttwo\n' | refused "line 1: that is not what is shown"
	printf '\t$ true\n\n\t$ false\n' | refused "line 3: it ended with 1"
	printf '\t$ (exit 4); echo $?\n\t3\n' | refused "not what is shown"
	printf '\t$ echo with 3 nodes\n\twith 2 nodes\n' | refused "not what is shown"
	printf '\t$ printf "a\\nb\\nc\\n"\n\ta\n\t...\n\td\n' | refused "not what is shown"
	printf '\t$ printf "a\\nb\\n"\n\ta\n' | refused "not what is shown"
	printf '\t$ echo "x   1/2"\n\tx   2/2\n' | refused "not what is shown"
	printf '\t$ true\n\tsomething\n' | refused "not what is shown"
	printf '\t$ echo web-one\n\tweb-two\n' | refused "not what is shown"
	printf '\t# a.yaml\n\tx: 1\n\n\t$ cat a.yaml\n\tx: 2\n' | refused "line 4: that is not what is shown"
	printf 'text\n' | refused "there is no tour"
}

@test "what is different every time may be so in a tour" {
	sed 's/^> /\t/' >document <<'END'
Text.

> $ printf '%s\n' 'N    AGE  PODS' '' 'n-1  1m5s  12   10.0.0.2:80  3Mi of 1.5Gi' z 'took (0.2s)'
> N  AGE  PODS

> n-1  7s  3  192.168.1.1:7  300Mi of 2Gi
> ...
> took (12.0s)
> $ echo pod/web-5d9c7b8f6d-x2x9q created
> pod/web-76f7d69889-5wqk2 created
> $ printf 'live\n\r\033[1A\033[Jlast\n'; false; echo $?
> last
> 1

> # file.yaml
> a: 1

> b: 2

> $ cat file.yaml
> a: 1

> b: 2
END
	"$E2E_ROOT/tests/e2e/tour.py" document
}

@test "the tour in the README does what it shows, and leaves nothing behind" {
	[ -z "$(ss -Hltn 'sport = :8080')" ] || skip "port 8080 is in use"
	"$E2E_ROOT/tests/e2e/tour.py" "$E2E_ROOT/README.md"
	assert_no_trace
}
