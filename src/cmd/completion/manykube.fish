# Completion of manykube for fish; all that is known about its words is in the program itself.

function __manykube_candidates
	set -l words (commandline -opc)
	set -l current (commandline -ct)
	set -q current[1]; or set current ''
	for line in ($words[1] __complete -- $words[2..] $current 2>/dev/null)
		if test "$line" = :files
			__fish_complete_path "$current"
		else
			printf '%s\n' $line
		end
	end
end

complete -c manykube -f -k -a '(__manykube_candidates)'
