#!/usr/bin/env bats
# Clusters that were not made by this manykube: records of the single-node format, and minikube's.

load helper

setup_file() {
	begin_file e2e-import e2e-other
	unset MANYKUBE_PROFILE
	write_config "$BATS_FILE_TMPDIR/config.json"
	manykube profile import "$BATS_FILE_TMPDIR/config.json" 2>"$BATS_FILE_TMPDIR/said"
	export MANYKUBE_PROFILE=e2e-import
}

teardown_file() {
	end_file
}

# A minikube's with a control plane and a worker.
write_config() {
	jq -n '{ Name: "e2e-import", KicBaseImage: "kicbase:v1", Memory: 2048, CPUs: 1, DiskSize: 20000,
		Driver: "docker", APIServerPort: 8443, EmbedCerts: true, DockerEnv: ["A=b"],
		KubernetesConfig: { KubernetesVersion: "v1.36.3", ClusterName: "e2e-import",
			DNSDomain: "import.local", ContainerRuntime: "containerd",
			ServiceCIDR: "10.97.0.0/16",
			ExtraOptions: [{ Component: "kubelet", Key: "max-pods", Value: "55" }] },
		Nodes: [
			{ Name: "", IP: "192.168.49.2", ControlPlane: true, Worker: true },
			{ Name: "m02", IP: "192.168.49.3", ControlPlane: false, Worker: true }],
		Addons: { ingress: true, "storage-provisioner": true } }' >"$1"
}

uid_of() {
	kubectl get node "$1" -o jsonpath='{.metadata.uid}'
}

# Nothing was made and FILE is as it was: refuse STATUS FILE.
refuse() {
	local sum

	sum=$(cksum <"$2")
	run -"$1" manykube profile import "$2" -p e2e-other
	assert_equal "$(cksum <"$2")" "$sum"
	[ ! -e "$MANYKUBE_HOME/profiles/e2e-other" ]
	[ ! -e "$MANYKUBE_HOME/locks/e2e-other" ]
}

@test "what can't be imported is named, and nothing runs yet" {
	run cat "$BATS_FILE_TMPDIR/said"
	assert_output_has 'Driver "docker" is ignored'
	assert_equal "$(profile_get '.dockerEnv[]')" A=b
	assert_output_has 'Addons "ingress" is ignored'
	assert_output_has "these minikube defaults were ignored: KicBaseImage \"kicbase:v1\", DiskSize 20000, APIServerPort 8443"
	assert_output_has 'nodes have new addresses: node-1 '
	assert_output_has "Registered cluster \"e2e-import\" with node-1 (control plane), m02; 'manykube start -p e2e-import' creates it."
	run manykube status
	assert_output_has "host: Nonexistent"
}

@test "all control planes of a cluster with several stay control planes" {
	jq '.Name = "e2e-other" | .Nodes += [{ Name: "m03", ControlPlane: true, Worker: true },
		{ Name: "m04", ControlPlane: true, Worker: false }]' \
		"$BATS_FILE_TMPDIR/config.json" >"$BATS_TEST_TMPDIR/config.json"
	run -0 manykube profile import "$BATS_TEST_TMPDIR/config.json" -p e2e-other
	assert_output_has "with node-1 (control plane), m02, m03 (control plane), m04 (control plane);"
	assert_equal "$(manykube config view -p e2e-other -o json | jq -c '[.nodes[] | [.role, .noSchedule]]')" \
		'[["control-plane",null],["worker",null],["control-plane",null],["control-plane",true]]'
	manykube delete -p e2e-other
}

@test "an existing cluster is not replaced" {
	cp "$(profile_dir)/profile.json" "$BATS_TEST_TMPDIR/before"
	run -14 manykube profile import "$BATS_FILE_TMPDIR/config.json"
	assert_output_has "cluster 'e2e-import' already exists"
	cmp "$(profile_dir)/profile.json" "$BATS_TEST_TMPDIR/before"
}

