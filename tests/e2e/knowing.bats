#!/usr/bin/env bats
# Knowing what happened: logs, the bundle and its secrets, the audit, events, the doctor, and how a
# start is refused on a host that has no room.

load helper

setup_file() {
	begin_file e2e-knowing
	run_start
}

teardown_file() {
	end_file
}

# The cluster of this file; its events are looked at by the tests.
run_start() {
	"$MANYKUBE" start --offline --nodes=2 -o json \
		>"$BATS_FILE_TMPDIR/events" 2>"$BATS_FILE_TMPDIR/stderr"
}

# A home of its own on a file system with these mount options, for what is refused there.
small_home() {
	local dir=$BATS_TEST_TMPDIR/small

	mkdir "$dir"
	mount -t tmpfs -o "$1" e2e-out "$dir"
	export MANYKUBE_HOME=$dir/home
}

teardown() {
	umount "$BATS_TEST_TMPDIR/small" 2>/dev/null || true
}

# The files that hold secrets of the cluster.
secret_files() {
	find "$(profile_dir)" -type f \( -path '*/pki/*' -name '*.key' -o -name 'kubelet-client-*.pem' \
		-o -path '*/etc/kubernetes/*.conf' -o -path '*/etc/manykube/*' -o -name kubeconfig \)
}

# Every secret of the cluster, a line each: private keys line by line and in base64, tokens.
list_secrets() {
	local file

	while IFS= read -r file; do
		sed -n '/BEGIN.*PRIVATE KEY/,/END.*PRIVATE KEY/{/-----/!p}' "$file"
		case $file in *.key) base64 -w0 "$file" && echo ;; esac
		sed -n 's/^ *client-key-data: //p' "$file"
		sed -nE 's/.*[^a-z0-9]([a-z0-9]{6}\.[a-z0-9]{16})$/\1/p' "$file"
	done < <(secret_files)
}

@test "start -o json: an event per line on stdout, nothing on stderr" {
	local events=$BATS_FILE_TMPDIR/events

	assert_equal "$(cat "$BATS_FILE_TMPDIR/stderr")" ""
	jq -se 'length > 5 and all(.[]; .specversion == "1.0" and .source == "manykube" and
		(.type | startswith("io.manykube.")) and all(.data[]; type == "string"))' "$events"
	jq -se '[.[] | select(.type == "io.manykube.step").data.currentstep | tonumber] |
		. == sort and length > 5' "$events"
	jq -se 'last.data | .name == "Done" and .currentstep == .totalsteps' "$events"
	cmp "$events" "$(profile_dir)/logs/events.json"
	assert_schema_lines event <"$events"
}

@test "an error is an event, too" {
	run --separate-stderr manykube start --offline --subnet=10.9.0.0/24 -o json
	assert_status 14
	assert_equal "$stderr" ""
	assert_equal "$(jq -r '.type + " " + .data.exitcode + " " + .data.name' <<<"$output")" \
		"io.manykube.error 14 MK_USAGE"
	run --separate-stderr manykube delete -p e2e-Bad -o json
	assert_status 14
	assert_equal "$(jq -r .type <<<"$output")" io.manykube.error
	assert_schema_lines event <<<"$output"
	# What was refused is no start: the record of the last one stays.
	cmp "$BATS_FILE_TMPDIR/events" "$(profile_dir)/logs/events.json"
}

@test "the last start's log has the command, its steps and how it ended" {
	run -0 manykube logs --last-start-only
	assert_output_has "start --offline --nodes=2 -o json"
	assert_output_has "step: starting node node-2"
	assert_output_has "done: waiting for nodes"
	assert_output_has "ended with 0"
}

@test "logs show every part of the cluster" {
	local title

	run -0 manykube logs --length=3
	for title in start front-door "node-1: kubelet" "node-1: etcd" "node-1: apiserver" \
		"node-1: scheduler" "node-1: controller-manager" "node-2: containerd" "node-2: agent"; do
		assert_output_has "==> $title <=="
	done
}

@test "logs of one node, or of one service" {
	run -0 manykube logs node-2
	assert_output_has "==> node-2: kubelet <=="
	[[ $output != *node-1:* ]]
	run -0 manykube logs --service=kube-apiserver --service=etcd --length=1
	assert_equal "$(grep -c '==>' <<<"$output")" 2
	run manykube logs node-7
	assert_status 85
	run manykube logs --service=docker
	assert_status 14
	assert_output_has kubelet
}

