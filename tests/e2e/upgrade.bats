#!/usr/bin/env bats
# A cluster becomes one of the next version of Kubernetes, and what runs on it goes on.

load helper

NEW=v1.36.3
OLD=v1.35.4

setup_file() {
	begin_file e2e-upgrade
	manykube start --offline --nodes=2 --kubernetes-version=$OLD
}

teardown_file() {
	end_file
}

# Lines of "NODE VERSION UID" as the API has them.
nodes() {
	kubectl get nodes -o json |
		jq -r '.items[] | "\(.metadata.name) \(.status.nodeInfo.kubeletVersion) \(.metadata.uid)"'
}

# Begin an upgrade and kill it as soon as the jq filter $1 is true of the profile.
kill_upgrade_when() {
	local pid

	"$MANYKUBE" upgrade >"$BATS_TEST_TMPDIR/upgrade" 2>&1 3>&- &
	pid=$!
	until [ "$(profile_get "$1")" = true ]; do
		kill -0 "$pid" || fail "it ended before: $(cat "$BATS_TEST_TMPDIR/upgrade")"
		sleep 0.05
	done
	kill -KILL "$pid"
	wait "$pid" || true
}

kept() {
	kubectl exec deployment/keeper -- cat /data/file
}

@test "what can't be is refused by its rule, and nothing is changed" {
	local before

	before=$(profile_get .)
	assert_each <<-EOF
		106|upgrade --kubernetes-version=v1.2.3|supported: $NEW, $OLD
		14|start --kubernetes-version=$NEW|'manykube upgrade -p e2e-upgrade' for a newer version
		85|upgrade -p nowhere|'nowhere'
		0|upgrade --kubernetes-version=$OLD|already has Kubernetes $OLD
		0|upgrade --dry-run|Node node-2: worker, would be upgraded and restarted
	EOF
	assert_equal "$(profile_get .)" "$before"
}

@test "an upgrade is killed when its control plane does not run, and start brings up what there is" {
	local words

	apply_web
	kubectl apply -f - <<-KEEPER
		apiVersion: v1
		kind: PersistentVolumeClaim
		metadata: {name: data}
		spec:
		  accessModes: [ReadWriteOnce]
		  resources: {requests: {storage: 10Mi}}
		---
		apiVersion: apps/v1
		kind: Deployment
		metadata: {name: keeper}
		spec:
		  selector: {matchLabels: {app: keeper}}
		  template:
		    metadata: {labels: {app: keeper}}
		    spec:
		      terminationGracePeriodSeconds: 0
		      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
		      containers:
		        - name: main
		          image: docker.io/library/busybox:latest
		          imagePullPolicy: Never
		          command: [sh, -c, 'echo kept >>/data/file; sleep 1000000']
		          volumeMounts: [{name: data, mountPath: /data}]
	KEEPER
	kubectl rollout status deployment/keeper --timeout=60s
	nodes | cut -d' ' -f1,3 >"$BATS_FILE_TMPDIR/nodes"

	kill_upgrade_when ".nodes[0].kubernetesVersion == \"$NEW\""
	assert_equal "$(profile_get .upgradingFrom)" $OLD
	run -0 manykube start
	assert_output_has "'manykube upgrade -p e2e-upgrade' continues it"
	assert_all_ready
	assert_equal "$(nodes | cut -d' ' -f1,2 | xargs)" "node-1 $NEW node-2 $OLD"
	assert_equal "$(kubectl version -o json | jq -r .serverVersion.gitVersion)" $NEW
	for words in "" -otable --layout=cluster; do
		# shellcheck disable=SC2086 # none is no word
		run -0 manykube status $words
		assert_output_has "upgrade: from $OLD to $NEW, unfinished: 'manykube upgrade -p e2e-upgrade' continues it"
	done
	run -0 manykube status -o json
	assert_schema status <<<"$output"
	assert_equal "$(jq -r '.[].Upgrade | .From + " " + .To' <<<"$output" | sort -u)" "$OLD $NEW"
	run -0 manykube status -o json --layout=cluster
	assert_schema status-cluster <<<"$output"
	assert_equal "$(jq -r '.Upgrade | .From + " " + .To' <<<"$output")" "$OLD $NEW"
}

@test "a half upgraded cluster takes neither nodes nor another version" {
	run manykube node add
	assert_status 100
	assert_output_has "is being upgraded from Kubernetes $OLD to $NEW"
	run manykube upgrade --kubernetes-version=$OLD
	assert_status 100
	assert_output_has "can only be finished"
	assert_equal "$(profile_get '.nodes | length')" 2
}

@test "killed again with the worker in its turn, the next upgrade finishes, and all is there" {
	kill_upgrade_when ".nodes[1].kubernetesVersion == \"$NEW\""
	run -0 manykube upgrade
	assert_output_has "now has Kubernetes $NEW"
	assert_equal "$(profile_get '.upgradingFrom, .drained' | xargs)" "null null"
	run -0 manykube status
	[[ $output != *upgrade* ]] || fail "the upgrade has ended: $output"
	assert_all_ready
	assert_equal "$(nodes | cut -d' ' -f1,2 | xargs)" "node-1 $NEW node-2 $NEW"
	assert_equal "$(nodes | cut -d' ' -f1,3)" "$(cat "$BATS_FILE_TMPDIR/nodes")"
	assert_equal "$(manykube kubectl version -o json |
		jq -r '.clientVersion.gitVersion, .serverVersion.gitVersion' | xargs)" "$NEW $NEW"
	assert_equal "$(kubectl get nodes -o json | jq '[.items[].spec.unschedulable] | any')" false
}

@test "kubeadm, DNS, kube-proxy and the static pods are of the new version" {
	local of

	assert_equal "$(on node-2 kubeadm version -o short)" $NEW
	assert_equal "$(kubectl get configmap -n kube-system kubeadm-config -o jsonpath='{.data}' |
		jq -r .ClusterConfiguration | grep ^kubernetesVersion)" "kubernetesVersion: $NEW"
	for of in daemonset/kube-proxy deployment/coredns; do
		kubectl rollout status -n kube-system "$of" --timeout=60s
	done
	# Whatever has a tag like Kubernetes' own has the new one.
	assert_equal "$(kubectl get pods -n kube-system -o json | jq -r '.items[] |
		select(.metadata.deletionTimestamp == null) | .spec.containers[].image' |
		grep -o ':v1\.3[56].*' | sort -u)" ":$NEW"
	assert_equal "$(kubectl get deployment -n kube-system coredns -o json |
		jq -r '.spec.template.spec.containers[0] | "\(.image) \(.readinessProbe.periodSeconds)"')" \
		"registry.k8s.io/coredns/coredns:v1.14.2 1"
}

@test "pods reach each other, names are found, and the claim has its data" {
	local pod

	within 60 web_is_ready
	assert_web_reaches_web
	kubectl rollout status deployment/keeper --timeout=60s
	[[ $(kept) == kept* ]] || fail "the file has: $(kept)"
	pod=$(web_pods | head -n 1 | cut -d' ' -f1)
	within 30 kubectl exec "$pod" -- wget -q -O - http://web.default.svc.cluster.local
}

@test "the upgraded cluster grows, and does not go back" {
	run -0 manykube upgrade
	assert_output_has "already has Kubernetes $NEW"
	run manykube upgrade --kubernetes-version=$OLD
	assert_status 106
	assert_output_has "Kubernetes cannot be downgraded"
	run -0 manykube node add
	assert_all_ready
	assert_equal "$(nodes | cut -d' ' -f2 | sort -u)" $NEW
}
