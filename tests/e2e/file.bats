#!/usr/bin/env bats
# A file describes a cluster, ours or kind's, on real clusters.

load helper

setup_file() {
	begin_file e2e-file
	SHARED=$(mktemp -d /var/tmp/manykube-e2e-file.XXXXXX)
	export SHARED
	mkdir "$SHARED/files"
	echo "from the host" >"$SHARED/files/note"
}

teardown_file() {
	end_file
	[ -z "${SHARED:-}" ] || rm -rf "$SHARED"
}

# Of a node: node NAME JQ-FILTER
node() {
	kubectl get node "$1" -o json | jq -r "$2"
}

# What `view` says, without what it says about the cluster.
view() {
	manykube config view | grep -v '^#'
}

write_own() {
	cat >"$SHARED/cluster.yaml" <<-END
		apiVersion: manykube/v1
		kind: Cluster
		name: e2e-file
		featureGates: {SidecarContainers: true}
		extraConfig:
		  apiserver: {max-requests-inflight: 399}
		  kubelet: {containerLogMaxFiles: 7}
		kubeadmPatches:
		- kind: ClusterConfiguration
		  merge: {scheduler: {extraArgs: {v: 3}}}
		defaults:
		  labels: {team: a, tier: web}
		  mounts: ["./files:/shared:ro"]
		nodes:
		- role: worker
		  name: big
		  cpus: 1
		  memory: 2g
		  labels: {tier: db, team: null}
		  taints: ["dedicated=db:NoSchedule"]
		- role: control-plane
		- role: worker
		  memory: 1g
		  maxPods: 33
		  env: {GREETING: hello}
		  extraConfig: {kubelet: {v: 3}}
	END
}

@test "a file makes a cluster of nodes of different shapes" {
	write_own
	# The name is the file's, not the environment's; what is in no file comes from the line.
	MANYKUBE_PROFILE=other manykube start -q -f "$SHARED/cluster.yaml" --offline
	assert_all_ready
	assert_equal "$(profile_get '[.nodes[].name] | join(" ")')" "node-1 big node-2"
	assert_equal "$(profile_get '.nodes[0].primary')" true
	assert_equal "$(node big '.status.capacity.memory')" 2Gi
	assert_equal "$(node big '.status.capacity.cpu')" 1
	assert_equal "$(node big '.metadata.labels | "\(.tier) \(.team)"')" "db null"
	assert_equal "$(node big '.spec.taints[0] | "\(.key)=\(.value):\(.effect)"')" "dedicated=db:NoSchedule"
	assert_equal "$(node node-2 '.status.capacity.memory')" 1Gi
	assert_equal "$(node node-2 '.status.capacity.pods')" 33
	assert_equal "$(node node-2 '.metadata.labels | "\(.tier) \(.team)"')" "web a"
	assert_equal "$(on big cat /shared/note)" "from the host"
	kubectl get --raw "/api/v1/nodes/node-2/proxy/configz" |
		jq -e '.kubeletconfig.containerLogMaxFiles == 7'
	on node-1 cat /etc/kubernetes/manifests/kube-apiserver.yaml | grep -q -- --max-requests-inflight=399
	on node-1 cat /etc/kubernetes/manifests/kube-scheduler.yaml | grep -q -- --v=3
}

@test "the same file again finds all as it is, and names what can't be changed any more" {
	local before

	before=$(kubectl get nodes -o json | jq -r '.items[].metadata.uid')
	run -0 manykube start -f "$SHARED/cluster.yaml" --offline
	assert_output_has "is running"
	assert_equal "$(kubectl get nodes -o json | jq -r '.items[].metadata.uid')" "$before"
	sed 's/399/400/' "$SHARED/cluster.yaml" >"$SHARED/files/changed.yaml"
	sed -i 's,./files,.,' "$SHARED/files/changed.yaml"
	run -14 manykube start -f "$SHARED/files/changed.yaml" --offline
	assert_output_has "cannot be added"
	sed 's/memory: 1g/memory: 900m/' "$SHARED/cluster.yaml" >"$SHARED/other.yaml"
	run -0 manykube start -f "$SHARED/other.yaml" --offline
	assert_output_has "node 'node-2' differs from '$SHARED/other.yaml' and is not changed: memory 1g -> 900m"
	sed 's/memory: 2g/memroy: 2g/' "$SHARED/cluster.yaml" >"$SHARED/wrong.yaml"
	run -18 manykube start -f "$SHARED/wrong.yaml" --offline
	assert_output_has "wrong.yaml:18:3: unknown field 'memroy'; did you mean 'memory'?"
	assert_all_ready
}

