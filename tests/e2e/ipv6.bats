#!/usr/bin/env bats
# A cluster of both families: nodes, pods and services have IPv4 and IPv6 addresses.
#
# As in isolation.bats, the host is a network namespace of this file's own, and 'lan' another machine.

load helper

export HOST=e2e-out-host6 LAN=e2e-out-lan6

setup_file() {
	begin_file e2e-dual
	[ -e /proc/sys/net/ipv6/conf/all ] || skip "this kernel has no IPv6"
	ip netns add "$HOST"
	ip netns add "$LAN"
	ip -n "$HOST" link set lo up
	ip -n "$LAN" link set lo up
	ip -n "$HOST" link add lan0 type veth peer name eth0 netns "$LAN"
	ip -n "$HOST" addr add 2001:db8:1::1/64 dev lan0 nodad
	ip -n "$HOST" addr add 198.51.100.1/24 dev lan0
	ip -n "$HOST" link set lan0 up
	ip -n "$LAN" addr add 2001:db8:1::2/64 dev eth0 nodad
	ip -n "$LAN" link set eth0 up
	ip -n "$LAN" route add default via 2001:db8:1::1
	printf '#!/bin/sh\nexec nsenter --net=/run/netns/%s %s "$@"\n' "$HOST" "$MANYKUBE" \
		>"$BATS_FILE_TMPDIR/manykube"
	chmod +x "$BATS_FILE_TMPDIR/manykube"
	export MANYKUBE=$BATS_FILE_TMPDIR/manykube
	nsenter --net="/run/netns/$HOST" sysctl -q -w net.ipv4.ip_forward=1 net.ipv4.ip_forward=0
	serve "$HOST" 9999 host
	serve "$LAN" 80 lan
	manykube start --ip-family=dual --nodes=2 --wait=all
}

teardown_file() {
	xargs kill <"$BATS_FILE_TMPDIR/pids" || true
	end_file || true
	ip netns del "$LAN" || true
	ip netns del "$HOST" || true
	assert_no_trace
}

# A web server in the namespace $1 on port $2 that says the word $3.
serve() {
	mkdir -p "$BATS_FILE_TMPDIR/$3"
	echo "$3" >"$BATS_FILE_TMPDIR/$3/index.html"
	nsenter --net="/run/netns/$1" busybox httpd -f -p "[::]:$2" -h "$BATS_FILE_TMPDIR/$3" \
		>/dev/null 2>&1 3>&- &
	echo $! >>"$BATS_FILE_TMPDIR/pids"
}

on_host() {
	nsenter --net="/run/netns/$HOST" "$@"
}

kubectl() {
	on_host "$MANYKUBE_CACHE/$(profile_get .kubernetesVersion)/bin/kubectl" \
		--cache-dir="$MANYKUBE_HOME/kube-cache" --context=e2e-dual "$@"
}

# The prefix of the cluster without its length: "fd12:3456:789a".
prefix() {
	profile_get '.ipv6Prefix | rtrimstr("::/48")'
}

# Both addresses of a pod or cluster addresses of a service, one per line.
pod_addresses() {
	kubectl get pod "$1" -o json | jq -r '.status.podIPs[].ip'
}

service_addresses() {
	kubectl get service web -o json | jq -r '.spec.clusterIPs[]'
}

# As the pod $1, ask port $3 of the address $2; prints the answer.
ask() {
	local address=$2

	[[ $address != *:* ]] || address="[$address]"
	kubectl exec "$1" -- timeout 5 wget -q -O - "http://$address:$3" </dev/null
}

asks_in_vain() {
	! ask "$@"
}

pod_on() {
	web_pods | awk -v node="$1" '$2 == node { print $1; exit }'
}

record() {
	profile_get '[.ipv6Prefix, (.nodes[] | .name, .address, .podCidr, .address6, .podCidr6)] | @tsv'
}

@test "nodes have an address and a podCIDR of each family" {
	assert_equal "$(kubectl get nodes -o json | jq -r '.items[] |
		[.metadata.name, (.status.addresses[] | select(.type == "InternalIP").address), .spec.podCIDRs[]] | @tsv')" \
		"$(profile_get '.nodes[] | [.name, .address, .address6, .podCidr, .podCidr6] | @tsv')"
	assert_equal "$(profile_get '.nodes[1].address6')" "$(prefix)::3"
	assert_equal "$(manykube ip --ipv6 -n node-2)" "$(prefix)::3"
	manykube node list -o json | assert_schema node-list
}

@test "pods on all nodes reach each other, and the host them, with both families" {
	local from to address

	apply_web
	for from in $(web_pods | cut -d' ' -f1); do
		for to in $(web_pods | cut -d' ' -f1); do
			assert_equal "$(pod_addresses "$to" | wc -l)" 2
			for address in $(pod_addresses "$to"); do
				assert_equal "$(ask "$from" "$address" 8080)" "$to" "$from asked $address"
			done
		done
		address=$(pod_addresses "$from" | grep :)
		assert_equal "$(on_host curl -s -g --max-time 5 "http://[$address]:8080")" "$from"
	done
}

