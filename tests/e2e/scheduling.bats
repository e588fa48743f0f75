#!/usr/bin/env bats
# What clusters of many nodes are made for: the scheduler's choices among nodes that differ.
# shellcheck disable=SC2154 # bats sets status, output and lines

load helper

# node-1 has the host's CPUs; another has fewer, and another promises more than there is.
setup_file() {
	begin_file e2e-scheduling
	manykube start --offline --memory=2g
	manykube node add small --cpus=1 --memory=768m --label=size=small --label=zone=a
	manykube node add big --cpus=64 --memory=900g --label=size=big --label=zone=b \
		2>"$BATS_FILE_TMPDIR/warning"
}

teardown_file() {
	end_file
}

# A pod that sleeps: pod NAME REQUESTS [LINE-OF-ITS-SPEC...]
pod() {
	local name=$1 requests=$2

	shift 2
	kubectl apply -f - <<-POD
		apiVersion: v1
		kind: Pod
		metadata: {name: $name, labels: {app: $name}}
		spec:
		  terminationGracePeriodSeconds: 0
		  $(printf '%s\n  ' "$@")
		  containers:
		    - name: main
		      image: docker.io/library/busybox:latest
		      imagePullPolicy: Never
		      command: [sleep, infinity]
		      resources: {requests: {$requests}}
	POD
}

assert_runs_on() {
	kubectl wait --timeout=60s --for=condition=Ready "pod/$1"
	assert_equal "$(kubectl get pod "$1" -o jsonpath='{.spec.nodeName}')" "$2" "where $1 is"
}

# The pod $1 fits nowhere, and what is said of it has $2.
assert_waits() {
	within 30 waits "$1" "$2"
}

waits() {
	kubectl get pod "$1" -o json | jq -e --arg part "$2" '.status.conditions |
		if any(.type == "PodScheduled" and .reason == "Unschedulable" and (.message | contains($part)))
		then true else . end == true' ||
		{ kubectl get pod "$1" -o jsonpath='{.status}' && return 1; }
}

# The nodes that run a replica of "spread", and how many replicas wait.
spread_nodes() {
	kubectl get pods -l app=spread -o json | jq -r '[.items[] |
		select(.metadata.deletionTimestamp == null)] |
		(map(select(any(.status.conditions[]?; .type == "Ready" and .status == "True")) |
			.spec.nodeName) | sort | join(" ")) +
		", \(map(select(.spec.nodeName == null)) | length) waiting"'
}

spread_is() {
	assert_equal "$(spread_nodes)" "$1"
}

is_gone() {
	[ -z "$(kubectl get "$1" --ignore-not-found -o name)" ]
}

@test "pods go where there is room, and who fits nowhere waits and says why" {
	grep -q "will see 64 CPUs" "$BATS_FILE_TMPDIR/warning"
	pod fast 'cpu: 33'
	pod wide 'memory: 500Gi'
	assert_runs_on fast big
	assert_runs_on wide big
	# Big would be enough, were it not for what it has.
	pod faster 'cpu: 34'
	pod wider 'memory: 1000Gi'
	assert_waits faster "3 Insufficient cpu"
	assert_waits wider "3 Insufficient memory"
	kubectl delete pod fast wide wider
	assert_runs_on faster big
	kubectl delete pod faster
}

@test "a node that was given more takes more" {
	pod growing 'cpu: 70'
	assert_waits growing "3 Insufficient cpu"
	manykube node set big --cpus=96
	assert_equal "$(kubectl get node big -o jsonpath='{.status.capacity.cpu}')" 96
	assert_runs_on growing big
	kubectl delete pod growing
}

@test "node selectors and node affinity choose by labels, also of a later label" {
	pod selecting '' 'nodeSelector: {size: small}'
	pod nowhere '' 'nodeSelector: {size: huge}'
	pod required '' 'affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution:
		    {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: Exists},
		      {key: size, operator: NotIn, values: [small]}]}]}}}'
	pod preferring '' 'affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution:
		    [{weight: 100, preference: {matchExpressions: [{key: zone, operator: In, values: [a]}]}}]}}'
	assert_runs_on selecting small
	assert_runs_on required big
	assert_runs_on preferring small
	assert_waits nowhere "3 node(s) didn't match Pod's node affinity/selector"
	manykube node set -q node-1 --label=size=huge
	assert_runs_on nowhere node-1
	kubectl delete pod required preferring nowhere
}

