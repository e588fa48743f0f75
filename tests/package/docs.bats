#!/usr/bin/env bats
# The documentation says what the tables say.

load helper

setup() {
	PAGE=$ROOT/build/manykube.1
}

# A document is what the program says now.
assert_up_to_date() {
	"$MANYKUBE" __docs "$1" >"$BATS_TEST_TMPDIR/now"
	diff "$ROOT/docs/${2:-$1.md}" "$BATS_TEST_TMPDIR/now" || fail "run 'make docs'"
}

@test "docs/commands.md is up to date" {
	assert_up_to_date commands
}

@test "docs/exit-codes.md is up to date" {
	assert_up_to_date exit-codes
}

@test "docs/cluster-file.md is up to date" {
	assert_up_to_date cluster-file
}

@test "docs/schema/cluster.json is up to date" {
	assert_up_to_date cluster-schema schema/cluster.json
}

# Lines of "FILE NAME" for each reason that a source file below $1 defines, wherever and however it does.
list_reasons() {
	local file

	find "$1" -name '*.c' | sort | while read -r file; do
		tr '\n' ' ' <"$file" | grep -o 'struct reason [a-z_]* = {' | sed "s|struct reason|$file|; s| = {||"
	done
}

# Succeed if every reason below $1 is in the table of the documented ones.
check_reasons() {
	local file name

	while read -r file name; do
		grep -q "^	&$name,\$" "$ROOT/src/base/error.c" || fail "$name of $file is not in reasons[]"
	done < <(list_reasons "$1")
}

@test "every reason is in the table that is documented" {
	[ "$(list_reasons "$ROOT/src" | wc -l)" -ge 28 ] || fail "not all reasons were found"
	check_reasons "$ROOT/src"
}

@test "a reason that a source file keeps for itself is found" {
	echo 'static const struct reason reason_mine = { "MINE", 1, NULL };' >"$BATS_TEST_TMPDIR/a.c"
	run ! check_reasons "$BATS_TEST_TMPDIR"
	assert_has "$output" "reason_mine"
}

@test "every command that a message suggests exists, with its options" {
	local words path help option

	while read -ra words; do
		path=()
		for word in "${words[@]#\'}"; do
			case ${word%\'} in
			sudo | manykube) ;;
			kubectl) path+=(kubectl) && break ;; # what follows is not for manykube
			[a-z]*) path+=("${word%\'}") ;;
			*) break ;;
			esac
		done
		help=$("$MANYKUBE" help "${path[@]}") || fail "there is no '${words[*]}'"
		for option in "${words[@]%\'}"; do
			[[ $option != -- && $option != kubectl ]] || break
			[[ $option == -* ]] || continue
			assert_has "$help
$("$MANYKUBE" options)" " ${option%%=*}"
		done
	done < <("$ROOT/tools/check-advice.py" --list | sort -u)
}

@test "no list of 'start' is left out of the test that keeps lists from being replaced" {
	local option count=0

	for option in $(sed -n '/^### manykube start/,/^### manykube apply/s/^| `\(--[a-z-]*\).*(may be repeated) |$/\1/p' \
		"$ROOT/docs/commands.md"); do
		grep -q "{ \"$option\"," "$ROOT/tests/unit/test-spec.c" || fail "$option is not in lists[]"
		count=$((count + 1))
	done
	[ "$count" -gt 10 ] || fail "help does not tell lists from others"
}

@test "groff has nothing to say about the man page" {
	need groff
	run -0 groff -man -ww -Tutf8 -z "$PAGE"
	assert_equal "$output" ""
	LC_ALL=C.UTF-8 run -0 --separate-stderr man -l --warnings -Tutf8 "$PAGE"
	assert_equal "$stderr" ""
}

@test "mandoc has nothing to say about the man page" {
	need mandoc
	run mandoc -Tlint -W warning "$PAGE"
	# Without a date, the page is the same whenever it is built.
	assert_equal "$(grep -v 'missing date' <<<"$output")" ""
}

@test "the man page names every command and option" {
	local text path word

	need groff
	# In lines so long that no word is broken.
	text=$(groff -man -rLL=2000n -Tascii -P-cbou "$PAGE" | tr -s '[:space:]' ' ')
	while read -r path; do
		assert_has "$text" "$path"
		# shellcheck disable=SC2086 # words
		for word in $("$MANYKUBE" help $path | grep -o '^ *\(-., \)\?--[a-z-]*' | grep -o -- '--.*'); do
			assert_has "$text" "$word"
		done
	done < <(sed -n 's/^### manykube //p' "$ROOT/docs/commands.md")
	assert_has "$text" "kubeconfig does not point to this cluster"
	assert_has "$text" MK_USAGE
}

@test "neither the environment nor settings get into the documents" {
	mkdir -p "$MANYKUBE_HOME"
	echo '{"nodes": "7", "cni": "none"}' >"$MANYKUBE_HOME/config.json"
	MANYKUBE_WAIT_TIMEOUT=77m assert_up_to_date commands
}

@test "the schema of a record knows every field that is written" {
	local schema=$ROOT/docs/schema/profile-list.json key known

	known=$(jq -r '."$defs" | .config.properties, .node.properties | keys[]' "$schema")
	while read -r key; do
		grep -qxF "$key" <<<"$known" || fail "docs/schema/profile-list.json lacks '$key'"
	done < <(
		grep -oE '\{ "[A-Za-z0-9]+", +FIELD_' "$ROOT/src/record/profile-json.c" | cut -d'"' -f2
		grep -oE '(CLUSTER|EACH|NODE)\("[A-Za-z0-9]+"' "$ROOT/src/record/setting-table.c" | cut -d'"' -f2
	)
}
