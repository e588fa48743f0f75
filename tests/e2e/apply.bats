#!/usr/bin/env bats
# A cluster becomes what its file says, and what is as it should be is left alone.

load helper

setup_file() {
	begin_file e2e-apply
	SHARED=$(mktemp -d /var/tmp/manykube-e2e-apply.XXXXXX)
	export SHARED
}

teardown_file() {
	end_file
	[ -z "${SHARED:-}" ] || rm -rf "$SHARED"
}

write_file() {
	cat >"$SHARED/cluster.yaml" <<-END
		apiVersion: manykube/v1
		kind: Cluster
		name: e2e-apply
		offline: true
		nodes:
		- {role: control-plane, name: one}
		- {role: control-plane, name: two}
		- {role: worker, name: web, cpus: 1, labels: {tier: web}, taints: ["dedicated=web:NoSchedule"]}
		- {role: worker, name: db, memory: 1g, labels: {tier: db}}
		- {role: worker, name: old, maxPods: 30}
	END
}

# One worker more, one fewer, a label, a memory limit and a taint changed.
edit_file() {
	sed -e 's/name: old, maxPods: 30/name: new, maxPods: 40/' -e 's/tier: web/tier: front/' \
		-e 's/memory: 1g/memory: 2g/' -e 's/web:NoSchedule/web:PreferNoSchedule/' \
		"$SHARED/cluster.yaml" >"$SHARED/edited.yaml"
}

# Of each NODE: its UID, when its first process began, and when its services did, how often.
lives() {
	local node

	for node; do
		echo "$node $(kubectl get node "$node" -o jsonpath='{.metadata.uid}')" \
			"$(on "$node" cat /proc/1/stat | cut -d' ' -f22)" \
			"$(on "$node" cat /run/manykube/state | xargs)"
	done
}

# Of NODE: its UID, when its first process began, and when the container of a pod did that stays.
ages() {
	kubectl get node "$1" -o jsonpath='{.metadata.uid}{"\n"}'
	on "$1" cat /proc/1/stat | cut -d' ' -f22
	kubectl get pods -n kube-system -l k8s-app=kube-proxy --field-selector "spec.nodeName=$1" \
		-o jsonpath='{.items[*].status.containerStatuses[*].state.running.startedAt}'
}

# Of a node: node NAME JQ-FILTER
node() {
	kubectl get node "$1" -o json | jq -r "$2"
}

apply() {
	manykube apply "$@" </dev/null
}

@test "a cluster that does not exist is made as the file says" {
	write_file
	run -2 apply -f "$SHARED/cluster.yaml" --dry-run
	assert_output_has "+ web      is added: role worker"
	[ ! -e "$(profile_dir)" ]
	apply -q -f "$SHARED/cluster.yaml"
	assert_all_ready
	assert_equal "$(profile_get '[.nodes[] | select(.controlPlane) | .name] | join(" ")')" "one two"
	assert_equal "$(node web '.status.capacity.cpu')" 1
	assert_equal "$(node db '.status.capacity.memory')" 1Gi
	assert_equal "$(node old '.status.capacity.pods')" 30
	# As `start -f` finds it, too.
	run -0 manykube start -f "$SHARED/cluster.yaml"
	assert_output_has "is running"
}

@test "there is nothing to do for the same file" {
	local before

	before=$(lives one two web db old)
	run -0 apply -f "$SHARED/cluster.yaml" --dry-run
	assert_output_has "Nothing to do: cluster \"e2e-apply\" matches '$SHARED/cluster.yaml'."
	run -0 apply -f "$SHARED/cluster.yaml"
	assert_output_has "Nothing to do"
	run -0 manykube apply -f - <"$SHARED/cluster.yaml"
	assert_output_has "matches 'stdin'"
	manykube config view | manykube apply -f - --dry-run
	assert_equal "$(lives one two web db old)" "$before"
}

@test "what would disturb or can't be done is not begun" {
	local before

	edit_file
	before=$(profile_get tojson)
	run -2 apply -f "$SHARED/edited.yaml" --dry-run
	assert_output_has "~ web  changes: labels +tier=front -tier=web, taints +dedicated=web:PreferNoSchedule"
	assert_output_has "~ db   changes: memory 1g -> 2g"
	assert_output_has "+ new  is added: role worker"
	assert_output_has "node 'old' is not in '$SHARED/edited.yaml' and is kept; --prune deletes it"
	manykube apply -f "$SHARED/edited.yaml" --dry-run --prune -o json >"$SHARED/plan" || assert_equal $? 2
	assert_schema apply-plan <"$SHARED/plan"
	assert_equal "$(jq -r '[.steps[] | "\(.node) \(.action)"] | join(", ")' "$SHARED/plan")" \
		"web change, db change, new add, old delete"
	run -14 apply -f "$SHARED/edited.yaml" --prune
	assert_output_has "this would disturb pods on old, and there is no terminal"
	sed 's/^offline.*/kubernetesVersion: v1.35/' "$SHARED/edited.yaml" >"$SHARED/refused.yaml"
	run -14 apply -f "$SHARED/refused.yaml" --prune --yes
	assert_output_has "changes that are not possible on an existing cluster: kubernetesVersion"
	sed 's/memory:/memroy:/' "$SHARED/edited.yaml" >"$SHARED/wrong.yaml"
	run -18 apply -f "$SHARED/wrong.yaml" --yes
	assert_output_has "wrong.yaml:9:28: unknown field 'memroy'; did you mean 'memory'?"
	sed 's/name: new/&, staticIP: 10.0.0.1/' "$SHARED/edited.yaml" >"$SHARED/wrong.yaml"
	run -18 apply -f "$SHARED/wrong.yaml" --yes
	assert_output_has "wrong.yaml:10:3: node 'new': --static-ip: '10.0.0.1' is not a usable node address"
	run -35 apply -f "$SHARED/none.yaml"
	run -14 apply
	assert_equal "$(profile_get tojson)" "$before"
}

