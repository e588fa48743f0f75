#!/usr/bin/env bats
# Failures on purpose: what they do to a real cluster, and that healing leaves nothing of them.

load helper

setup_file() {
	begin_file e2e-fail
	manykube start --nodes=2 --offline --memory=2g --disk-size=4g
}

teardown_file() {
	end_file
}

setup() {
	BRIDGE=$(bridge_of e2e-fail)
}

ready() {
	[ "$(kubectl get node "$1" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}')" = True ]
}

not_ready() {
	local status

	status=$(kubectl get node "$1" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}') &&
		[ "$status" != True ]
}

has_condition() {
	[ "$(kubectl get node "$1" -o jsonpath="{.status.conditions[?(@.type==\"$2\")].status}")" = True ]
}

# The word of the agent of node $1 for its service $2.
service() {
	on "$1" cat /run/manykube/state | awk -v name="$2" '$1 == name { print $2 }'
}

service_is() {
	[ "$(service "$1" "$2")" = "$3" ]
}

no_failures() {
	[ "$(manykube fail list -o json)" = '[]' ]
}

address_of() {
	profile_get ".nodes[] | select(.name == \"$1\") | .address"
}

# Whether this host reaches PORT of NODE.
reaches() {
	timeout 5 bash -c "</dev/tcp/$(address_of "$1")/$2" 2>/dev/null
}

@test "what cannot fail is refused by name, and nothing is changed" {
	local before words

	before=$(profile_get .)
	run -14 manykube fail slow node-2 --loss=200%
	[[ $output == *"'--loss=200%' is not between 0.01% and 100%"* ]]
	run -14 manykube fail partition node-2 --from=node-2
	[[ $output == *"on both sides"* ]]
	run -85 manykube fail freeze node-9
	run -14 manykube fail etcd node-2
	run -36 manykube fail clock node-2
	[[ $output == *"nodes of the driver 'native' have the clock of this host"* ]]
	run -14 manykube heal node-2
	[[ $output == *"node 'node-2' has no failure"* ]]
	run -0 manykube heal --all
	[ "$before" = "$(profile_get .)" ]
}

@test "a frozen node stays frozen over start and unpause, its pods move, and heal resumes it" {
	manykube kubectl -- apply -f - <<-END
		apiVersion: apps/v1
		kind: Deployment
		metadata: { name: movers }
		spec:
		  replicas: 1
		  selector: { matchLabels: { app: movers } }
		  template:
		    metadata: { labels: { app: movers } }
		    spec:
		      terminationGracePeriodSeconds: 0
		      affinity:
		        nodeAffinity:
		          preferredDuringSchedulingIgnoredDuringExecution:
		            - weight: 100
		              preference:
		                matchExpressions:
		                  - { key: kubernetes.io/hostname, operator: In, values: [node-2] }
		      tolerations:
		        - { key: node-role.kubernetes.io/control-plane, operator: Exists }
		        - { key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 5 }
		        - { key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 5 }
		      containers:
		        - name: mover
		          image: docker.io/library/busybox:latest
		          imagePullPolicy: Never
		          command: [sleep, "100000"]
	END
	within 120 kubectl wait --for=condition=Ready pod -l app=movers --timeout=1s
	run -0 kubectl get pod -l app=movers -o jsonpath='{.items[0].spec.nodeName}'
	[ "$output" = node-2 ]
	manykube fail freeze node-2
	manykube status -o json | assert_schema status || true
	manykube fail list -o json | assert_schema fail-list
	manykube node list -o json | assert_schema node-list
	run -0 manykube node list
	[[ $output == *node-2*frozen* ]]
	within 180 not_ready node-2
	within 120 bash -c "$(declare -f kubectl profile_get profile_dir)
		kubectl get pod -l app=movers -o wide | grep -q 'Running.*node-1'"
	run manykube start
	[[ $output == *"fails on purpose (frozen)"* ]]
	run -80 manykube unpause -n node-2
	not_ready node-2
	manykube heal node-2
	within 120 ready node-2
	no_failures
}

@test "a kubelet and a runtime that are held down stay down until they are healed" {
	manykube fail kubelet node-2
	service_is node-2 kubelet held
	manykube fail runtime node-2
	service_is node-2 containerd held
	run manykube start
	service_is node-2 kubelet held
	service_is node-2 containerd held
	manykube heal node-2
	within 60 service_is node-2 kubelet running
	within 60 service_is node-2 containerd running
	within 120 ready node-2
}

@test "a killed node comes back by itself after its time, although the command has ended" {
	manykube fail kill node-2 --for=10s
	run manykube status -n node-2
	[[ $output == *"host: Stopped"* ]]
	within 180 no_failures
	within 180 ready node-2
	within 180 bash -c '! pgrep -f "[f]ail-timer -p e2e-fail"'
}

@test "a partition cuts connections in both directions, and one of a port only these" {
	within 60 reaches node-2 10250
	manykube fail partition node-2 --from=host,front-door --port=10250
	run ! reaches node-2 10250
	run -0 nft list table bridge "$BRIDGE"
	manykube heal node-2
	reaches node-2 10250
	run ! nft list table bridge "$BRIDGE"
	manykube fail partition node-2
	run ! reaches node-2 10250
	run ! on node-2 timeout 5 bash -c "</dev/tcp/$(address_of node-1)/6443"
	within 180 not_ready node-2
	manykube heal node-2
	within 120 ready node-2
}

@test "a slow network loses what it should" {
	run manykube fail slow node-2 --delay=100ms
	if [ "$status" -ne 0 ]; then
		[ "$status" -eq 36 ]
		[[ $output == *netem* ]]
		no_failures
	fi
	manykube fail slow node-2 --to=host --loss=100%
	run ! reaches node-2 10250
	manykube fail slow node-2 --to=host --rate=100mbit
	reaches node-2 10250
	manykube heal
}

@test "an API server and etcd that are held down stay down until they are healed" {
	manykube fail etcd node-1
	run ! kubectl get --raw /readyz
	run -100 manykube start
	[[ $output == *"'manykube heal"* ]]
	manykube heal node-1
	within 180 kubectl get --raw /readyz
	manykube fail api node-1
	run ! kubectl get --raw /readyz
	manykube heal
	within 180 kubectl get --raw /readyz
}

no_ballast() {
	! pgrep -x ballast
}

@test "a full disk and used-up memory are reported by the kubelet, and harm nobody else" {
	manykube fail disk-full node-2
	manykube fail memory node-2
	within 240 has_condition node-2 DiskPressure
	within 240 has_condition node-2 MemoryPressure
	ready node-1
	manykube heal node-2
	run -0 on node-2 df --output=pcent /var
	[[ $output != *100%* ]]
	within 20 no_ballast
}

@test "a deletion removes what failures have made, also of a killed command" {
	manykube fail partition node-2 --for=1h
	manykube fail kubelet node-2
	manykube fail freeze node-2
	manykube delete
	run ! nft list table bridge "$BRIDGE"
	assert_no_trace
}
