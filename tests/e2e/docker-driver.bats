#!/usr/bin/env bats
# Nodes in containers of an engine, beside native ones.  The engine is one of our own: dockerd of the
# cache or of this host, with the payload's containerd, which leaves the host's network alone.

load helper
load engine

setup_file() {
	begin_file e2e-docker
	find_dockerd || skip "dockerd is not in the cache: 'manykube docker-env --download-only' builds it"
	make_engine
	manykube start -q --nodes=1 --offline
	manykube node add -q --driver=docker
}

teardown_file() {
	end_file
	remove_engine
}

container() {
	echo "$(bridge_of "$E2E_PROFILES")-${1:-node-2}"
}

# What the engine says of the container: a jq filter.
inspect() {
	engine "/containers/$(container)/json" | jq -r "$1"
}

# The host's pid of PID 1 of node-2.
agent_pid() {
	cut -d' ' -f1 "$(profile_dir)/nodes/node-2/pid"
}

assert_status_of() {
	assert_equal "$(hosts | sed -n "s/^$1 //p")" "$2"
}

@test "a node in a container is Ready, and no less shut in than a native one" {
	assert_all_ready
	assert_equal "$(profile_get '.nodes[1].driver')" docker
	manykube profile list -o json | assert_schema profile-list
	manykube node list -o json | assert_schema node-list
	assert_equal "$(inspect .State.Pid)" "$(agent_pid)"
	assert_equal "$(inspect '.HostConfig | "\(.Privileged) \(.NetworkMode) \(.CapDrop) \(.CapAdd)"')" \
		'false none ["ALL"] null'
	# So docker exec has no rights on the host either.
	assert_equal "$(inspect .Config.User | cut -d: -f1)" $((0x10000000 + 3 * 128 * 65536))
	# Its root is the same kind of nobody on the host as that of node-1.
	assert_equal "$(on node-2 awk '{ print $2 }' /proc/self/uid_map)" $((0x10000000 + 3 * 128 * 65536))
	assert_equal "$(on node-2 cat /proc/1/comm)" agent
	assert_equal "$(stat -c %u "/proc/$(agent_pid)")" $((0x10000000 + 3 * 128 * 65536))
	run on node-2 sh -c 'echo 1 >/proc/sys/kernel/panic'
	[ "$status" -ne 0 ]
	run on node-2 mount -t proc proc /mnt
	[ "$status" -ne 0 ]
}

@test "a container fails in every way that it can, and is healed" {
	local address

	address=$(profile_get '.nodes[1].address')
	manykube fail freeze node-2
	assert_equal "$(inspect .State.Running)" true
	run manykube start
	run -80 manykube unpause -n node-2
	manykube heal node-2
	manykube fail kubelet node-2
	manykube fail runtime node-2
	on node-2 grep -q '^kubelet held' /run/manykube/state
	on node-2 grep -q '^containerd held' /run/manykube/state
	manykube fail partition node-2 --port=10250
	run ! timeout 3 bash -c "</dev/tcp/$address/10250"
	manykube heal node-2
	manykube fail kill node-2
	assert_equal "$(inspect .State.Running)" false
	run -36 manykube fail memory node-2
	run -36 manykube fail disk-full node-2
	run -36 manykube fail clock node-2
	manykube heal --all
	assert_all_ready
}

@test "pods reach each other across drivers: by address, service and name" {
	local pod

	apply_web
	assert_web_reaches_web
	for pod in $(web_pods | cut -d' ' -f1); do
		within 20 kubectl exec "$pod" -- timeout 5 wget -q -O /dev/null http://web
	done
	assert_kubelet_answers node-2
}

@test "ssh, cp, ip and logs work as on any node" {
	assert_equal "$(on node-2 hostname)" node-2
	assert_equal "$(manykube ip node-2)" "$(profile_get '.nodes[1].address')"
	run on node-2 sh -c 'exit 7'
	assert_status 7
	echo words >"$BATS_TEST_TMPDIR/file"
	manykube cp "$BATS_TEST_TMPDIR/file" node-2:/root/kept
	assert_equal "$(on node-2 cat /root/kept)" words
	manykube cp node-2:/root/kept "$BATS_TEST_TMPDIR/back"
	cmp "$BATS_TEST_TMPDIR/file" "$BATS_TEST_TMPDIR/back"
	run manykube logs --node=node-2
	assert_status 0
	assert_output_has kubelet
}

@test "an image that is loaded runs there" {
	python3 "$BATS_TEST_DIRNAME/make-image.py" app:1 "$MANYKUBE_HOME/app.tar" one
	run manykube image load "$MANYKUBE_HOME/app.tar"
	assert_output_has "Loaded app:1 on all nodes: node-1, node-2."
	kubectl run app --image=app:1 --image-pull-policy=Never --restart=Never \
		--overrides='{"spec":{"nodeName":"node-2"}}' -- /bin/cat /data/text
	within 60 kubectl wait --for=jsonpath='{.status.phase}'=Succeeded pod/app --timeout=5s
	assert_equal "$(kubectl logs app)" one
}

