#!/usr/bin/env bats
# The commands of `config`, and help, as they are typed.

load helper

setup() {
	rm -rf "$MANYKUBE_HOME"
}

manykube() {
	"$MANYKUBE" "$@"
}

# What a start would do on a host on which all networks and ports are free.
dry_run() {
	[ "$(id -u)" = 0 ] || skip "start needs root"
	unshare --net "$MANYKUBE" start --dry-run --force "$@"
}

@test "what is set can be seen, used and unset" {
	manykube config set memory 4g
	manykube config set cni none
	assert_equal "$(manykube config get memory)" 4g
	assert_equal "$(manykube config get)" $'- memory: 4g\n- cni: none'
	assert_equal "$(manykube config get -o json | jq -c .)" '{"memory":"4g","cni":"none"}'
	assert_has "$(manykube start --help)" "(default: 4g)"
	assert_has "$(MANYKUBE_MEMORY=5g manykube start --help)" "(default: 5g)"
	manykube config unset memory
	manykube config unset memory
	run -14 manykube config get memory
	assert_has "$output" "not set"
}

@test "what can't be a value is not stored" {
	run -14 manykube config set memory banana
	assert_has "$output" "'banana' is not a size"
	run -14 manykube config set profile Bad_Name
	run -14 manykube config set cpus 0
	assert_has "$output" "at least 1"
	run -14 manykube config set wait nonsense
	run -23 manykube config set memory 1
	assert_has "$output" ": memory: a node needs at least 1 GiB"
	assert_has "$output" "--force of 'manykube start'"
	run -14 manykube config set ports abc
	assert_has "$output" ": ports: "
	run -14 manykube config set subnet 10.0.0.0/30
	assert_has "$output" ": subnet: '10.0.0.0/30' is too small"
	run -14 manykube config set max-pods 0
	run -14 manykube config set label kubernetes.io/hostname=x
	run -14 manykube config set extra-config nonsense
	run -14 manykube config set nodes 100000
	run -14 manykube config set cert-expiration 1s
	run -14 manykube config set memory ''
	assert_equal "$(manykube config get)" ""
}

@test "what is no setting is refused and the nearest suggested" {
	run -14 manykube config set memroy 2g
	assert_has "$output" "did you mean 'memory'?"
	run -14 manykube config set force true
	run -14 manykube config unset nonsense
}

@test "a wrong file is named, and can be mended" {
	mkdir -p "$MANYKUBE_HOME"
	echo '{"memory": "banana"}' >"$MANYKUBE_HOME/config.json"
	run -38 manykube start --dry-run
	assert_has "$output" "$MANYKUBE_HOME/config.json': memory: 'banana'"
	run -0 manykube start --help
	# What only `start` can refuse is named, too, as nobody has typed --memory or --ports.
	if [ "$(id -u)" = 0 ]; then
		echo '{"memory": "1"}' >"$MANYKUBE_HOME/config.json"
		run -23 unshare --net "$MANYKUBE" start --dry-run
		assert_has "$output" "$MANYKUBE_HOME/config.json': memory: a node needs at least 1 GiB"
		assert_has "$output" "'manykube config unset'"
		run -23 unshare --net "$MANYKUBE" start --dry-run --memory=2
		assert_has "$output" ": --memory: a node needs at least 1 GiB"
		echo '{"ports": "abc"}' >"$MANYKUBE_HOME/config.json"
		run -14 dry_run
		assert_has "$output" "$MANYKUBE_HOME/config.json': ports: 'abc'"
	fi
	manykube config unset ports
	manykube config unset memory
	assert_equal "$(manykube config get)" ""
}

@test "settings choose the cluster" {
	run -0 manykube config set profile dev
	assert_has "$output" "there is no cluster 'dev' yet"
	assert_equal "$(manykube profile)" dev
	assert_equal "$(MANYKUBE_PROFILE=env manykube profile)" env
	assert_equal "$(MANYKUBE_PROFILE=env manykube profile -p line)" line
}

@test "every field is explained, alone and with all others" {
	local field

	run -0 manykube config explain
	assert_has "$output" "network.podSubnet"
	run -0 manykube config explain nodes.memory
	assert_has "$output" "nodes[].memory: memory of the node"
	assert_has "$output" "2g"
	run -14 manykube config explain memroy
	assert_has "$output" "did you mean 'memory'?"
	for field in $(jq -r '.properties | keys[]' "$ROOT/docs/schema/cluster.json"); do
		run -0 manykube config explain "$field"
		assert_has "$output" "Type:"
	done
}

@test "a file to begin with can be used as it is, and with everything in it" {
	local file=$BATS_TEST_TMPDIR/cluster.yaml

	assert_has "$(manykube config init)" "name: manykube"
	manykube config init -p dev --nodes=4 --control-planes=2 >"$file"
	run -0 dry_run -f "$file"
	assert_has "$output" 'Cluster "dev" would be created'
	assert_equal "$(grep -c '^Node .*: control plane' <<<"$output")" 2
	assert_equal "$(grep -c '^Node ' <<<"$output")" 4
	sed -Ei 's/^#([^ ]|  )/\1/; s,: /usr/local/bin/kubelet,: /usr/bin/env,; /^  (count|baseImage|kernel): /d' "$file"
	tar -cf "$BATS_TEST_TMPDIR/app.tar" -C "$BATS_TEST_TMPDIR" cluster.yaml
	run -0 dry_run -f "$file"
	assert_has "$output" "Node database: worker, 192.168.60.10"
}

