#!/usr/bin/env bats
# Docker daemons in nodes.

load helper

setup_file() {
	begin_file docker
	command -v docker >/dev/null || skip "there is no docker client"
	compgen -G "$MANYKUBE_CACHE/docker-v*/bin/dockerd" >/dev/null ||
		skip "dockerd is not in the cache: 'manykube docker-env --download-only' builds it"
	manykube start -q --offline --nodes=2
	mkdir -p "$BATS_FILE_TMPDIR/app"
	printf 'FROM busybox\nRUN echo hello >/hello\n' >"$BATS_FILE_TMPDIR/app/Dockerfile"
}

teardown_file() {
	end_file
}

# The docker client with the environment of the node $1.
docker_on() {
	local node=$1

	shift
	(
		eval "$(manykube docker-env "$node")"
		docker "$@"
	)
}

# A pod of image $2 on node $1, which must run.
assert_pod_runs() {
	kubectl run "pod-$1-${2//[^a-z0-9]/-}" --image="$2" --image-pull-policy=Never --restart=Never \
		--overrides="{\"spec\":{\"nodeName\":\"$1\"}}" -- cat /hello >/dev/null
	within 60 pod_has_ended "pod-$1-${2//[^a-z0-9]/-}"
}

pod_has_ended() {
	[ "$(kubectl get pod "$1" -o jsonpath='{.status.phase}')" = Succeeded ]
}

dockerd_state() {
	on "$1" sed -n 's/^dockerd \([a-z]*\) .*/\1/p' /run/manykube/state
}

@test "a node has no Docker daemon before it is asked for" {
	[ "$(dockerd_state node-2)" = waiting ]
	[ ! -e "$(profile_dir)/docker" ]
}

@test "what is built on a worker runs there at once" {
	docker_on node-2 build -q -t app:worker "$BATS_FILE_TMPDIR/app"
	assert_pod_runs node-2 app:worker
	[ "$(dockerd_state node-1)" = waiting ]
}

@test "docker-all builds on every node, the primary, too" {
	manykube docker-all -- build -q -t app:all "$BATS_FILE_TMPDIR/app"
	assert_pod_runs node-1 app:all
	assert_pod_runs node-2 app:all
}

@test "Debian's docker client, which is old, builds as well" {
	local client=$E2E_ROOT/build/debian-docker/usr/bin

	[ -x "$client/docker" ] || skip "there is no docker client of Debian in build/debian-docker"
	(
		export PATH=$client:$PATH
		docker_on node-2 build -q -t app:debian "$BATS_FILE_TMPDIR/app"
		manykube docker-all -- version
	)
	assert_pod_runs node-2 app:debian
}

@test "docker-all ends with the status of the first failure" {
	run manykube docker-all -- run --rm busybox sh -c 'exit 7'
	[ "$status" -eq 7 ]
	[[ $output == *node-1* && $output != *node-2* ]]
}

@test "nobody gets in without a certificate for Docker" {
	local url certs

	url=https://$(manykube ip node-2):2376/version
	certs=$(profile_dir)/docker
	curl -sf -m 10 --cacert "$certs/ca.pem" --cert "$certs/cert.pem" --key "$certs/key.pem" "$url" >/dev/null
	run curl -skf -m 10 "$url"
	[ "$status" -ne 0 ]
	# The administrator of Kubernetes is nobody here,
	run curl -skf -m 10 --cert "$(profile_dir)/client.crt" --key "$(profile_dir)/client.key" "$url"
	[ "$status" -ne 0 ]
	# and neither is another node's daemon.
	on node-1 cat /etc/manykube/docker/server.pem >"$BATS_TEST_TMPDIR/server.pem"
	run curl -skf -m 10 --cert "$BATS_TEST_TMPDIR/server.pem" --key "$BATS_TEST_TMPDIR/server.pem" "$url"
	[ "$status" -ne 0 ]
	[ "$(stat -c %a "$certs/key.pem" "$certs/authority.pem" | sort -u)" = 600 ]
}

@test "published ports of containers are ports of the node" {
	docker_on node-2 run -d --name web -p 8088:80 busybox httpd -f -h /etc >/dev/null
	docker_on node-2 ps --format '{{.Names}}' | grep -qx web
	within 10 curl -sf -m 2 "http://$(manykube ip node-2):8088/hostname"
	docker_on node-2 rm -f web >/dev/null
}

