#!/usr/bin/env bats
# What nodes, other clusters and other machines can not reach.
#
# The host is a network namespace of this file's own, so that nothing here can change the routes of
# the machine that runs the tests; so are two machines, 'lan' and 'far', on two links of that host.

load helper

export HOST=e2e-out-host LAN=e2e-out-lan FAR=e2e-out-far

# A machine $1 with the address $3.2, on the link $2 of the host, which has $3.1 there.
add_machine() {
	ip netns add "$1"
	ip -n "$1" link set lo up
	ip -n "$HOST" link add "$2" type veth peer name eth0 netns "$1"
	ip -n "$HOST" addr add "$3.1/24" dev "$2"
	ip -n "$HOST" link set "$2" up
	ip -n "$1" addr add "$3.2/24" dev eth0
	ip -n "$1" link set eth0 up
	ip -n "$1" route add default via "$3.1"
}

# A web server in the namespace $1 on port $2 that says the word $3.
serve() {
	mkdir -p "$BATS_FILE_TMPDIR/$3"
	echo "$3" >"$BATS_FILE_TMPDIR/$3/index.html"
	nsenter --net="/run/netns/$1" busybox httpd -f -p "$2" -h "$BATS_FILE_TMPDIR/$3" \
		>/dev/null 2>&1 3>&- &
	echo $! >>"$BATS_FILE_TMPDIR/pids"
}

setup_file() {
	begin_file e2e-one e2e-two
	ip netns add "$HOST"
	ip -n "$HOST" link set lo up
	# Commands of manykube and kubectl run on that host.
	printf '#!/bin/sh\nexec nsenter --net=/run/netns/%s %s "$@"\n' "$HOST" "$MANYKUBE" \
		>"$BATS_FILE_TMPDIR/manykube"
	chmod +x "$BATS_FILE_TMPDIR/manykube"
	export MANYKUBE=$BATS_FILE_TMPDIR/manykube
	nsenter --net="/run/netns/$HOST" sysctl -q -w net.ipv4.ip_forward=1 net.ipv4.ip_forward=0
	add_machine "$LAN" lan0 198.51.100
	add_machine "$FAR" far0 203.0.113
	serve "$HOST" 9999 host
	serve "$HOST" 9998 other
	serve "$LAN" 80 lan
	serve "$FAR" 80 far
	# A connection that was forged while no rules kept that from being one.
	on_host conntrack -I -p udp -s 192.168.77.2 -d 198.51.100.2 --sport 53 --dport 4200 -t 600
	on_host conntrack -I -p udp -s 198.51.100.2 -d 198.51.100.1 --sport 4201 --dport 4202 -t 600
	manykube start -p e2e-one --subnet=192.168.77.0/24 --ports=0.0.0.0:18080:10250 --wait=all
	manykube start -p e2e-two --wait=all
}

teardown_file() {
	xargs kill <"$BATS_FILE_TMPDIR/pids" || true
	end_file || true
	ip netns del "$LAN" || true
	ip netns del "$FAR" || true
	ip netns del "$HOST" || true
	assert_no_trace
}

on_host() {
	nsenter --net="/run/netns/$HOST" "$@"
}

kubectl_of() {
	on_host "$MANYKUBE_CACHE/$(MANYKUBE_PROFILE=$1 profile_get .kubernetesVersion)/bin/kubectl" \
		--cache-dir="$MANYKUBE_HOME/kube-cache" --context="$@"
}

# What the profile $1 says of $2.
of() {
	MANYKUBE_PROFILE=$1 profile_get "$2"
}

# From the machine $1, or node-1 of the cluster $1: can a program connect to port $3 of $2?
connects() {
	local try="timeout 1 bash -c '</dev/tcp/$2/$3'"

	case $1 in
	e2e-out-*) nsenter --net="/run/netns/$1" bash -c "$try" ;;
	*) manykube ssh -p "$1" node-1 -- bash -c "$try" ;;
	esac
}

refuses() {
	[ -n "$2" ] || fail "there is nothing to reach"
	! connects "$@" 2>/dev/null || fail "$1 reaches port $3 of $2"
}

dns_pod() {
	kubectl_of "$1" get pods -n kube-system -l k8s-app=kube-dns \
		-o jsonpath='{.items[0].status.podIP}'
}

