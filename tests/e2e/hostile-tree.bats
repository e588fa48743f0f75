#!/usr/bin/env bats
# A node's root fills its own directories with links and pipes, and then the host's root works on
# them: starts, stops, sets, looks.  Nothing outside of the node may change, be read or be waited for.

load helper

setup_file() {
	begin_file e2e-hostile
	# Beside the home, so that names in the node can't be mistaken for it; writable for all, so
	# that also what a node's root does outside would be seen.
	export OUTSIDE=$MANYKUBE_HOME.outside
	mkdir "$OUTSIDE"
	echo "only for root" >"$OUTSIDE/secret"
	chmod 600 "$OUTSIDE/secret"
	mkdir -m 1777 "$OUTSIDE/open"
	mkdir -m 755 "$OUTSIDE/closed"
	mkdir "$MANYKUBE_HOME/shared"
	manykube start --offline --nodes=2 --mount="$MANYKUBE_HOME/shared:/srv/deep/shared"
}

teardown_file() {
	end_file
	rm -rf "${OUTSIDE:-}"
}

# A shell command as the root of node-2.
inside() {
	on node-2 sh -c "$1" </dev/null
}

# What must stay as it is: all outside, and the host's own directories of the cluster.
around() {
	find "$OUTSIDE" -exec stat -c '%n %a %u %g %s' {} + | sort
	stat -c '%n %a %u' "$(profile_dir)" "$(profile_dir)/nodes" "$(profile_dir)/nodes/node-2"
	find "$(profile_dir)" "$(profile_dir)/nodes" -maxdepth 1 -mindepth 1 -type d | sort
}

# Where the node's own files are on the host.
tree() {
	local dir

	dir=$(profile_dir)/nodes/node-2
	[ -d "$dir/tree" ] && echo "$dir/tree" || echo "$dir"
}

restart() {
	timeout 60 "$MANYKUBE" node stop node-2
	timeout 120 "$MANYKUBE" node start node-2
}

@test "links in a node's /var and /etc lead the host's root nowhere" {
	local before

	before=$(around)
	inside "rm -rf /var/cache /var/tmp /var/lib/etcd
		ln -s ../.. /var/cache
		ln -s ../../.. /var/tmp
		ln -s '$OUTSIDE/closed' /var/lib/etcd
		ln -s '$OUTSIDE/open' /var/lib/containerd.part
		ln -s '$OUTSIDE/open/hosts' /etc/hosts.new
		ln -s '$OUTSIDE/open/conf' /etc/manykube/agent.conf.new"
	run restart
	assert_equal "$(around)" "$before"
	assert_status 0
	run timeout 60 "$MANYKUBE" start --offline
	assert_equal "$(around)" "$before"
	assert_status 0
	inside 'rm /var/cache /var/tmp /var/lib/etcd && mkdir -m 1777 /var/tmp && rm -f /var/lib/containerd.part'
}

# The host puts the images there, and directories for the services.
@test "a link in the place of a node's /var/lib leads the host's root nowhere" {
	local before

	before=$(around)
	inside "mv /var/lib /var/lib.kept && ln -s '$OUTSIDE/open' /var/lib"
	run timeout 60 "$MANYKUBE" start --offline --wait=none
	assert_equal "$(around)" "$before" "while it runs"
	timeout 60 "$MANYKUBE" node stop node-2
	run timeout 60 "$MANYKUBE" node start node-2 --wait-timeout=2s
	assert_equal "$(around)" "$before" "after it has stopped"
	timeout 60 "$MANYKUBE" node stop node-2
	rm "$(tree)/var/lib"
	mv "$(tree)/var/lib.kept" "$(tree)/var/lib"
	timeout 60 "$MANYKUBE" node start node-2
}

@test "pipes in a node hold nobody up" {
	inside 'rm -f /run/manykube/state /run/manykube/*.new /etc/hosts.new
		for file in /run/manykube/state /run/manykube/meminfo.new /run/manykube/cpuinfo.new \
			/etc/hosts.new /etc/manykube/agent.conf.new; do mkfifo $file || exit; done'
	run timeout 20 "$MANYKUBE" status
	assert_status 0
	run timeout 30 "$MANYKUBE" node set node-2 --memory=2g --cpus=2
	assert_status 0
	assert_equal "$(inside 'head -n 1 /proc/meminfo | tr -s " "; grep -c ^processor /proc/cpuinfo')" \
		"$(printf 'MemTotal: 2097152 kB\n2')"
	run restart
	assert_status 0
	run timeout 20 "$MANYKUBE" status
	assert_status 0
}

# Only the node's own: what it says of its services is its own business.
@test "what a node makes its agent say is no trouble for others" {
	inside 'perl -e "
		use strict;
		open(my \$maps, q(<), q(/proc/1/maps)) or die;
		my (\$at) = map { hex(\$_) } map { m,^([0-9a-f]+)-\S+ rw-s .*/state\$, } <\$maps>;
		open(my \$memory, q(+<), q(/proc/1/mem)) or die;
		sysseek(\$memory, \$at, 0) && syswrite(\$memory, q(x) x 4096) == 4096 or die;"'
	run timeout 20 "$MANYKUBE" status
	assert_output_has "kubelet: Stopped"
	restart
	run -0 timeout 20 "$MANYKUBE" status
}

