# What the tests of several control planes use.
# shellcheck shell=bash

health() {
	manykube status -o json --layout=cluster | jq -r .StatusName
}

is_happy() {
	[ "$(health)" = HAppy ]
}

primary() {
	manykube status -o json | jq -r '[.] | flatten[] | select(.Primary) | .Name'
}

# The control planes that etcd knows, sorted.
members() {
	on "$(primary)" etcdctl --endpoints=https://127.0.0.1:2379 \
		--cacert=/etc/kubernetes/pki/etcd/ca.crt --cert=/etc/kubernetes/pki/etcd/server.crt \
		--key=/etc/kubernetes/pki/etcd/server.key member list -w json |
		jq -r '.members[] | select(.isLearner | not) | .name' | sort | xargs
}

# Kill a node, and wait until its first process has no memory: a busy host takes its time.
kill_node() {
	local pid

	pid=$(cut -d' ' -f1 "$(profile_dir)/nodes/$1/pid")
	kill -9 "$pid"
	while [ "$(awk '{ print $23 }' "/proc/$pid/stat" 2>/dev/null || echo 0)" != 0 ]; do
		sleep 0.05
	done
}

# The program of writer.go, for setup_file.  Whoever makes payloads has Go.
build_writer() {
	PATH=$PATH:/usr/local/go/bin GOTOOLCHAIN=local GOPROXY=off CGO_ENABLED=0 \
		go build -o "$BATS_FILE_TMPDIR/writer" "$E2E_ROOT/tests/e2e/writer.go"
}

# Write without pause until end_writing; with a node $1 also from there, through the service
# "kubernetes".
begin_writing() {
	local writer=$BATS_FILE_TMPDIR/writer

	[ -x "$writer" ] || skip "needs Go"
	kubectl delete configmap --all --wait=false >/dev/null
	rm -f "$writer".log*
	"$writer" write "$KUBECONFIG" >"$writer.log" 2>"$writer.retries" 3>&- &
	echo $! >"$writer.pids"
	[ -n "${1:-}" ] || return 0
	nsenter --net --target "$(cut -d' ' -f1 "$(profile_dir)/nodes/$1/pid")" \
		"$writer" write "$(profile_dir)/kubeconfig" "https://$(service_address)" inside- \
		>"$writer.log-inside" 2>>"$writer.retries" 3>&- &
	echo $! >>"$writer.pids"
}

service_address() {
	kubectl get service kubernetes -o jsonpath='{.spec.clusterIP}'
}

# For teardown_file, too.
stop_writers() {
	local pids=$BATS_FILE_TMPDIR/writer.pids pid

	[ -e "$pids" ] || return 0
	while read -r pid; do
		kill "$pid" || true
		while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
	done <"$pids"
	rm "$pids"
}

# End the writers and see that nothing that was acknowledged is lost, and with "planned" that no
# request failed.  How long writes stood still is told, and not judged: machines differ.
end_writing() {
	local log result

	stop_writers
	for log in "$BATS_FILE_TMPDIR"/writer.log*; do
		result=$("$BATS_FILE_TMPDIR/writer" check "$KUBECONFIG" "$log")
		echo "# $1${log#"$BATS_FILE_TMPDIR/writer.log"}: $result" >&3
		[[ $result == *" 0 lost,"* ]] || fail "$1: $result"
		[[ $result != "0 acknowledged"* ]] || fail "$1: nothing was written"
		[ -z "${2:-}" ] || [[ $result == *" 0 failed,"* ]] || fail "$1: $(grep failed "$log")"
	done
	cat "$BATS_FILE_TMPDIR/writer.retries"
}
