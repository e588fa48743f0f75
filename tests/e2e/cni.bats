#!/usr/bin/env bats
# Pod networks: bridge and flannel, and changing a live cluster from one to another.

load helper

setup_file() {
	begin_file e2e-cni
	manykube start -q --offline --nodes=2 --cni=bridge
	apply_web
	kubectl run bare --image=docker.io/library/busybox:latest --image-pull-policy=Never \
		--overrides='{"spec": {"nodeName": "node-2", "terminationGracePeriodSeconds": 0}}' -- sleep 7200
	kubectl apply -f - <<-'END'
		{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "shut"},
		 "spec": {"selector": {"matchLabels": {"app": "shut"}},
		          "template": {"metadata": {"labels": {"app": "shut"}},
		                       "spec": {"nodeName": "node-2", "terminationGracePeriodSeconds": 0,
		                                "containers": [{"name": "a", "image": "docker.io/library/busybox:latest",
		                                                "imagePullPolicy": "Never",
		                                                "command": ["httpd", "-f", "-p", "8080", "-h", "/etc"]}]}}}}
	END
	kubectl apply -f - <<-'END'
		{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "shut"},
		 "spec": {"podSelector": {"matchLabels": {"app": "shut"}}, "policyTypes": ["Ingress"]}}
	END
}

teardown_file() {
	end_file
}

pod_is_ready() {
	kubectl wait --for=condition=Ready pod/bare --timeout=2s
}

shut_address() {
	kubectl get pods -l app=shut -o jsonpath='{.items[0].status.podIP}' | grep .
}

# Pods reach each other on every node, services, DNS and no pod that a policy shuts.
assert_network_works() {
	local address

	assert_all_ready
	within 120 web_is_ready
	within 60 assert_web_reaches_web
	within 60 pod_is_ready
	within 60 kubectl exec bare -- timeout 3 nslookup kubernetes.default.svc.cluster.local
	within 20 kubectl exec bare -- timeout 3 wget -q -O - http://web/
	within 20 shut_address
	address=$(shut_address)
	within 20 on node-2 curl -s -o /dev/null --max-time 3 "http://$address:8080/hostname"
	# From a pod of the same node.
	run ! kubectl exec bare -- timeout 3 wget -q -O - "http://$address:8080/hostname"
}

bare_uid() {
	kubectl get pod bare -o jsonpath='{.metadata.uid}'
}

@test "bridge: pods, services, DNS and policies work on all nodes, also on one that is added" {
	assert_network_works
	on node-2 test -d /sys/class/net/cni0
	manykube node add -q third
	assert_network_works
	manykube node delete -q third
	assert_network_works
}

@test "a network is changed in place, to flannel with tunnels and back to ours" {
	local uid

	uid=$(bare_uid)
	run -14 manykube network set --cni=flannel
	assert_output_has "there is no terminal to ask on; nothing was done"
	run -0 manykube network set --cni=flannel --cni-backend=vxlan --yes
	assert_equal "$(profile_get .cni)" flannel
	assert_network_works
	on node-2 test -d /sys/class/net/flannel.1
	on node-2 test ! -e /sys/class/net/cni0
	run -0 manykube network set --cni=auto --yes
	assert_network_works
	on node-2 test ! -e /sys/class/net/flannel.1
	assert_equal "$(bare_uid)" "$uid"
	run -0 manykube network set --cni=auto
	assert_output_has "already has the pod network auto"
}

@test "flannel: routes to the pods of a node that is added, and after a start" {
	run -0 manykube network set --cni=flannel --cni-backend=host-gw --yes
	manykube node add -q fourth
	assert_network_works
	manykube node delete -q fourth
	manykube stop -q
	manykube start -q
	assert_network_works
}

@test "what is no network, or no manifest, changes nothing" {
	local before

	before=$(profile_get tojson)
	printf 'a: [\n' >"$BATS_TEST_TMPDIR/bad.yaml"
	run -14 manykube network set --cni=calico --yes
	assert_output_has "--cni=URL"
	run -14 manykube network set --cni="$BATS_TEST_TMPDIR/bad.yaml" --yes
	assert_output_has "bad.yaml:2:1"
	run ! manykube network set --cni=https://example.net/cni.yaml --yes
	assert_output_has "offline"
	run -14 manykube start --cni=bridge
	assert_output_has "manykube network set -p e2e-cni'"
	assert_equal "$(profile_get tojson)" "$before"
}

@test "delete leaves nothing" {
	manykube delete
	assert_no_trace
}
