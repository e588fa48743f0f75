#!/usr/bin/env bats
# What start can be told about a cluster reaches its parts, on a real cluster.

load helper

setup_file() {
	begin_file e2e-settings e2e-undo
	# What is below /tmp is covered while nodes are made.
	SHARED=$(mktemp -d /tmp/manykube-e2e-shared.XXXXXX)
	export SHARED
	echo "from the host" >"$SHARED/file"
	# Ids that nobody has: those of the user whose files these are.
	chown -R 4321:4321 "$SHARED"
	PORT=$(free_port)
	export PORT
	start_registry
	(cd "$SHARED" && manykube start -q --offline --nodes=2 --wait=all \
		--label=tier=db --label=node-role.kubernetes.io/storage= \
		--taint=dedicated=db:PreferNoSchedule \
		--mount=.:/shared --mount="$SHARED/file:/etc/the-file:ro" \
		--ports="$PORT:30080" \
		--apiserver-names=api.example.com,other.example.com --apiserver-ips=10.1.2.3 \
		--service-cluster-ip-range=10.111.0.0/16 --pod-network-cidr=10.150.0.0/16 \
		--dns-domain=my.test --cert-expiration=48h \
		--image-repository=registry.example.com/k8s \
		--extra-config=kubelet.max-pods=42 --extra-config=kubelet.maxParallelImagePulls=3 \
		--extra-config=kubelet.serializeImagePulls=false \
		--extra-config=apiserver.max-requests-inflight=399 \
		--extra-config=controller-manager.kube-api-qps=299 \
		--extra-config=scheduler.kube-api-qps=99 \
		--extra-config=etcd.quota-backend-bytes=4294967296 \
		--extra-config=proxy.nftables.minSyncPeriod=3s \
		--extra-config=kubeadm.encryptionAlgorithm=ECDSA-P384 \
		--feature-gates=InPlacePodVerticalScaling=true,SidecarContainers=true \
		--keep-context --embed-certs)
}

teardown_file() {
	end_file
	stop_registry
	[ -z "${SHARED:-}" ] || rm -rf "$SHARED"
}

# The command line of a control plane's part.
command_of() {
	kubectl -n kube-system get pod "$1-node-1" -o jsonpath='{.spec.containers[0].command}'
}

# A registry without TLS that serves one image: our own busybox under another name.
start_registry() {
	local image=("$MANYKUBE_CACHE"/v*/images/busybox*.tar)

	REGISTRY_PORT=$(free_port)
	export REGISTRY_PORT
	python3 "$BATS_TEST_DIRNAME/registry.py" "$REGISTRY_PORT" \
		"${image[0]}" >"$BATS_FILE_TMPDIR/registry.log" 2>&1 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/registry.pid"
}

stop_registry() {
	kill "$(cat "$BATS_FILE_TMPDIR/registry.pid")" 2>/dev/null || true
}

@test "labels and taints are on every node" {
	assert_equal "$(kubectl get nodes -l tier=db,node-role.kubernetes.io/storage= -o name | wc -l)" 2
	assert_equal "$(kubectl get nodes -o jsonpath='{.items[*].spec.taints[*].effect}')" \
		"PreferNoSchedule PreferNoSchedule"
}

@test "the kubelet has its arguments and its configuration" {
	assert_equal "$(kubectl get node node-2 -o jsonpath='{.status.capacity.pods}')" 42
	run -0 kubectl get --raw /api/v1/nodes/node-2/proxy/configz
	assert_equal "$(jq '.kubeletconfig.maxParallelImagePulls' <<<"$output")" 3
	assert_equal "$(jq '.kubeletconfig.featureGates.SidecarContainers' <<<"$output")" true
}

@test "extra arguments and feature gates reach the control plane" {
	local gates="--feature-gates=InPlacePodVerticalScaling=true,SidecarContainers=true"

	run -0 command_of kube-apiserver
	assert_output_has "--max-requests-inflight=399"
	assert_output_has "$gates"
	run -0 command_of kube-controller-manager
	assert_output_has "--kube-api-qps=299"
	assert_output_has "$gates"
	run -0 command_of kube-scheduler
	assert_output_has "--kube-api-qps=99"
	assert_output_has "$gates"
	run -0 command_of etcd
	assert_output_has "--quota-backend-bytes=4294967296"
	run -0 kubectl -n kube-system get configmap kube-proxy -o jsonpath='{.data.config\.conf}'
	assert_output_has "minSyncPeriod: 3s"
}

@test "the API's certificate has the names, the key and the life that were asked for" {
	run -0 on node-1 openssl x509 -in /etc/kubernetes/pki/apiserver.crt -noout -text
	assert_output_has "DNS:api.example.com"
	assert_output_has "DNS:other.example.com"
	assert_output_has "IP Address:10.1.2.3"
	assert_output_has "P-384"
	on node-1 openssl x509 -in /etc/kubernetes/pki/apiserver.crt -checkend 169200
	run ! on node-1 openssl x509 -in /etc/kubernetes/pki/apiserver.crt -checkend 174000
}

