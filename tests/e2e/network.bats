#!/usr/bin/env bats
# Services of type LoadBalancer: addresses that answer on the host. Network policies.

load helper

setup_file() {
	begin_file e2e-network
	manykube start -q --offline --nodes=3
	apply_web
}

teardown_file() {
	end_file
}

# lb NAME [SPEC]: a LoadBalancer in front of the web servers.
lb() {
	kubectl apply -f - <<-END
		{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "$1"},
		 "spec": {"type": "LoadBalancer", "selector": {"app": "web"},
		          "ports": [{"port": 80, "targetPort": 8080}] ${2:+, $2}}}
	END
}

address_of() {
	kubectl get service "$1" -o jsonpath='{.status.loadBalancer.ingress[*].ip}'
}

has_address() {
	[ -n "$(address_of "$1")" ]
}

answers() {
	curl -sf --max-time "${2:-2}" "http://$1/" | grep '^web-'
}

# The node that the host sends packets for an address to.
node_of() {
	local via

	via=$(ip route get "$1" | sed -n 's/.* via \([0-9.]*\) .*/\1/p')
	profile_get --arg via "$via" '.nodes[] | select(.address == $via).name'
}

profile_get() {
	jq -r "$@" "$(profile_dir)/profile.json"
}

in_time() {
	local end=$(($(date +%s%N) / 1000000 + $1 * ${E2E_PATIENCE:-1}))

	shift
	until "$@" >/dev/null; do
		[ $(($(date +%s%N) / 1000000)) -lt "$end" ] || fail "not in time: $*"
	done
}

@test "a LoadBalancer gets an address that answers on the host" {
	local address

	lb front
	within 5 has_address front
	address=$(address_of front)
	within 5 answers "$address"
	for node in $(profile_get '.nodes[].address'); do
		[ "$address" != "$node" ] || fail "it is the address of a node"
	done
	assert_equal "$(manykube service front --url)" "http://$address:80"
	run manykube tunnel
	assert_status 0
	assert_output_has "No tunnel is needed"
	# Also in nodes and pods.
	on node-1 curl -sf --max-time 5 "http://$address/" | grep '^web-'
}

@test "a LoadBalancer of another class is left alone, and an address that is asked for is given" {
	local front wanted

	front=$(address_of front)
	wanted=${front%.*}.200
	lb other '"loadBalancerClass": "example.com/lb"'
	lb asked "\"loadBalancerIP\": \"$wanted\""
	within 5 has_address asked
	assert_equal "$(address_of asked)" "$wanted"
	within 5 answers "$wanted"
	assert_equal "$(address_of other)" ""
	kubectl delete service asked other
	within 5 no_route "$wanted"
	run ! answers "$wanted" 1
}

no_route() {
	! ip route show "$1/32" | grep .
}

@test "local traffic keeps the address of the client, and goes to a node with an endpoint" {
	local address gateway node

	gateway=$(profile_get .gateway)
	kubectl run seen --labels=app=seen --image=docker.io/library/busybox:latest --image-pull-policy=Never \
		--overrides='{"spec": {"nodeName": "node-3", "terminationGracePeriodSeconds": 0}}' -- \
		sh -c 'mkdir -p /tmp/w/cgi-bin; printf "#!/bin/sh\necho; echo \$REMOTE_ADDR\n" >/tmp/w/cgi-bin/who
		       chmod +x /tmp/w/cgi-bin/who; exec httpd -f -p 8080 -h /tmp/w'
	kubectl expose pod seen --port=80 --target-port=8080 --type=LoadBalancer \
		--overrides='{"spec": {"externalTrafficPolicy": "Local"}}'
	within 5 has_address seen
	address=$(address_of seen)
	within 20 curl -sf --max-time 2 "http://$address/cgi-bin/who"
	run curl -sf --max-time 2 "http://$address/cgi-bin/who"
	assert_output_has "$gateway"
	assert_equal "$(node_of "$address")" node-3
	kubectl delete service seen
	kubectl delete pod seen
}

@test "other machines do not reach it" {
	local address

	address=$(address_of front)
	# A neighbour of this host that sends packets for the address here.
	ip netns add e2e-out
	ip link add e2e-out0 type veth peer name eth0 netns e2e-out
	ip addr add 198.51.100.1/24 dev e2e-out0
	ip link set e2e-out0 up
	ip -n e2e-out addr add 198.51.100.2/24 dev eth0
	ip -n e2e-out link set eth0 up
	ip -n e2e-out route add default via 198.51.100.1
	run ip netns exec e2e-out curl -sf --max-time 2 "http://$address/"
	ip netns del e2e-out
	[ "$status" != 0 ] || fail "it answered"
	answers "$address"
}

leads_elsewhere() {
	[ "$(node_of "$1")" != "$2" ]
}

