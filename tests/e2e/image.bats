#!/usr/bin/env bats
# The user's own images: load, ls, tag, save, rm, on all nodes or on one.

load helper

# Make an image with the name $1 and an archive at $2 out of a program, so that pods can run it:
# $3... are lines of a file in its second layer.
make_archive() {
	python3 "$BATS_TEST_DIRNAME/make-image.py" "$@"
}

setup_file() {
	begin_file images
	manykube start --offline --nodes=2 --wait=all
	make_archive app:1 "$MANYKUBE_HOME/app.tar" one
}

teardown_file() {
	end_file
}

# For use after `run`.
assert_line() {
	grep -qxF -- "$1" <<<"$output" || fail "no line '$1': $output"
}

refute_line() {
	! grep -qxF -- "$1" <<<"$output" || fail "there is a line '$1': $output"
}

assert_matches() {
	[[ $output =~ $1 ]] || fail "nothing like '$1': $output"
}

# Run the image $1 on the node $2, as the pod $3, which prints the file of its second layer.
run_on() {
	kubectl run "$3" --image="$1" --image-pull-policy=Never --restart=Never \
		--overrides="{\"spec\":{\"nodeName\":\"$2\"}}" -- /bin/cat /data/text
	within 60 kubectl wait --for=jsonpath='{.status.phase}'=Succeeded "pod/$3" --timeout=5s
	kubectl logs "$3"
	kubectl delete pod "$3" --now
}

@test "an image that is loaded runs on every node" {
	run manykube image load "$MANYKUBE_HOME/app.tar"
	assert_status 0
	assert_output_has "Loaded app:1 on all nodes: node-1, node-2."
	run run_on app:1 node-1 one
	assert_line one
	run run_on app:1 node-2 two
	assert_line one
}

@test "ls shows which nodes have an image, and which are Kubernetes' own" {
	manykube image ls -o json | assert_schema image-list
	run manykube image ls
	assert_status 0
	assert_matches "docker.io/library/app:1 .* all"
	assert_matches "registry.k8s.io/pause:.*Kubernetes"
	run manykube image ls --format=short --node=node-2
	assert_line "docker.io/library/app:1"
}

@test "layers are on disk once" {
	local store

	store=$(profile_dir)/shared/images
	assert_equal "$(find "$store/layers" -name text | wc -l)" 1
	assert_equal "$(find "$(profile_dir)/nodes" -name text | wc -l)" 0
}

@test "loading again changes nothing" {
	run manykube image load "$MANYKUBE_HOME/app.tar"
	assert_status 0
	assert_output_has "Loaded app:1 on all nodes"
	run run_on app:1 node-2 again
	assert_line one
}

@test "a newer image of the same name replaces it, and containers of the old one go on" {
	kubectl run old --image=app:1 --image-pull-policy=Never \
		--overrides='{"spec":{"nodeName":"node-2"}}' -- /bin/sleep 3600
	kubectl wait --for=condition=Ready pod/old --timeout=60s
	make_archive app:1 "$MANYKUBE_HOME/app2.tar" two
	manykube image load "$MANYKUBE_HOME/app2.tar"
	run run_on app:1 node-2 new
	assert_line two
	assert_equal "$(kubectl exec old -- /bin/cat /data/text)" one
	kubectl delete pod old --now
}

# Load the image other/name:x, which no node has, and remove it again.
assert_loads() {
	run -0 manykube image load "$@"
	assert_output_has "Loaded other/name:x on all nodes"
	manykube image rm other/name:x
}

@test "compressed archives, directories and standard input are loaded" {
	local dir=$BATS_TEST_TMPDIR

	manykube image tag app:1 other/name:x
	manykube image save other/name:x "$dir/saved.tar"
	manykube image rm other/name:x
	mkdir "$dir/layout"
	tar -C "$dir/layout" -xf "$dir/saved.tar"
	gzip -1 -k "$dir/saved.tar"
	assert_loads "$dir/saved.tar.gz"
	rm "$dir/layout/manifest.json"
	assert_loads "$dir/layout"
	tar -C "$dir/layout" -cf "$dir/oci.tar" .
	! command -v zstd >/dev/null || zstd -q --rm "$dir/oci.tar"
	assert_loads - < <(cat "$dir"/oci.tar*)
	run -14 manykube image load - <"$dir/layout/oci-layout"
	assert_output_has "'standard input' is not an image archive"
}

