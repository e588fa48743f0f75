#!/usr/bin/env bats
# Every word of minikube's is understood: it does the same here, or one learns what does.

load helper

# Keys of `config set` that minikube has and manykube has not.
ABSENT_KEYS="driver vm-driver v host-only-cidr log_dir iso-url WantUpdateNotification WantBetaUpdateNotification
	ReminderWaitPeriodInHours WantNoneDriverWarning WantVirtualBoxDriverWarning bootstrapper
	hyperv-virtual-switch disable-driver-mounts cache EmbedCerts native-ssh rootless MaxAuditEntries"

# What manykube says to words, which with --help are only read: `here`, `ignored` or `refused`.
answer_to() {
	local output status=0 advice

	output=$("$MANYKUBE" "$@" --help 2>&1 </dev/null) || status=$?
	advice=$(sed -n 's/^\* Suggestion: //p' <<<"$output")
	if [ "$status" -eq 0 ] && grep -q '^! --.* is ignored: .' <<<"$output"; then
		echo ignored
	elif [ "$status" -eq 0 ]; then
		echo here
	elif [ "$status" -eq 14 ] && [ -n "$advice" ] && [[ $advice != *"--help'" &&
		$advice != *"lists the commands" && $output != *"did you mean"* ]]; then
		echo refused
	else
		echo "status $status: $output"
	fi
}

@test "all of minikube's words are here, ignored with a warning, or refused with what to use instead" {
	local line words want got wrong=0

	while read -r line; do
		read -ra words <<<"${line% *}"
		want=${line##* }
		got=$(answer_to "${words[@]}")
		[ "$got" = "$want" ] || {
			echo "${words[*]}: $got, not $want"
			wrong=1
		}
	done < <(grep '^[^#]' "$BATS_TEST_DIRNAME/minikube.txt")
	assert_equal "$wrong" 0
}

@test "words of kind, k3d and kubectl come with what to use instead" {
	local line

	while IFS=: read -r line advice; do
		# shellcheck disable=SC2086 # these are words
		run -14 "$MANYKUBE" $line
		assert_has "$output" "$advice"
		assert_has "$output" "* Suggestion: "
	done <<-'END'
		get nodes:'manykube node list'
		image prune:'manykube image ls'
		image build --platform=linux/arm64 .:--build-opt=platform=PLATFORM
		get kubeconfig:'manykube update-context'
		get clusters:'manykube profile list'
		ls:'manykube profile list'
		list:'manykube profile list'
		cluster create dev:'manykube start -p NAME'
		create cluster:did you mean 'manykube start'?
		kubeconfig get:'manykube update-context'
		licenses:LICENSE
		node ls:did you mean 'manykube node list'?
		node get:did you mean 'manykube node list'?
		node rm x:did you mean 'manykube node delete'?
		node create:did you mean 'manykube node add'?
		worker ls:did you mean 'manykube worker list'?
		config ls:did you mean 'manykube config get'?
		delete cluster:the command delete, without a name
		delete node x:the command node delete NAME
		profile delete x:the command delete, without a name
		profile create x:'manykube start -p NAME'
		profile use x:'manykube profile NAME'
		start --agents=2:--nodes=N
		start --servers=3:--control-planes=N
		start --config=kind.yaml:--file=FILE
		start --image=kindest/node:--kubernetes-version
	END
	# What a program asked for as JSON is not answered with sentences.
	run -14 "$MANYKUBE" start --dry-run -o json
	assert_has "$output" "'manykube apply -f FILE --dry-run -o json'"
	run -14 "$MANYKUBE" config get nope
	[[ $output != *"did you mean"* ]] || fail "$output"
}

@test "the drivers of minikube come with the driver that does the same" {
	local name

	for name in virtualbox vfkit hyperkit; do
		run -14 "$MANYKUBE" start --driver="$name"
		assert_has "$output" "there is no driver '$name'; available drivers: native, docker, qemu"
		assert_has "$output" "* Suggestion: --driver=qemu makes nodes that are virtual machines"
	done
	run -14 "$MANYKUBE" start --driver=container
	assert_has "$output" "* Suggestion: --driver=docker makes nodes that are containers"
	run -14 "$MANYKUBE" start --driver=ssh
	assert_has "$output" "* Suggestion: there is no substitute"
	run -14 "$MANYKUBE" start --driver=nonsense
	assert_has "$output" "* Suggestion: 'manykube driver list' says what they are"
	run -14 "$MANYKUBE" start --vm-driver=kvm2
	assert_has "$output" "* Suggestion: write --driver=NAME"
	run -14 "$MANYKUBE" start --vm
	assert_has "$output" "* Suggestion: write --driver=qemu"
}

@test "who wants to be asked nothing learns of --yes" {
	run -0 "$MANYKUBE" start --interactive=false --help
	assert_has "$output" "asks only whether to build Kubernetes, which --yes answers"
}

@test "a setting of minikube's that does not exist comes with what to use instead" {
	local key

	for key in $ABSENT_KEYS; do
		run -14 "$MANYKUBE" config set "$key" x
		assert_has "$output" "unknown setting '$key'"
		[[ $output != *"did you mean"* && $output != *"most options of"* ]] || fail "$key: $output"
	done
}

@test "options of a command with subcommands may stand before its operand" {
	run -85 "$MANYKUBE" service --url web -p dev
	assert_has "$output" "there is no cluster 'dev'"
	run -14 "$MANYKUBE" service --nonsense web
	assert_has "$output" "unknown option '--nonsense'"
}

@test "advice names the cluster, wherever it was named" {
	run -14 "$MANYKUBE" mount /src:/dst -p dev
	assert_has "$output" "'manykube cp -p dev'"
	run -14 "$MANYKUBE" start --addons=ingress -p dev
	assert_has "$output" "'manykube kubectl -p dev apply -f MANIFEST'"
}