@test "it answers again within 2 s after the node that it was routed to is frozen" {
	local address node

	kubectl patch service front -p '{"spec": {"externalTrafficPolicy": "Local"}}'
	address=$(address_of front)
	within 5 answers "$address"
	node=$(node_of "$address")
	# Not the control plane, whose API tells of endpoints.
	if [ "$node" = node-1 ]; then
		kubectl delete pod --field-selector spec.nodeName=node-1 -l app=web --wait=false
		in_time 3000 leads_elsewhere "$address" "$node"
		node=$(node_of "$address")
	fi
	manykube node pause -q "$node"
	in_time 2000 answers "$address" 0.3
	[ "$(node_of "$address")" != "$node" ] || fail "it is still routed to $node"
	manykube node unpause -q "$node"
	answers "$address"
	kubectl patch service front -p '{"spec": {"externalTrafficPolicy": "Cluster"}}'
}

watcher() {
	jq -e '.watcher | select(. > 0)' "$(profile_dir)/front-door.status.json"
}

kill_watcher() {
	local before

	before=$(watcher)
	kill -9 "$before"
	within 5 other_watcher "$before"
}

other_watcher() {
	[ "$(watcher)" != "$1" ]
}

@test "it keeps its address when the watcher is killed, and when the cluster stops" {
	local address

	address=$(address_of front)
	kill_watcher
	answers "$address"
	manykube stop -q
	manykube start -q
	within 30 answers "$address"
	assert_equal "$(address_of front)" "$address"
}

@test "it disappears with its service" {
	local address

	address=$(address_of front)
	kubectl delete service front
	within 5 no_route "$address"
	run ! answers "$address" 1
}

# pod NAMESPACE NAME NODE: a pod that serves the ports http (8080) and 9090.
pod() {
	kubectl apply -f - <<-END
		{"apiVersion": "v1", "kind": "Pod",
		 "metadata": {"name": "$2", "namespace": "$1", "labels": {"app": "$2"}},
		 "spec": {"nodeName": "$3", "terminationGracePeriodSeconds": 0,
		          "containers": [{"name": "c", "image": "docker.io/library/busybox:latest",
		                          "imagePullPolicy": "Never",
		                          "ports": [{"name": "http", "containerPort": 8080}],
		                          "command": ["sh", "-c", "httpd -p 9090 -h /etc; exec httpd -f -p 8080 -h /etc"],
		                          "readinessProbe": {"periodSeconds": 1,
		                                             "httpGet": {"path": "/hostname", "port": 8080}}}]}}
	END
}

pods() {
	kubectl create namespace shop
	kubectl create namespace bank
	kubectl label namespace bank team=bank
	pod shop web node-2
	pod shop db node-2
	pod shop far node-3
	pod bank till node-3
	kubectl wait -n shop --for=condition=Ready pod --all --timeout=30s
	kubectl wait -n bank --for=condition=Ready pod --all --timeout=30s
}

ip_of() {
	kubectl get pod -n "${1%/*}" "${1#*/}" -o jsonpath='{.status.podIP}'
}

# talks FROM TO [PORT]: whether the pod FROM reaches TO, both NAMESPACE/NAME; TO may be an address.
talks() {
	local to=$2

	[[ $to != */* ]] || to=$(ip_of "$to")
	kubectl exec -n "${1%/*}" "${1#*/}" -- sh -c "nc -w 1 $to ${3:-8080} </dev/null"
}

silent() {
	! talks "$@"
}

# policy SPEC: of the namespace shop.
policy() {
	kubectl apply -f - <<-END
		{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy",
		 "metadata": {"name": "${2:-p}", "namespace": "shop"}, "spec": {$1}}
	END
	# Nothing happens for a policy that changes nothing, so there is nothing to wait for.
	sleep 1
}

no_policies() {
	kubectl delete networkpolicy -n shop --all
	sleep 1
}

@test "default deny of ingress holds on the same node and between nodes, but not for probes" {
	pods
	talks shop/web shop/db
	talks shop/web shop/far
	policy '"podSelector": {}, "policyTypes": ["Ingress"]'
	silent shop/web shop/db
	silent shop/far shop/db
	silent bank/till shop/web
	talks shop/web bank/till
	# A pod reaches itself, and its node reaches it.
	talks shop/db shop/db
	on node-2 curl -sf --max-time 2 "http://$(ip_of shop/db):8080/hostname"
	run ! curl -sf --max-time 1 "http://$(ip_of shop/db):8080/hostname"
	no_policies
	talks shop/web shop/db
	kubectl get pods -n shop -o json | jq -e 'all(.items[].status.containerStatuses[]; .ready)'
}

@test "default deny of egress holds, also through services" {
	kubectl expose pod db -n shop --port=80 --target-port=8080
	policy '"podSelector": {"matchLabels": {"app": "web"}}, "policyTypes": ["Egress"]'
	silent shop/web shop/db
	silent shop/web shop/far
	silent shop/web "$(kubectl get service -n shop db -o jsonpath='{.spec.clusterIP}')" 80
	talks shop/db shop/web
	talks bank/till shop/web
	no_policies
	talks shop/web "$(kubectl get service -n shop db -o jsonpath='{.spec.clusterIP}')" 80
}

# allow PEER...: db accepts only these.
allow() {
	policy "\"podSelector\": {\"matchLabels\": {\"app\": \"db\"}}, \"ingress\": [{\"from\": [$1]}]"
}

@test "every kind of peer is let in, and nobody else" {
	allow '{"podSelector": {"matchLabels": {"app": "web"}}}'
	talks shop/web shop/db
	silent shop/far shop/db
	silent bank/till shop/db
	allow '{"podSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["far"]}]}}'
	silent shop/web shop/db
	talks shop/far shop/db
	allow '{"namespaceSelector": {"matchLabels": {"team": "bank"}}}'
	silent shop/web shop/db
	talks bank/till shop/db
	allow '{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "bank"}},
	        "podSelector": {"matchLabels": {"app": "none"}}}'
	silent bank/till shop/db
	allow "{\"ipBlock\": {\"cidr\": \"0.0.0.0/0\", \"except\": [\"$(ip_of shop/far)/32\"]}}"
	talks shop/web shop/db
	talks bank/till shop/db
	silent shop/far shop/db
	curl -sf --max-time 2 "http://$(ip_of shop/db):8080/hostname"
	# What a namespace is called changes.
	allow '{"namespaceSelector": {"matchLabels": {"team": "other"}}}'
	silent bank/till shop/db
	kubectl label namespace bank --overwrite team=other
	within 2 talks bank/till shop/db
	kubectl label namespace bank --overwrite team=bank
	no_policies
}