@test "pod affinity follows a pod to its node and to its zone" {
	local near

	near='affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution:
		    [{labelSelector: {matchLabels: {app: selecting}}, topologyKey: TOPOLOGY}]}}'
	pod beside '' "${near/TOPOLOGY/kubernetes.io/hostname}"
	pod around '' "${near/TOPOLOGY/zone}"
	assert_runs_on beside small
	assert_runs_on around small
	kubectl delete pod beside around
}

@test "pod anti-affinity: one on each node, and one more waits" {
	kubectl apply -f - <<-END
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: spread}
		spec:
		  replicas: 4
		  selector: {matchLabels: {app: spread}}
		  template:
		    metadata: {labels: {app: spread}}
		    spec:
		      terminationGracePeriodSeconds: 0
		      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution:
		        [{labelSelector: {matchLabels: {app: spread}}, topologyKey: kubernetes.io/hostname}]}}
		      containers:
		        - name: main
		          image: docker.io/library/busybox:latest
		          imagePullPolicy: Never
		          command: [sleep, infinity]
	END
	within 60 spread_is "big node-1 small, 1 waiting"
	assert_waits "$(kubectl get pods -l app=spread --field-selector=status.phase=Pending \
		-o jsonpath='{.items[0].metadata.name}')" "3 node(s) didn't match pod anti-affinity rules"
}

# A build of one's own is told from the payload's by the version it says it is.
@test "a node with a kubelet of one's own build gets it" {
	local kubelet=$BATS_FILE_TMPDIR/kubelet own

	own=$(profile_get .kubernetesVersion)
	own=${own%.*}.9
	sed "s/$(profile_get .kubernetesVersion)/$own/g" \
		"$MANYKUBE_CACHE/$(profile_get .kubernetesVersion)/bin/kubelet" >"$kubelet"
	run manykube node add own --kubelet-binary="$kubelet"
	assert_status 14
	assert_output_has "--kubelet-binary"
	chmod +x "$kubelet"
	manykube node add own --kubelet-binary="$kubelet"
	assert_equal "$(kubectl get node own -o jsonpath='{.status.nodeInfo.kubeletVersion}')" "$own"
	within 60 spread_is "big node-1 own small, 0 waiting"
	manykube node delete -q own --force
	within 60 spread_is "big node-1 small, 1 waiting"
}

@test "a taint keeps pods away that do not tolerate it" {
	manykube node set -q small --taint=only=tests:NoSchedule
	pod refused '' 'nodeSelector: {size: small}'
	pod tolerant '' 'nodeSelector: {size: small}' \
		'tolerations: [{key: only, value: tests, effect: NoSchedule}, {key: leave, operator: Exists}]'
	assert_waits refused "untolerated taint"
	assert_runs_on tolerant small
	# Who was there before stays.
	assert_runs_on selecting small
	kubectl delete pod refused
}

@test "a taint that executes drives pods out, and they come back without it" {
	manykube node set -q small --taint=leave=now:NoExecute
	within 60 is_gone pod/selecting
	within 60 spread_is "big node-1, 2 waiting"
	assert_runs_on tolerant small
	manykube node set -q small --taint=leave- --taint=only-
	assert_equal "$(kubectl get node small -o jsonpath='{.spec.taints}')" ""
	within 60 spread_is "big node-1 small, 1 waiting"
	kubectl delete deployment spread
	kubectl delete pod tolerant
}

@test "a node's memory is its limit, and who takes more is killed" {
	run -0 kubectl describe node small
	assert_equal "$(awk '/^Capacity:/ { found = 1 } found && $1 == "memory:" { print $2; exit }' \
		<<<"$output")" 768Mi
	kubectl run glutton --image=docker.io/library/busybox:latest --image-pull-policy=Never \
		--restart=Never --overrides='{"spec": {"nodeName": "small"}}' \
		-- sh -c 'head -c 2000000000 /dev/zero | tail -c 1900000000 >/dev/null'
	kubectl wait --timeout=60s --for=jsonpath='{.status.phase}'=Failed pod/glutton
	# By SIGKILL, as the kernel does it.
	assert_equal "$(kubectl get pod glutton \
		-o jsonpath='{.status.containerStatuses[0].state.terminated.exitCode}')" 137
	within 60 assert_all_ready
}