@test "a tag is on all nodes, and a saved image can be loaded again" {
	manykube image tag app:1 other/name:x
	manykube image save other/name:x "$MANYKUBE_HOME/saved.tar"
	manykube image rm app:1 other/name:x
	run manykube image ls --format=short
	refute_line "docker.io/library/app:1"
	refute_line "docker.io/other/name:x"
	manykube image load "$MANYKUBE_HOME/saved.tar"
	run run_on other/name:x node-1 saved
	assert_line two
}

@test "an image for one node is on no other, also after a restart" {
	make_archive single:1 "$MANYKUBE_HOME/single.tar" single
	manykube image load "$MANYKUBE_HOME/single.tar" --node=node-2
	run manykube image ls
	assert_matches "single:1 .* 1/2: node-2"
	manykube start
	run manykube image ls
	assert_matches "single:1 .* 1/2: node-2"
}

@test "a stopped node gets images when it starts, and loses removed ones; a new node has them" {
	manykube node stop node-2
	manykube image rm single:1 --node=node-2
	make_archive late:1 "$MANYKUBE_HOME/late.tar" late
	run manykube image load "$MANYKUBE_HOME/late.tar"
	assert_status 0
	assert_output_has "node-2 is not running"
	manykube node start node-2
	manykube node add third
	run manykube image ls --format=short --node=node-2
	assert_line "docker.io/library/late:1"
	refute_line "docker.io/library/single:1"
	run run_on late:1 third three
	assert_line late
}

@test "what is no image is refused, and nothing changes" {
	local before

	before=$(manykube image ls -o json)
	echo text >"$MANYKUBE_HOME/text.tar"
	: >"$MANYKUBE_HOME/empty.tar"
	head -c 5000 "$MANYKUBE_HOME/late.tar" >"$MANYKUBE_HOME/short.tar"
	for name in text empty short; do
		run manykube image load "$MANYKUBE_HOME/$name.tar"
		[ "$status" -ne 0 ]
		assert_output_has "$name.tar"
	done
	run manykube image load "$MANYKUBE_HOME/missing.tar"
	assert_status 35
	run manykube image load no-such-image
	assert_status 35
	run manykube image rm nosuch:1
	assert_status 85
	assert_equal "$(manykube image ls -o json)" "$before"
}

@test "neither Kubernetes' own images nor those of other nodes are replaced" {
	local before pause

	before=$(manykube image ls -o json)
	pause=$(manykube image ls --format=short | grep /pause:)
	make_archive "$pause" "$MANYKUBE_HOME/pause.tar" evil
	run manykube image load "$MANYKUBE_HOME/pause.tar"
	assert_status 14
	assert_output_has "'$pause' is one of Kubernetes' own images"
	run manykube image tag late:1 "$pause"
	assert_status 14
	run manykube image rm "$pause"
	assert_status 14
	make_archive late:1 "$MANYKUBE_HOME/other.tar" other
	run manykube image load "$MANYKUBE_HOME/other.tar" --node=node-2
	assert_status 14
	assert_output_has "'docker.io/library/late:1' is another image on other nodes"
	assert_equal "$(manykube image ls -o json)" "$before"
	# The very same one is there already.
	manykube image save "$pause" "$MANYKUBE_HOME/same.tar"
	manykube image load "$MANYKUBE_HOME/same.tar"
	# A start restores one that was replaced in a node.
	on node-2 ctr -n k8s.io images tag --force docker.io/library/late:1 "$pause"
	run manykube start
	assert_status 0
	assert_output_has "'$pause' was not Kubernetes' own image"
	assert_equal "$(manykube image ls -o json)" "$before"
}

