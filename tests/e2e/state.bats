#!/usr/bin/env bats
# Where state is, and who may do what with it: two users with clusters in root's directories, one of
# which an earlier version has left in a home.  All is below a /var of the test's own, in a mount
# namespace of its own.  MANYKUBE_OLD may name a program of the earlier version; without it a cluster
# is made to look like one of its.
# shellcheck disable=SC2030,SC2031 # variables are for one test

load helper

ANN=61001
BOB=61002

setup_file() {
	local cache version user

	[ "$(id -u)" = 0 ] || skip "needs root"
	cache=${MANYKUBE_CACHE:-$(cache_dir)}
	version=$("$E2E_ROOT/build/manykube" version -o json | jq -r '.kubernetesVersions[0]')
	TOP=$(mktemp -d "${E2E_TMP:-/var/tmp}/manykube-state.XXXXXX")
	export TOP VERSION=$version NO_COLOR=1
	chmod 755 "$TOP"
	mkdir -p "$TOP"/var/{bin,lib,cache,tmp,home/ann/.manykube/cache,home/bob,home/root} "$TOP/etc"
	cp "$E2E_ROOT"/build/manykube{,-agent,-pause} "$TOP/var/bin"
	[ -z "${MANYKUBE_OLD:-}" ] || cp "$MANYKUBE_OLD" "$TOP/var/bin/old"
	# Files that are nowhere else are root's alone, as they were made.
	cp -al "$cache/$version" "$TOP/var/home/ann/.manykube/cache"
	cp /etc/passwd /etc/group "$TOP/etc"
	for user in ann:$ANN bob:$BOB; do
		echo "${user%:*}:x:${user#*:}:${user#*:}::/var/home/${user%:*}:/bin/sh" >>"$TOP/etc/passwd"
		echo "${user%:*}:x:${user#*:}:" >>"$TOP/etc/group"
		chown "${user#*:}:${user#*:}" "$TOP/var/home/${user%:*}"
		chmod 750 "$TOP/var/home/${user%:*}"
	done
	chown $ANN:$ANN "$TOP/var/home/ann/.manykube"
	unshare --mount --propagation=private sh -c "
		mount --bind '$TOP/etc/passwd' /etc/passwd && mount --bind '$TOP/etc/group' /etc/group &&
		mount --bind '$TOP/var' /var && touch /var/ready && exec sleep 3600" 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/namespace"
	within 10 test -e "$TOP/var/ready"
}

teardown_file() {
	local user

	[ -n "${TOP:-}" ] || return 0
	ip link del mk0e2e0e2e 2>/dev/null || true
	for user in ann bob; do
		as_sudo $user delete -q --all || true
	done
	as_sudo ann delete -q --all --purge || true
	kill "$(cat "$BATS_FILE_TMPDIR/namespace")"
	rm -rf "$TOP"
}

# In the namespace, with nothing that says where state is to be.
inside() {
	env -u MANYKUBE_HOME -u MANYKUBE_CACHE -u MANYKUBE_PROFILE -u KUBECONFIG \
		nsenter --mount="/proc/$(cat "$BATS_FILE_TMPDIR/namespace")/ns/mnt" --wd=/ "$@"
}

uid_of() {
	[ "$1" = ann ] && echo $ANN || echo $BOB
}

# manykube as the user $1, without root.
as_user() {
	local user=$1

	shift
	any_as "$user" /var/bin/manykube "$@"
}

# Any program as the user $1.
any_as() {
	local user=$1 uid

	shift
	uid=$(uid_of "$user")
	inside setpriv --reuid="$uid" --regid="$uid" --clear-groups env HOME="/var/home/$user" "$@"
}

# manykube as root, as sudo runs it for the user $1.
as_sudo() {
	local user=$1 uid

	shift
	uid=$(uid_of "$user")
	inside env HOME=/var/home/root SUDO_UID="$uid" SUDO_GID="$uid" "${PROGRAM:-/var/bin/manykube}" "$@"
}

