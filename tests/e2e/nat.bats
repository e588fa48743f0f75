#!/usr/bin/env bats
# The way out: pods of a cluster that is not offline reach what the host reaches, with the host's
# address.  Outside is a network namespace of this file's own.

load helper

setup_file() {
	begin_file e2e-nat
	ip netns add e2e-outside
	ip link add e2e-out type veth peer name eth0 netns e2e-outside
	ip addr add 198.51.100.1/30 dev e2e-out
	ip link set e2e-out up
	ip -n e2e-outside addr add 198.51.100.2/30 dev eth0
	ip -n e2e-outside link set eth0 up
	mkdir "$BATS_FILE_TMPDIR/www"
	echo outside >"$BATS_FILE_TMPDIR/www/index.html"
	ip netns exec e2e-outside busybox httpd -f -vv -p 198.51.100.2:80 \
		-h "$BATS_FILE_TMPDIR/www" >/dev/null 2>"$BATS_FILE_TMPDIR/httpd.log" 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/httpd.pid"
}

teardown_file() {
	kill "$(cat "$BATS_FILE_TMPDIR/httpd.pid")" || true
	ip link del e2e-out || true
	ip netns del e2e-outside || true
	end_file
}

@test "a cluster that is not offline has a table of its own, and a default route in its nodes" {
	HTTP_PROXY=http://198.51.100.2:3128 no_proxy=example.com manykube start --nodes=1 --wait=all
	nft list table inet "$(bridge_of e2e-nat)"
	on node-1 ip route | grep '^default via '
}

@test "nodes use the caller's proxy, but not for the cluster" {
	local program variables

	for program in containerd kubelet; do
		# shellcheck disable=SC2016 # of the node's shell
		variables=$(on node-1 sh -c 'tr "\0" "\n" <"/proc/$(pgrep -o -x $0)/environ"' "$program")
		[[ $variables == *HTTP_PROXY=http://198.51.100.2:3128* ]] || fail "$program has: $variables"
		[[ $variables == *NO_PROXY=example.com,*"$(profile_get .podSubnet)"* ]] || fail "$program has: $variables"
	done
	assert_all_ready
}

@test "a pod reaches outside and is seen there with the host's address" {
	kubectl run out --image=docker.io/library/busybox:latest --image-pull-policy=IfNotPresent \
		--restart=Never -- timeout 10 wget -q -O - http://198.51.100.2/
	kubectl wait --for=jsonpath='{.status.phase}'=Succeeded pod/out --timeout=60s
	run kubectl logs out
	assert_status 0
	[ "$output" = outside ] || fail "got: $output"
	grep -q '198\.51\.100\.1' "$BATS_FILE_TMPDIR/httpd.log" ||
		fail "seen as: $(cat "$BATS_FILE_TMPDIR/httpd.log")"
}

@test "who loads the host's rules anew does not cut the cluster off" {
	nft delete table inet "$(bridge_of e2e-nat)"
	within 10 nft list table inet "$(bridge_of e2e-nat)"
	nft list table inet "$(bridge_of e2e-nat)" | grep masquerade
	on node-1 timeout 10 busybox wget -q -O - http://198.51.100.2/
}

@test "a start with --offline takes the way out away" {
	manykube start --offline
	assert_equal "$(nft list table inet "$(bridge_of e2e-nat)" | grep masquerade)" ""
	# Also for a node that still has a route.
	on node-1 ip route | grep '^default via '
	run on node-1 timeout 5 busybox wget -q -O - http://198.51.100.2/
	[ "$status" -ne 0 ] || fail "reached outside: $output"
}