@test "what is to be reached is reached" {
	for cluster in e2e-one e2e-two; do
		connects "$HOST" "$(dns_pod "$cluster")" 8181
		connects "$HOST" "$(of "$cluster" '.nodes[0].address')" 10250
		connects "$cluster" "$(of "$cluster" .gateway)" 6443
		connects "$cluster" "$(of "$cluster" .gateway)" 53
		# The way out, and host.manykube.internal.
		connects "$cluster" 198.51.100.2 80
		connects "$cluster" 203.0.113.2 80
		connects "$cluster" host.manykube.internal 9999
		connects "$cluster" 198.51.100.1 9999
	done
}

@test "connections in the name of nodes from before a start are forgotten, and no others" {
	run on_host conntrack -L -p udp --dport 4200
	[[ $output != *192.168.77.2* ]] || fail "a forged connection is still there"
	run on_host conntrack -L -p udp --dport 4202
	assert_output_has 198.51.100.2
}

@test "another machine tells the host nothing of the way to nodes" {
	nsenter --net="/run/netns/$LAN" busybox ping -c 1 198.51.100.1
	nsenter --net="/run/netns/$LAN" python3 "$E2E_ROOT/tests/e2e/forge.py" 198.51.100.1 too-big \
		198.51.100.2 198.51.100.1 "$(of e2e-one .gateway)" "$(of e2e-one '.nodes[0].address')"
	run on_host ip route get "$(of e2e-one '.nodes[0].address')"
	assert_output_has "$(of e2e-one .bridge)"
	[[ $output != *mtu* ]] || fail "the host believed it: $output"
}

@test "a node does not become the host's router" {
	manykube ssh -p e2e-one node-1 -- python3 - eth0 <"$E2E_ROOT/tests/e2e/send-ra.py"
	sleep 0.5
	assert_equal "$(on_host ip -6 route show default)" ""
	assert_equal "$(on_host ip -6 addr show to 2001:db8:bad::/64)" ""
	# Nor if somebody turns IPv6 on again for all interfaces, as many a sysctl.conf does.
	on_host sysctl -q -w net.ipv6.conf.all.disable_ipv6=0 \
		"net.ipv6.conf.$(of e2e-one .bridge).disable_ipv6=0" \
		"net.ipv6.conf.$(of e2e-one .bridge).accept_ra=2" \
		"net.ipv6.conf.$(of e2e-one .bridge).autoconf=1"
	manykube ssh -p e2e-one node-1 -- python3 - eth0 <"$E2E_ROOT/tests/e2e/send-ra.py"
	sleep 0.5
	assert_equal "$(on_host ip -6 route show default)" ""
	assert_equal "$(on_host ip -6 addr show to 2001:db8:bad::/64)" ""
}

@test "another machine reaches published ports only" {
	for cluster in e2e-one e2e-two; do
		refuses "$LAN" "$(of "$cluster" '.nodes[0].address')" 10250
		refuses "$LAN" "$(dns_pod "$cluster")" 8181
		refuses "$LAN" "$(of "$cluster" .gateway)" 6443
		refuses "$LAN" "$(of "$cluster" .gateway)" 53
		refuses "$LAN" "$(of "$cluster" .gateway)" 9999
		refuses "$LAN" 198.51.100.1 "$(of "$cluster" .apiPort)"
	done
	# The kubelet of e2e-one, who does not know us.
	assert_equal "$(nsenter --net="/run/netns/$LAN" curl -s -k --max-time 5 https://198.51.100.1:18080/healthz)" \
		Unauthorized
}

@test "the host does not become a router for other machines" {
	refuses "$LAN" 203.0.113.2 80
	assert_equal "$(on_host cat /proc/sys/net/ipv4/ip_forward)" 0
}

# What comes to port $2 of the machine $1, until there is "true", is in the file $3.
hear() {
	nsenter --net="/run/netns/$1" python3 - "$2" >"$3" 3>&- <<-'RECEIVER' &
		import socket, sys
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("", int(sys.argv[1])))
		data = b""
		while data != b"true":
		    data, source = s.recvfrom(100)
		    print(data.decode(), source[0], flush=True)
	RECEIVER
	echo $! >>"$BATS_FILE_TMPDIR/pids"
	within 60 nsenter --net="/run/netns/$1" sh -c "ss -Hlun sport = $2 | grep -q ."
}

# As the machine $1, send a packet to its router $2 in another's name: see forge.py.
forge() {
	nsenter --net="/run/netns/$1" bash -c "</dev/tcp/$2/9999"
	nsenter --net="/run/netns/$1" python3 "$E2E_ROOT/tests/e2e/forge.py" "${@:2}"
}