@test "an edited file changes what it says, and nothing else" {
	local before limited

	before=$(lives one two web)
	limited=$(ages db)
	run -0 apply -f "$SHARED/edited.yaml" --prune --yes
	assert_output_has "Done: cluster \"e2e-apply\" matches '$SHARED/edited.yaml'."
	assert_all_ready
	assert_equal "$(node_names)" "db new one two web"
	assert_equal "$(node web '.metadata.labels.tier')" front
	assert_equal "$(node web '[.spec.taints[] | "\(.key)=\(.value):\(.effect)"] | join(" ")')" \
		"dedicated=web:PreferNoSchedule"
	assert_equal "$(node db '.status.capacity.memory')" 2Gi
	assert_equal "$(node new '.status.capacity.pods')" 40
	assert_equal "$(on db awk '/^MemTotal/ { print $2 }' /proc/meminfo)" $((2 << 20))
	# Labels, taints and limits change in place.
	assert_equal "$(lives one two web)" "$before"
	assert_equal "$(ages db)" "$limited"
	run -0 apply -f "$SHARED/edited.yaml" --prune
	assert_output_has "Nothing to do"
	assert_equal "$(lives one two web)" "$before"
}

@test "what was taken away by hand is put back" {
	kubectl label node web tier-
	kubectl taint node web dedicated-
	run -2 apply -f "$SHARED/edited.yaml" --dry-run
	apply -q -f "$SHARED/edited.yaml"
	assert_equal "$(node web '.metadata.labels.tier')" front
	assert_equal "$(node web '.spec.taints[0].key')" dedicated
}

@test "a deletion that was interrupted can be thought better of" {
	grep -v 'name: new' "$SHARED/edited.yaml" >"$SHARED/fewer.yaml"
	interrupt "Draining node: new" apply -f "$SHARED/fewer.yaml" --prune --yes
	run -2 apply -f "$SHARED/edited.yaml" --dry-run
	assert_output_has "+ new  is made schedulable again: a command that drained it did not finish"
	apply -q -f "$SHARED/edited.yaml"
	assert_equal "$(node new '.spec.unschedulable')" null
	run -0 apply -f "$SHARED/edited.yaml" --dry-run
}

# An archive with the image example.org/mine:v1, which is busybox.
make_archive() {
	local dir=$SHARED/archive image=("$MANYKUBE_CACHE"/v*/images/busybox*.tar)

	mkdir "$dir"
	tar -xf "${image[0]}" -C "$dir"
	sed -i 's,docker.io/library/busybox:latest,example.org/mine:v1,' "$dir/index.json"
	tar -cf "$SHARED/mine.tar" -C "$dir" .
}

@test "images of one's own are loaded" {
	make_archive
	sed -i 's/^offline/images: [mine.tar]\noffline/' "$SHARED/edited.yaml"
	run -0 apply -f "$SHARED/edited.yaml"
	assert_output_has "~ cluster  changes: images +$SHARED/mine.tar"
	run -0 apply -f "$SHARED/edited.yaml"
	[[ $output != *"Loading images"* ]]
	kubectl run mine --image=example.org/mine:v1 --image-pull-policy=Never --restart=Never \
		--overrides='{"spec": {"nodeName": "new"}}' -- true
	kubectl wait --timeout=60s --for=jsonpath='{.status.phase}'=Succeeded pod/mine
}

@test "an interrupted restart of a control plane is gone on with" {
	local before

	before=$(lives one web db new)
	sed -i 's/name: two/name: two, env: {GREETING: hello}/' "$SHARED/edited.yaml"
	interrupt "Stopping node" apply -f "$SHARED/edited.yaml" --yes
	# The other control plane does without it.
	kubectl get nodes
	run -2 apply -f "$SHARED/edited.yaml" --dry-run
	apply -q -f "$SHARED/edited.yaml" --yes
	assert_all_ready
	assert_equal "$(manykube status -o json | jq '[.[] | select(.APIServer == "Running")] | length')" 2
	assert_equal "$(lives one web db new)" "$before"
	run -0 apply -f "$SHARED/edited.yaml" --dry-run
	on two sh -c 'tr "\0" "\n" </proc/$(pidof kubelet)/environ' | grep -x GREETING=hello
	manykube delete -q
	assert_no_trace
}
