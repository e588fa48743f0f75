#!/usr/bin/env bats
# What start can be told, and how it refuses what it can't do: with an exit status, a reason, and
# nothing made.

load helper

setup_file() {
	begin_file e2e-options e2e-none
}

teardown_file() {
	end_file
}

# Start with these arguments must be refused with the status $1 and the words $2, and make nothing.
assert_start_refused() {
	local want=$1 words=$2

	shift 2
	run manykube start "$@"
	assert_status "$want"
	assert_output_has "$words"
	assert_no_trace
}

# What NODE's group is held to: limit_of NODE memory|cpu; bytes or microseconds, or none.
limit_of() {
	local group limit

	group=manykube/$(profile_get .bridge)/$1
	case $2 in
	memory) limit=$(cat "/sys/fs/cgroup/memory/$group/memory.limit_in_bytes" 2>/dev/null ||
		cat "/sys/fs/cgroup/$group/memory.max") ;;
	cpu) limit=$(cat "/sys/fs/cgroup/cpu/$group/cpu.cfs_quota_us" 2>/dev/null ||
		cut -d' ' -f1 "/sys/fs/cgroup/$group/cpu.max") ;;
	esac
	case $limit in
	max | -1 | 922337203685477*) echo none ;;
	*) echo "$limit" ;;
	esac
}

@test "an unknown option is refused and the nearest suggested" {
	assert_start_refused 14 "--nodes" --offline --node=3
	assert_start_refused 14 "MK_USAGE" --no-such-option
}

@test "an unknown command is refused and the nearest suggested" {
	run manykube strat
	assert_status 14
	assert_output_has "manykube start"
	run manykube frobnicate
	assert_status 14
}

@test "no command at all shows what there is" {
	run manykube
	assert_status 14
	assert_output_has start
	run -0 manykube --help
	assert_output_has start
}

@test "numbers must be numbers" {
	assert_start_refused 14 "--nodes" --nodes=x --offline
	assert_start_refused 14 "--nodes" --nodes=-1 --offline
	assert_start_refused 14 "--nodes" --nodes=1000 --offline
	assert_start_refused 14 "--memory" --memory=much --offline
	assert_start_refused 14 "--wait" --wait=nonsense --offline
	assert_start_refused 14 "--cni" --cni=nonsense --offline
}

@test "what Kubernetes' programs do not understand is refused in their own words" {
	assert_start_refused 14 "kubelet: unrecognized feature gate: Nonsense" \
		--offline --feature-gates=Nonsense=true
	assert_start_refused 14 "kubelet: unknown flag: --nonsense" \
		--offline --extra-config=kubelet.nonsense=1
	assert_start_refused 14 "kubelet: invalid configuration: maxPods (--max-pods) -4" \
		--offline --extra-config=kubelet.maxPods=-4
	assert_start_refused 14 "kube-apiserver: unknown flag: --nonsense" \
		--offline --extra-config=apiserver.nonsense=1
	assert_start_refused 14 "kube-controller-manager: unknown flag: --nonsense" \
		--offline --extra-config=controller-manager.nonsense=1
	assert_start_refused 14 "kube-scheduler: unrecognized feature gate: Nonsense" \
		--offline --extra-config=scheduler.feature-gates=Nonsense=true
}

@test "a dry run refuses the same" {
	local file=$BATS_TEST_TMPDIR/cluster.yaml

	assert_start_refused 14 "kubelet: unrecognized feature gate: Nonsense" \
		--offline --dry-run --feature-gates=Nonsense=true
	assert_start_refused 14 "kube-apiserver: unknown flag: --nonsense" \
		--offline --dry-run --extra-config=apiserver.nonsense=1
	assert_start_refused 14 "port '8080:30080@node-2' is forwarded to node 'node-2'" \
		--offline --dry-run --ports=8080:30080@node-2
	assert_start_refused 71 "'8080:1' and '8080:2' publish the same port" \
		--offline --dry-run --ports=8080:1 --ports=8080:2
	assert_start_refused 71 "itself uses port 8443, for its API" \
		--offline --dry-run --ports=8443:1 --apiserver-port=8443
	manykube config init >"$file"
	printf 'offline: true\nfeatureGates: {Nonsense: true}\n' >>"$file"
	run manykube apply -f "$file" --dry-run
	assert_status 14
	assert_output_has "kubelet: unrecognized feature gate: Nonsense"
	assert_no_trace
}

@test "what can't be had from a mirror is named" {
	MANYKUBE_CACHE=$BATS_TEST_TMPDIR/cache MANYKUBE_PAYLOAD_FROM=download \
		run manykube start --download-only --binary-mirror=http://127.0.0.1:9
	assert_status 40
	assert_output_has "cannot download 'http://127.0.0.1:9/"
}