@test "what a node links to is not shown" {
	echo "a secret of the host" >"$BATS_TEST_TMPDIR/secret"
	on node-2 ln -s "$BATS_TEST_TMPDIR/secret" /var/log/evil.log
	on node-2 sh -c "mv /var/log/kubelet.log /var/log/kept && ln -s $BATS_TEST_TMPDIR/secret /var/log/kubelet.log"
	run manykube logs node-2
	[[ $output != *"secret of the host"* ]]
	manykube logs --file="$BATS_TEST_TMPDIR/link.tar"
	run -1 grep -a "secret of the host" "$BATS_TEST_TMPDIR/link.tar"
	on node-2 mv /var/log/kept /var/log/kubelet.log
}

@test "a bundle has the logs and the configuration, and no secret" {
	local bundle=$BATS_TEST_TMPDIR/bundle.tar.gz top=$BATS_TEST_TMPDIR/manykube-e2e-knowing
	local secrets=$BATS_TEST_TMPDIR/secrets file

	manykube logs --file="$bundle"
	assert_equal "$(stat -c %a "$bundle")" 600
	tar -xzf "$bundle" -C "$BATS_TEST_TMPDIR"
	[ -s "$top/nodes/node-2/tree/var/log/kubelet.log" ]
	[ -s "$top/nodes/node-1/tree/etc/kubernetes/admin.conf" ]
	[ -s "$top/nodes/node-1/tree/etc/kubernetes/manifests/etcd.yaml" ]
	[ -s "$top/logs/kubeadm-node-2.log" ]
	[ -s "$top/audit.json" ]
	[ -s "$top/host.txt" ]
	find "$top/nodes/node-1/tree/var/log/pods" -path '*kube-apiserver*' -name 0.log | grep -q .
	jq -e '.items | length == 2' "$top/kubernetes/nodes.json"
	jq -e '.items | length > 5' "$top/kubernetes/pods.json"
	jq -e '.[0].Host == "Running"' "$top/status.json"

	list_secrets | sort -u | grep -E '.{16}' >"$secrets"
	# The list is one only if it knows what is where it was taken from.
	for file in etc/kubernetes/pki/ca.key etc/kubernetes/pki/sa.key etc/kubernetes/pki/etcd/server.key \
		etc/kubernetes/admin.conf etc/kubernetes/super-admin.conf etc/manykube/kubeadm.yaml; do
		grep -qF -f "$secrets" "$(profile_dir)/nodes/node-1/tree/$file" || fail "no secret in $file"
	done
	grep -qF -f "$secrets" "$(profile_dir)/nodes/node-2/tree/etc/manykube/kubeadm.yaml"
	grep -qF -f "$secrets" "$(profile_dir)/nodes/node-2/tree/etc/manykube/discovery.conf"
	grep -q "client-key-data: REDACTED" "$top/nodes/node-1/tree/etc/kubernetes/admin.conf"
	run -1 grep -rlF -f "$secrets" "$top"
	run -1 grep -rl "PRIVATE KEY" "$top"
	run find "$top" -name '*.key' -o -name pki
	assert_equal "$output" ""
}

@test "under sudo, a bundle is the caller's own" {
	local own=$MANYKUBE_HOME/own

	SUDO_UID=65534 SUDO_GID=65534 run -38 manykube logs -q --file="$BATS_TEST_TMPDIR/own.tar"
	assert_output_has "use a directory that you can write to"
	as_nobody true
	mkdir "$own"
	chown 65534 "$own"
	SUDO_UID=65534 SUDO_GID=65534 manykube logs -q --file="$own/own.tar"
	assert_equal "$(stat -c '%u %a' "$own/own.tar")" "65534 600"
}

@test "a bundle can be had of a cluster that is down" {
	on node-1 busybox reboot -f || true
	within 10 eval '! manykube status >/dev/null'
	manykube logs --file="$BATS_TEST_TMPDIR/down.tar"
	run -0 tar -tf "$BATS_TEST_TMPDIR/down.tar"
	assert_output_has nodes/node-1/tree/var/log/kubelet.log
	assert_output_has left-out.txt
	run -0 manykube logs node-1 --length=2
}

@test "the audit says who ran what and how it ended" {
	MANYKUBE_USER=ann manykube ssh node-2 -- true s3cret
	run -0 manykube logs --audit -o json
	jq -e 'any(.[]; .command == "start" and .exitCode == "0" and .args == "--offline --nodes=2 -o json"
		and .profile == "e2e-knowing" and .endTime != "")' <<<"$output"
	jq -e 'any(.[]; .command == "start" and .exitCode == "14")' <<<"$output"
	jq -e 'last | .command == "ssh" and .user == "ann" and .args == "node-2"' <<<"$output"
	[[ $output != *s3cret* ]]
	jq -e 'all(.[]; .command != "logs" and .command != "status")' <<<"$output"
	assert_equal "$(stat -c %a "$MANYKUBE_HOME/logs/audit.json")" 600
	jq -se 'all(.[]; .type == "io.manykube.audit" and all(.data[]; type == "string"))' \
		"$MANYKUBE_HOME/logs/audit.json"
	assert_schema_lines audit <"$MANYKUBE_HOME/logs/audit.json"
	assert_schema audit-list <<<"$output"
	manykube ssh --skip-audit node-2 -- true
	assert_equal "$(manykube logs --audit -o json)" "$output"
	run -0 manykube logs --audit
	assert_output_has "COMMAND"
}

