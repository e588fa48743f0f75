#!/usr/bin/env bats
# The commands of `config`, and help, as they are typed.

load helper

setup() {
	rm -rf "$MANYKUBE_HOME"
}

manykube() {
	"$MANYKUBE" "$@"
}

@test "what is set can be seen, used and unset" {
	manykube config set memory 4g
	manykube config set cni none
	assert_equal "$(manykube config get memory)" 4g
	assert_equal "$(manykube config view)" $'- memory: 4g\n- cni: none'
	assert_equal "$(manykube config view -o json | jq -c .)" '{"memory":"4g","cni":"none"}'
	assert_has "$(manykube start --help)" "(default: 4g)"
	assert_has "$(MANYKUBE_MEMORY=5g manykube start --help)" "(default: 5g)"
	manykube config unset memory
	manykube config unset memory
	run -14 manykube config get memory
	assert_has "$output" "not set"
}

@test "what can't be a value is not stored" {
	run -14 manykube config set memory banana
	assert_has "$output" "'banana' is not a size"
	run -14 manykube config set profile Bad_Name
	run -14 manykube config set cpus 0
	assert_has "$output" "at least 1"
	run -14 manykube config set wait nonsense
	run -14 manykube config set memory ''
	assert_equal "$(manykube config view)" ""
}

@test "what is no setting is refused and the nearest suggested" {
	run -14 manykube config set memroy 2g
	assert_has "$output" "did you mean 'memory'?"
	run -14 manykube config set force true
	run -14 manykube config unset nonsense
}

@test "a wrong file is named, and can be mended" {
	mkdir -p "$MANYKUBE_HOME"
	echo '{"memory": "banana"}' >"$MANYKUBE_HOME/config.json"
	run -38 manykube start --dry-run
	assert_has "$output" "$MANYKUBE_HOME/config.json': memory: 'banana'"
	run -0 manykube start --help
	manykube config unset memory
	assert_equal "$(manykube config view)" ""
}

@test "settings choose the cluster" {
	manykube config set profile dev
	assert_equal "$(manykube profile)" dev
	assert_equal "$(MANYKUBE_PROFILE=env manykube profile)" env
	assert_equal "$(MANYKUBE_PROFILE=env manykube profile -p line)" line
}

@test "help is there however it is asked for" {
	local asked

	for asked in "help node list" "node help list" "node list --help" "--help node list" "-h node list"; do
		# shellcheck disable=SC2086 # words
		assert_has "$(manykube $asked)" "Usage: manykube node list"
	done
	assert_has "$(manykube node help)" "Usage: manykube node ["
	assert_has "$(manykube options)" "--profile"
	run -14 manykube help nope
	assert_has "$output" "did you mean"
	assert_equal "$(manykube version -o json | jq -r .manykubeVersion)" "$(manykube version --short)"
}