@test "nothing is downloaded or built for an offline cluster" {
	MANYKUBE_CACHE=$BATS_TEST_TMPDIR/empty \
		run manykube start --offline --binary-mirror=http://127.0.0.1:9
	assert_status 40
	assert_output_has "is not in the cache '$BATS_TEST_TMPDIR/empty', and is neither downloaded nor built"
	if [ -e /var/cache/manykube/v1.36.3 ]; then
		assert_output_has "set MANYKUBE_CACHE=/var/cache/manykube to use it"
	else
		assert_output_has "'manykube start --download-only --kubernetes-version=v1.36.3'"
	fi
	assert_equal "$(ls "$BATS_TEST_TMPDIR")" ""
	[ ! -e "$(profile_dir)" ] || fail "something was made"
}

@test "a build from source is announced, and asked for on a terminal" {
	command -v script >/dev/null && command -v go >/dev/null || skip "script or go is not installed"
	MANYKUBE_CACHE=$MANYKUBE_HOME/asked-cache MANYKUBE_PAYLOAD_FROM=source \
		run script -qec "$MANYKUBE start --download-only" /dev/null <<<n
	rm -rf "$MANYKUBE_HOME/asked-cache"
	assert_status 11
	assert_output_has "must be built from source, which takes about"
	assert_output_has "Continue? [y/N]"
	assert_output_has "was not confirmed"
}

@test "an unsupported version is refused with the supported ones" {
	assert_start_refused 106 v1.36.3 --kubernetes-version=v1.2.3 --offline
	assert_start_refused 106 v1.36.3 --kubernetes-version=nonsense --offline
}

@test "a name that can't name a cluster is refused" {
	assert_start_refused 14 "is not a valid cluster name" -p Bad_Name --offline
	assert_start_refused 14 "is not a valid cluster name" -p ../escape --offline
	assert_start_refused 14 "is not a valid cluster name" -p '' --offline
}

@test "an invalid subnet is refused" {
	assert_start_refused 14 "300.0.0.0/24" --subnet=300.0.0.0/24 --offline
	assert_start_refused 14 "192.168.200.0/31" --subnet=192.168.200.0/31 --offline
	assert_start_refused 14 "nonsense" --subnet=nonsense --offline
	assert_start_refused 14 "not one for private networks" --subnet=8.8.8.0/24 --offline
}

@test "a subnet that the host uses is refused" {
	ip link add e2e-out-used type bridge
	ip address add 10.99.98.1/24 dev e2e-out-used
	run manykube start --subnet=10.99.98.0/24 --offline
	ip link delete e2e-out-used
	assert_status 71
	assert_output_has "10.99.98.0/24"
	assert_no_trace
}

@test "who is not root is told so" {
	local command="$BATS_FILE_TMPDIR/manykube"

	# The build may lie where only root can look.
	cp "$MANYKUBE" "$command"
	chmod 755 "$BATS_FILE_TMPDIR" "$command"
	chmod o+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/file" 2>/dev/null || true
	run env HOME=/nonexistent MANYKUBE_HOME=/tmp/manykube-e2e-nobody \
		setpriv --reuid=65534 --regid=65534 --clear-groups "$command" start --offline
	assert_status 37
	assert_output_has root
	[ ! -e /tmp/manykube-e2e-nobody ]
}

@test "--subnet, --cpus and --memory are taken into use" {
	run -0 manykube start --offline --subnet=10.123.45.0/24 --cpus=1 --memory=2g
	assert_equal "$(profile_get '.subnet')" 10.123.45.0/24
	assert_equal "$(profile_get '.nodes[0].address')" 10.123.45.2
	assert_equal "$(kubectl get node node-1 -o jsonpath='{.status.addresses[?(@.type=="InternalIP")].address}')" \
		10.123.45.2
	assert_equal "$(limit_of node-1 memory)" $((2 << 30))
	assert_equal "$(limit_of node-1 cpu)" 100000
}

# Whether this host has cpusets for nodes.
has_cpusets() {
	local group

	group=manykube/$(profile_get .bridge)/node-1
	[ -e "/sys/fs/cgroup/cpuset/$group/cpuset.cpus" ] || [ -e "/sys/fs/cgroup/$group/cpuset.cpus" ]
}

@test "programs that count CPUs find as many as the node was given" {
	has_cpusets || skip "this host has no cpusets for nodes"
	assert_equal "$(on node-1 nproc)" 1
	assert_equal "$(on node-1 nproc --all)" 1
	manykube node set node-1 --cpus=max
	assert_equal "$(on node-1 nproc)" "$(nproc)"
	# What runs already is moved, containers included.
	manykube node set node-1 --cpus=1
	assert_equal "$(on node-1 nproc)" 1
	run -0 on node-1 sh -c 'for pid in $(pidof kubelet etcd); do grep Cpus_allowed_list "/proc/$pid/status"; done'
	assert_equal "$(sort -u <<<"$output" | wc -l)" 1
	assert_equal "$(on node-1 cat /sys/devices/system/cpu/online)" \
		"$(awk '{ print $2; exit }' <<<"$output")"
}