@test "limits hold while it runs, and what it sees follows them" {
	manykube node set -q node-2 --cpus=1 --memory=1g
	assert_equal "$(on node-2 nproc)" 1
	assert_equal "$(on node-2 awk '/^MemTotal/ { print $2 }' /proc/meminfo)" $((1 << 20))
	assert_equal "$(cat "/sys/fs/cgroup/memory/$(cat "$(profile_dir)/nodes/node-2/group")/memory.limit_in_bytes" \
		"/sys/fs/cgroup/$(cat "$(profile_dir)/nodes/node-2/group")/memory.max" 2>/dev/null)" $((1 << 30))
}

@test "a paused node is paused for the engine, too" {
	manykube pause -q -n node-2
	assert_equal "$(inspect .State.Status)" paused
	assert_equal "$(manykube status -n node-2 --format='{{.Kubelet}}')" Paused
	run on node-2 true
	assert_status 83
	manykube unpause -q -n node-2
	assert_equal "$(inspect .State.Status)" running
	on node-2 true
}

@test "it stops and starts with its files, its pods and its identity" {
	local before

	before=$(identities)
	make_claim
	run_with_claim writer node-2 'echo kept >/data/file'
	kubectl delete pod writer
	manykube node stop -q node-2
	assert_equal "$(inspect .State.Status)" exited
	assert_status_of node-2 Stopped
	run manykube logs --node=node-2
	assert_status 0
	manykube node start -q node-2
	assert_all_ready
	assert_equal "$(identities)" "$before"
	assert_data_is_there
	assert_equal "$(on node-2 cat /root/kept)" words
}

@test "whatever others do to the container, 'start' repairs it" {
	# Stopped, killed from outside, removed, and started without us.
	engine "/containers/$(container)/stop" -X POST
	assert_status_of node-2 Stopped
	manykube start -q
	assert_all_ready
	kill -9 "$(agent_pid)"
	within 10 assert_status_of node-2 Stopped
	manykube start -q
	assert_all_ready
	engine "/containers/$(container)?force=1" -X DELETE
	manykube start -q
	assert_all_ready
	engine "/containers/$(container)/restart?t=0" -X POST
	assert_status_of node-2 Stopped
	manykube start -q
	assert_all_ready
	assert_equal "$(on node-2 cat /root/kept)" words
}

@test "a start that is killed at any moment is completed by the next" {
	local seconds

	for seconds in 0.05 0.15 0.25 0.4; do
		manykube node stop -q node-2
		"$MANYKUBE" node start -q node-2 3>&- &
		sleep "$seconds"
		kill -9 "$!" || true
		wait "$!" || true
		manykube start -q
		assert_all_ready
		assert_equal "$(inspect .State.Pid)" "$(agent_pid)"
	done
}

@test "a container of somebody else is left alone" {
	local image

	image=$(inspect .Config.Image)
	engine "/containers/create?name=$(container node-3)" -H 'Content-Type: application/json' \
		-d "{\"Image\": \"$image\", \"Entrypoint\": [\"/manykube-agent\"]}"
	run manykube node add -q --driver=docker
	assert_status 38
	assert_output_has "the container '$(container node-3)' was not made by manykube"
	manykube node delete -q node-3
	engine "/containers/$(container node-3)/json"
	engine "/containers/$(container node-3)" -X DELETE
	assert_all_ready
}

@test "without its engine, a node is stopped, and says what it needs" {
	stop_engine
	within 10 assert_status_of node-2 Stopped
	run manykube node start -q node-2
	assert_status 35
	assert_output_has "cannot reach a container engine at '$E2E_ENGINE/docker.sock'"
	run manykube node add -q --driver=docker
	assert_status 35
	assert_equal "$(profile_get '.nodes | length')" 2
	run manykube doctor
	assert_output_has "container engine"
	run manykube driver list -o json
	assert_schema driver-list <<<"$output"
	assert_equal "$(jq -r '.drivers[] | select(.name == "docker").available' <<<"$output")" false
	run manykube driver list
	assert_output_has "fix: start Docker"
	# The others do not mind.
	on node-1 true
	start_engine
	manykube start -q
	assert_all_ready
}

@test "an engine that cannot have nodes is refused before anything is made" {
	DOCKER_HOST=tcp://127.0.0.1:1 run manykube node add -q --driver=docker
	assert_status 36
	assert_output_has "an engine on this host"
	run manykube node add -q --driver=virtualbox
	assert_status 14
	assert_equal "$(profile_get '.nodes | length')" 2
}

@test "a control plane can be in a container, and delete leaves nothing" {
	manykube delete -q
	assert_equal "$(engine '/containers/json?all=1' | jq length)" 0
	assert_equal "$(engine /volumes | jq '.Volumes // [] | length')" 0
	assert_equal "$(engine /images/json | jq length)" 0
	manykube start -q --offline --driver=docker --disk-size=3g
	assert_all_ready
	assert_equal "$(on node-1 df --output=fstype /var | tail -n 1)" ext4
	on node-1 mountpoint -q /var
	assert_equal "$(profile_get '[.nodes[].driver] | unique | join(" ")')" docker
	manykube stop -q
	manykube start -q
	assert_all_ready
	manykube delete -q
	assert_equal "$(engine '/containers/json?all=1' | jq length)" 0
	assert_equal "$(engine /volumes | jq '.Volumes // [] | length')" 0
	assert_equal "$(engine /images/json | jq length)" 0
}
