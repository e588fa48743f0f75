#!/bin/bash
# Run tests on other kinds of hosts than this one, each a guest of its own (guest.sh):
#
#	run.sh [SCENARIO...]     those of the list below, or all; results are TAP
#
# Nothing of the guest's is trusted to end: every step has a limit, all of them together have one of
# three hours, and a guest that locks up, as emulators do, is made anew.  What it printed, its journal
# and its console are in build/test-logs/hosts/SCENARIO/, those of an attempt that failed in
# SCENARIO.attempt-N/, and what docs/hosts.md shows in build/test-logs/hosts/table.md.
#
# A cluster in a guest takes all of a machine.  With HOSTS_MAY_SKIP=1, for CI, a scenario is skipped
# where the guest can't be made or is far slower than it is on a quiet machine of two CPUs; it is not
# where a test failed.
set -u

cd "$(dirname "$0")/../.." || exit 1
here=tests/hosts
logs=$PWD/build/test-logs/hosts
attempts=${HOSTS_ATTEMPTS:-3} # of which a test may fail in one
limit=${HOSTS_LIMIT:-10800}   # seconds, for all
number=0
failed=0
skipped=0

# "SCENARIO|the guest's settings|the files that are run in it, and when it is booted again|what it is";
# HOST stands for its release of Debian and its kernel's version
scenarios='
short|HOSTS_NODES=2|cluster|1+1 nodes, HOST, systemd, cgroup v2
cluster|HOSTS_NODES=3|cluster|1+2 nodes and all that can be done with them, HOST
boot||boot-before reboot boot-after reboot boot-again|sudo, a login that ends, autostart, reboots, HOST
newer|GUEST_RELEASE=trixie HOSTS_NODES=3|cluster|1+2 nodes and all that can be done with them, HOST
newest|GUEST_RELEASE=trixie GUEST_KERNEL=newest HOSTS_NODES=2|cluster|1+1 nodes, HOST of its backports
firewalls||firewalls|ufw, a table that drops, Docker and firewalld beside 1+1 nodes, HOST
odd|GUEST_MEMORY=2048 GUEST_APPEND=ipv6.disable=1|odd|no IPv6, swap, AppArmor, 2 GiB, homes on a quota and in memory, no /usr merge, HOST
selinux|GUEST_APPEND=security=selinux|selinux-before reboot selinux|1+1 nodes under the rules of SELinux, as Debian has them, HOST
small|GUEST_CPUS=1 GUEST_MEMORY=2048|small|1 CPU, 2 GiB of memory, HOST
'

# For the guest of $directory.
guest() {
	local command=$1

	shift
	"$here/guest.sh" "$command" "$dir" "$@"
}

# bats file $1 in the guest; its TAP is what comes out.  Nobody waits for one that takes too long, or
# for a guest that has locked up.
run_bats() {
	local pid seconds=${HOSTS_SECONDS:-3000} left=$((limit - SECONDS))

	[ "$left" -gt "$seconds" ] || seconds=$((left > 0 ? left : 1))
	timeout "$seconds" "$here/guest.sh" run "$dir" "
		# Clusters have links to the payload, so they are on its file system.
		mkdir -p /home/tmp /home/state
		[ -e /var/lib/manykube ] || ln -s /home/state /var/lib/manykube
		export MANYKUBE_CACHE=/home/cache E2E_TMP=/home/tmp MANYKUBE_WAIT_TIMEOUT=20m E2E_PATIENCE=10 E2E_REST=5
		export HOSTS_NODES=${HOSTS_NODES:-3}
		exec bats --tap /checkout/tests/hosts/$1.bats" </dev/null &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		! guest is_stuck || kill "$pid"
		sleep 2
	done
	wait "$pid"
}

# The guest goes down in order, which takes the cluster's time, and comes up.
reboot() {
	local boot

	boot=$(guest run cat /proc/sys/kernel/random/boot_id) || return
	guest run systemctl reboot
	GUEST_BOOT_SECONDS=900 guest await "$boot"
}

# Whether what is in $1 ended by itself: all tests that were announced are there.
is_complete() {
	local plan

	plan=$(sed -n 's/^1\.\.//p' "$1" | head -n 1)
	[ -n "$plan" ] && [ "$(grep -cE '^(not )?ok ' "$1")" -eq "$plan" ]
}