# What an earlier version gave to the user.
make_old() {
	local dir=/var/home/ann/.manykube

	inside chown $ANN:$ANN $dir $dir/profiles $dir/profiles/dev $dir/profiles/dev/nodes \
		$dir/profiles/dev/{profile.json,kubeconfig,ca.crt,client.crt,client.key}
}

state=/var/lib/manykube/$ANN

@test "a running cluster of an earlier version is used where it is" {
	if [ -n "${MANYKUBE_OLD:-}" ]; then
		PROGRAM=/var/bin/old as_sudo ann start -q -p dev --offline
	else
		inside env HOME=/var/home/root SUDO_UID=$ANN SUDO_GID=$ANN MANYKUBE_HOME=/var/home/ann/.manykube \
			/var/bin/manykube start -q -p dev --offline
		make_old
	fi
	[ ! -e "$TOP/var/lib/manykube" ]
	as_user ann status -p dev
	assert_equal "$(as_user ann profile list -o json | jq -r '.valid[].Name')" dev
	as_user ann kubectl -p dev get nodes
	[ ! -e "$TOP/var/lib/manykube" ]
	as_sudo ann status -p dev
	as_sudo ann ssh -p dev node-1 -- sh -c 'echo kept >/root/note'
	inside jq -r .bridge /var/home/ann/.manykube/profiles/dev/profile.json >"$BATS_FILE_TMPDIR/bridge"
	as_user ann kubectl -p dev get node node-1 -o 'jsonpath={.metadata.uid}' >"$BATS_FILE_TMPDIR/uid"
}

@test "its next stop moves it, and root runs no program from the home" {
	run -0 as_sudo ann stop -p dev
	assert_output_has "moved to '$state/profiles/dev'"
	[ ! -e "$TOP/var/home/ann/.manykube/profiles" ]
	assert_equal "$(find /sys/fs/cgroup -maxdepth 4 -name "*$(cat "$BATS_FILE_TMPDIR/bridge")*")" ""
	run as_user ann status -p dev
	assert_output_has "host: Stopped"
	assert_equal "$(inside find $state ! -path '*/nodes/*/*' ! -user root)" ""
	run as_sudo ann start -p dev
	[ "$status" -ne 0 ]
	assert_output_has "'/var/home/ann/.manykube/cache/$VERSION' is not used"
	[ ! -e "$TOP/var/cache/manykube/$VERSION" ]
	mkdir -p "$TOP/var/cache/manykube"
	cp -al "$TOP/var/home/ann/.manykube/cache/$VERSION" "$TOP/var/cache/manykube"
	as_sudo ann start -q -p dev
	assert_equal "$(as_sudo ann ssh -p dev node-1 -- cat /root/note)" kept
	assert_equal "$(as_user ann kubectl -p dev get node node-1 -o 'jsonpath={.metadata.uid}')" \
		"$(cat "$BATS_FILE_TMPDIR/uid")"
	inside grep -q "$state/profiles/dev/client.key" /var/home/ann/.kube/config
	assert_equal "$(inside stat -c %U /var/home/ann/.kube/config)" ann
}

@test "root mounts, downloads and opens nothing because a file of the user says so" {
	local key

	inside mkdir -p /var/home/root/private
	inside chmod 700 /var/home/root /var/home/root/private
	as_user ann config set offline true
	run -0 as_user ann config set ports 0.0.0.0:22
	assert_output_has "with sudo, this value is not used"
	any_as ann sh -c 'sed -i "s|{|{ \"binary-mirror\": \"http://127.0.0.1:9\", \"mount\": \"/var/home/root/private:/x\",|" \
		~/.manykube/config.json'
	run -0 as_sudo ann start -p other --dry-run
	for key in mount binary-mirror ports; do
		assert_output_has "the setting '$key' is not used with sudo"
		assert_output_has "give --$key"
		as_user ann config unset "$key"
	done
	! grep -q "private\|0\.0\.0\.0" <<<"$output" || false
	as_user ann config unset offline
}

