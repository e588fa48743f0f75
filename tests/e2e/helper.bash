# What every end-to-end test uses.
# shellcheck shell=bash
# shellcheck disable=SC2154 # bats sets status, output and lines
#
# A file makes its clusters in a home of its own (MANYKUBE_HOME, KUBECONFIG), shares only the
# payload cache with the person's, and is offline.  It takes a snapshot of the host before, and
# what it leaves is compared with it, so nothing may stay behind that was not there before.

bats_require_minimum_version 1.5.0

E2E_ROOT=$(cd "${BATS_TEST_DIRNAME:-$(dirname "${BASH_SOURCE[0]}")}/../.." && pwd)

# Where the payloads are: the cache of all users, or where an earlier version kept them.
cache_dir() {
	local old=$HOME/.manykube/cache

	if [ ! -e /var/cache/manykube ] && [ -e "$old" ]; then
		echo "$old"
	else
		echo /var/cache/manykube
	fi
}

# For setup_file: begin_file PROFILE...; the first is what commands work on unless told otherwise.
begin_file() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	export MANYKUBE=${MANYKUBE:-$E2E_ROOT/build/manykube}
	export MANYKUBE_CACHE=${MANYKUBE_CACHE:-$(cache_dir)}
	MANYKUBE_HOME=$(mktemp -d "${E2E_TMP:-/var/tmp}/manykube-e2e.XXXXXX")
	export MANYKUBE_HOME
	export KUBECONFIG=$MANYKUBE_HOME/kubeconfig
	export MANYKUBE_PROFILE=$1
	export E2E_PROFILES="$*"
	export NO_COLOR=1
	host_snapshot >"$BATS_FILE_TMPDIR/before"
}

# For teardown_file: remove what is left, also of a test that failed half-way, and say so if
# something can't be removed.
end_file() {
	local name

	[ -n "${MANYKUBE_HOME:-}" ] || return 0
	for name in $E2E_PROFILES; do
		manykube delete -q -p "$name" || true
	done
	assert_no_trace
	rm -rf "$MANYKUBE_HOME"
}

manykube() {
	"$MANYKUBE" "$@"
}

# The payload's kubectl, on the profile that commands work on.
kubectl() {
	"$MANYKUBE_CACHE/$(profile_get .kubernetesVersion)/bin/kubectl" \
		--cache-dir="$MANYKUBE_HOME/kube-cache" --context="$MANYKUBE_PROFILE" "$@"
}

# A command on a node: on NODE COMMAND...
on() {
	local node=$1

	shift
	manykube ssh "$node" -- "$@"
}

profile_dir() {
	echo "$MANYKUBE_HOME/profiles/$MANYKUBE_PROFILE"
}

# What the profile says: a jq filter.
profile_get() {
	jq -r "$1" "$(profile_dir)/profile.json"
}

# Everything of the host that a cluster could leave behind, one per line.  Clusters that are not
# this file's are left out: others may come and go meanwhile.
host_snapshot() {
	{
		ip -o link | awk '{ sub(/[@:].*/, "", $2); print "link " $2 }'
		ip route show table all | sed -E 's,^,route ,; s, expires [0-9]+sec,,'
		awk '{ print "mount " $5 }' /proc/self/mountinfo
		nft list tables | sed 's/^/nft /'
		cat /sys/block/loop*/loop/backing_file 2>/dev/null | sed 's/^/loop /'
		list_groups
		list_processes
	} | only_ours | sort
}