# Whether the guest is too slow for Kubernetes: half a second is what this takes usually.
is_too_slow() {
	local milliseconds

	milliseconds=$(guest run "
		cd /home/cache/*/bin && ./kubectl version --client >/dev/null && begin=\$(date +%s%N)
		for i in 1 2 3 4; do ./kubectl version --client >/dev/null; done
		echo \$(((\$(date +%s%N) - begin) / 4000000))" </dev/null) || return 0
	echo "kubectl takes $milliseconds ms in the guest"
	[ "$milliseconds" -gt 1500 ]
}

gather() {
	guest is_stuck || timeout 120 "$here/guest.sh" run "$dir" 'journalctl -b --no-pager | tail -n 5000' \
		</dev/null >"$logs/$1/journal.log" 2>&1
	cp "$dir/console.log" "$logs/$1/" 2>/dev/null
}

# What the attempt $2 at the scenario $1 left is not to be lost with the next one.
keep() {
	rm -rf "${logs:?}/$1.attempt-$2"
	cp -r "$logs/$1" "$logs/$1.attempt-$2"
}

# The scenario $1 with the settings $2: the steps $3.
attempt() {
	local name=$1 log=$logs/$1/tap step

	# shellcheck disable=SC2086,SC2163 # words
	(
		[ -z "$2" ] || export $2
		guest up >"$logs/$name/boot.log" 2>&1 || exit 3
		is_too_slow >>"$logs/$name/boot.log" 2>&1 && [ -n "${HOSTS_MAY_SKIP:-}" ] && exit 3
		for step in $3; do
			if [ "$step" = reboot ]; then
				reboot >>"$logs/$name/boot.log" 2>&1 || exit 1
				continue
			fi
			run_bats "$step" >"$logs/$name/$step.tap" 2>&1
			cat "$logs/$name/$step.tap" >>"$log"
			if ! is_complete "$logs/$name/$step.tap"; then
				guest is_stuck && echo "the guest has locked up" >>"$logs/$name/boot.log" && exit 3
				exit 1
			fi
		done
		grep -q '^not ok' "$log" || exit 0
		is_too_slow >>"$logs/$name/boot.log" 2>&1 && [ -n "${HOSTS_MAY_SKIP:-}" ] && exit 3
		exit 2
	)
}

run_scenario() {
	local name=$1 shows=$4 i line words seconds=$SECONDS finished=0 failures=0 status=0 which=

	mkdir -p "$logs/$name"
	dir=$(mktemp -d /var/tmp/manykube-guest.XXXXXX)
	for ((i = 1; i <= attempts && !finished && (i == 1 || SECONDS < limit); i++)); do
		rm -f "$logs/$name/tap"
		attempt "$name" "$2" "$3"
		status=$?
		[ "$status" != 0 ] || finished=1
		# Tests are not repeated until they pass.
		[ "$status" != 2 ] || failures=$((failures + 1))
		[ "$failures" -lt 2 ] || finished=1
		[ "$i" = 1 ] || which=", attempt $i"
		gather "$name"
		guest down
		[ "$status" = 0 ] || keep "$name" "$i"
		case $status in
		1 | 3) echo "# $name: the guest did not get to the end in attempt $i: $(tail -n 1 "$logs/$name/boot.log")" ;;
		2) echo "# $name: there were failures in attempt $i" ;;
		esac
	done
	shows=${shows/HOST/$(cat "$dir/host" 2>/dev/null || echo no guest)}
	rm -rf "$dir"
	if [ "$status" = 3 ] && [ -n "${HOSTS_MAY_SKIP:-}" ]; then
		number=$((number + 1))
		skipped=$((skipped + 1))
		echo "ok $number $name # SKIP no guest that is fast enough: $(tail -n 1 "$logs/$name/boot.log")"
		return
	fi
	if [ "$status" = 1 ] || [ "$status" = 3 ]; then
		number=$((number + 1))
		failed=$((failed + 1))
		echo "not ok $number $name: the guest does not get to the end; see $logs/$name"
		[ ! -e "$logs/$name/tap" ] || sed 's/^/# /' "$logs/$name/tap" | tail -n 30
		return
	fi
	while IFS= read -r line; do
		case $line in
		'ok '* | 'not ok '*)
			number=$((number + 1))
			words=$(sed -E 's/^(not )?ok [0-9]+ //' <<<"$line")
			echo "${line%%ok *}ok $number $name: $words"
			[ "${line%%ok *}" = '' ] || failed=$((failed + 1))
			case $words in
			*'# skip'*) skipped=$((skipped + 1)) ;;
			*) echo "| $shows | $words | ${line%%ok *}ok$which |" >>"$logs/table.md" ;;
			esac
			;;
		'#'*) echo "$line" ;;
		esac
	done <"$logs/$name/tap"
	echo "# $name: $shows ($((SECONDS - seconds)) s)"
}

# Is the scenario $1 asked for?
wanted() {
	local word

	[ ${#only[@]} -gt 0 ] || return 0
	for word in "${only[@]}"; do
		[ "$word" != "$1" ] || return 0
	done
	return 1
}

only=("$@")
if [ "$(id -u)" != 0 ]; then
	echo "1..0 # SKIP needs root"
	exit 0
fi
if ! command -v qemu-system-x86_64 >/dev/null || ! command -v mmdebstrap >/dev/null; then
	echo "1..0 # SKIP needs QEMU and mmdebstrap: tools/deps.sh test hosts"
	exit 0
fi
mkdir -p "$logs"
printf '| host | what | result |\n| --- | --- | --- |\n' >"$logs/table.md"
trap 'guest down; rm -rf "$dir"; exit 130' INT TERM
while IFS='|' read -r name settings file shows <&3; do
	if [ -n "$name" ] && wanted "$name"; then
		if [ "$SECONDS" -ge "$limit" ]; then
			number=$((number + 1))
			failed=$((failed + 1))
			echo "not ok $number $name: not begun, the $limit s for all are over"
			continue
		fi
		run_scenario "$name" "$settings" "$file" "$shows"
	fi
done 3<<<"$scenarios"
echo "1..$number"
echo "# $((number - failed - skipped)) passed, $failed failed, $skipped skipped; $SECONDS s"
[ "$failed" = 0 ]