@test "each name of an image has its own nodes, also after a restart" {
	local before

	make_archive pair:1 "$MANYKUBE_HOME/pair.tar" pair
	manykube image load "$MANYKUBE_HOME/pair.tar"
	manykube image tag pair:1 pair:2
	manykube image rm -n node-2 pair:2
	make_archive pair:3 "$MANYKUBE_HOME/pair3.tar" pair
	manykube image load "$MANYKUBE_HOME/pair3.tar" -n node-2
	manykube node stop node-2
	manykube image rm -n node-2 pair:1
	manykube node start node-2
	run manykube image ls
	assert_matches "pair:1 .* 2/3: node-1, third"
	assert_matches "pair:2 .* 2/3: node-1, third"
	assert_matches "pair:3 .* 1/3: node-2"
	manykube image rm pair:1 pair:2 pair:3
}

@test "unpause brings what was loaded meanwhile" {
	make_archive frozen:1 "$MANYKUBE_HOME/frozen.tar" frozen
	manykube pause -q -n node-2
	run manykube image load "$MANYKUBE_HOME/frozen.tar"
	assert_status 0
	assert_output_has "node-2 is paused; 'manykube unpause -p images' also updates its images"
	manykube unpause -q -n node-2
	run manykube image ls --format=short --node=node-2
	assert_line "docker.io/library/frozen:1"
}

@test "an image is known by its ID, and rm tells which images are not there" {
	local id

	id=$(manykube image ls | awk '/frozen:1/ { print $2 }')
	manykube image tag "$id" frozen:2
	run manykube image ls
	assert_matches "frozen:2 .* all"
	manykube image save "$id" "$MANYKUBE_HOME/frozen-too.tar"
	run manykube image save frozen:1 frozen:2
	assert_status 14
	run manykube image rm nosuch:1 "sha256:$id" nosuch:2
	assert_status 85
	assert_output_has "Removed sha256:$id."
	assert_output_has "'docker.io/library/nosuch:1', 'docker.io/library/nosuch:2'"
	run manykube image ls --format=short
	refute_line "docker.io/library/frozen:1"
	refute_line "docker.io/library/frozen:2"
}

@test "an image without a name is loaded, and that is said" {
	local dir=$BATS_TEST_TMPDIR/nameless id

	mkdir "$dir"
	make_archive nameless:1 "$dir.tar" nothing
	tar -C "$dir" -xf "$dir.tar"
	jq 'map(.RepoTags = null)' "$dir/manifest.json" >"$dir.json"
	mv "$dir.json" "$dir/manifest.json"
	tar -C "$dir" -cf "$dir.tar" .
	run -0 manykube image load "$dir.tar"
	assert_output_has "has no name that pods can use"
	id=$(grep -o 'sha256:[0-9a-f]*' <<<"$output" | head -n 1)
	manykube image tag "$id" given:1
	run manykube image ls --format=short
	assert_line "docker.io/library/given:1"
	manykube image rm given:1
}

@test "a containerd that hangs is left out soon" {
	local pid

	pid=$(on node-2 pidof containerd)
	on node-2 kill -STOP "$pid"
	SECONDS=0
	run manykube image ls
	on node-2 kill -CONT "$pid"
	assert_status 0
	assert_output_has "node 'node-2' is left out"
	[ "$SECONDS" -lt 30 ]
}

@test "a load that is killed at any moment is completed by the next one" {
	local delay

	for delay in 0.02 0.05 0.1 0.2 0.4; do
		make_archive "killed:$delay" "$MANYKUBE_HOME/killed.tar" "killed $delay"
		manykube image load -q "$MANYKUBE_HOME/killed.tar" &
		sleep "$delay"
		kill -KILL $! 2>/dev/null || true
		wait $! || true
		manykube image load "$MANYKUBE_HOME/killed.tar"
		run manykube image ls
		assert_matches "killed:$delay .* all"
	done
	run run_on killed:0.4 node-2 killed
	assert_line "killed 0.4"
	assert_equal "$(find "$(profile_dir)/shared/images" -maxdepth 1 -name 'incoming*' | wc -l)" 0
}

# A start cleans up, once the kubelet has removed the containers of deleted pods.
no_layer_is_late() {
	manykube start -q
	! grep -q -r --include=text '^late$' "$(profile_dir)/shared/images/layers"
}

@test "layers of removed images go when no container uses them" {
	manykube image rm late:1
	within 120 no_layer_is_late
}