has_images() {
	[ "$(on node-2 sh -c 'cut -d" " -f1 /etc/manykube/images >/tmp/names
		ctr -n k8s.io images ls -q 2>/dev/null | grep -cxFf /tmp/names')" = \
		"$(on node-2 sh -c 'wc -l </etc/manykube/images')" ]
}

# The digest that node-2 knows by the name $1.
digest_of() {
	on node-2 ctr -n k8s.io images ls "name==$1" 2>/dev/null | awk 'NR == 2 { print $3 }'
}

digest_is() {
	[ "$(digest_of "$1")" = "$2" ]
}

@test "names of Kubernetes' own images are not given to others" {
	local busybox=docker.io/library/busybox:latest before

	within 30 has_images
	before=$(digest_of "$busybox")
	run manykube image build -t busybox --node=node-2 "$BATS_FILE_TMPDIR/app"
	assert_status 14
	assert_output_has "'$busybox' is one of Kubernetes' own images"
	assert_equal "$(digest_of "$busybox")" "$before"
	docker_on node-2 tag app:worker busybox
	within 30 digest_is "$busybox" "$before"
}

@test "Kubernetes' own images come back after they were pruned" {
	within 30 has_images
	docker_on node-2 image prune -af >/dev/null
	within 30 has_images
	kubectl run after-prune --image=busybox --image-pull-policy=Never --restart=Never \
		--overrides='{"spec":{"nodeName":"node-2"}}' -- true >/dev/null
	within 60 pod_has_ended after-prune
}

@test "two nodes build at the same time" {
	local one two

	docker_on node-1 build -q --no-cache -t app:both "$BATS_FILE_TMPDIR/app" >/dev/null &
	one=$!
	docker_on node-2 build -q --no-cache -t app:both "$BATS_FILE_TMPDIR/app" >/dev/null &
	two=$!
	wait "$one"
	wait "$two"
	assert_pod_runs node-1 app:both
	assert_pod_runs node-2 app:both
}

dockerd_runs() {
	[ "$(dockerd_state "$1")" = running ]
}

# Files for builds, in the directory of the running test.
make_context() {
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p app/out
	printf '%s\n' 'FROM busybox AS base' 'ARG V=none' 'COPY . /app' 'RUN echo "v=$V" >/hello' \
		'FROM base AS test' 'RUN echo tested >/hello' 'FROM base' >app/Dockerfile
	printf '%s\n' '*.o' 'out' '!out/keep' >app/.dockerignore
	touch app/a.o app/a.c app/out/keep app/out/drop
}

# What the pod $1, which has ended, wrote.
pod_said() {
	kubectl logs "$1"
}

@test "image build leaves out what is ignored and takes arguments" {
	make_context
	manykube image build -t app:built --build-arg V=7 app 2>output
	grep -qx '#[0-9]* DONE [0-9.]*s' output
	docker_on node-1 run --rm app:built find /app -type f | sort >files
	printf '/app/%s\n' .dockerignore Dockerfile a.c out/keep | diff - files
	assert_pod_runs node-1 app:built
	[ "$(pod_said pod-node-1-app-built)" = v=7 ]
}

@test "what image build makes is on all nodes" {
	run manykube image ls
	assert_status 0
	[[ $output =~ docker.io/library/app:built\ .*\ all ]]
	assert_pod_runs node-2 app:built
}

@test "an image build that is killed at any moment is completed by the next one" {
	local delay

	make_context
	for delay in 0.1 0.5 1 1.5 2; do
		manykube image build -q -t app:killed --build-arg "V=$delay" app 2>/dev/null &
		sleep "$delay"
		kill -KILL $! 2>/dev/null || true
		wait $! || true
		manykube image build -q -t app:killed --build-arg "V=$delay" app
	done
	assert_pod_runs node-2 app:killed
	[ "$(pod_said pod-node-2-app-killed)" = v=2 ]
}

@test "image load takes an image from the Docker engine that the client uses" {
	docker_on node-2 tag app:both engine:1
	(
		eval "$(manykube docker-env node-2)"
		manykube image load engine:1
		run manykube image load no-such-image:1
		assert_status 35
	)
	assert_pod_runs node-1 engine:1
}

@test "image build builds a stage, on the node that is named" {
	local id

	make_context
	id=$(manykube image build -q -t app:stage --target=test --node=node-2 app)
	[[ $id =~ ^sha256:[0-9a-f]{64}$ ]]
	[ "$(docker_on node-2 run --rm app:stage cat /hello)" = tested ]
}

@test "image build reads a Dockerfile or an archive from standard input" {
	make_context
	printf 'FROM scratch\nLABEL from=scratch\n' | manykube image build -q -t app:scratch -
	[ "$(docker_on node-1 inspect -f '{{.Config.Labels.from}}' app:scratch)" = scratch ]
	tar -cz -C app . | manykube image build -q -t app:tar --build-arg=V=tar -
	[ "$(docker_on node-1 run --rm app:tar cat /hello)" = v=tar ]
	# A Dockerfile beside the context.
	printf 'FROM busybox\nCOPY a.c /hello\n' >elsewhere
	manykube image build -q -t app:elsewhere -f elsewhere app
}

@test "a build that fails shows why, and leaves nothing" {
	printf 'FROM busybox\nRUN echo going; exit 7\n' >"$BATS_TEST_TMPDIR/Dockerfile"
	run manykube image build -t app:bad "$BATS_TEST_TMPDIR"
	[ "$status" -eq 1 ]
	[[ $output == *' going'* ]]
	[[ $output == *'exit code: 7'* ]]
	run docker_on node-1 inspect app:bad
	[ "$status" -ne 0 ]
	[ -z "$(find "$(profile_dir)" -maxdepth 1 -newer "$BATS_TEST_TMPDIR/Dockerfile" -type f -name '*.tar*')" ]
}

# Whether the process that the build runs is there.
build_runs() {
	pgrep -fx 'sleep 98765' >/dev/null
}

build_has_ended() {
	! build_runs
}

@test "an interrupted build ends" {
	local pid status=0

	printf 'FROM busybox\nRUN sleep 98765\n' >"$BATS_TEST_TMPDIR/Dockerfile"
	"$MANYKUBE" image build -q -t app:slow "$BATS_TEST_TMPDIR" &
	pid=$!
	within 30 build_runs
	kill -TERM "$pid"
	wait "$pid" || status=$?
	[ "$status" -eq 11 ]
	within 10 build_has_ended
	run docker_on node-1 inspect app:slow
	[ "$status" -ne 0 ]
}

@test "the daemon starts with its node" {
	manykube node stop -q node-2
	manykube node start -q node-2
	within 30 dockerd_runs node-2
	docker_on node-2 version >/dev/null
}

@test "a change of its options restarts the daemon, not the node" {
	local agent

	agent=$(on node-2 stat -c %Y /proc/1)
	manykube config view >"$BATS_TEST_TMPDIR/cluster.yaml"
	sed -i 's/^  name: node-2$/&\n  dockerOpt: ["label=color=red"]\n  dockerEnv: {E2E: "1"}/' \
		"$BATS_TEST_TMPDIR/cluster.yaml"
	manykube apply -q --yes -f "$BATS_TEST_TMPDIR/cluster.yaml"
	docker_on node-2 info --format '{{.Labels}}' | grep -q color=red
	on node-2 sh -c 'tr "\\0" "\\n" </proc/$(pidof dockerd)/environ' | grep -qx E2E=1
	[ "$(on node-2 stat -c %Y /proc/1)" = "$agent" ]
	[ -z "$(docker_on node-1 info --format '{{join .Labels ","}}')" ]
	manykube node set -q node-2 --docker-opt=label- --docker-opt=label=size=big --docker-env=E2E-
	[ "$(docker_on node-2 info --format '{{join .Labels ","}}')" = size=big ]
	on node-2 sh -c '! tr "\\0" "\\n" </proc/$(pidof dockerd)/environ | grep -q ^E2E='
}

@test "--stop ends it until it is asked for again" {
	manykube docker-env node-2 --stop
	[ "$(dockerd_state node-2)" != running ]
	[ "$(profile_get '.nodes[] | select(.name == "node-2") | .docker')" = false ]
	docker_on node-2 version >/dev/null
	[ "$(dockerd_state node-2)" = running ]
}

@test "eval of a failure is a failure" {
	run bash -c 'eval "$("$MANYKUBE" docker-env nowhere 2>/dev/null)"'
	[ "$status" -eq 1 ]
}

@test "delete leaves nothing" {
	manykube delete -q
	[ ! -e "$(profile_dir)" ]
}
