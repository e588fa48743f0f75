#!/bin/sh
# Fail if a source directory includes a header of a layer above its own.
# The order below is the architecture: each directory may use those before it.
set -eu

cd "$(dirname "$0")/.."
layers='base data policy cgroup host probe routing api engine image buildkit payload vm driver qemu registry watch balancer record kubeconfig'
layers="$layers node node-images network fail kubeadm cni look describe plan home world cluster scenario cli cmd"
apart='agent pause' # programs of their own
bad=0
above=$layers

for layer in $layers; do
	above=${above#"$layer"}
	above=${above# }
	if [ ! -d "src/$layer" ]; then
		echo "src/$layer is a layer, but no such directory exists" >&2
		bad=1
	fi
	if [ -z "$above" ]; then
		continue
	fi
	pattern="#include \"($(echo "$above" | tr ' ' '|'))/"
	if grep -EnHs "$pattern" "src/$layer"/*.[ch]; then
		echo "src/$layer must not include: $above" >&2
		bad=1
	fi
done
for directory in src/*/; do
	case " $layers $apart " in
	*" $(basename "$directory") "*) ;;
	*)
		echo "$directory is not a layer: add it to $0" >&2
		bad=1
		;;
	esac
done
exit "$bad"
