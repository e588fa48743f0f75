#!/usr/bin/env bats
# The cluster's own registry: the same image names on the host and in nodes.

load helper

# Somewhere else than at the port that people use.
PORT=5987
OTHER_PORT=5988

setup_file() {
	begin_file e2e-reg e2e-reg2
	compgen -G "$MANYKUBE_CACHE/registry-v*/bin/registry" >/dev/null ||
		skip "the registry is not in the cache: 'manykube registry enable --download-only' builds it"
	manykube start -q --offline --nodes=2
}

teardown_file() {
	end_file
}

push() {
	python3 "$BATS_TEST_DIRNAME/push.py" "$1" "$2" "$(archive)"
}

archive() {
	echo "$MANYKUBE_CACHE/$(profile_get .kubernetesVersion)/images/busybox-latest.tar"
}

registry_pid() {
	jq .registry "$(profile_dir)/front-door.status.json"
}

# The pid of the program itself, whatever the status file says: of ours by its uid.
running_pid() {
	pgrep -U "$(stat -c %u "$(profile_dir)/registry")"
}

# A pod of image $2, which nodes must pull, on node $1.
assert_pulls() {
	local pod

	pod=pull-$(head -c 4 /dev/urandom | xxd -p)
	kubectl run "$pod" --image="$2" --image-pull-policy=Always --restart=Never \
		--overrides="{\"spec\":{\"nodeName\":\"$1\"}}" -- true >/dev/null
	within 60 pod_has_ended "$pod"
	kubectl delete --wait=false "pod/$pod" >/dev/null
}

pod_has_ended() {
	[ "$(kubectl get pod "$1" -o jsonpath='{.status.phase}')" = Succeeded ] ||
		{ kubectl describe "pod/$1" | tail -n 5 && return 1; }
}

state() {
	manykube registry status -o json | jq -r .state
}

is_running() {
	[ "$(state)" = Running ]
}

@test "there is none before it is asked for" {
	run -4 manykube registry status
	assert_output_has "registry: Disabled"
	run -4 manykube registry status -o json
	assert_schema registry <<<"$output"
	[ ! -e "$(profile_dir)/registry" ]
	[ "$(registry_pid)" = 0 ]
}

@test "a port that another program has changes nothing" {
	python3 -m http.server --bind 127.0.0.1 "$PORT" >/dev/null 2>&1 3>&- &
	within 5 bash -c "exec 7<>/dev/tcp/127.0.0.1/$PORT"
	run manykube registry enable --port="$PORT"
	kill $!
	assert_status 71
	assert_output_has "port $PORT of 127.0.0.1 is in use"
	[ "$(profile_get '.registryPort // 0')" = 0 ]
	run -4 manykube registry status
}

@test "enabled, it serves an image from the host on both nodes" {
	run -0 manykube registry enable --port="$PORT"
	assert_output_has "localhost:$PORT"
	push "127.0.0.1:$PORT" app:1
	for node in node-1 node-2; do
		assert_pulls "$node" "localhost:$PORT/app:1"
	done
	run -0 manykube registry enable
	assert_output_has "localhost:$PORT"
	[[ ${output,,} != *"starting the registry"* ]]
	run -0 manykube registry status
	assert_output_has "registry: Running"
	assert_output_has "address: localhost:$PORT"
	assert_output_has "repositories: 1"
	manykube registry status -o json | assert_schema registry
}

@test "image push sends to it, and image pull brings an image to all nodes" {
	manykube image tag busybox "localhost:$PORT/pushed:1"
	manykube image tag busybox "localhost:$PORT/pushed:2"
	manykube image push --node=node-2 "localhost:$PORT/pushed:1" "localhost:$PORT/pushed:2"
	manykube image unload "localhost:$PORT/pushed:2"
	manykube image rm "localhost:$PORT/pushed:1"
	run -0 manykube image pull "localhost:$PORT/pushed:1"
	assert_output_has "on all nodes"
	run -0 manykube image ls
	[[ $output =~ localhost:$PORT/pushed:1\ .*\ all ]]
	run -80 manykube image pull "localhost:$PORT/missing:1"
	assert_output_has "cannot pull 'localhost:$PORT/missing:1'"
}

@test "what was loaded runs, although the same contents were pulled" {
	assert_pulls node-1 "localhost:$PORT/pushed:1"
	kubectl run loaded --image=busybox:latest --image-pull-policy=Never --restart=Never \
		--overrides='{"spec":{"nodeName":"node-1"}}' -- true >/dev/null
	within 60 pod_has_ended loaded
}

