# A container engine of our own: dockerd of the cache or of this host, with the payload's containerd,
# which leaves the host's network alone.
# shellcheck shell=bash

# Let dockerd be the path of one: E2E_DOCKERD, that of the cache, or that of the host.
find_dockerd() {
	local found

	for found in "${E2E_DOCKERD:-}" "$MANYKUBE_CACHE"/docker-v*/bin/dockerd "$(command -v dockerd)"; do
		if [ -x "$found" ]; then
			export E2E_DOCKERD=$found
			return
		fi
	done
	return 1
}

start_engine() {
	local bin

	bin=$(dirname "$(compgen -G "$MANYKUBE_CACHE/v*/bin/containerd" | tail -n 1)")
	PATH=${E2E_DOCKERD%/*}:$bin:$PATH unshare --mount --propagation=slave "$E2E_DOCKERD" \
		--host="$DOCKER_HOST" --data-root="$E2E_ENGINE/data" --exec-root="$E2E_ENGINE/exec" \
		--pidfile="$E2E_ENGINE/pid" --config-file="$E2E_ENGINE/daemon.json" --cgroup-parent="/$E2E_GROUP" \
		--exec-opt=native.cgroupdriver=cgroupfs --iptables=false --ip6tables=false --userland-proxy=false --bridge=none \
		>>"$E2E_ENGINE/log" 2>&1 3>&- &
	within 30 engine /_ping || { cat "$E2E_ENGINE/log" >&2 && return 1; }
}

stop_engine() {
	local pid

	pid=$(cat "$E2E_ENGINE/pid" 2>/dev/null) || return 0
	kill "$pid" || true
	within 30 is_gone "$pid"
	rm -f "$E2E_ENGINE/pid" "$E2E_ENGINE/docker.sock"
}

is_gone() {
	[ ! -e "/proc/$1" ]
}

# A request to the engine: engine PATH [CURL-OPTION...].
engine() {
	local path=$1

	shift
	curl -sS -f -m 30 --unix-socket "$E2E_ENGINE/docker.sock" "$@" "http://engine$path"
}

# For setup_file, after find_dockerd: make and start the engine that DOCKER_HOST names from now on.
make_engine() {
	export E2E_ENGINE=$BATS_FILE_TMPDIR/engine E2E_GROUP=e2e-engine-$$
	export DOCKER_HOST=unix://$E2E_ENGINE/docker.sock
	mkdir "$E2E_ENGINE"
	echo "{}" >"$E2E_ENGINE/daemon.json"
	start_engine
}

# For teardown_file.
remove_engine() {
	[ -n "${E2E_ENGINE:-}" ] || return 0
	stop_engine
	rmdir /sys/fs/cgroup/"$E2E_GROUP" /sys/fs/cgroup/*/"$E2E_GROUP" 2>/dev/null || true
}