@test "looking needs no root, and nothing that root acts on can be written" {
	as_user ann config set memory 2g
	as_user ann config unset memory
	as_user ann profile dev
	as_user ann status
	as_user ann node list
	as_user ann ip
	as_user ann config view
	as_user ann profile list
	as_user ann kubectl get nodes
	as_user ann update-context
	any_as ann "/var/cache/manykube/$VERSION/bin/kubectl" get nodes
	as_sudo ann profile dev
	assert_equal "$(inside stat -c %U /var/home/ann/.manykube/config.json)" ann
	assert_equal "$(any_as ann find $state /var/cache/manykube -writable ! -type l ! -path '*/nodes/*/*/*' 2>/dev/null)" ""
	run as_user ann stop
	assert_status 37
	echo '{"Name":"mini","KubernetesConfig":{},"Nodes":[{"Name":"","ControlPlane":true}]}' >"$TOP/var/tmp/mini.json"
	run as_user ann profile import /var/tmp/mini.json
	assert_status 37
	run -0 as_user ann logs --audit
	assert_output_has "config set"
	assert_output_has "stop"
}

@test "another user has a cluster of the same name and sees nothing of the first" {
	local part

	run as_sudo bob status -p dev
	assert_status 85
	as_sudo bob start -q -p dev --offline
	as_user bob kubectl -p dev get nodes
	as_user ann kubectl -p dev get nodes
	[ "$(inside jq -r .bridge $state/profiles/dev/profile.json)" != \
		"$(inside jq -r .bridge /var/lib/manykube/$BOB/profiles/dev/profile.json)" ]
	for part in "" /profiles/dev/profile.json /profiles/dev/kubeconfig /profiles/dev/client.key \
		/profiles/dev/front-door.json /profiles/dev/logs/last-start.log /logs/audit.json; do
		inside test -e "$state$part"
		run any_as bob cat "$state$part"
		assert_output_has "Permission denied"
	done
	any_as bob ls /var/lib/manykube
	run any_as bob flock --nonblock "$state/locks/dev" true
	[ "$status" -ne 0 ]
	run inside env HOME=/var/home/root /var/bin/manykube status -p dev
	assert_status 85
	assert_output_has "ann (SUDO_UID=$ANN)"
}

