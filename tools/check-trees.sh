#!/bin/sh
# Fail if code could follow a link that a node's root has made, or knows how nodes keep their files.
# Above src/driver/ files of nodes are read and written through the driver (driver/files.h).  In it,
# only driver/tree.c names the place of a native node's files, and what it returns, always called
# "tree", is for the functions of base/below.h and base/tail.h alone; others there mount the tree's
# own directories, whose names are the host's.
set -eu

cd "$(dirname "$0")/.."
bad=0

# The host's view of nodes' files belongs to the driver.
if grep -EnH '#include "driver/(tree|native[a-z-]*)\.h"|node_tree[a-z_]*\(|node_driver_native' src/*.c src/*/*.[ch] |
	grep -Ev '^src/driver/'; then
	echo "only src/driver/ knows how a node is made: use the files of its driver (driver/files.h)" >&2
	bad=1
fi

# Drivers have names, which only minikube's options need elsewhere.
if grep -EnH '"[^".]*\<native\>[^"-]*"' src/*.c src/*/*.[ch] | grep -Ev '^src/(driver/|cmd/minikube\.c|cli/opt\.h)'; then
	echo "the default driver is node_driver_default()" >&2
	bad=1
fi

# Paths that are put together by hand.
if grep -EnH '"[^"]*(nodes/%s|%s)/(tree|run|home|srv|mnt|usr-work)[/"]|"[^"]*nodes/%s/(etc|var|root|usr)|/proc/%d/(root|cwd|fd)' \
	src/*.c src/*/*.[ch] | grep -Ev '^src/(driver/tree|payload/store|home/migrate)\.c:'; then
	echo "a node's own files are found by node_tree_path() only" >&2
	bad=1
fi

# Functions that follow links.
if grep -EnH '(file_[a-z_]+|[a-z]*(open|stat|chmod|chown|mkdir|rename|link|access|mount|opendir)|unlink|rmdir|realpath|truncate)\((tree|etc)(\)|, *[^ "])' \
	src/*.c src/*/*.[ch] | grep -Ev '(below|tail)_[a-z_]+\((tree|etc)[,)]'; then
	echo "use the functions of base/below.h for what a node's root can write" >&2
	bad=1
fi

# And by another name, the convention that this check relies on.
if grep -EnH '=[[:space:]]*node_tree_path\(' src/*.c src/*/*.[ch] | grep -Ev 'char \*tree = '; then
	echo "what node_tree_path() returns is to be called 'tree'" >&2
	bad=1
fi
exit "$bad"