@test "a killed command has no end in the audit" {
	local pid

	"$MANYKUBE" ssh node-2 -- sh -c 'touch /run/here; sleep 60' 3>&- &
	pid=$!
	within 10 on node-2 test -e /run/here
	kill -KILL "$pid"
	wait "$pid" || true
	manykube logs --audit -o json | jq -e '[.[] | select(.command == "ssh" and .endTime == "")] | length == 1'
}

@test "the doctor finds nothing missing here, and says so to programs" {
	run -0 manykube doctor
	assert_output_has "ok kernel"
	assert_output_has "ok idmapped mounts"
	run -0 manykube doctor -o json
	assert_schema doctor <<<"$output"
	jq -e '.ok and (.checks | length > 20) and
		all(.checks[]; (.state == "ok") == (.remedy == ""))' <<<"$output"
}

@test "a missing program is named with its package, by doctor and start" {
	local nft

	nft=$(readlink -f "$(command -v nft)")
	# As if it were not installed, for this command only.
	run unshare -m sh -c "mount --bind /dev/null $nft && exec $MANYKUBE doctor"
	assert_status 35
	assert_output_has "apt install nftables"
	run unshare -m sh -c "mount --bind /dev/null $nft && exec $MANYKUBE start -p e2e-new --offline"
	assert_status 35
	assert_output_has "apt install nftables"
}

@test "too little disk is refused before anything is made" {
	small_home size=50m
	mkdir "$MANYKUBE_HOME"
	run manykube start -p e2e-new --offline
	assert_status 26
	assert_output_has "$MANYKUBE_HOME"
	[ ! -e "$MANYKUBE_HOME/profiles" ]
	run manykube doctor
	assert_status 26
}

@test "a full disk is said to be full" {
	small_home size=1m
	dd if=/dev/zero of="$BATS_TEST_TMPDIR/small/filler" bs=64k 2>/dev/null || true
	run manykube start -p e2e-new --offline
	assert_status 26
	assert_output_has "No space left"
}

@test "a directory that can't be written to is named" {
	small_home size=50m
	mount -o remount,ro "$BATS_TEST_TMPDIR/small"
	run manykube start -p e2e-new --offline
	assert_status 38
	assert_output_has "$MANYKUBE_HOME"
	assert_output_has MANYKUBE_HOME
	run manykube doctor
	assert_status 38
}

@test "a home that is read-only does not stop commands that only look" {
	cp -r "$MANYKUBE_HOME/profiles/$MANYKUBE_PROFILE/profile.json" "$BATS_TEST_TMPDIR/profile.json"
	small_home size=50m
	mkdir -p "$MANYKUBE_HOME/profiles/$MANYKUBE_PROFILE"
	cp "$BATS_TEST_TMPDIR/profile.json" "$MANYKUBE_HOME/profiles/$MANYKUBE_PROFILE"
	mount -o remount,ro "$BATS_TEST_TMPDIR/small"
	run -0 manykube node list
	# Audited, but not for want of a place to write it to.
	run manykube ssh node-1 -- true
	assert_status 83
}

@test "too little memory is refused unless forced" {
	local free

	free=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
	[ "$free" -lt $((900 + 249 * 110)) ] || skip "250 nodes have room here"
	run manykube start -p e2e-new --offline --nodes=250
	assert_status 23
	assert_output_has --force
	[ ! -e "$MANYKUBE_HOME/profiles/e2e-new" ]
}

@test "without HOME the passwd entry is taken, or MANYKUBE_HOME is asked for" {
	run -0 env -u HOME -u MANYKUBE_HOME "$MANYKUBE" doctor
	assert_output_has "clusters are stored in '/var/lib/manykube/0'"
	# A user that the host does not know; the build may lie where only root can look.
	cp "$MANYKUBE" "$BATS_FILE_TMPDIR/manykube"
	chmod 755 "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR/manykube"
	chmod o+x "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/file" 2>/dev/null || true
	run env -u HOME -u MANYKUBE_HOME setpriv --reuid=54321 --regid=54321 --clear-groups \
		"$BATS_FILE_TMPDIR/manykube" status
	assert_status 38
	assert_output_has MANYKUBE_HOME
}

@test "delete -o json ends with Done" {
	run --separate-stderr manykube delete -o json
	assert_status 0
	assert_equal "$stderr" ""
	assert_schema_lines event <<<"$output"
	assert_equal "$(jq -r '.data.name' <<<"$output" | tail -n 1)" Done
	assert_no_trace
}
