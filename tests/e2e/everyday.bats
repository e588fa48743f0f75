#!/usr/bin/env bats
# What people do every day with a cluster that is there: choose it, look at addresses, copy files,
# mend the kubeconfig, run commands, and delete everything.

load helper

setup_file() {
	begin_file e2e-day e2e-other
	manykube start --nodes=2 --offline
}

teardown_file() {
	end_file
}

# Run as a person who is not root, with the home that tests use.
as_person() {
	local command="$BATS_FILE_TMPDIR/manykube"

	# The build may lie where only root can look.
	[ -e "$command" ] || install -m 755 "$MANYKUBE" "$command"
	as_nobody "$command" "$@"
}

# A record that can't be read, of a cluster without anything.
make_damaged() {
	mkdir -p "$MANYKUBE_HOME/profiles/$1"
	echo '{' >"$MANYKUBE_HOME/profiles/$1/profile.json"
}

@test "the kubeconfig names certificates by path, for their owner only" {
	local key

	key=$(kubectl config view --raw -o json | jq -r '.users[0].user["client-key"]')
	assert_equal "$key" "$(profile_dir)/client.key"
	assert_equal "$(stat -c %a "$key" "$KUBECONFIG" | xargs)" "600 600"
	run grep -c -e '-data' "$KUBECONFIG"
	assert_equal "$output" 0
	assert_equal "$(kubectl get --raw /readyz)" ok
}

@test "ip prints a node's address and nothing else, also to who is not root" {
	assert_equal "$(manykube ip 2>&1)" "$(profile_get '.nodes[0].address')"
	assert_equal "$(as_person ip -n node-2 2>&1)" "$(profile_get '.nodes[1].address')"
	run as_person status
	assert_status 37
	assert_output_has "belong to another user"
	run manykube ip -n node-9
	assert_status 85
	run manykube ip -p nowhere
	assert_status 85
}

@test "update-context mends the kubeconfig and says what it did" {
	local port

	port=$(profile_get .apiPort)
	run -0 manykube update-context
	assert_output_has 'No changes required for the "e2e-day" context'
	sed -i "s/127.0.0.1:$port/127.0.0.1:1/; s/^current-context: .*/current-context: other/" "$KUBECONFIG"
	run -0 manykube update-context
	assert_output_has "\"e2e-day\" context has been updated to point to 127.0.0.1:$port"
	assert_output_has 'Current context is "e2e-day"'
	assert_equal "$(kubectl config current-context)" e2e-day
	assert_equal "$(kubectl get --raw /readyz)" ok
	assert_equal "$(manykube update-context 2>/dev/null)" ""
}

@test "update-context keeps the rest of the file, and the namespace" {
	kubectl config set-context e2e-day --namespace=kube-system
	kubectl config set-cluster foreign --server=https://foreign
	manykube update-context
	assert_equal "$(kubectl config view -o json | jq -r '.contexts[0].context.namespace')" kube-system
	assert_equal "$(kubectl config view -o json | jq -r '.clusters[] | select(.name == "foreign").cluster.server')" \
		https://foreign
	kubectl config set-context e2e-day --namespace=default
}

@test "a kubeconfig that can't be read is refused and left as it is" {
	export KUBECONFIG=$BATS_TEST_TMPDIR/config

	echo 'clusters: [' >"$KUBECONFIG"
	run manykube update-context
	assert_status 38
	assert_output_has "$KUBECONFIG:2:1: "
	run manykube start --offline
	assert_status 38
	assert_output_has "$KUBECONFIG:2:1: "
	assert_equal "$(cat "$KUBECONFIG")" 'clusters: ['
	assert_equal "$(manykube ssh -- hostname)" node-1
}

@test "a profile's own choice: embedded certificates, and the context that was current" {
	export KUBECONFIG=$BATS_TEST_TMPDIR/config

	jq '.embedCerts = true | .keepContext = true' "$(profile_dir)/profile.json" >"$BATS_TEST_TMPDIR/profile"
	cp "$(profile_dir)/profile.json" "$BATS_TEST_TMPDIR/before"
	cp "$BATS_TEST_TMPDIR/profile" "$(profile_dir)/profile.json"
	run -0 manykube start --offline
	cp "$BATS_TEST_TMPDIR/before" "$(profile_dir)/profile.json"
	run kubectl config current-context
	[ "$status" -ne 0 ] || fail "the current context is $output"
	assert_equal "$(grep -c client-key-data "$KUBECONFIG")" 1
	assert_equal "$(kubectl get --raw /readyz)" ok
}

