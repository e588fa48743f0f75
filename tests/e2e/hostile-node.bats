#!/usr/bin/env bats
# What a node's root can do to the host and its user by what commands read from nodes, write into
# them or run in them: archives, logs, pipes, terminals, keys, secrets.  node-2 is the hostile one.

load helper

setup_file() {
	begin_file e2e-hostile
	with_key "$MANYKUBE" start --offline --nodes=2 --env=E2E_SECRET=hush-hush-value \
		--env E2E_OTHER=whisper-value
	on node-2 mkdir /hostile
	on node-2 mv /usr/bin/tar /usr/bin/tar.real
}

teardown_file() {
	end_file
}

setup() {
	victim=$BATS_TEST_TMPDIR/victim
	mkdir "$victim"
	echo kept >"$victim/file"
}

# Run a command whose session keyring has the key "e2e-key" of type "user".
with_key() {
	python3 - "$@" <<-'PYTHON'
		import ctypes, os, platform, sys
		add_key, _, keyctl = {"x86_64": (248, 249, 250)}.get(platform.machine(), (217, 218, 219))
		libc = ctypes.CDLL(None, use_errno=True)
		if libc.syscall(keyctl, 1, None) < 0 or libc.syscall(add_key, b"user", b"e2e-key", b"hush", 4, -3) < 0:
		    sys.exit("cannot add a key: %s" % os.strerror(ctypes.get_errno()))
		os.execvp(sys.argv[1], sys.argv[1:])
	PYTHON
}

# A program for a node that succeeds if its session has that key.
find_key='import ctypes, platform, sys
keyctl = 250 if platform.machine() == "x86_64" else 219
sys.exit(ctypes.CDLL(None).syscall(keyctl, 10, -3, b"user", b"e2e-key", 0) < 0)'

# Have tar on node-2 pack what the shell commands $1 make in an empty directory, whatever is asked
# for, and do $2 when it unpacks.
pack_instead() {
	on node-2 sh -c 'cat >/usr/bin/tar; chmod 755 /usr/bin/tar' <<-TAR
		#!/bin/sh
		case \$* in
		*--create*) rm -rf /hostile; mkdir /hostile; cd /hostile; $1 ;;
		*) ${2:-:} ;;
		esac
		exec tar.real "\$@"
	TAR
}

# A command that must not wait for ever.
promptly() {
	timeout --kill-after=1 "${within:-40}" "$MANYKUBE" "$@"
}

# What a command shows on a terminal: its streams but those that are redirected are one.
on_terminal() {
	script -qec "$1" /dev/null </dev/null
}

assert_victim_is_well() {
	assert_equal "$(cat "$victim/file")" kept
	assert_equal "$(ls -A "$victim")" file
}

@test "an archive of a node's writes nowhere but at the target" {
	local target=$BATS_TEST_TMPDIR/target

	on node-2 mkdir -p /srv/d
	on node-2 touch /srv/file /srv/d/file
	mkdir "$target"
	# In the place of a file, a link.
	pack_instead "ln -s $victim/file file; exec tar.real -cf - ./file"
	run manykube cp node-2:/srv/file "$target/"
	assert_status 80
	assert_output_has "was replaced meanwhile"
	# A directory that goes astray by links of an earlier copy.
	pack_instead "mkdir d; ln -s $victim d/sub; exec tar.real -cf - ./d"
	manykube cp node-2:/srv/d "$target/"
	pack_instead "mkdir -p d/sub; echo evil >d/sub/file; echo evil >d/sub/more; exec tar.real -cf - ./d"
	run ! manykube cp node-2:/srv/d "$target/"
	# And one that is a link itself.
	pack_instead "ln -s $victim d; exec tar.real -cf - ./d"
	run ! manykube cp node-2:/srv/d "$target/"
	run ! manykube cp node-2:/srv/d "$target/new"
	assert_victim_is_well
	assert_equal "$(find "$target" -mindepth 1 | sort | xargs)" "$target/d $target/d/sub"
	# Nor on another node.
	on node-1 sh -c 'mkdir /srv/victim && mkdir -p /srv/to/d && ln -s /srv/victim /srv/to/d/sub'
	pack_instead "mkdir -p d/sub; echo evil >d/sub/file; exec tar.real -cf - ./d"
	run ! manykube cp node-2:/srv/d node-1:/srv/to
	assert_output_has "is a link"
	assert_equal "$(on node-1 ls /srv/victim)" ""
	pack_instead "exec tar.real \"\$@\""
	manykube cp node-2:/srv/d node-1:/srv/new
	on node-1 test -e /srv/new/file
}

@test "a node's words do not command the terminal" {
	pack_instead "printf 'tar: \\033]0;owned\\007\\n' >&2; exit 2"
	run ! manykube cp node-2:/srv/file "$BATS_TEST_TMPDIR"
	assert_output_has "^[]0;owned^G"
	on node-2 sh -c "printf '\\033]0;owned\\007\\n' >>/var/log/containerd.log"
	run on_terminal "'$MANYKUBE' logs node-2 --service=containerd"
	assert_output_has "^[]0;owned^G"
	[[ $output != *$'\033]0;'* ]] || fail "the terminal got it"
	pack_instead "exec tar.real \"\$@\""
}