@test "what is wrong with a file is told, with its exit code, and nothing is made" {
	local file=$BATS_TEST_TMPDIR/f.yaml head=$'apiVersion: manykube/v1\nkind: Cluster\n'

	[ "$(id -u)" = 0 ] || skip "start needs root"
	refused() {
		run "-$1" manykube start --dry-run -f "$file"
		assert_has "$output" "$2"
	}
	refused 35 "cannot open the file"
	mkdir "$file"
	refused 35 "is a directory, not a cluster file"
	rmdir "$file"
	printf 'apiVersion: k3d.io/v1alpha5\nkind: Simple\n' >"$file"
	refused 18 "f.yaml:1:13: unsupported apiVersion 'k3d.io/v1alpha5'"
	: >"$file"
	refused 18 "f.yaml:1:1: the file is empty"
	printf '%snmae: x\n' "$head" >"$file"
	refused 18 "f.yaml:3:1: unknown field 'nmae'; did you mean 'name'?"
	printf '%skubernetesVersion: v1.2.3\n' "$head" >"$file"
	refused 106 "f.yaml:3:20"
	truncate -s 100M "$file"
	refused 18 "larger than 1 MiB"
	printf '\0\0' >"$file"
	refused 18 "NUL byte"
	printf '%snodes: [{role: control-plane}, {role: worker}]\n' "$head" >"$file"
	run -14 manykube start --dry-run -f "$file" --nodes=1
	assert_has "$output" "less than the 2 nodes"
	run -18 manykube start --dry-run -f - <<<"a: b: c"
	assert_has "$output" "stdin:1:5:"
	[ ! -e "$MANYKUBE_HOME/profiles" ]
}

@test "the command line is stronger than a file, a file than the environment and settings" {
	local file=$BATS_TEST_TMPDIR/f.yaml

	cat >"$file" <<-END
		apiVersion: manykube/v1
		kind: Cluster
		name: file
		network: {subnet: 192.168.211.0/24, podSubnet: 10.211.0.0/16}
	END
	manykube config set subnet 192.168.212.0/24
	manykube config set service-cluster-ip-range 10.212.0.0/16
	export MANYKUBE_FILE=$file MANYKUBE_PROFILE=env MANYKUBE_POD_NETWORK_CIDR=10.213.0.0/16 MANYKUBE_NODES=2
	run -0 dry_run
	assert_has "$output" 'Cluster "file"'
	assert_has "$output" "Nodes' network: 192.168.211.0/24"
	assert_has "$output" "Pods' network: 10.211.0.0/16"
	assert_has "$output" "Services' network: 10.212.0.0/16"
	assert_equal "$(grep -c '^Node ' <<<"$output")" 2
	run -0 dry_run -p line --subnet=192.168.214.0/24
	assert_has "$output" 'Cluster "line"'
	assert_has "$output" "Nodes' network: 192.168.214.0/24"
}

@test "help is there however it is asked for" {
	local asked

	for asked in "help node list" "node help list" "node list --help" "--help node list" "-h node list"; do
		# shellcheck disable=SC2086 # words
		assert_has "$(manykube $asked)" "Usage: manykube node list"
	done
	assert_has "$(manykube node help)" "Usage: manykube node ["
	assert_has "$(manykube options)" "--profile"
	run -14 manykube help nope
	assert_has "$output" "did you mean"
	assert_equal "$(manykube version -o json | jq -r .manykubeVersion)" "$(manykube version --short)"
}

@test "version marks what is in the cache" {
	local -x MANYKUBE_CACHE=$BATS_TEST_TMPDIR/cache
	local version

	assert_equal "$("$MANYKUBE" version -o json | jq -c .cachedVersions)" '[]'
	[[ $("$MANYKUBE" version) != *cache* ]] || fail "$("$MANYKUBE" version)"
	version=$("$MANYKUBE" version -o json | jq -r '.kubernetesVersions[1]')
	mkdir -p "$MANYKUBE_CACHE/$version"
	printf '{"format": %s, "pauseImage": "p", "etcdVersion": "v3", "corednsVersion": "v1"}' \
		"$(sed -n 's/^#define PAYLOAD_FORMAT //p' "$ROOT/src/payload/work.h")" \
		>"$MANYKUBE_CACHE/$version/payload.json"
	assert_equal "$("$MANYKUBE" version -o json | jq -r '.cachedVersions[]')" "$version"
	assert_has "$("$MANYKUBE" version)" "$version (in the cache)"
}

@test "the help names the directories, the man page and the README, too" {
	local name

	for name in MANYKUBE_HOME MANYKUBE_CACHE; do
		assert_has "$("$MANYKUBE" --help)" "$name"
		assert_has "$(cat "$ROOT/README.md")" "$name"
		assert_has "$("$MANYKUBE" __docs man)" "$name"
	done
}

@test "no clusters are an empty list, with a hint" {
	local -x MANYKUBE_HOME=$BATS_TEST_TMPDIR/none

	run -0 --separate-stderr "$MANYKUBE" profile list
	assert_equal "$output" ""
	assert_has "$stderr" "'manykube start' creates one"
	run -0 "$MANYKUBE" profile list -o json
	assert_equal "$output" '{"invalid":[],"valid":[]}'
}

@test "a negative number is told what is allowed" {
	run -14 "$MANYKUBE" start --nodes=-1 --dry-run
	assert_has "$output" "must be at least 1, not -1"
	run -0 "$MANYKUBE" config explain certExpiration
	[[ $output != *6m* ]] || fail "$output"
}
