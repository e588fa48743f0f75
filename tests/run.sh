#!/bin/bash
# Run all tests, or those whose group the words given begin (unit, unit/opt, fuzz, style, asan,
# clang, package, e2e, e2e/cluster, fresh, hosts), and end with one line: how many passed, failed and were skipped.
# What a test printed is in build/test-logs/.
set -u

cd "$(dirname "$0")/.." || exit 1
logs=build/test-logs
passed=0 failed=0 skipped=0 status=0 seconds=0
skips=() failures=()

# Is the group $1 ("e2e/cluster"), or one below it, asked for?
wanted() {
	local word

	[ ${#only[@]} -gt 0 ] || return 0
	for word in "${only[@]}"; do
		[[ $1/ == "$word"/* || $word/ == "$1"/* ]] && return 0
	done
	return 1
}

# Count the TAP in the log $2 of the group $1.
count_tap() {
	local line ok=0 bad=0 left=0

	while IFS= read -r line; do
		case $line in
		'ok '*'# skip'* | 'ok '*'# SKIP'*)
			left=$((left + 1))
			skips+=("$1: ${line#ok }")
			;;
		'ok '*) ok=$((ok + 1)) ;;
		'not ok '*)
			bad=$((bad + 1))
			failures+=("$1: ${line#not ok }")
			;;
		'1..0'*[Ss][Kk][Ii][Pp]*)
			left=$((left + 1))
			skips+=("$1: ${line#1..0 }")
			;;
		esac
	done <"$2"
	# A program that died may have said nothing of it.
	if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
		bad=1
		failures+=("$1: ended with $status; see $2")
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + left))
	echo "$1: $ok passed, $bad failed, $left skipped ($seconds s)"
	[ "$bad" -eq 0 ] || grep -v '^ok ' "$2" | tail -n 60
}

# Count what is one test: group $1 with the log $2; 77 is a skip.
count_one() {
	case $status in
	0) passed=$((passed + 1)) && echo "$1: passed ($seconds s)" ;;
	77) skipped=$((skipped + 1)) && skips+=("$1: $(tail -n 1 "$2")") ;;
	*)
		failed=$((failed + 1))
		failures+=("$1: ended with $status; see $2")
		echo "$1: failed ($seconds s)"
		tail -n 40 "$2"
		;;
	esac
}

# Run a command with its output in a log: run LOG COMMAND...; sets $status and $seconds.
run() {
	local start=$SECONDS log=$1

	shift
	"$@" >"$log" 2>&1 </dev/null
	status=$?
	seconds=$((SECONDS - start))
}

# "NAME PROTOCOL COMMAND..." of each test of the suite $2 of the build directory $1.
list_tests() {
	meson introspect --tests "$1" | jq -r --arg suite "manykube:$2" '.[] |
		select(.suite | index($suite)) |
		[.name, .protocol] + (.env | to_entries | map("\(.key)=\(.value)")) + .cmd | join(" ")'
}

# The tests of the build directory $1 in the suites $3..., in groups that begin with $2.
run_meson() {
	local dir=$1 prefix=$2 suite name protocol command log

	shift 2
	mkdir -p "$logs/$dir"
	for suite; do
		while read -r name protocol command; do
			wanted "$prefix$suite/$name" || continue
			log=$logs/$dir/$name.log
			# shellcheck disable=SC2086 # words: variables, programs and flags of ours
			run "$log" timeout 300 env -C "$dir" $command
			if [ "$protocol" = tap ]; then
				count_tap "$prefix$suite/$name" "$log"
			else
				count_one "$prefix$suite/$name" "$log"
			fi
		done < <(list_tests "$dir" "$suite")
	done
}

# Remove the clusters that tests below $1 have left behind.
clean_up() {
	local profile home

	for profile in "$1"/*/profiles/*/; do
		[ -d "$profile" ] || continue
		home=${profile%/profiles/*}
		MANYKUBE_HOME=$home KUBECONFIG=$home/kubeconfig \
			build/manykube delete -q -p "$(basename "$profile")"
	done
	rm -rf "$1"
}

# Run the tests in the file $2 of the group $1, with a limit; their result is in a file beside the log.
bats_file() {
	local log=$logs/${1//\//-}.log

	E2E_TMP=$(mktemp -d /var/tmp/manykube-test.XXXXXX)
	export E2E_TMP
	# shellcheck disable=SC2086 # words
	run "$log" setpriv --pdeathsig TERM $room timeout --kill-after=30 900 bats --tap "$2"
	echo "$status $seconds" >"$log.result"
	clean_up "$E2E_TMP"
}

# Wait for one of the jobs of run_bats, and count its tests.
finish_one() {
	local pid name log

	wait -n -p pid
	name=${name_of[$pid]} log=$logs/${name_of[$pid]//\//-}.log
	unset "name_of[$pid]"
	read -r status seconds <"$log.result"
	rm -f "$log.result"
	count_tap "$name" "$log"
}

# The tests in the files $2... of the group $1, $lanes of them at once.
run_bats() {
	local group=$1 file name
	local -A name_of=()

	shift
	for file; do
		name=$group/$(basename "$file" .bats)
		wanted "$name" || continue
		[ ${#name_of[@]} -lt "$lanes" ] || finish_one
		bats_file "$name" "$file" &
		name_of[$!]=$name
	done
	while [ ${#name_of[@]} -gt 0 ]; do finish_one; done
}

# All versions that clusters may have, the Docker daemon, the registry, and what VMs share, since there is no way out of a room.
# What is not there yet is made once, in a way that needs only package registries.
fill_cache() {
	local version

	for version in $(build/manykube version -o json | jq -r '.kubernetesVersions[]'); do
		MANYKUBE_PAYLOAD_FROM=${MANYKUBE_PAYLOAD_FROM:-source} \
			build/manykube start --download-only --yes --kubernetes-version="$version" || return
	done
	build/manykube docker-env --download-only && build/manykube registry enable --download-only &&
		build/manykube start --download-only --cni=flannel --yes &&
		build/manykube start --download-only --driver=qemu
}

# Debian's docker client, which is older than others, for tests/e2e/docker.bats; not every host has it.
fetch_debian_docker() {
	[ ! -x build/debian-docker/usr/bin/docker ] || return 0
	mkdir -p build/debian-docker
	(cd build/debian-docker && apt-get -q download docker.io && dpkg-deb -x docker.io_*.deb .)
}

# The files of end-to-end tests, those that take minutes first, so that none is left for the end alone.
list_e2e() {
	printf 'tests/e2e/%s.bats\n' "${slowest[@]}"
	printf '%s\n' tests/e2e/*.bats | grep -vE "/($(IFS='|' && echo "${slowest[*]}"))\.bats$"
}

only=("$@")
slowest=(survive moments experiments mishaps ha docker upgrade)
lanes=1 room='' # how many files of tests run at once, and what each runs in
mkdir -p "$logs"
# Jobs ignore Ctrl-C.
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
run_meson build "" unit fuzz style

if wanted asan; then
	run "$logs/build-asan.log" make asan
	count_one asan "$logs/build-asan.log"
	export ASAN_OPTIONS=halt_on_error=1:detect_leaks=1
	export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
	[ "$status" -ne 0 ] || run_meson build-asan asan/ unit fuzz
fi

if wanted clang; then
	run "$logs/build-clang.log" make clang
	count_one clang "$logs/build-clang.log"
fi

run_bats package tests/package/*.bats

if wanted e2e; then
	if fill_cache; then
		fetch_debian_docker >"$logs/debian-docker.log" 2>&1 || true
		room=tests/room.sh
		lanes=2
		mapfile -t files < <(list_e2e)
		run_bats e2e "${files[@]}"
	else
		failed=$((failed + 1))
		failures+=("e2e: there is no payload for clusters")
	fi
fi

# It needs a payload in the cache, which the end-to-end tests have filled by now.
if wanted fresh; then
	run "$logs/fresh.log" timeout --kill-after=60 900 tests/fresh/run.sh
	count_tap fresh "$logs/fresh.log"
fi

# Other kinds of hosts take long; CI has one of them.
if [ ${#only[@]} -gt 0 ] && wanted hosts || [ -n "${MANYKUBE_TEST_HOSTS:-}" ]; then
	mkdir -p "$logs/hosts"
	run "$logs/hosts.log" env HOSTS_MAY_SKIP=1 HOSTS_SECONDS=900 timeout --kill-after=60 2400 \
		tests/hosts/run.sh "${MANYKUBE_TEST_HOSTS:-short}"
	count_tap hosts "$logs/hosts.log"
fi

if [ $((passed + failed + skipped)) -eq 0 ]; then
	echo "there are no tests '$*'" >&2
	exit 1
fi
[ ${#failures[@]} -eq 0 ] || printf 'failed: %s\n' "${failures[@]}"
[ ${#skips[@]} -eq 0 ] || printf 'skipped: %s\n' "${skips[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