# Run a copy from node-2 and interrupt it; 137 if that does not end it.  What does not run in the node
# still has its standard error.
interrupted_copy() {
	local status=0

	timeout --signal=INT --kill-after=60 5 "$MANYKUBE" cp node-2:/srv/file "$BATS_TEST_TMPDIR/copy" \
		>"$BATS_TEST_TMPDIR/said" 2>&1 3>&- || status=$?
	assert_equal "$status" 124
	grep "interrupted by a signal" "$BATS_TEST_TMPDIR/said"
}

@test "a copy can be interrupted, whatever the node does to its programs" {
	pack_instead 'exec tar.real "$@"'
	on node-2 sh -c 'touch /srv/file; cd /usr/bin && mv realpath realpath.real
		printf "#!/bin/sh\nexec sleep 1000\n" >realpath && chmod 755 realpath'
	interrupted_copy
	on node-2 mv /usr/bin/realpath.real /usr/bin/realpath
	# A control group in which nothing runs, or gets memory, in the place of that for programs.
	[ -d /sys/fs/cgroup/freezer ] || return 0
	on node-2 sh -c 'cd /sys/fs/cgroup && mv freezer/manykube freezer/aside && mkdir freezer/manykube
		echo FROZEN >freezer/manykube/freezer.state'
	interrupted_copy
	echo THAWED >"$(find /sys/fs/cgroup/freezer -path "*$(bridge_of "$MANYKUBE_PROFILE")/node-2/manykube/freezer.state")"
	on node-2 sh -c 'cd /sys/fs/cgroup/freezer && mv manykube gone && mv aside manykube'
	on node-2 sh -c 'cd /sys/fs/cgroup/memory && mv manykube aside && mkdir manykube && cd manykube
		echo 1 >memory.oom_control && echo 4096 >memory.limit_in_bytes'
	interrupted_copy
	echo -1 >"$(find /sys/fs/cgroup/memory -path "*$(bridge_of "$MANYKUBE_PROFILE")/node-2/manykube/memory.limit_in_bytes")"
	on node-2 sh -c 'cd /sys/fs/cgroup/memory && mv manykube gone && mv aside manykube'
}

@test "what a node's programs print during a copy does not reach the caller" {
	pack_instead : 'yes EVIL | head -c 50000000'
	manykube cp /etc/hostname node-2:/srv/name >"$BATS_TEST_TMPDIR/said" 2>&1
	assert_equal "$(stat -c %s "$BATS_TEST_TMPDIR/said")" 0
	assert_equal "$(on node-2 cat /srv/name)" "$(cat /etc/hostname)"
	pack_instead :
}

@test "a node that sends other images than it was asked for changes none" {
	python3 "$E2E_ROOT/tests/e2e/make-image.py" mine:1 "$BATS_TEST_TMPDIR/mine.tar" mine
	python3 "$E2E_ROOT/tests/e2e/make-image.py" mine:1 "$BATS_TEST_TMPDIR/evil.tar" evil
	pack_instead :
	manykube image load -q "$BATS_TEST_TMPDIR/mine.tar"
	manykube image ls -o json >"$BATS_TEST_TMPDIR/before"
	manykube cp "$BATS_TEST_TMPDIR/evil.tar" node-2:/root/evil.tar
	on node-2 sh -c 'printf "#!/bin/sh\nprintf \"\\033[31mEVIL\\n\" >&2\n[ \$4 = pull ] || cat /root/evil.tar\n" >/root/ctr
		chmod 755 /root/ctr; mount --bind /root/ctr /opt/manykube/bin/ctr'
	run manykube image pull wanted --node=node-2
	[ "$status" -ne 0 ]
	assert_output_has "an image called 'docker.io/library/mine:1' came, but only 'docker.io/library/wanted:latest' was asked for"
	[[ $output != *$'\033'* ]]
	on node-2 umount /opt/manykube/bin/ctr
	manykube image ls -o json | diff "$BATS_TEST_TMPDIR/before" -
	manykube image rm -q mine:1
}

@test "pipes in the place of files keep no command waiting" {
	on node-2 mkfifo /var/log/pipe.log /run/pipe
	promptly logs --file="$BATS_TEST_TMPDIR/all.tar"
	tar -xOf "$BATS_TEST_TMPDIR/all.tar" manykube-e2e-hostile/left-out.txt | grep 'pipe.log: '
	on node-2 mount --bind /run/pipe /dev/null
	within=20 run promptly cp node-2:/etc/hostname "$BATS_TEST_TMPDIR/name"
	manykube ssh node-2 -- umount --lazy /dev/null </etc/hostname
	assert_status 0
	assert_equal "$(cat "$BATS_TEST_TMPDIR/name")" node-2
	on node-2 rm /var/log/pipe.log
}

