#!/usr/bin/env bats
# Images of the cluster's store in nodes: installed by links, run, built upon, tagged and removed.

load helper

IMAGE=docker.io/library/app:v1
PLACE=/var/lib/containerd

setup_file() {
	begin_file images
	manykube start -q --nodes 2 --offline
	export STORE=$(profile_dir)/shared/images LIST=$BATS_FILE_TMPDIR/app.json
	python3 "$E2E_ROOT/tests/e2e/make-store.py" "$STORE" "$IMAGE" "$(type -P busybox)" 4 >"$LIST"
}

teardown_file() {
	end_file
}

images() {
	"${MANYKUBE%/*}/tests/tools/node-images" "$MANYKUBE_PROFILE" "$@" 2>/dev/null
}

# How many links to the store there are on node $1.
links() {
	on "$1" find $PLACE -lname '/opt/manykube/shared/images/*' | wc -l
}

has_links() {
	[ "$(links "$1")" = "$2" ]
}

# A pod called $1 of image $2 on node $3.
run_pod() {
	kubectl run "$1" --image="$2" --image-pull-policy=Never --restart=Never \
		--overrides="{\"spec\":{\"nodeName\":\"$3\",\"terminationGracePeriodSeconds\":0}}" \
		--command -- /bin/busybox sleep 3600
	kubectl wait --for=condition=Ready "pod/$1" --timeout=60s
}

in_pod() {
	kubectl exec "$1" -- /bin/busybox sh -c "$2"
}

@test "an image is installed on all nodes without a copy" {
	images install "$LIST"
	for node in node-1 node-2; do
		# Three layers, as blobs and unpacked, the configuration and the manifest.
		[ "$(links "$node")" = 8 ]
		images list | grep "^$node $IMAGE .* managed"
		on "$node" ctr -n k8s.io images check "name==$IMAGE" 2>/dev/null | grep 'complete (4/4)'
	done
	[ -z "$(on node-1 ctr -n k8s.io leases ls 2>/dev/null | grep manykube-)" ]
}

@test "what is there is not installed again" {
	before=$(on node-1 ctr -n k8s.io images ls 2>/dev/null)
	images install "$LIST"
	[ "$(links node-1)" = 8 ]
	[ "$(on node-1 ctr -n k8s.io images ls 2>/dev/null)" = "$before" ]
}

@test "a pod sees all layers, and what it writes stays its own" {
	run_pod app "$IMAGE" node-2
	[ "$(in_pod app 'busybox cat /etc/first')" = two ]
	[ "$(in_pod app 'busybox ls /opt')" = above ]
	in_pod app '[ ! -e /etc/gone ]'
	[ "$(in_pod app 'busybox stat -c %u:%g:%a /home/mine')" = 1000:1000:600 ]
	in_pod app 'echo mine >/etc/first; echo more >>/opt/above'
	[ "$(in_pod app 'busybox cat /etc/first')" = mine ]
	run_pod other "$IMAGE" node-2
	[ "$(in_pod other 'busybox cat /etc/first')" = two ]
	[ "$(cat "$STORE"/layers/*/etc/first | sort | tr '\n' ' ')" = "one two " ]
}

listed_by_kubelet() {
	kubectl get node "$1" -o json | jq -e --arg name "$IMAGE" '.status.images[] | select(.names[] == $name)'
}

@test "the kubelet knows of it" {
	within 60 listed_by_kubelet node-2
}

@test "a node's root cannot change the store" {
	run on node-2 sh -c "echo bad >$PLACE/io.containerd.content.v1.content/blobs/sha256/\$(ls -t $PLACE/io.containerd.content.v1.content/blobs/sha256 | head -1)"
	[[ $status != 0 && $output == *"Read-only"* ]]
	run on node-2 sh -c 'touch /opt/manykube/shared/images/blobs/new'
	[[ $status != 0 && $output == *"Read-only"* ]]
}

@test "containerd that has just been killed is waited for" {
	on node-2 sh -c 'kill -KILL "$(pidof containerd)"'
	images install "$LIST"
	images list | grep "^node-2 $IMAGE "
	run_pod again "$IMAGE" node-2
	[ "$(in_pod again 'busybox cat /etc/first')" = two ]
}

@test "what an interrupted installation left does not keep the next one from completing" {
	images remove "$IMAGE"
	ids=$(jq -r '.[0] | .manifest.digest, .layers[0].digest' "$LIST" | cut -d: -f2)
	for id in $ids; do
		on node-1 ln -sfn "/opt/manykube/shared/images/blobs/$id" "$PLACE/io.containerd.content.v1.content/blobs/sha256/$id"
	done
	images install "$LIST"
	[ "$(links node-1)" = 8 ]
}

@test "a tag is a further name, and the last name takes the image along" {
	images tag "$IMAGE" docker.io/library/app:v2
	images remove "$IMAGE"
	run ! grep " $IMAGE " <(images list)
	images list | grep "^node-1 docker.io/library/app:v2 "
	images list | grep "^node-1 sha256:$(jq -r '.[0].config.digest' "$LIST" | cut -d: -f2) "
	run images remove "$IMAGE"
	[[ $output == *"node-1 failed: -2 "*"there is no image '$IMAGE'"* ]]
	run images tag "$IMAGE" docker.io/library/app:v3
	[[ $output == *"node-1 failed: -2 "* ]]
}

@test "containers keep what they need, then all links go and the store stays" {
	kubectl delete pod --all --now
	images install "$LIST"
	run_pod keeps "$IMAGE" node-2
	images remove "$IMAGE" docker.io/library/app:v2
	has_links node-1 0
	[ "$(in_pod keeps 'busybox cat /etc/first')" = two ]
	kubectl delete pod keeps --now
	# As containerd's own collection does later.
	images install "$LIST"
	images remove "$IMAGE"
	within 30 has_links node-1 0
	within 30 has_links node-2 0
	[ "$(find "$STORE/blobs" -type f | wc -l)" = 5 ]
	[ "$(cat "$STORE"/layers/*/opt/above)" = above ]
}

@test "ten at once do not disturb each other" {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		images install "$LIST" 3>&- &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid"
	done
	within 30 has_links node-1 8
	run_pod last "$IMAGE" node-1
	[ "$(in_pod last 'busybox cat /etc/first')" = two ]
}
