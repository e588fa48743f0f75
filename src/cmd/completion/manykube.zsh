#compdef manykube
# Completion of manykube for zsh; all that is known about its words is in the program itself.

_manykube() {
	local line candidate
	local -a given described open
	local -i files=0

	given=("${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}")
	for line in "${(@f)$("${(Q)words[1]}" __complete -- "${given[@]}" 2>/dev/null)}"; do
		candidate=${line%%$'\t'*}
		case $candidate in
		'') ;;
		:files) files=1 ;;
		*[=:]) open+=("$candidate") ;;
		*) described+=("${candidate//:/\\:}:${line#*$'\t'}") ;;
		esac
	done
	(( ! $#described )) || _describe -V manykube described
	(( ! $#open )) || compadd -S '' -a open
	(( ! files )) || _files
}

# Read from fpath, this file is the function's body; otherwise it only defines it.
if [[ ${funcstack[1]} == _manykube ]]; then
	_manykube "$@"
else
	compdef _manykube manykube
fi