# The links, tables and groups of a cluster carry a hash of its directory's path: FNV-1a.
bridge_of() {
	local path=$MANYKUBE_HOME/profiles/$1 hash=2166136261 code i

	for ((i = 0; i < ${#path}; i++)); do
		printf -v code '%d' "'${path:i:1}"
		hash=$(((hash ^ code) * 16777619 & 0xffffffff))
	done
	printf 'mk%08x\n' "$hash"
}

only_ours() {
	local name ours=

	for name in $E2E_PROFILES; do
		ours="$ours $(bridge_of "$name")"
	done
	awk -v ours="$ours" -v home="$MANYKUBE_HOME/" '
		/e2e-out/ { next } # what tests put up outside of clusters themselves
		/^(mount|loop) .*\/profiles\// && !index($0, home) { next }
		match($0, /mk[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]/) &&
			!index(ours, substr($0, RSTART, RLENGTH)) { next }
		{ print }'
}

# The groups of clusters, and the one that holds them if it holds none.
list_groups() {
	find /sys/fs/cgroup -maxdepth 4 -type d \( -path '*/manykube/*' -o -path '*/manykube-mk*' \) |
		sed 's/^/group /'
	find /sys/fs/cgroup -maxdepth 2 -type d -name manykube -links -3 -print | sed 's/^/group /'
}

# Processes that belong to a cluster of ours, or are a node's user and belong to none.  Those
# without memory have ended and only wait for the host's init to notice it.
list_processes() {
	ps -ewwo pid=,uid=,rss=,cgroup:800=,args= | HOME_OF_TEST=$MANYKUBE_HOME awk '
		$3 == 0 { next }
		{ group = match($4, /\/manykube[\/-]mk[0-9a-f]+/) ? substr($4, RSTART + 10, RLENGTH - 10) : "" }
		group || $2 >= 268435456 || index($0, ENVIRON["HOME_OF_TEST"]) {
			pid = $1
			$1 = $2 = $3 = $4 = ""
			print "process", pid, group, substr($0, 1, 200)
		}'
}

# Nothing of our clusters is left: not on the host, not in the home, not in the kubeconfig.
assert_no_trace() {
	local name

	host_snapshot >"$BATS_FILE_TMPDIR/after"
	diff "$BATS_FILE_TMPDIR/before" "$BATS_FILE_TMPDIR/after" >"$BATS_FILE_TMPDIR/left" ||
		fail "left on the host: $(cat "$BATS_FILE_TMPDIR/left")"
	if [ -d "$MANYKUBE_HOME/profiles" ]; then
		name=$(find "$MANYKUBE_HOME/profiles" "$MANYKUBE_HOME/locks" -mindepth 1 | head -n 5)
		[ -z "$name" ] || fail "left in the home: $name"
	fi
	for name in $E2E_PROFILES; do
		if [ -e "$KUBECONFIG" ] && grep -q "name: \"*$name\"*\$" "$KUBECONFIG"; then
			fail "left in the kubeconfig: $name"
		fi
	done
}

fail() {
	echo "$*" >&2
	return 1
}

# For use after `run`.
assert_status() {
	[ "$status" -eq "$1" ] || fail "the exit status is $status, not $1; the output: $output"
}

assert_output_has() {
	[[ $output == *"$1"* ]] || fail "the output has no '$1': $output"
}

assert_equal() {
	[ "$1" = "$2" ] || fail "it is '$1', not '$2'${3:+: $3}"
}

# What comes in must be one JSON document as docs/schema/$1.json describes it.
assert_schema() {
	"$E2E_ROOT/tests/e2e/check-schema.py" "$E2E_ROOT/docs/schema/$1.json"
}

# The same for every line.
assert_schema_lines() {
	"$E2E_ROOT/tests/e2e/check-schema.py" --lines "$E2E_ROOT/docs/schema/$1.json"
}

# What a node without a limit of its own is held to, so that the host keeps some: bytes.
most_memory() {
	local pages=$(($(getconf _PHYS_PAGES) * 15 / 16))

	echo $((pages * $(getconf PAGE_SIZE)))
}

# A port of loopback that nobody uses.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Repeat a command until it succeeds: within SECONDS COMMAND...  A host that is known to be slow has
# a multiple of them, E2E_PATIENCE, and E2E_REST in between: there, asking is much of its work.
within() {
	local deadline=$((SECONDS + $1 * ${E2E_PATIENCE:-1}))

	shift
	until "$@" >"$BATS_TEST_TMPDIR/within" 2>&1; do
		if [ "$SECONDS" -ge "$deadline" ]; then
			fail "in vain: $*: $(cat "$BATS_TEST_TMPDIR/within")"
			return 1
		fi
		sleep "${E2E_REST:-0.2}"
	done
}

assert_all_ready() {
	local want got

	want=$(profile_get '.nodes[].name' | sort | xargs)
	got=$(kubectl get nodes -o json | jq -r '.items[] |
		select(any(.status.conditions[]; .type == "Ready" and .status == "True")) |
		.metadata.name' | sort | xargs)
	assert_equal "$got" "$want" "the nodes that are Ready"
}

# A kubelet that answers now, whatever the API remembers of it.
assert_kubelet_answers() {
	assert_equal "$(kubectl get --raw "/api/v1/nodes/$1/proxy/healthz")" ok
}

# A web server on every node, and a service in front of them; each says its pod's name.
apply_web() {
	kubectl apply -f "$E2E_ROOT/tests/e2e/web.yaml"
	within 60 web_is_ready
}

web_is_ready() {
	local want ready

	want=$(profile_get '.nodes | length')
	ready=$(kubectl get daemonset web -o jsonpath='{.status.numberReady}')
	[ "$ready" = "$want" ] || { kubectl get pods -o wide && return 1; }
}

# Lines of "POD NODE ADDRESS".
web_pods() {
	kubectl get pods -l app=web -o json | jq -r '.items[] |
		select(.metadata.deletionTimestamp == null) |
		"\(.metadata.name) \(.spec.nodeName) \(.status.podIP)"'
}

# Every such pod gets an answer of every other by its address.
assert_web_reaches_web() {
	local pods from pod address

	pods=$(web_pods)
	for from in $(echo "$pods" | cut -d' ' -f1); do
		while read -r pod _ address; do
			assert_equal "$(kubectl exec "$from" -- timeout 5 wget -q -O - "http://$address:8080" </dev/null)" \
				"$pod" "asked from $from"
		done <<<"$pods"
	done
}

# Of every node its name, UID, address and podCIDR: what a restart must not change.
identities() {
	kubectl get nodes -o json | jq -r '.items[] |
		"\(.metadata.name) \(.metadata.uid) \(.status.addresses[0].address) \(.spec.podCIDR)"'
}

node_names() {
	kubectl get nodes -o json | jq -r '.items[].metadata.name' | xargs
}

# Lines of "NODE WORD", the word for the node's processes.
hosts() {
	manykube status -o json | jq -r '.[] | "\(.Name) \(.Host)"'
}

# A claim "data" for run_with_claim.
make_claim() {
	kubectl apply -f - <<-CLAIM
		apiVersion: v1
		kind: PersistentVolumeClaim
		metadata: {name: data}
		spec:
		  accessModes: [ReadWriteOnce]
		  resources: {requests: {storage: 10Mi}}
	CLAIM
}

# A pod $1 on node $2 (any, if empty) that runs the shell command $3 with the claim at /data, to its
# end.
run_with_claim() {
	kubectl apply -f - <<-POD
		apiVersion: v1
		kind: Pod
		metadata: {name: $1}
		spec:
		  restartPolicy: Never
		  terminationGracePeriodSeconds: 0
		  nodeSelector: {${2:+kubernetes.io/hostname: $2}}
		  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
		  containers:
		    - name: main
		      image: docker.io/library/busybox:latest
		      imagePullPolicy: Never
		      command: [sh, -c, '$3']
		      volumeMounts: [{name: data, mountPath: /data}]
	POD
	kubectl wait --timeout=60s --for=jsonpath='{.status.phase}'=Succeeded "pod/$1"
}

# What was written by run_with_claim into /data/file on node-2 is still there.
assert_data_is_there() {
	run_with_claim reader node-2 'cat /data/file'
	assert_equal "$(kubectl logs reader)" kept
	kubectl delete pod reader
}

# Press Ctrl-C in a command as soon as it says STEP: interrupt STEP WORD...
interrupt() {
	local step=$1 events=$BATS_TEST_TMPDIR/interrupted line pid status=0

	shift
	rm -f "$events"
	mkfifo "$events"
	"$MANYKUBE" "$@" -o json >"$events" 2>&1 3>&- &
	pid=$!
	# Held open, so that nothing but the signal ends the command.
	exec 7<"$events"
	while read -r line <&7 && [[ $line != *"$step"* ]]; do :; done
	kill -INT "$pid" || true
	wait "$pid" || status=$?
	ADVICE=$(tail -n 1 <&7 | jq -r .data.advice)
	exec 7<&-
	assert_equal "$status" 11 "$* was to be interrupted"
	[[ $ADVICE == *"run the same command again"* || $ADVICE == *"' continues"* ]] ||
		fail "$* suggests nothing to go on with: $ADVICE"
	[[ $ADVICE != *" delete"* ]] || fail "$* suggests to destroy something: $ADVICE"
}

# Run the first command that the interrupted one suggested.
follow_advice() {
	local words

	words=${ADVICE#*\'manykube }
	read -ra words <<<"${words%%\'*}"
	manykube "${words[@]}"
}

# Run a command as somebody who is not root, and who may look into the home that tests use.
as_nobody() {
	chmod 755 "$BATS_FILE_TMPDIR" "$MANYKUBE_HOME"
	chmod o+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/file" 2>/dev/null || true
	[ -z "${E2E_TMP:-}" ] || chmod o+x "$E2E_TMP"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# Lines of "STATUS|WORDS|PART": manykube with WORDS ends with STATUS, and its output has PART.
assert_each() {
	local want words part

	while IFS='|' read -r want words part; do
		read -ra words <<<"$words"
		run manykube "${words[@]}"
		assert_status "$want"
		assert_output_has "$part"
	done
}