@test "a service that prefers both families has both, also in DNS" {
	local pod address

	kubectl patch service web -p '{"spec": {"ipFamilyPolicy": "PreferDualStack"}}'
	pod=$(pod_on node-2)
	assert_equal "$(service_addresses | wc -l)" 2
	for address in $(service_addresses); do
		within 30 ask "$pod" "$address" 80
		run kubectl exec "$pod" -- nslookup web.default.svc.cluster.local
		assert_output_has "$address"
	done
	# Programs of nodes, too.
	address=$(service_addresses | grep :)
	on node-1 curl -s -g --max-time 5 "http://[$address]" | grep web-
}

@test "network policies hold for both families" {
	local from to address

	from=$(pod_on node-1) to=$(pod_on node-2)
	kubectl label pod "$to" closed=yes
	kubectl apply -f - <<-POLICY
		apiVersion: networking.k8s.io/v1
		kind: NetworkPolicy
		metadata: {name: closed}
		spec: {podSelector: {matchLabels: {closed: "yes"}}, policyTypes: [Ingress]}
	POLICY
	for address in $(pod_addresses "$to"); do
		within 30 asks_in_vain "$from" "$address" 8080
	done
	kubectl patch networkpolicy closed --type=merge -p \
		"{\"spec\": {\"ingress\": [{\"from\": [{\"ipBlock\": {\"cidr\": \"$(prefix)::/48\"}}]}]}}"
	within 30 ask "$from" "$(pod_addresses "$to" | grep :)" 8080
	asks_in_vain "$from" "$(pod_addresses "$to" | grep -v :)" 8080
	kubectl delete networkpolicy closed
}

@test "nodes and pods reach the host and others, which see the host's address" {
	on node-1 curl -s -g --max-time 5 "http://[$(prefix)::1]:9999" | grep -x host
	if [ -e /proc/sys/net/ipv6/conf/all/force_forwarding ]; then
		assert_equal "$(ask "$(pod_on node-2)" 2001:db8:1::2 80)" lan
		assert_equal "$(on_host cat /proc/sys/net/ipv6/conf/all/forwarding)" 0
	else
		# At once, so that programs use IPv4.
		run on node-1 curl -s -g --max-time 5 "http://[2001:db8:1::2]"
		assert_status 7
	fi
}

@test "another machine reaches neither nodes nor pods, even through a host that is a router" {
	local address

	on_host sysctl -q -w net.ipv6.conf.all.forwarding=1
	for address in "$(prefix)::2" "$(prefix)::1"; do
		! nsenter --net="/run/netns/$LAN" timeout 2 bash -c "</dev/tcp/$address/10250" || fail "$address"
		! nsenter --net="/run/netns/$LAN" timeout 2 bash -c "</dev/tcp/$address/9999" || fail "$address"
	done
	address=$(pod_addresses "$(pod_on node-1)" | grep :)
	! nsenter --net="/run/netns/$LAN" timeout 2 bash -c "</dev/tcp/$address/8080" || fail "$address"
	on_host sysctl -q -w net.ipv6.conf.all.forwarding=0
}

@test "a node does not become the host's router" {
	manykube ssh node-1 -- python3 - eth0 <"$E2E_ROOT/tests/e2e/send-ra.py"
	sleep 0.5
	assert_equal "$(on_host ip -6 route show default)" ""
	assert_equal "$(on_host ip -6 addr show to 2001:db8:bad::/64)" ""
	# Nor if somebody has all interfaces heed routers.
	on_host sysctl -q -w "net.ipv6.conf.$(profile_get .bridge).accept_ra=2" \
		"net.ipv6.conf.$(profile_get .bridge).autoconf=1"
	manykube ssh node-1 -- python3 - eth0 <"$E2E_ROOT/tests/e2e/send-ra.py"
	sleep 0.5
	assert_equal "$(on_host ip -6 route show default)" ""
	assert_equal "$(on_host ip -6 addr show to 2001:db8:bad::/64)" ""
}

@test "addresses survive a restart, and routes a node that goes" {
	local before

	before=$(record)
	manykube stop
	assert_equal "$(on_host ip -6 route show root "$(prefix)::/48")" ""
	manykube start
	assert_equal "$(record)" "$before"
	on node-1 ip -6 route | grep "^$(prefix):103::/64 via $(prefix)::3 "
	manykube node delete node-2
	run on node-1 ip -6 route
	[[ $output != *"$(prefix):103:"* ]] || fail "there is still a route: $output"
	assert_equal "$(on_host ip -6 route show "$(prefix):103::/64")" ""
}

@test "what cannot be is refused before anything is made" {
	assert_each <<-REFUSALS
		14|start --ip-family=ipv4|which cannot be changed
		14|start -p e2e-six --ip-family=ipv6|must be one of ipv4, dual
		14|start -p e2e-six --offline --ip-family=dual --driver=qemu|has IPv6, which nodes of the driver 'qemu' cannot have
	REFUSALS
	[ ! -e "$MANYKUBE_HOME/profiles/e2e-six" ]
}