@test "bad files are refused, and nothing is made of them" {
	local file=$BATS_TEST_TMPDIR/bad

	printf '{"Name":\n  nonsense}' >"$file"
	refuse 38 "$file"
	assert_output_has "cannot import '$file': line 2, column "
	: >"$file"
	refuse 38 "$file"
	printf '{"Name": "a\0b"}' >"$file"
	refuse 38 "$file"
	echo '{"profile": "dev"}' >"$file"
	refuse 38 "$file"
	assert_output_has "not a config.json of minikube"
	jq '.Memory = "2g"' "$BATS_FILE_TMPDIR/config.json" >"$file"
	refuse 38 "$file"
	assert_output_has "'Memory' is not a whole number"
	truncate -s 100M "$file"
	refuse 14 "$file"
	run -14 manykube profile import "$BATS_TEST_TMPDIR/missing" -p e2e-other
	run -14 manykube profile import "$BATS_TEST_TMPDIR" -p e2e-other
}

@test "a version that is not supported is refused unless another is chosen" {
	local file=$BATS_TEST_TMPDIR/config.json

	jq '.KubernetesConfig.KubernetesVersion = "v1.2.3"' "$BATS_FILE_TMPDIR/config.json" >"$file"
	refuse 106 "$file"
	assert_output_has "v1.36.3"
	assert_output_has "choose one with --kubernetes-version"
	run -0 manykube profile import "$file" -p e2e-other --kubernetes-version=v1.36
	assert_equal "$(MANYKUBE_PROFILE=e2e-other profile_get .kubernetesVersion)" v1.36.3
	for key in .subnet .podSubnet .apiPort; do
		[ "$(profile_get $key)" != "$(MANYKUBE_PROFILE=e2e-other profile_get $key)" ]
	done
	manykube delete -q -p e2e-other
}

@test "start makes the imported cluster as the file says" {
	run -0 manykube start --offline
	assert_all_ready
	assert_equal "$(profile_get '.nodes[].name' | xargs)" "node-1 m02"
	run -0 kubectl get node m02 -o jsonpath='{.status.capacity.pods} {.status.capacity.memory}'
	assert_equal "$output" "55 2Gi"
	run -0 kubectl get service kubernetes -o jsonpath='{.spec.clusterIP}'
	assert_equal "$output" 10.97.0.1
	manykube node delete -q m02
}

@test "a running cluster of the single-node format takes another node, and comes back the same" {
	local record uid

	record=$(profile_dir)/profile.json
	uid=$(uid_of node-1)
	jq '(.nodes[0] | { address, podCidr, driver }) + del(.nodes, .format) + { joined: true }' \
		"$record" >"$BATS_TEST_TMPDIR/old"
	cp "$BATS_TEST_TMPDIR/old" "$record"
	run -0 manykube status
	assert_output_has "type: Control Plane (Primary)"
	cmp "$record" "$BATS_TEST_TMPDIR/old"
	[ ! -e "$record.v0" ]

	run -0 manykube node add
	cmp "$record.v0" "$BATS_TEST_TMPDIR/old"
	assert_equal "$(profile_get '.format, .nodes[].name' | xargs)" "1 node-1 node-2"
	assert_all_ready
	run -0 manykube stop
	run -0 manykube start --offline
	assert_equal "$(uid_of node-1)" "$uid"
	cmp "$record.v0" "$BATS_TEST_TMPDIR/old"
}

@test "a record of a newer format is refused by its number and kept" {
	local record

	record=$(profile_dir)/profile.json
	cp "$record" "$BATS_TEST_TMPDIR/ours"
	jq '.format = 7' "$record" >"$BATS_TEST_TMPDIR/newer"
	cp "$BATS_TEST_TMPDIR/newer" "$record"
	run -38 manykube status
	assert_output_has "its format is 7"
	run -38 manykube start --offline
	cmp "$record" "$BATS_TEST_TMPDIR/newer"
	cp "$BATS_TEST_TMPDIR/ours" "$record"
}
