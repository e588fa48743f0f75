#!/bin/sh
# Fail if code could follow a link made by a node's root, or depends on how nodes store their files.
# Outside of src/driver/ and src/qemu/, files of nodes are accessed through the driver (driver/files.h).  In it, only
# driver/tree.c knows the location of a native node's files.  The path it returns, always called "tree",
# is only for base/below.h and base/tail.h; other code there mounts the directories of the tree, which
# nodes cannot replace.
set -eu

cd "$(dirname "$0")/.."
bad=0

# Only the driver knows where nodes' files are on the host.
if grep -EnH '#include "driver/(tree|native[a-z-]*)\.h"|node_tree[a-z_]*\(|node_driver_native' src/*.c src/*/*.[ch] |
	grep -Ev '^src/(driver|qemu)/'; then
	echo "only src/driver/ and src/qemu/ may depend on how a node is made: use driver/files.h" >&2
	bad=1
fi

# Names of drivers are used elsewhere only for minikube's options.
if grep -EnH '"[^".]*\<native\>[^"-]*"' src/*.c src/*/*.[ch] | grep -Ev '^src/(driver/|qemu/|cmd/minikube\.c|cli/opt\.h)'; then
	echo "use node_driver_default() for the default driver" >&2
	bad=1
fi

# Paths must not be built by hand.
if grep -EnH '"[^"]*(nodes/%s|%s)/(tree|run|home|srv|mnt|usr-work)[/"]|"[^"]*nodes/%s/(etc|var|root|usr)|/proc/%d/(root|cwd|fd)' \
	src/*.c src/*/*.[ch] | grep -Ev '^src/(driver/tree|payload/store|home/migrate)\.c:'; then
	echo "use node_tree_path() for the path of a node's files" >&2
	bad=1
fi

# Functions that follow links.
if grep -EnH '(file_[a-z_]+|[a-z]*(open|stat|chmod|chown|mkdir|rename|link|access|mount|opendir)|unlink|rmdir|realpath|truncate)\((tree|etc)(\)|, *[^ "])' \
	src/*.c src/*/*.[ch] | grep -Ev '(below|tail)_[a-z_]+\((tree|etc)[,)]'; then
	echo "use base/below.h for files that a node's root can write" >&2
	bad=1
fi

# This check relies on the name "tree".
if grep -EnH '=[[:space:]]*node_tree_path\(' src/*.c src/*/*.[ch] | grep -Ev 'char \*tree = '; then
	echo "the result of node_tree_path() must be called 'tree'" >&2
	bad=1
fi
exit "$bad"