@test "image push sends to an insecure registry" {
	local registry

	# Unlike localhost, another name does not imply plain HTTP.
	registry=$(profile_get .gateway):$PORT
	manykube image tag busybox "$registry/insecure:1"
	run manykube image push "$registry/insecure:1"
	assert_status 80
	assert_output_has "--insecure-registry=$registry"
	manykube start -q --insecure-registry="$registry"
	manykube image push "$registry/insecure:1"
}

@test "programs in nodes reach it at localhost, too, also to push" {
	local node code

	for node in node-1 node-2; do
		code=$(on "$node" bash -c "exec 7<>/dev/tcp/127.0.0.1/$PORT &&
			printf 'GET /v2/_catalog HTTP/1.0\r\nHost: x\r\n\r\n' >&7 && cat <&7")
		[[ $code == *"200 OK"*'"app"'* ]] || fail "$node: $code"
	done
	manykube cp "$BATS_TEST_DIRNAME/push.py" node-2:/root/push.py
	manykube cp "$(archive)" node-2:/root/busybox.tar
	on node-2 python3 /root/push.py "127.0.0.1:$PORT" from-node/app:1 /root/busybox.tar
	assert_pulls node-1 "localhost:$PORT/from-node/app:1"
}

@test "docker pushes to it from a node" {
	command -v docker >/dev/null || skip "there is no docker client"
	compgen -G "$MANYKUBE_CACHE/docker-v*/bin/dockerd" >/dev/null || skip "dockerd is not in the cache"
	eval "$(manykube docker-env node-2)"
	docker tag busybox "localhost:$PORT/docker/app"
	docker push -q "localhost:$PORT/docker/app"
	eval "$(manykube docker-env --unset)"
	manykube docker-env node-2 --stop
	assert_pulls node-1 "localhost:$PORT/docker/app"
}

@test "it has nothing to lose" {
	local pid uid

	pid=$(running_pid)
	uid=$(stat -c %u "$(profile_dir)/registry")
	[ "$uid" -ge $((0xfffd0000)) ]
	[ "$(stat -c %a "$(profile_dir)/registry")" = 700 ]
	assert_equal "$(awk '/^CapEff|^CapBnd|^CapPrm/ { print $2 }' "/proc/$pid/status" | sort -u)" 0000000000000000
	assert_equal "$(awk '/^NoNewPrivs/ { print $2 }' "/proc/$pid/status")" 1
	assert_equal "$(awk '/^Seccomp:/ { print $2 }' "/proc/$pid/status")" 2
	assert_equal "$(nsenter -n -t "$pid" ip -o addr)" ""
	[ "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ]
	assert_equal "$(ls "/proc/$pid/root")" docker
}

@test "nobody but this host and the cluster's nodes reaches it" {
	local gateway link=e2e-out-r

	gateway=$(profile_get .gateway)
	ss -Hltn "sport = :$PORT" | awk '{ print $4 }' | sort >"$BATS_TEST_TMPDIR/listeners"
	printf '%s\n' "127.0.0.1:$PORT" "$gateway:$PORT" | sort | diff - "$BATS_TEST_TMPDIR/listeners"
	ip netns add "$link"
	ip link add "$link" type veth peer name eth0 netns "$link"
	ip addr add 198.51.100.1/30 dev "$link"
	ip link set "$link" up
	ip -n "$link" addr add 198.51.100.2/30 dev eth0
	ip -n "$link" link set eth0 up
	ip -n "$link" route add default via 198.51.100.1
	run ip netns exec "$link" timeout 3 bash -c "exec 7<>/dev/tcp/$gateway/$PORT"
	ip netns delete "$link"
	ip link delete "$link" 2>/dev/null || true
	[ "$status" -ne 0 ]
}

@test "killed, it comes back by itself, and its images are there" {
	local before

	before=$(running_pid)
	kill -KILL "$before"
	assert_pulls node-2 "localhost:$PORT/app:1"
	within 5 is_running
	[ "$(running_pid)" != "$before" ]
}

@test "the keeper of the front door killed, the next start repairs it" {
	kill -KILL "$(jq .pid "$(profile_dir)/front-door.status.json")"
	within 5 bash -c "! pgrep -U $(stat -c %u "$(profile_dir)/registry")"
	run -2 manykube registry status || run -3 manykube registry status
	manykube start -q
	within 5 is_running
	assert_pulls node-1 "localhost:$PORT/app:1"
}

@test "the relay of a node killed comes back" {
	on node-2 pkill -KILL registry-relay
	within 10 on node-2 bash -c "exec 7<>/dev/tcp/127.0.0.1/$PORT"
}

@test "it survives the restart of all nodes, and of the primary alone" {
	manykube node stop node-1
	manykube node start node-1
	assert_pulls node-1 "localhost:$PORT/app:1"
	manykube stop -q
	run -3 manykube registry status
	assert_output_has "registry: Stopped"
	assert_output_has "repositories: "
	python3 -m http.server --bind 127.0.0.1 "$PORT" >/dev/null 2>&1 3>&- &
	within 5 bash -c "exec 7<>/dev/tcp/127.0.0.1/$PORT"
	run manykube start -q
	kill $!
	[ "$status" -ne 0 ]
	assert_output_has "127.0.0.1:$PORT"
	run ! manykube registry status
	manykube start -q
	run -0 manykube registry status
	assert_pulls node-2 "localhost:$PORT/app:1"
}

@test "a node that is added later pulls from it" {
	manykube node add -q node-3
	assert_pulls node-3 "localhost:$PORT/app:1"
	on node-3 bash -c "exec 7<>/dev/tcp/127.0.0.1/$PORT"
	manykube node delete -q node-3
}

@test "another cluster gets another port, and neither reaches the other's" {
	local gateway

	gateway=$(profile_get .gateway)
	manykube start -q --offline -p e2e-reg2
	run -71 manykube registry enable -p e2e-reg2 --port="$PORT"
	run -0 manykube registry enable -p e2e-reg2 --port="$OTHER_PORT"
	assert_output_has "localhost:$OTHER_PORT"
	push "127.0.0.1:$OTHER_PORT" other:1
	run -4 timeout 20 "$MANYKUBE" ssh -p e2e-reg2 node-1 -- \
		bash -c "timeout 3 bash -c 'exec 7<>/dev/tcp/$gateway/$PORT' || exit 4"
	run -4 timeout 20 "$MANYKUBE" ssh -p e2e-reg2 node-1 -- \
		bash -c "timeout 3 bash -c 'exec 7<>/dev/tcp/127.0.0.1/$PORT' || exit 4"
	MANYKUBE_PROFILE=e2e-reg2 assert_pulls node-1 "localhost:$OTHER_PORT/other:1"
	manykube delete -q -p e2e-reg2
	run ! pgrep -f "e2e-reg2/registry"
}

@test "disabled, its images are kept; enabled while the cluster is stopped, it is there at the start" {
	run -0 manykube registry disable
	assert_output_has "its images are kept"
	run -4 manykube registry status
	assert_output_has "repositories: "
	within 10 on node-1 bash -c "! (exec 7<>/dev/tcp/127.0.0.1/$PORT)"
	run -1 on node-1 test -e "/etc/containerd/certs.d/localhost:$PORT/hosts.toml"
	manykube stop -q
	run -0 manykube registry enable --port="$OTHER_PORT"
	assert_output_has "when it is started"
	manykube start -q
	assert_pulls node-2 "localhost:$OTHER_PORT/app:1"
}

@test "enable moves it to another port" {
	manykube registry enable -q --port="$PORT"
	assert_pulls node-1 "localhost:$PORT/app:1"
	within 10 on node-1 bash -c "exec 7<>/dev/tcp/127.0.0.1/$PORT"
	run ! bash -c "exec 7<>/dev/tcp/127.0.0.1/$OTHER_PORT"
}

# Begin to enable it and kill the command after $1 milliseconds; a second one completes it.
kill_enable_after() {
	local pid

	manykube registry disable -q
	"$MANYKUBE" registry enable -q --port="$PORT" >/dev/null 2>&1 3>&- &
	pid=$!
	sleep "0.$1"
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" || true
	manykube registry enable -q --port="$PORT"
	is_running
	assert_pulls node-1 "localhost:$PORT/app:1"
	assert_pulls node-2 "localhost:$PORT/app:1"
}

@test "enable killed at five moments is completed by a second run" {
	local moment

	for moment in 005 020 050 100 200; do
		kill_enable_after "$moment"
	done
}

@test "a cluster file turns it off, and on again" {
	manykube config view -o yaml >"$BATS_TEST_TMPDIR/with.yaml"
	grep -A1 '^registry:' "$BATS_TEST_TMPDIR/with.yaml" | grep -q "port: $PORT"
	sed '/^registry:/,+1d' "$BATS_TEST_TMPDIR/with.yaml" >"$BATS_TEST_TMPDIR/without.yaml"
	manykube apply -q -y -f "$BATS_TEST_TMPDIR/without.yaml"
	run -4 manykube registry status
	manykube apply -q -y -f "$BATS_TEST_TMPDIR/with.yaml"
	within 5 is_running
	assert_pulls node-1 "localhost:$PORT/app:1"
}

@test "its images are deleted if one asks for it, and delete leaves nothing" {
	manykube registry disable --delete-images
	[ ! -e "$(profile_dir)/registry" ]
	manykube registry enable -q --port="$PORT"
	push "127.0.0.1:$PORT" app:1
	manykube delete -q
	assert_no_trace
}