@test "pods, services and names are where they were wanted" {
	assert_equal "$(kubectl get service kubernetes -o jsonpath='{.spec.clusterIP}')" 10.111.0.1
	assert_equal "$(kubectl get node node-2 -o jsonpath='{.spec.podCIDR}')" 10.150.1.0/24
	kubectl run resolve --image=busybox --image-pull-policy=Never --restart=Never -- \
		sh -c 'until nslookup kubernetes.default.svc.my.test; do sleep 1; done'
	kubectl wait --for=jsonpath='{.status.phase}'=Succeeded pod/resolve --timeout=60s
}

@test "Kubernetes' images have the names of the other repository and were not pulled" {
	run -0 kubectl -n kube-system get pods -o jsonpath='{.items[*].spec.containers[*].image}'
	assert_output_has registry.example.com/k8s/kube-apiserver
	assert_output_has registry.example.com/k8s/coredns
	[[ $output != *registry.k8s.io* ]]
}

@test "a directory of the host is on every node, and the pods of each see it" {
	on node-2 sh -c 'cat /shared/file && echo "from the node" >/shared/answer'
	assert_equal "$(cat "$SHARED/answer")" "from the node"
	assert_equal "$(stat -c %u:%g "$SHARED/answer")" 4321:4321
	assert_equal "$(on node-1 cat /etc/the-file)" "from the host"
	run ! on node-1 sh -c 'echo no >/etc/the-file'
	run ! on node-1 mount -o remount,rw /etc/the-file
	kubectl apply -f - <<-END
		apiVersion: apps/v1
		kind: DaemonSet
		metadata: { name: sees }
		spec:
		  selector: { matchLabels: { app: sees } }
		  template:
		    metadata: { labels: { app: sees } }
		    spec:
		      terminationGracePeriodSeconds: 0
		      containers:
		      - { name: c, image: busybox, imagePullPolicy: Never,
		          command: [sh, -c, 'grep host /s/file && touch /s/seen-on-\$NODE && exec sleep infinity'],
		          env: [{ name: NODE, valueFrom: { fieldRef: { fieldPath: spec.nodeName } } }],
		          volumeMounts: [{ name: s, mountPath: /s }] }
		      volumes: [{ name: s, hostPath: { path: /shared } }]
	END
	within 60 test -e "$SHARED/seen-on-node-1" -a -e "$SHARED/seen-on-node-2"
	assert_equal "$(stat -c %u "$SHARED/seen-on-node-1")" 4321
	kubectl delete daemonset sees
}

@test "what a node leaves in a directory of the host gives nobody the rights of root, nor of another user" {
	local bob=5432

	install -o "$bob" -g "$bob" -m 4755 /bin/true "$SHARED/bobs"
	install -o root -g root -m 644 /dev/null "$SHARED/roots"
	on node-2 sh -c 'cp /bin/true /shared/own && chmod 6755 /shared/own'
	assert_equal "$(stat -c %a:%u:%g "$SHARED/own")" 6755:4321:4321
	# It can be given to users of the node only, which are nobody here.
	on node-2 sh -c 'cp /bin/true /shared/given && chown 1000:1000 /shared/given && chmod 6755 /shared/given'
	assert_equal "$(stat -c %u:%g "$SHARED/given")" 268436456:268436456
	assert_equal "$(on node-1 stat -c %u:%g /shared/given)" 1000:1000
	for file in bobs roots; do
		assert_equal "$(on node-2 stat -c %u:%g "/shared/$file")" 65534:65534
		run ! on node-2 sh -c "echo x >>/shared/$file"
		run ! on node-2 chmod 4777 "/shared/$file"
		run ! on node-2 chown 0:0 "/shared/$file"
	done
	# Capabilities hold in namespaces of the owner's only.
	on node-2 setcap cap_dac_override+ep /shared/own
	run -0 getcap -n "$SHARED/own"
	assert_output_has "[rootid=4321]"
	rm -f "$SHARED"/{own,given,bobs,roots}
}

@test "a directory of root's that others can reach is for nodes to read only" {
	local open=$SHARED-open

	[[ $(findmnt -no OPTIONS --target /tmp) != *nosuid* ]] || skip "/tmp is mounted nosuid"
	mkdir "$open"
	run manykube node add --mount="$open:/open"
	rmdir "$open"
	assert_status 14
	assert_output_has "'$open' belongs to root"
	assert_output_has "':ro'"
}

@test "a port of the host leads to a service's port on the nodes" {
	apply_web
	kubectl create service nodeport web-by-port --tcp=80:8080 --node-port=30080
	kubectl set selector service web-by-port app=web
	within 30 curl -fsS -m 2 "http://127.0.0.1:$PORT/"
}

