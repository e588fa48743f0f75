#!/usr/bin/env bats
# Kubernetes of more than one version: nodes with an older kubelet, and whole clusters of an older
# release.

load helper

NEW=v1.36.3
OLD=v1.35.4

setup_file() {
	begin_file e2e-versions e2e-old
	manykube start --offline
}

teardown_file() {
	end_file
}

# Lines of "NODE VERSION" as the kubelets themselves told the API.
kubelets() {
	kubectl get nodes -o json | jq -r '.items[] | "\(.metadata.name) \(.status.nodeInfo.kubeletVersion)"'
}

@test "a worker with an older kubelet joins; all else that it runs is the cluster's" {
	run -0 manykube node add old --kubernetes-version=1.35
	assert_all_ready
	assert_equal "$(kubelets | xargs)" "node-1 $NEW old $OLD"
	assert_equal "$(manykube node list -o json | jq -r '.[].KubernetesVersion' | xargs)" "$NEW $OLD"
	assert_equal "$(manykube kubectl version -o json | jq -r .serverVersion.gitVersion)" $NEW
	assert_equal "$(on old kubelet --version)" "Kubernetes $OLD"
	assert_equal "$(on old kubeadm version -o short)" $NEW
	run -0 manykube start --dry-run
	assert_output_has "with the kubelet of $OLD (in the cache)"
}

@test "pods run there, with the cluster's kube-proxy, and reach those on the other node" {
	apply_web
	assert_web_reaches_web
	assert_equal "$(kubectl get pods -n kube-system -l k8s-app=kube-proxy -o json | jq -r '.items[] |
		select(.spec.nodeName == "old") | "\(.spec.containers[0].image) \(.status.phase)"')" \
		"registry.k8s.io/kube-proxy:$NEW Running"
}

@test "the node keeps its version when it is stopped and started" {
	run -0 manykube node stop old
	run -0 manykube node start old
	assert_all_ready
	assert_equal "$(kubelets | xargs)" "node-1 $NEW old $OLD"
}

@test "a kubelet of one's own needs no version" {
	run -0 manykube node add own --kubelet-binary="$MANYKUBE_CACHE/$OLD/bin/kubelet"
	assert_equal "$(kubelets | xargs)" "node-1 $NEW old $OLD own $OLD"
	run -0 manykube node delete own --force
}

@test "a cluster of the older release, whose nodes are of it" {
	export MANYKUBE_PROFILE=e2e-old

	run -0 manykube start --offline --kubernetes-version=1.35
	run -0 manykube node add
	assert_all_ready
	assert_equal "$(kubelets | xargs)" "node-1 $OLD node-2 $OLD"
	assert_equal "$(manykube kubectl version -o json | jq -r '.clientVersion.gitVersion, .serverVersion.gitVersion' | xargs)" \
		"$OLD $OLD"
}

@test "versions that don't go together are refused by their rule, and nothing is made" {
	local before profile want words part

	before=$(for MANYKUBE_PROFILE in $E2E_PROFILES; do profile_get .; done)
	while IFS='|' read -r profile want words part; do
		read -ra words <<<"$words"
		run manykube "${words[@]}" -p "$profile"
		assert_status "$want"
		assert_output_has "$part"
	done <<-EOF
		e2e-old|106|node add --kubernetes-version=$NEW|a kubelet may be up to three minor versions older than the API server, never newer
		e2e-old|106|worker create new --kubernetes-version=stable|a kubelet may be up to three minor versions older
		e2e-old|14|start --kubernetes-version=$NEW|exists with --kubernetes-version=$OLD
		e2e-versions|14|start --kubernetes-version=$OLD|exists with --kubernetes-version=$NEW
		e2e-versions|106|node add --kubernetes-version=v1.2.3|supported: $NEW, $OLD
		e2e-versions|14|node add --kubernetes-version=$OLD --kubelet-binary=/bin/true|either it or --kubernetes-version
	EOF
	assert_equal "$(for MANYKUBE_PROFILE in $E2E_PROFILES; do profile_get .; done)" "$before"
}

@test "what is in the cache and what is known is told" {
	run -0 manykube doctor
	assert_output_has "has Kubernetes $NEW, $OLD"
	run -0 manykube version
	assert_output_has "$NEW (in the cache) $OLD (in the cache)"
}