# What stands for /proc/meminfo was made where the node's root could put a link in its place.
@test "a node that is changed does not get to see the host's files" {
	local i racer

	"$MANYKUBE" ssh node-2 -- perl -e 'while (1) { symlink($ARGV[0], "/run/manykube/x"); rename("/run/manykube/x", "/run/manykube/meminfo") }' \
		"$OUTSIDE/secret" </dev/null >/dev/null 2>&1 3>&- &
	racer=$!
	for i in $(seq 4); do
		run timeout 30 "$MANYKUBE" node set node-2 --memory="$((2048 + i))m"
		assert_status 0
		run inside 'cat /proc/meminfo'
		[[ $output != *"only for root"* ]] || break
	done
	kill "$racer"
	[[ $output != *"only for root"* ]] || fail "after $i attempts the node can read the secret"
	inside 'rm -f /run/manykube/meminfo'
}

# The place of a mount is made if it is missing.
@test "a link on the way to a --mount leads out of the node neither" {
	local before target

	before=$(around)
	for target in "/.host$OUTSIDE/open" "/proc/self/fd/5" "$OUTSIDE/open"; do
		timeout 60 "$MANYKUBE" node stop node-2
		rm -rf "$(tree)/srv/deep"
		ln -s "$target" "$(tree)/srv/deep"
		run timeout 30 "$MANYKUBE" node start node-2
		assert_equal "$(around)" "$before" "with a link to $target"
		[ "$status" -ne 0 ] || fail "it starts with a link to $target"
	done
	# One that stays in the node is as good as a directory.
	rm "$(tree)/srv/deep"
	ln -s /srv "$(tree)/srv/deep"
	touch "$MANYKUBE_HOME/shared/file"
	timeout 60 "$MANYKUBE" node start node-2
	inside 'test -e /srv/shared/file'
}

# A directory that nodes can write to, and another mount from within it.
@test "a link in a writable --mount does not become the source of another" {
	local target

	mkdir "$MANYKUBE_HOME/shared/sub"
	manykube node add --name=nested --mount="$MANYKUBE_HOME/shared/sub:/srv/sub"
	for target in / "$OUTSIDE" ../..; do
		inside "rm -rf /srv/shared/sub && ln -s '$target' /srv/shared/sub"
		manykube node stop nested
		run timeout 60 "$MANYKUBE" node start nested
		[ "$status" -ne 0 ] || fail "it starts with a link to $target"
		assert_output_has "a link in a directory that nodes can write to"
	done
	inside 'rm /srv/shared/sub && mkdir /srv/shared/sub && touch /srv/shared/sub/file'
	manykube node start nested
	on nested test -e /srv/sub/file
	manykube node delete nested
	rm -r "$MANYKUBE_HOME/shared/sub"
}

# Run a program of the node on a terminal.
on_terminal() {
	timeout 30 script -qec "$MANYKUBE ssh node-2 -- tty" /dev/null </dev/null
}

@test "terminals are the node's own, whatever it has in their place" {
	local reader

	run -0 on_terminal
	assert_output_has /dev/pts/0
	mkfifo "$OUTSIDE/pipe"
	cat "$OUTSIDE/pipe" 3>&- &
	reader=$!
	inside "mount -t tmpfs none /dev/pts && ln -s '$OUTSIDE/pipe' /dev/pts/ptmx"
	run on_terminal
	kill -0 "$reader" || fail "the host has opened what the node wanted"
	kill "$reader"
	[ "$status" -ne 0 ]
	inside 'rm /dev/pts/ptmx && mkfifo /dev/pts/ptmx'
	run on_terminal
	[ "$status" -ne 0 ] && [ "$status" -ne 124 ] || fail "the status is $status"
	assert_output_has "not a terminal"
	inside 'umount /dev/pts'
	run -0 on_terminal
}

# Its /etc, /var and the like are mounts of directories in a place that it has no way to.
@test "a node has no way to the names of its own directories" {
	local names

	names=$(ls "$(tree)")
	run inside 'for name in etc var root home srv mnt usr; do
		rmdir /$name || mv /$name /$name.moved || ln -sfn /tmp /$name/../$name; ls -a /$name/..; done'
	run inside 'cd /etc && ls ../usr-work ../../tree'
	[ "$status" -ne 0 ]
	assert_equal "$(ls "$(tree)")" "$names"
	[ -z "$(find "$(tree)" -maxdepth 1 -type l)" ]
	assert_equal "$(stat -c %a "$(tree)")" 700
}

@test "a stopped node of an earlier version is moved into a tree at its next start" {
	local dir id

	dir=$(profile_dir)/nodes/node-2
	id=$(inside 'cat /etc/machine-id')
	inside 'echo kept >/root/kept'
	timeout 60 "$MANYKUBE" node stop node-2
	mv "$dir"/tree/* "$dir"
	mkdir "$dir/run"
	rmdir "$dir/tree"
	timeout 20 "$MANYKUBE" logs node-2 --service=kubelet | grep -q .
	timeout 60 "$MANYKUBE" node start node-2
	assert_equal "$(inside 'cat /etc/machine-id /root/kept')" "$(printf '%s\nkept' "$id")"
	assert_equal "$(cd "$dir" && ls -d etc var usr run 2>/dev/null)" ""
	assert_equal "$(stat -c %a "$dir/tree")" 700
}