@test "ports, ranges and named ports are told apart" {
	local db='"podSelector": {"matchLabels": {"app": "db"}}'

	policy "$db, \"ingress\": [{\"ports\": [{\"port\": 9090}]}]"
	talks shop/web shop/db 9090
	silent shop/web shop/db 8080
	policy "$db, \"ingress\": [{\"ports\": [{\"port\": \"http\"}]}]"
	silent shop/web shop/db 9090
	talks shop/far shop/db 8080
	policy "$db, \"ingress\": [{\"ports\": [{\"port\": 9000, \"endPort\": 9100}]}]"
	talks shop/far shop/db 9090
	silent shop/far shop/db 8080
	policy "$db, \"ingress\": [{\"ports\": [{\"port\": 8080, \"protocol\": \"UDP\"}]}]"
	silent shop/web shop/db 8080
	policy '"podSelector": {"matchLabels": {"app": "web"}}, "policyTypes": ["Egress"],
		"egress": [{"to": [{"podSelector": {}}], "ports": [{"port": "http"}]}]'
	talks shop/web shop/far 8080
	silent shop/web shop/far 9090
	silent shop/web bank/till 8080
	no_policies
}

@test "a new pod is isolated from its first packet on" {
	policy '"podSelector": {"matchLabels": {"app": "late"}}, "policyTypes": ["Egress"]'
	kubectl apply -f - <<-END
		{"apiVersion": "v1", "kind": "Pod",
		 "metadata": {"name": "late", "namespace": "shop", "labels": {"app": "late"}},
		 "spec": {"terminationGracePeriodSeconds": 0, "restartPolicy": "Never",
		          "nodeSelector": {"kubernetes.io/hostname": "node-2"},
		          "containers": [{"name": "c", "image": "docker.io/library/busybox:latest",
		                          "imagePullPolicy": "Never",
		                          "command": ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do nc -w 1 $(ip_of shop/db) 8080 </dev/null && exit 1; done; exit 0"]}]}}
	END
	kubectl wait -n shop --for=jsonpath='{.status.phase}'=Succeeded pod/late --timeout=30s
	kubectl delete pod -n shop late
	no_policies
}

@test "policies hold across the end of the watcher and the restart of a node" {
	policy '"podSelector": {"matchLabels": {"app": "db"}}'
	kill_watcher
	silent shop/web shop/db
	manykube node stop -q node-2
	manykube node start -q node-2
	on node-2 nft list table inet manykube-policy >/dev/null
	kubectl wait -n shop --for=condition=Ready pod/db --timeout=60s
	within 20 talks shop/far shop/web
	silent shop/far shop/db
	# The new watcher works.
	no_policies
	within 5 talks shop/far shop/db
}

@test "--network-policy=false turns it off" {
	policy '"podSelector": {"matchLabels": {"app": "db"}}'
	silent shop/far shop/db
	manykube start -q --network-policy=false
	within 5 talks shop/far shop/db
	run on node-2 nft list table inet manykube-policy
	[ "$status" != 0 ] || fail "the table is still there"
	manykube start -q --network-policy=true
	within 5 silent shop/far shop/db
}