@test "called kubectl, it is kubectl, and all words are kubectl's" {
	ln -s "$MANYKUBE" "$BATS_TEST_TMPDIR/kubectl"
	ln -s "$MANYKUBE" "$BATS_TEST_TMPDIR/manykube-kubectl"
	export MANYKUBE_LIBEXEC=${MANYKUBE%/*}
	assert_equal "$("$BATS_TEST_TMPDIR/kubectl" --namespace=default get nodes -o name | xargs)" \
		"node/node-1 node/node-2"
	assert_equal "$("$BATS_TEST_TMPDIR/manykube-kubectl" get -v=0 --raw /readyz)" ok
	run "$BATS_TEST_TMPDIR/kubectl" get nothing-of-that-kind
	assert_status 1
	run -0 "$BATS_TEST_TMPDIR/kubectl" --help
	assert_output_has "kubectl controls the Kubernetes cluster manager"
}

@test "profile chooses the cluster that commands without -p work on" {
	unset MANYKUBE_PROFILE
	assert_equal "$(manykube profile)" manykube
	run manykube profile nowhere
	assert_status 85
	assert_output_has "existing clusters: e2e-day"
	assert_equal "$(manykube profile)" manykube
	run -0 manykube profile e2e-day
	assert_equal "$(manykube profile)" e2e-day
	MANYKUBE_PROFILE=e2e-day kubectl config unset current-context
	run -0 manykube profile e2e-day
	assert_output_has "kubectl is set to use it, too"
	assert_equal "$(MANYKUBE_PROFILE=e2e-day kubectl config current-context)" e2e-day
	assert_equal "$(manykube ip)" "$("$MANYKUBE" -p e2e-day ip)"
	assert_equal "$(manykube profile -p other)" other
	assert_equal "$(MANYKUBE_PROFILE='third' manykube profile)" third
	assert_equal "$(manykube profile list -o json | jq '.valid[] | select(.Name == "e2e-day").Active')" true
	assert_equal "$(manykube profile list -o json -p other | jq '.valid[].Active')" false
}

@test "cp takes a file to the primary, and its mode" {
	printf 'text\n' >"$BATS_TEST_TMPDIR/-file"
	chmod 751 "$BATS_TEST_TMPDIR/-file"
	manykube cp "$BATS_TEST_TMPDIR/-file" /root/file
	assert_equal "$(on node-1 stat -c '%a %u %s' /root/file)" "751 0 5"
	(cd "$BATS_TEST_TMPDIR" && manykube cp ./-file node-2:/root)
	assert_equal "$(on node-2 cat /root/-file)" text
	manykube cp node-2:/root/-file node-1:/root/other
	assert_equal "$(on node-1 cat /root/other)" text
}

@test "cp takes a directory there and back, with links and modes, and it is the person's" {
	local dir=$BATS_TEST_TMPDIR/dir home=$BATS_TEST_TMPDIR/home

	mkdir -p "$dir/sub"
	echo tool >"$dir/sub/tool"
	chmod 750 "$dir/sub" "$dir/sub/tool"
	ln -s sub/tool "$dir/link"
	manykube cp "$dir" node-2:/srv
	on node-2 chmod 4755 /srv/dir/sub/tool
	assert_equal "$(on node-2 readlink /srv/dir/link)" sub/tool
	assert_equal "$(on node-2 stat -c %U /srv/dir /srv/dir/sub/tool | sort -u)" root
	as_nobody true
	mkdir "$home"
	chown 4321 "$home"
	SUDO_UID=4321 SUDO_GID=4322 manykube cp node-2:/srv/dir "$home/back"
	assert_equal "$(readlink "$home/back/link")" sub/tool
	# Rights that a node gives are none on the host.
	assert_equal "$(stat -c '%a %u:%g' "$home/back/sub/tool")" "755 4321:4322"
	assert_equal "$(find "$home/back" ! -uid 4321)" ""
	# And the person has no more than their own.
	SUDO_UID=4321 SUDO_GID=4322 run manykube cp node-2:/srv/dir "$BATS_TEST_TMPDIR/back"
	assert_status 80
	assert_output_has "rights of user 4321"
}

@test "cp refuses what it can't do, and leaves nothing under the name" {
	local before

	touch "$BATS_TEST_TMPDIR/a"
	before=$(on node-1 ls -A /root)
	run manykube cp "$BATS_TEST_TMPDIR/absent" /root/x
	assert_status 35
	run manykube cp node-1:/absent "$BATS_TEST_TMPDIR/x"
	assert_status 85
	run manykube cp "$BATS_TEST_TMPDIR/a" node-9:/x
	assert_status 85
	run manykube cp "$BATS_TEST_TMPDIR/a" /absent/x
	assert_status 85
	assert_output_has "mkdir"
	run manykube cp "$BATS_TEST_TMPDIR/a" root/x
	assert_status 14
	# The root of a node is small.
	head -c 40M /dev/zero | tr '\0' x >"$BATS_TEST_TMPDIR/much"
	run manykube cp "$BATS_TEST_TMPDIR/much" /x
	assert_status 26
	assert_output_has "no space left"
	run ! on node-1 ls /x
	assert_equal "$(on node-1 ls -A /root)" "$before"
	[ ! -e "$BATS_TEST_TMPDIR/x" ]
}

@test "cp that is interrupted leaves nothing behind" {
	local pid before

	before=$(on node-2 ls -A /var/lib)
	manykube ssh -- sh -c 'head -c 1500000000 /dev/zero >/var/lib/much'
	"$MANYKUBE" cp node-1:/var/lib/much node-2:/var/lib/much 3>&- &
	pid=$!
	within 20 copying
	kill -TERM "$pid"
	status=0
	wait "$pid" || status=$?
	assert_status 11
	on node-1 rm /var/lib/much
	assert_equal "$(on node-2 ls -A /var/lib)" "$before"
}

# The copy has begun.
copying() {
	on node-2 sh -c 'test -s /var/lib/.manykube-cp.*/much'
}

@test "ssh passes statuses, signals, input and a terminal's size" {
	run manykube ssh -n node-2 -- sh -c 'exit 42'
	assert_status 42
	run manykube ssh node-2 -- sh -c 'kill -KILL $$'
	assert_status 137
	run -127 manykube ssh -- no-such-program
	assert_equal "$(printf 'one\ntwo\n' | manykube ssh node-2 -- wc -l)" 2
	assert_equal "$(echo hostname | manykube ssh node-2)" node-2
	assert_equal "$(manykube ssh 'uname -n')" node-1
	assert_equal "$(manykube ssh uname -n)" node-1
	assert_equal "$(manykube ssh node-2 uname -n)" node-2
	run -127 manykube ssh node-9
	assert_output_has "'node-9' was run as a command"
	assert_output_has "its nodes: node-1, node-2"
	run -127 manykube ssh -- node-9
	assert_output_has "GUEST_COMMAND"
	run script -qec "stty rows 33 cols 77; '$MANYKUBE' ssh node-2 -- stty size; exit \$?" /dev/null
	assert_output_has "33 77"
	run script -qec "'$MANYKUBE' ssh -- sh -c 'exit 9'" /dev/null
	assert_status 9
}

@test "delete --purge is refused while another cluster needs the home" {
	make_damaged e2e-other
	run manykube delete --purge
	assert_status 14
	assert_output_has e2e-other
	assert_output_has "--all"
	run -0 manykube status
	[ -e "$(profile_dir)/profile.json" ]
}

@test "delete --all goes on after a failure and says which one failed" {
	local holder

	make_damaged e2e-busy
	# Somebody works on it.
	(exec 9>"$MANYKUBE_HOME/locks/e2e-busy" && flock 9 && exec sleep 60 3>&-) &
	holder=$!
	within 10 lock_is_held
	run manykube delete --all
	kill "$holder"
	wait "$holder" || true
	assert_status 11
	assert_output_has "1 of 3 clusters could not be deleted: e2e-busy"
	[ ! -e "$MANYKUBE_HOME/profiles/e2e-day" ]
	[ ! -e "$MANYKUBE_HOME/profiles/e2e-other" ]
	[ -e "$MANYKUBE_HOME/profiles/e2e-busy" ]
}

lock_is_held() {
	! flock --nonblock "$MANYKUBE_HOME/locks/e2e-busy" true
}

@test "what was deleted is neither the active cluster nor the current context" {
	unset MANYKUBE_PROFILE
	assert_equal "$(manykube profile)" manykube
	assert_equal "$(grep '^current-context' "$KUBECONFIG")" 'current-context: ""'
	run grep e2e-day "$KUBECONFIG"
	assert_status 1
	assert_equal "$(grep -c foreign "$KUBECONFIG")" 2
}

@test "delete --all without a cluster says so and succeeds" {
	manykube delete --all
	run -0 manykube delete --all
	assert_output_has "no cluster"
	assert_no_trace
}

@test "delete --purge removes the home with its cache, but nothing of others" {
	local cache=$BATS_TEST_TMPDIR/home/cache

	export MANYKUBE_HOME=$BATS_TEST_TMPDIR/home
	unset MANYKUBE_CACHE

	mkdir -p "$MANYKUBE_HOME"/{locks,profiles} "$cache/v1.36.3/bin" "$BATS_TEST_TMPDIR/kept"
	echo '{"profile": "x"}' >"$MANYKUBE_HOME/config.json"
	run -0 manykube delete --purge
	assert_output_has "purged"
	[ ! -e "$MANYKUBE_HOME" ]
	mkdir -p "$cache/v1.36.3" "$cache/somebody" "$MANYKUBE_HOME/logs"
	touch "$MANYKUBE_HOME/thesis"
	run -0 manykube delete --all --purge
	assert_output_has "thesis"
	assert_output_has "somebody"
	[ -e "$MANYKUBE_HOME/thesis" ]
	[ -e "$MANYKUBE_HOME/logs" ]
	[ -e "$cache/somebody" ]
	run env HOME="$MANYKUBE_HOME" "$MANYKUBE" delete --all --purge
	assert_status 14
}