# Whoever gets a packet of a node's or pod's through the host as their own can answer it, and that
# would be let in.
@test "another machine sends nothing in the name of nodes and pods" {
	local heard=$BATS_FILE_TMPDIR/forged

	hear "$LAN" 7778 "$heard"
	for address in "$(of e2e-one '.nodes[0].address')" "$(dns_pod e2e-one)" "$(of e2e-two '.nodes[0].address')"; do
		forge "$LAN" 198.51.100.1 udp "$address" 198.51.100.2 53 7778
	done
	on_host bash -c 'printf true >/dev/udp/198.51.100.2/7778'
	within 60 grep -q true "$heard"
	assert_equal "$(cat "$heard")" "true 198.51.100.1"
	# Nor to the host itself.
	hear "$HOST" 7779 "$heard"
	forge "$LAN" 198.51.100.1 udp "$(of e2e-one '.nodes[0].address')" 198.51.100.1 53 7779
	nsenter --net="/run/netns/$LAN" bash -c 'printf true >/dev/udp/198.51.100.1/7779'
	within 60 grep -q true "$heard"
	assert_equal "$(cat "$heard")" "true 198.51.100.2"
}

@test "the host routes nothing that belongs to no connection, and nothing back to the same link" {
	local heard=$BATS_FILE_TMPDIR/stray

	nsenter --net="/run/netns/$FAR" python3 - >"$heard" 3>&- <<-'RECEIVER' &
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
		print("ready", flush=True)
		while True:
		    print(s.recvfrom(100)[1][0], flush=True)
	RECEIVER
	echo $! >>"$BATS_FILE_TMPDIR/pids"
	within 60 grep -q ready "$heard"
	forge "$LAN" 198.51.100.1 reply 198.51.100.2 203.0.113.2
	nsenter --net="/run/netns/$HOST" bash -c "</dev/tcp/203.0.113.2/80"
	on_host python3 "$E2E_ROOT/tests/e2e/forge.py" 203.0.113.2 reply 203.0.113.1 203.0.113.2
	within 60 grep -q 203.0.113.1 "$heard"
	run -1 grep 198.51.100 "$heard"
	hear "$LAN" 7780 "$heard"
	forge "$LAN" 198.51.100.1 udp 198.51.100.77 198.51.100.2 53 7780
	on_host bash -c 'printf true >/dev/udp/198.51.100.2/7780'
	within 60 grep -q true "$heard"
	assert_equal "$(cat "$heard")" "true 198.51.100.1"
}

@test "a node sends nothing in another's name" {
	local heard=$BATS_FILE_TMPDIR/heard

	nsenter --net="/run/netns/$LAN" python3 - >"$heard" 3>&- <<-'RECEIVER' &
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("198.51.100.2", 7777))
		for _ in range(2):
		    data, source = s.recvfrom(100)
		    print(data.decode(), source[0], flush=True)
		    if data == b"true":
		        break
	RECEIVER
	echo $! >>"$BATS_FILE_TMPDIR/pids"
	within 5 nsenter --net="/run/netns/$LAN" sh -c 'ss -Hlun sport = 7777 | grep -q .'
	manykube ssh -p e2e-one node-1 -- ip addr add 203.0.113.77/32 dev lo
	manykube ssh -p e2e-one node-1 -- python3 - <<-'SENDER'
		import socket
		for word, source in ("false", "203.0.113.77"), ("true", "0.0.0.0"):
		    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		    s.bind((source, 0))
		    s.sendto(word.encode(), ("198.51.100.2", 7777))
	SENDER
	manykube ssh -p e2e-one node-1 -- ip addr del 203.0.113.77/32 dev lo
	within 60 grep -q true "$heard"
	assert_equal "$(cat "$heard")" "true 198.51.100.1"
}

@test "a node adds nothing to what the host and others say to each other" {
	local heard=$BATS_FILE_TMPDIR/injected

	on_host python3 - >"$heard" 3>&- <<-'RECEIVER' &
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("198.51.100.1", 7781))
		s.sendto(b"question", ("198.51.100.2", 7781))
		print("asked", flush=True)
		while True:
		    data, source = s.recvfrom(100)
		    print(data.decode(), source[0], flush=True)
	RECEIVER
	echo $! >>"$BATS_FILE_TMPDIR/pids"
	within 60 grep -q asked "$heard"
	manykube ssh -p e2e-one node-1 -- bash -c "</dev/tcp/$(of e2e-one .gateway)/6443"
	manykube ssh -p e2e-one node-1 -- python3 - "$(of e2e-one .gateway)" udp 198.51.100.2 198.51.100.1 7781 7781 \
		<"$E2E_ROOT/tests/e2e/forge.py"
	manykube ssh -p e2e-one node-1 -- bash -c 'printf true >/dev/udp/198.51.100.1/7781'
	within 60 grep -q true "$heard"
	run -1 grep forged "$heard"
}

