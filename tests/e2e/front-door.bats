#!/usr/bin/env bats
# What talks to the network for a cluster has no privileges, and nobody can use it up.

load helper

setup_file() {
	begin_file e2e-door
	manykube start --offline --wait=apiserver --ports="$(free_port):30080"
}

teardown_file() {
	local pid

	for pid in "$BATS_FILE_TMPDIR"/*.pid; do
		[ ! -e "$pid" ] || kill "$(cat "$pid")" || true
	done
	ip link del e2e-out 2>/dev/null || true
	ip netns del e2e-lan 2>/dev/null || true
	end_file
}

# The process that passes connections on; a front door of a single process is that itself.
worker() {
	jq '.worker // .pid' "$(profile_dir)/front-door.status.json"
}

keeper() {
	grep -o -m1 '[0-9][0-9]*' "$(profile_dir)/front-door.lock"
}

# Kill the keeper, and wait until both are gone.
end_keeper() {
	local both

	both="$(keeper) $(worker)"
	kill -KILL "${both% *}"
	within 2 test ! -e "/proc/${both% *}/exe"
	within 2 test ! -e "/proc/${both#* }/exe"
}

of_worker() {
	awk -v field="$1:" '$1 == field { print $2 }' "/proc/$(worker)/status"
}

# A program of the host's in a node's network.
in_network_of() {
	nsenter -t "$(cut -d' ' -f1 "$(profile_dir)/nodes/$1/pid")" -n "${@:2}"
}

# Ask the cluster's DNS for a name with an opcode by UDP and TCP: `ask OPCODE`, to be run with COMMAND...
# before it; prints what answered.
ask() {
	local opcode=$1

	shift
	"$@" python3 - "$opcode" "$(profile_get .gateway)" <<-'CLIENT'
		import socket, struct, sys
		opcode, server = int(sys.argv[1]), (sys.argv[2], 53)
		query = struct.pack(">6H", 7, opcode << 11 | 256, 1, 0, 0, 0) + b"\1a\4test\0\0\1\0\1"
		udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		udp.settimeout(2)
		try:
		    udp.sendto(query, server)
		    print("udp", udp.recv(512)[3] & 15)
		except OSError:
		    pass
		try:
		    tcp = socket.create_connection(server, 2)
		    tcp.sendall(struct.pack(">H", len(query)) + query)
		    answer = tcp.recv(512)
		    if answer:
		        print("tcp", answer[5] & 15)
		except OSError:
		    pass
	CLIENT
}

@test "what listens is nobody on the host, and has nothing" {
	[ "$(of_worker Uid)" -ge 4294770688 ] || fail "it is user $(of_worker Uid)"
	assert_equal "$(of_worker Groups)" ""
	assert_equal "$(of_worker CapEff) $(of_worker CapPrm) $(of_worker CapBnd)" \
		"0000000000000000 0000000000000000 0000000000000000"
	assert_equal "$(of_worker NoNewPrivs) $(of_worker Seccomp)" "1 2"
	assert_equal "$(ls -A "/proc/$(worker)/root")" "" "its root"
	# Nothing of it is open but its log.
	assert_equal "$(find "/proc/$(worker)/fd" -lname "$MANYKUBE_HOME/*" -printf '%l\n' | sort -u)" \
		"$(profile_dir)/front-door.log"
	run setpriv --reuid="$(of_worker Uid)" --regid="$(of_worker Uid)" --clear-groups \
		cat "$(profile_dir)/front-door.json"
	[ "$status" -ne 0 ] || fail "its user can read the profile: $output"
	# It has not tried what it may not, either.
	assert_equal "$(grep 'system call' "$(profile_dir)/front-door.log")" ""
}

@test "names are asked for with ordinary queries only" {
	assert_equal "$(ask 0 in_network_of node-1 | xargs)" "udp 3 tcp 3"
	assert_equal "$(ask 2 in_network_of node-1)" ""
	assert_equal "$(ask 5 in_network_of node-1)" ""
	assert_equal "$(ask 0 | xargs)" "udp 3 tcp 3" "from the host"
}

@test "another machine gets no answer" {
	ip netns add e2e-lan
	ip link add e2e-out type veth peer name eth0 netns e2e-lan
	ip addr add 198.51.100.5/30 dev e2e-out
	ip link set e2e-out up
	ip -n e2e-lan addr add 198.51.100.6/30 dev eth0
	ip -n e2e-lan link set eth0 up
	ip -n e2e-lan route add default via 198.51.100.5
	assert_equal "$(ask 0 ip netns exec e2e-lan)" ""
}

# Have 1500 connections to the API from a node, as far as they are taken, until it is killed.
occupy() {
	in_network_of node-1 python3 - "$(profile_get .gateway)" "$BATS_FILE_TMPDIR/taken" <<-'CLIENT'
		import resource, select, socket, sys, time
		resource.setrlimit(resource.RLIMIT_NOFILE, (2000, 2000))
		sockets = []
		for _ in range(1500):
		    try:
		        sockets.append(socket.create_connection((sys.argv[1], 6443), 5))
		    except ConnectionResetError:
		        pass
		time.sleep(1)
		closed = select.poll()
		for s in sockets:
		    closed.register(s, select.POLLIN)
		open(sys.argv[2], "w").write(str(len(sockets) - len(closed.poll(0))))
		time.sleep(600)
	CLIENT
}

@test "a node can not take all connections" {
	# A front door for few, so that few are enough.
	end_keeper
	(ulimit -n 4096 && manykube kubectl -- get --raw /readyz)
	occupy 3>&- &
	echo $! >"$BATS_FILE_TMPDIR/occupy.pid"
	within 20 test -s "$BATS_FILE_TMPDIR/taken"
	assert_equal "$(kubectl get --raw /readyz --request-timeout=5s)" ok "from the host"
	[ "$(cat "$BATS_FILE_TMPDIR/taken")" -ge 100 ]
	[ "$(cat "$BATS_FILE_TMPDIR/taken")" -le 300 ] ||
		fail "the node has $(cat "$BATS_FILE_TMPDIR/taken") connections"
	kill "$(cat "$BATS_FILE_TMPDIR/occupy.pid")"
	rm "$BATS_FILE_TMPDIR/occupy.pid"
}

@test "what listens is there again when it dies" {
	local before

	before="$(worker) $(keeper)"
	kill -KILL "$(worker)"
	within 5 kubectl get --raw /readyz --request-timeout=2s
	assert_equal "$(keeper)" "${before#* }" "the keeper"
	within 5 worker_is_healthy
	[ "$(worker)" != "${before% *}" ] || fail "it is the old one"
}

worker_is_healthy() {
	jq -e '.backends[0].healthy' "$(profile_dir)/front-door.status.json"
}

@test "start ends one that hangs, both parts of it, and opens it again" {
	local both

	both="$(keeper) $(worker)"
	kill -STOP "${both% *}" "${both#* }"
	run timeout 20 "$MANYKUBE" kubectl -- get nodes --request-timeout=1s
	assert_output_has "does not answer; 'manykube start -p"
	run manykube status
	assert_output_has "front door: Stopped"
	run -0 manykube start --wait=apiserver
	assert_output_has "Restarting hung front door"
	[ ! -e "/proc/${both% *}/exe" ] && [ ! -e "/proc/${both#* }/exe" ] || fail "$both live on"
	assert_equal "$(kubectl get --raw /readyz --request-timeout=5s)" ok
	run -0 manykube start --wait=apiserver
	[[ $output != *hung* ]] || fail "$output"
}

@test "it ends with what started it, and is opened again" {
	end_keeper
	run -0 manykube status
	assert_equal "$(kubectl get --raw /readyz)" ok
}