@test "the limits hold for everything on the node" {
	local group pid

	group=manykube/$(profile_get .bridge)/node-1
	for pid in $(on node-1 pidof kubelet containerd etcd kube-apiserver); do
		run on node-1 grep ':memory:\|^0::' "/proc/$pid/cgroup"
		# The node sees its own group as the root.
		[[ $output != *..* ]] || fail "process $pid is outside: $output"
	done
	[ "$(cat "/sys/fs/cgroup/pids/$group/pids.current" 2>/dev/null ||
		cat "/sys/fs/cgroup/$group/pids.current")" -gt 10 ]
}

@test "the kubelet reports the node's cpus and memory, not the host's" {
	local memory

	assert_equal "$(kubectl get node node-1 -o jsonpath='{.status.capacity.cpu}')" 1
	memory=$(kubectl get node node-1 -o jsonpath='{.status.capacity.memory}')
	[[ $memory == 2Gi || $memory == $((2 << 20))Ki ]] || fail "it reports $memory"
}

@test "a node is let off its limits at once, and a file can say so" {
	run manykube start --cpus=max
	assert_status 14
	assert_output_has "'start' cannot change --cpus"
	manykube node set node-1 --cpus=max --memory=no-limit
	assert_equal "$(kubectl get node node-1 -o jsonpath='{.status.capacity.cpu}')" \
		"$(getconf _NPROCESSORS_ONLN)"
	assert_equal "$(limit_of node-1 cpu)" none
	assert_equal "$(limit_of node-1 memory)" "$(most_memory)"
	run -0 manykube config view
	assert_output_has "  cpus: max"
	assert_output_has "  memory: max"
	echo "$output" >"$BATS_TEST_TMPDIR/cluster.yaml"
	run -0 manykube apply -f "$BATS_TEST_TMPDIR/cluster.yaml" --dry-run
	assert_output_has "Nothing to do:"
	manykube node set node-1 --cpus=1 --memory=2g
}

@test "nor does an existing cluster get a node, or another in its place, that can't run" {
	local before file=$BATS_TEST_TMPDIR/cluster.yaml

	before=$(profile_get .)
	assert_each <<-EOF
		14|node add more --feature-gates=Nonsense=true|kubelet: unrecognized feature gate: Nonsense
		14|node add more --extra-config=kubelet.nonsense=1|kubelet: unknown flag: --nonsense
	EOF
	manykube config view >"$file"
	printf -- '- role: worker\n  name: more\n  featureGates: {Nonsense: true}\n' >>"$file"
	run manykube apply -f "$file" --yes
	assert_status 18
	assert_output_has "node 'more': kubelet: unrecognized feature gate: Nonsense"
	assert_equal "$(profile_get .)" "$before"
}

@test "an existing cluster keeps what its certificates were made for" {
	cp "$(profile_dir)/profile.json" "$BATS_TEST_TMPDIR/profile.json"
	run manykube start --offline --subnet=10.124.0.0/24
	assert_status 14
	assert_output_has "10.123.45.0/24"
	run manykube start --offline --cni=none
	assert_status 14
	cmp "$(profile_dir)/profile.json" "$BATS_TEST_TMPDIR/profile.json"
}

@test "while a command works on the cluster another one is refused, or waits, and is told who does" {
	local pid

	"$MANYKUBE" start -p e2e-none --offline --cni=none >"$BATS_FILE_TMPDIR/none" 2>&1 3>&- &
	pid=$!
	sleep 0.5
	run manykube delete -p e2e-none
	assert_status 11
	assert_output_has "manykube start"
	run -0 manykube start -p e2e-none --offline --cni=none --wait=apiserver
	assert_output_has "$pid"
	wait "$pid" || { cat "$BATS_FILE_TMPDIR/none" && return 1; }
}

@test "--cni=none leaves the network to the user: nothing waits for Ready nodes unless told to" {
	export MANYKUBE_PROFILE=e2e-none

	grep -q "nodes stay NotReady until a CNI is installed" "$BATS_FILE_TMPDIR/none"
	run -0 manykube node add more
	assert_output_has "nodes stay NotReady until a CNI is installed"
	run manykube start --wait=nodes --wait-timeout=1s
	assert_status 102
	assert_output_has "waiting for nodes: node-1, more"
	assert_equal "$(kubectl get --raw /readyz)" ok
	assert_equal "$(kubectl get node node-1 -o json |
		jq -r '.status.conditions[] | select(.type == "Ready") | .status')" False
	run on node-1 ls /etc/cni/net.d
	assert_equal "$(grep -c conflist <<<"$output")" 0
}

@test "delete leaves nothing of either" {
	manykube delete
	manykube delete -p e2e-none
	assert_no_trace
}