@test "a node does not reach the host's loopback addresses" {
	on_host sysctl -q -w net.ipv4.conf.all.route_localnet=1
	manykube ssh -p e2e-one node-1 -- sh -ec "
		iptables -F KUBE-FIREWALL || true
		echo 1 >/proc/sys/net/ipv4/conf/eth0/route_localnet
		ip route del local 127.0.0.0/8 table local
		ip route add 127.9.9.9 via $(of e2e-one .gateway) src $(of e2e-one '.nodes[0].address')"
	refuses e2e-one 127.9.9.9 9999
	on_host sysctl -q -w net.ipv4.conf.all.route_localnet=0
	manykube ssh -p e2e-one node-1 -- sh -ec "
		ip route del 127.9.9.9
		ip route add local 127.0.0.0/8 dev lo table local"
}

# Neither nodes, pods, the API nor DNS of the cluster $2 are reached from the cluster $1.
assert_apart() {
	refuses "$1" "$(of "$2" '.nodes[0].address')" 10250
	refuses "$1" "$(dns_pod "$2")" 8181
	refuses "$1" "$(of "$2" .gateway)" 6443
	refuses "$1" "$(of "$2" .gateway)" 53
}

@test "clusters do not reach each other" {
	assert_apart e2e-one e2e-two
	assert_apart e2e-two e2e-one
}

@test "--host-access: none, ports, all, on a cluster that runs" {
	manykube start -p e2e-one --host-access=none
	for address in "$(of e2e-one .gateway)" 198.51.100.1; do
		run -1 connects e2e-one "$address" 9999
		assert_output_has "Connection refused"
	done
	connects e2e-one "$(of e2e-one .gateway)" 6443
	connects e2e-one "$(of e2e-one .gateway)" 53
	connects e2e-one 198.51.100.2 80
	assert_equal "$(kubectl_of e2e-one get --raw /api/v1/nodes/node-1/proxy/healthz)" ok
	manykube start -p e2e-one --host-access=9999,9997
	connects e2e-one host.manykube.internal 9999
	refuses e2e-one host.manykube.internal 9998
	# The rules that are put back when they were taken away are the same.
	on_host nft delete table inet "$(of e2e-one .bridge)"
	within 10 on_host nft list table inet "$(of e2e-one .bridge)"
	refuses e2e-one host.manykube.internal 9998
	manykube config view -p e2e-one >"$BATS_FILE_TMPDIR/one.yaml"
	sed -i 's/hostAccess: .*/hostAccess: all/' "$BATS_FILE_TMPDIR/one.yaml"
	manykube apply -p e2e-one -f "$BATS_FILE_TMPDIR/one.yaml"
	connects e2e-one host.manykube.internal 9998
	run -14 manykube start -p e2e-one --host-access=some
}

@test "an offline cluster reaches DNS and the API only, unless told otherwise" {
	manykube start -p e2e-two --offline
	assert_apart e2e-one e2e-two
	assert_apart e2e-two e2e-one
	refuses e2e-two "$(of e2e-two .gateway)" 9999
	refuses e2e-two 198.51.100.1 9999
	refuses e2e-two 198.51.100.2 80
	connects e2e-two "$(of e2e-two .gateway)" 6443
	connects e2e-two "$(of e2e-two .gateway)" 53
	manykube start -p e2e-two --host-access=9999
	connects e2e-two "$(of e2e-two .gateway)" 9999
	refuses e2e-two 198.51.100.2 80
}

@test "the last delete turns forwarding off again" {
	# Also for a link that was not there when the clusters were started.
	on_host ip link add late type bridge
	assert_equal "$(on_host cat /proc/sys/net/ipv4/conf/lan0/forwarding)" 1
	manykube delete -p e2e-one
	manykube delete -p e2e-two
	for link in lan0 far0 late default all; do
		assert_equal "$(on_host cat "/proc/sys/net/ipv4/conf/$link/forwarding")" 0 "$link"
	done
	assert_equal "$(on_host nft list tables)" ""
}