@test "neither huge files nor many names fill the bundle" {
	on node-2 sh -c 'truncate -s 15T /var/log/huge.log
		cd /var/log && seq -f %g.log 6000 | xargs touch'
	within=100 promptly logs --file="$BATS_TEST_TMPDIR/all.tar.gz"
	tar -tf "$BATS_TEST_TMPDIR/all.tar.gz" >"$BATS_TEST_TMPDIR/names"
	[ "$(grep -c 'node-2/.*var/log/[0-9]*.log' "$BATS_TEST_TMPDIR/names")" -lt 3001 ]
	on node-2 sh -c 'cd /var/log && rm huge.log [0-9]*.log'
}

@test "programs in nodes have no terminal of the caller's" {
	run on_terminal "'$MANYKUBE' ssh node-2 -- sh -c '[ -t 0 ] || [ -t 2 ] || echo none' | cat"
	assert_output_has none
	run on_terminal "'$MANYKUBE' ssh node-2 -- sh -c '[ -t 1 ] || [ -t 2 ] || echo none' </dev/null"
	assert_output_has none
	# Nor have the helpers of cp.
	pack_instead "exec tar.real \"\$@\"" "for i in 0 1 2; do [ ! -t \$i ] || touch /run/had-terminal; done"
	run on_terminal "'$MANYKUBE' cp '$victim/file' node-2:/srv/terminal"
	assert_status 0
	on node-2 test -e /srv/terminal
	run ! on node-2 test -e /run/had-terminal
	# With both ends a terminal, it has one of the node's.
	run on_terminal "'$MANYKUBE' ssh node-2 -- tty"
	assert_output_has /dev/pts/
}

@test "programs in nodes have nothing else of the caller's" {
	run manykube ssh node-2 -- ls /proc/self/fd/0/ <"$victim"
	[[ $output != *file* ]] || fail "a directory of the host is open in the node"
	run manykube ssh node-2 -- sh -c 'umask; ls /proc/self/fd' 7<"$victim" </dev/null
	assert_equal "$(echo "$output" | xargs)" "0022 0 1 2 3"
	# A file that is only read, but that anybody could write to, is not written to.
	echo before >"$BATS_TEST_TMPDIR/open"
	chmod 666 "$BATS_TEST_TMPDIR/open"
	run manykube ssh node-2 -- sh -c 'echo after >>/proc/self/fd/0' <"$BATS_TEST_TMPDIR/open"
	assert_equal "$(cat "$BATS_TEST_TMPDIR/open")" before
	# What it is given and what it says passes through all the same.
	head -c 3000000 /dev/urandom >"$BATS_TEST_TMPDIR/bytes"
	manykube ssh node-2 -- cat <>"$BATS_TEST_TMPDIR/bytes" >"$BATS_TEST_TMPDIR/back"
	cmp "$BATS_TEST_TMPDIR/bytes" "$BATS_TEST_TMPDIR/back"
	run --separate-stderr manykube ssh node-2 -- sh -c 'echo out; echo err >&2; exit 7'
	assert_status 7
	assert_equal "$output $stderr" "out err"
}

@test "neither programs in nodes nor pods have the caller's keys" {
	with_key python3 -c "$find_key"
	run ! with_key "$MANYKUBE" ssh node-2 -- python3 -c "$find_key" </dev/null
	kubectl apply -f - <<-POD
		apiVersion: v1
		kind: Pod
		metadata: {name: villain}
		spec:
		  nodeName: node-2
		  terminationGracePeriodSeconds: 0
		  volumes: [{name: node, hostPath: {path: /}}]
		  containers:
		    - name: villain
		      image: docker.io/library/busybox:latest
		      imagePullPolicy: Never
		      command: [sleep, "100000"]
		      securityContext: {privileged: true}
		      volumeMounts: [{name: node, mountPath: /node}]
	POD
	kubectl wait --timeout=60s --for=condition=Ready pod/villain
	run kubectl exec villain -- chroot /node python3 -c "$find_key" </dev/null
	assert_status 1
}

@test "the values of variables are their owner's alone" {
	local secret='hush-hush-value\|whisper-value'

	assert_equal "$(on node-2 sh -c 'tr "\0" "\n" </proc/$(pgrep -x kubelet)/environ | grep E2E_SECRET')" \
		E2E_SECRET=hush-hush-value
	# No command line has them, which every user of the host could see.
	run ! on node-2 grep -q 'command.*E2E_SECRET' /etc/manykube/agent.conf
	run as_nobody cat "$(profile_dir)/profile.json"
	assert_status 1
	run grep -r "$secret" "$(profile_dir)/logs" "$MANYKUBE_HOME/logs"
	assert_status 1
	manykube logs --audit | grep -e '--env=E2E_SECRET=REDACTED'
	manykube logs --file="$BATS_TEST_TMPDIR/all.tar"
	run grep -a "$secret" "$BATS_TEST_TMPDIR/all.tar"
	assert_status 1
	manykube config view | grep E2E_SECRET.*hush-hush-value
}
