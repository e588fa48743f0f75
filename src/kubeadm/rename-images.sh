#!/bin/sh -e
# Give the node's images the names that they have in the repository $1, so that nothing is pulled,
# and run the remaining arguments. In a repository other than its own, kubeadm expects coredns without
# its directory.

repository=$1
shift
until ctr version >/dev/null 2>&1; do sleep 0.1; done
for image in $(ctr -n k8s.io images ls -q name~=registry.k8s.io/); do
	name=${image#registry.k8s.io/}
	ctr -n k8s.io images tag --force "$image" "$repository/${name#coredns/}"
done
exec "$@"