@test "ports and registries can be changed on a running cluster, and it says that it runs" {
	local more

	more=$(free_port)
	run -0 manykube start --ports="$more:30080" \
		--insecure-registry="$(profile_get .gateway):$REGISTRY_PORT" \
		--registry-mirror="docker.io=http://$(profile_get .gateway):$REGISTRY_PORT"
	assert_output_has "is running"
	[[ $output != *"Starting node"* ]]
	assert_output_has "Adding to --ports: $more:30080; $PORT:30080 stays"
	within 30 curl -fsS -m 2 "http://127.0.0.1:$more/"
	curl -fsS -m 10 "http://127.0.0.1:$PORT/"
	# A port that the cluster has may lead elsewhere.
	run -0 manykube start --ports="$more:30080@node-1"
	assert_output_has "Adding to --ports: $more:30080@node-1; it replaces $more:30080"
	within 30 curl -fsS -m 2 "http://127.0.0.1:$more/"
	run manykube start --ports="$REGISTRY_PORT:1"
	assert_status 71
	assert_output_has "is in use"
}

@test "images come from an insecure registry and from a mirror" {
	local gateway

	gateway=$(profile_get .gateway)
	kubectl run insecure --image="$gateway:$REGISTRY_PORT/some/image:one" --restart=Never -- true
	kubectl run mirrored --image=docker.io/some/mirrored:one --restart=Never -- true
	kubectl wait --for=jsonpath='{.status.phase}'=Succeeded pod/insecure pod/mirrored --timeout=60s
}

@test "a node may have a mirror of its own, and apply changes those of all" {
	local file=$BATS_TEST_TMPDIR/cluster.yaml mirror

	mirror=http://$(profile_get .gateway):$REGISTRY_PORT
	manykube node set -q node-2 --registry-mirror="quay.io=$mirror"
	kubectl run own --image=quay.io/some/own:one --restart=Never \
		--overrides='{"spec":{"nodeName":"node-2"}}' -- true
	manykube config view >"$file"
	grep -A 2 'registryMirrors:' "$file" | grep -qF -- "- $mirror"
	sed -i 's/^\( *\)docker.io:$/\1ghcr.io:/' "$file"
	run -0 manykube apply -y -f "$file"
	[[ $output != *"Starting node"* ]]
	kubectl run applied --image=ghcr.io/some/applied:one --restart=Never -- true
	kubectl wait --for=jsonpath='{.status.phase}'=Succeeded pod/own pod/applied --timeout=60s
	manykube node set -q node-2 --registry-mirror=quay.io-
	run ! on node-2 test -e /etc/containerd/certs.d/quay.io/hosts.toml
}

@test "all of it is described by the schema of profiles" {
	manykube profile list -o json | assert_schema profile-list
}

@test "the context was kept and the certificates are embedded" {
	run kubectl config current-context
	assert_status 1
	run -0 kubectl config view --raw -o jsonpath='{.users[0].user}'
	assert_output_has client-key-data
}

@test "what a cluster was made with is not changed, and the option named" {
	run manykube start --dns-domain=other.test
	assert_status 14
	assert_output_has "--dns-domain"
	run manykube start --extra-config=kubelet.max-pods=43
	assert_status 14
	run -0 manykube start --dns-domain=my.test -q
}

@test "a node comes back with its mounts, labels and ports after everything was killed" {
	local node

	for node in node-1 node-2; do
		kill -KILL "$(cut -d' ' -f1 "$(profile_dir)/nodes/$node/pid")"
	done
	kill -KILL "$(jq .pid "$(profile_dir)/front-door.status.json")"
	manykube start -q
	assert_equal "$(on node-2 cat /shared/file)" "from the host"
	assert_equal "$(kubectl get nodes -l tier=db -o name | wc -l)" 2
	within 60 curl -fsS -m 2 "http://127.0.0.1:$PORT/"
}

@test "a dry run tells the plan and makes nothing" {
	run -0 --separate-stderr manykube start -p e2e-undo --dry-run --nodes=3 --offline --cpus=1 --memory=2g \
		--disk-size=20g --driver=none
	assert_output_has "would be created; 1 CPU, 2.0Gi of memory, a disk of 20Gi"
	[[ $stderr == *"--driver=none is ignored"* ]] || fail "$stderr"
	assert_output_has "node-3"
	run manykube status -p e2e-undo
	assert_status 85
	run -0 manykube start --dry-run --nodes=3
	assert_output_has "Node node-2: worker, $(profile_get '.nodes[1].address'), runs; all $(nproc) CPU"
	assert_output_has "would be created"
	assert_equal "$(profile_get '.nodes | length')" 2
}

@test "a failed start is removed again if it was asked for, an older cluster never" {
	run manykube start -p e2e-undo --offline --wait-timeout=2s --delete-on-failure
	assert_status 102
	assert_output_has "without --delete-on-failure to keep the cluster and its logs"
	[[ $output != *"nothing was undone"* ]] || fail "$output"
	run manykube status -p e2e-undo
	assert_status 85
	run manykube start --wait=all --wait-timeout=1s --nodes=3 --delete-on-failure
	[ "$status" -ne 0 ]
	assert_equal "$(profile_get '.nodes | length')" 3
}