@test "a cluster is seen as a file, which makes the same cluster again" {
	local before nodes

	manykube config view -o json | assert_schema cluster
	view >"$SHARED/seen.yaml"
	before=$(<"$SHARED/seen.yaml")
	nodes=$(profile_get '[.nodes[] | del(.phase, .address, .podCidr)] | tojson')
	manykube delete -q
	# From elsewhere, with nothing else said: it is offline as the first was.
	(cd / && manykube start -q -f - <"$SHARED/seen.yaml")
	assert_all_ready
	assert_equal "$(view)" "$before"
	assert_equal "$(profile_get '[.nodes[] | del(.phase, .address, .podCidr)] | tojson')" "$nodes"
	manykube delete -q
}

write_kind() {
	cat >"$SHARED/kind.yaml" <<-END
		kind: Cluster
		apiVersion: kind.x-k8s.io/v1alpha4
		networking:
		  kubeProxyMode: "iptables"
		runtimeConfig:
		  "api/alpha": "false"
		kubeadmConfigPatches:
		- |
		  apiVersion: kubelet.config.k8s.io/v1beta1
		  kind: KubeletConfiguration
		  containerLogMaxFiles: 6
		nodes:
		- role: control-plane
		  kubeadmConfigPatches:
		  - |
		    kind: InitConfiguration
		    nodeRegistration:
		      kubeletExtraArgs:
		        node-labels: "ingress-ready=true"
		  extraPortMappings:
		  - containerPort: 30080
		    hostPort: $PORT
		    listenAddress: "127.0.0.1"
		    protocol: TCP
		- role: worker
		  labels:
		    tier: frontend
		  extraMounts:
		  - hostPath: ./files
		    containerPath: /files
		- role: worker
		  kubeadmConfigPatches:
		  - |
		    kind: JoinConfiguration
		    nodeRegistration:
		      kubeletExtraArgs:
		        max-pods: "44"
		  labels:
		    tier: backend
		  extraPortMappings:
		  - containerPort: 8080
		    hostPort: $OTHER_PORT
		    listenAddress: "127.0.0.1"
	END
}

# A server on a worker with a port of its node, and a node port for all of them.
run_web() {
	kubectl apply -f - <<-POD
		apiVersion: v1
		kind: Pod
		metadata: {name: $1, labels: {app: $1}}
		spec:
		  terminationGracePeriodSeconds: 0
		  nodeSelector: {tier: $2}
		  containers:
		    - name: web
		      image: docker.io/library/busybox:latest
		      imagePullPolicy: Never
		      command: [httpd, -f, -p, "8080", -h, /etc]
		      ports: [{containerPort: 8080, hostPort: 8080}]
	POD
}

@test "a file of kind's makes the cluster that it describes" {
	PORT=$(free_port) OTHER_PORT=$(free_port)
	write_kind
	cd "$SHARED"
	run -0 manykube start -f kind.yaml --offline
	assert_output_has "kind.yaml:4:18: kube-proxy uses nftables here, not iptables"
	assert_all_ready
	assert_equal "$(kubectl get nodes -o name | xargs)" \
		"node/e2e-file-control-plane node/e2e-file-worker node/e2e-file-worker2"
	assert_equal "$(node e2e-file-control-plane '.metadata.labels["ingress-ready"]')" true
	assert_equal "$(node e2e-file-control-plane '.spec.taints[0].key')" node-role.kubernetes.io/control-plane
	assert_equal "$(node e2e-file-worker '.metadata.labels.tier')" frontend
	assert_equal "$(node e2e-file-worker2 '.metadata.labels.tier')" backend
	assert_equal "$(node e2e-file-worker2 '.status.capacity.pods')" 44
	assert_equal "$(on e2e-file-worker cat /files/note)" "from the host"
	on e2e-file-control-plane cat /etc/kubernetes/manifests/kube-apiserver.yaml |
		grep -q -- --runtime-config=api/alpha=false
	kubectl get --raw /api/v1/nodes/e2e-file-worker/proxy/configz |
		jq -e '.kubeletconfig.containerLogMaxFiles == 6'

	# Its ports answer on the host, each at its own node.
	run_web front frontend
	run_web back backend
	kubectl create service nodeport front --tcp=8080 --node-port=30080
	within 30 curl -sf "http://127.0.0.1:$PORT/hostname"
	assert_equal "$(curl -s "http://127.0.0.1:$PORT/hostname")" front
	within 30 curl -sf "http://127.0.0.1:$OTHER_PORT/hostname"
	assert_equal "$(curl -s "http://127.0.0.1:$OTHER_PORT/hostname")" back
	manykube config view -o json | assert_schema cluster
	manykube delete -q
	assert_no_trace
}