@test "nothing in a home makes root write, run or act on what its user could not" {
	local home=$TOP/var/home/ann words

	echo "kept: true" >"$TOP/var/secret"
	chmod 600 "$TOP/var/secret"
	# Links in the place of what root writes.
	mv "$home/.kube/config" "$home/.kube/mine"
	any_as ann ln -s /var/secret /var/home/ann/.kube/config
	run as_sudo ann update-context -p dev
	[ "$status" -ne 0 ]
	any_as ann ln -sf /var/secret /var/home/ann/.manykube/config.json
	run as_sudo ann profile dev
	any_as ann rm /var/home/ann/.manykube/config.json
	any_as ann ln -s /var/secret /var/home/ann/.manykube/config.json.new
	run as_sudo ann profile dev
	assert_equal "$(cat "$TOP/var/secret")" "kept: true"
	assert_equal "$(stat -c %u "$TOP/var/secret")" 0
	rm -f "$home/.manykube/config.json" "$home/.manykube/config.json.new"
	mv "$home/.kube/mine" "$home/.kube/config"
	# Links in the place of files that are named on the command line.
	any_as ann ln -s /var/secret /var/home/ann/link
	for words in "start -p new --offline -f /var/home/ann/link" "profile import /var/home/ann/link" \
		"start -p new --offline --load-images=/var/home/ann/link"; do
		# shellcheck disable=SC2086 # several words
		run as_sudo ann $words
		[ "$status" -ne 0 ]
		assert_output_has "files are read with the rights of user $ANN"
	done
	rm "$home/link"
	# A pipe may be named; Ctrl-C ends the wait for it.
	any_as ann mkfifo /var/home/ann/pipe
	for words in "start -p new --offline -f" "profile import"; do
		# shellcheck disable=SC2086 # several words
		PROGRAM=timeout run as_sudo ann --preserve-status --signal=INT --kill-after=10 1 \
			/var/bin/manykube $words /var/home/ann/pipe
		[ "$status" -ne 0 ] && [ "$status" -ne 137 ]
	done
	rm "$home/pipe"
	# A home that sudo has kept, in which kubectl writes.
	mkdir -m 755 "$TOP/var/roots"
	rm -rf "$home/.kube/cache"
	any_as ann ln -s /var/roots /var/home/ann/.kube/cache
	as_sudo ann kubectl -p dev get nodes
	inside env HOME=/var/home/ann SUDO_UID=$ANN SUDO_GID=$ANN /var/bin/manykube kubectl -p dev get nodes
	assert_equal "$(ls "$TOP/var/roots")" ""
	rm "$home/.kube/cache"
	# Pipes in the place of what root reads.
	any_as ann mkfifo /var/home/ann/.manykube/config.json
	run timeout 60 nsenter --mount="/proc/$(cat "$BATS_FILE_TMPDIR/namespace")/ns/mnt" \
		env -u MANYKUBE_HOME HOME=/var/home/root SUDO_UID=$ANN SUDO_GID=$ANN /var/bin/manykube config get
	assert_status 38
	assert_output_has "config.json"
	rm "$home/.manykube/config.json"
	# Programs in the place of what root runs, and a cluster that root has not made.
	any_as ann mv /var/home/ann/.manykube/cache /var/home/ann/.manykube/old-cache
	rm -r "$home/.manykube/old-cache"
	any_as ann mkdir -p "/var/home/ann/.manykube/cache/$VERSION/bin" /var/home/ann/.manykube/profiles/evil
	any_as ann sh -c "printf '#!/bin/sh\ntouch /var/evil\n' >~/.manykube/cache/$VERSION/bin/kubectl
		chmod 755 ~/.manykube/cache/$VERSION/bin/kubectl"
	any_as ann cp "$state/profiles/dev/profile.json" /var/home/ann/.manykube/profiles/evil/profile.json
	any_as ann sed -i 's/"dev"/"evil"/' /var/home/ann/.manykube/profiles/evil/profile.json
	as_sudo ann kubectl -p dev get nodes
	[ ! -e "$TOP/var/evil" ]
	run as_sudo ann start -p evil --download-only -v
	run as_sudo ann status -p evil
	assert_status 85
	assert_equal "$(as_sudo ann profile list -o json | jq -r '.valid[].Name')" dev
	any_as ann rm -rf /var/home/ann/.manykube/profiles
}

@test "a purge leaves what other users need, and the last one leaves nothing" {
	local bridges

	bridges=$(inside sh -c "cat /var/lib/manykube/*/profiles/dev/profile.json" | jq -r .bridge)
	as_sudo ann profile dev
	run -0 as_sudo ann delete --all --purge
	assert_output_has "other users may use it"
	[ ! -e "$TOP$state" ]
	[ ! -e "$TOP/var/home/ann/.manykube" ]
	as_user bob kubectl -p dev get nodes
	# A cluster of another home, as far as the host shows it.
	ip link add mk0e2e0e2e type bridge
	run -0 as_sudo bob delete --all --purge
	ip link del mk0e2e0e2e
	assert_output_has "a cluster of another home is running"
	[ -e "$TOP/var/cache/manykube/$VERSION" ]
	run -0 as_sudo bob delete --all --purge
	assert_equal "$(find "$TOP/var/lib" "$TOP/var/cache" -mindepth 1)" ""
	for bridge in $bridges; do
		run ! ip link show "$bridge"
	done
}
