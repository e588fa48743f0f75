#!/usr/bin/env bats
# The real shells with the scripts that `manykube completion` prints.

load helper

setup_file() {
	mkdir -p "$MANYKUBE_HOME/profiles/dev" "$BATS_FILE_TMPDIR/bin"
	# Two nodes of a cluster that is only a record.
	cat >"$MANYKUBE_HOME/profiles/dev/profile.json" <<-'END'
	{"format": 1, "name": "dev", "nodes": [
		{"name": "node-1", "controlPlane": true}, {"name": "node-2", "worker": true}]}
	END
	ln -sf "$MANYKUBE" "$BATS_FILE_TMPDIR/bin/manykube"
}

setup() {
	PATH=$BATS_FILE_TMPDIR/bin:$PATH
	cd "$BATS_TEST_TMPDIR" || return
}

# What bash would offer for the line $1, in one line.
in_bash() {
	bash --norc -c '
		source <(manykube completion bash)
		COMP_LINE=$1 COMP_POINT=${#1}
		read -ra COMP_WORDS <<<"$1"
		_manykube manykube
		echo "${COMPREPLY[*]}"' bash "$1"
}

in_fish() {
	fish --no-config -c 'manykube completion fish | source; complete -C $argv[1]' "$1" |
		cut -f 1 | xargs
}

# What zsh would offer, with the functions that would show it replaced.
in_zsh() {
	# shellcheck disable=SC2016
	zsh -f -c '
		compdef() {}
		_describe() { print -rl -- "${(@)${(P@)${@[-1]}}%%:*}" }
		compadd() { print -rl -- "${(@P)${@[-1]}}" }
		_files() { print -rl -- *(N) }
		source <(manykube completion zsh)
		words=("${(@s: :)1}") CURRENT=$#words PREFIX=$words[-1]
		_manykube' zsh "$1" | xargs
}

# What line $1 must become in all shells, where it is to be $2; bash cuts off what is before the
# last = or :, which may be given as $3.
assert_offers() {
	local shell

	for shell in bash zsh fish; do
		need "$shell"
		if [ "$shell" = bash ] && [ $# -gt 2 ]; then
			assert_equal "$(in_bash "$1")" "$3"
		else
			assert_equal "$shell: $("in_$shell" "$1")" "$shell: $2"
		fi
	done
}

type_into() {
	timeout 20 zsh -f "$BATS_TEST_DIRNAME/type-into.zsh" "$@"
}

@test "commands and subcommands are completed" {
	assert_offers "manykube sta" "start status"
	assert_offers "manykube config s" set
	assert_offers "manykube nonsense x" ""
}

@test "options and their values are completed" {
	assert_offers "manykube start --kuber" --kubernetes-version
	assert_offers "manykube start --cni " "auto bridge flannel none"
	assert_offers "manykube start --cni=n" --cni=none none
	assert_offers "manykube completion " "bash zsh fish"
}

@test "clusters and nodes are completed" {
	assert_offers "manykube ssh -p " dev
	assert_offers "manykube profile d" dev
	assert_offers "manykube delete --profile=" --profile=dev dev
	assert_offers "manykube -p dev ssh " "node-1 node-2"
	assert_offers "manykube status -p dev -n node-2" node-2
}

@test "a wrong setting does not disturb" {
	echo nonsense >"$MANYKUBE_HOME/config.json"
	assert_offers "manykube sta" "start status"
	rm "$MANYKUBE_HOME/config.json"
}

@test "a key pressed in bash completes" {
	need zsh
	run -0 type_into "bash --norc -i" 'source <(manykube completion bash)' $'manykube versi\t--sh\t'
	assert_has "$output" "$(manykube version --short)"
}

@test "a key pressed in zsh completes" {
	need zsh
	manykube completion zsh >_manykube
	run -0 type_into "zsh -f -i" \
		'fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -D' $'manykube versi\t--sh\t'
	assert_has "$output" "$(manykube version --short)"
}

@test "what is no shell is refused" {
	run -14 manykube completion tcsh
	assert_has "$output" "bash, zsh or fish"
}
