# shellcheck shell=bash
# Completion of manykube for bash; all that is known about its words is in the program itself.

_manykube() {
	local line=${COMP_LINE:0:COMP_POINT}
	local breaks=${COMP_WORDBREAKS//[^=:]/}
	local words=() word skip='' candidate

	# Not COMP_WORDS: bash breaks words at '=' and ':', manykube does not.
	read -ra words <<<"$line"
	[[ $line != *[[:space:]] ]] || words+=('')
	word=${words[${#words[@]} - 1]}
	[ -z "$breaks" ] || skip=${word%"${word##*["$breaks"]}"}

	COMPREPLY=()
	while IFS=$'\t' read -r candidate _; do
		case $candidate in
		:files)
			compopt -o filenames 2>/dev/null
			while IFS= read -r candidate; do
				COMPREPLY+=("$candidate")
			done < <(compgen -f -- "${word#"$skip"}")
			continue
			;;
		*[=:]) compopt -o nospace 2>/dev/null ;;
		esac
		COMPREPLY+=("${candidate#"$skip"}")
	done < <("${1/#\~/$HOME}" __complete -- "${words[@]:1}" 2>/dev/null)
}

complete -F _manykube manykube
