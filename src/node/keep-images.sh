#!/bin/sh
# Add Kubernetes' own images again when somebody removes them, such as 'docker image prune -a'.
#
# /etc/manykube/images has their names.  A label keeps their contents and snapshots when the image is
# removed, so adding it again only needs an archive with an index.

names=/etc/manykube/images
archives=/run/manykube/images

# ctr warns of old kernels with every call.
run() {
	ctr -n k8s.io "$@" 2>/dev/null
}

# Keep the contents of the image $1, with the archive $2.
keep() {
	# shellcheck disable=SC2046 # words: name, type, digest, size, ...
	set -- "$1" "$2" $(run images ls "name==$1" | tail -n +2)
	[ -n "$5" ] || return 0
	run content label "$5" containerd.io/gc.root=manykube >/dev/null || return 0
	mkdir -p "$2.new"
	echo '{"imageLayoutVersion":"1.0.0"}' >"$2.new/oci-layout"
	printf '{"schemaVersion":2,"manifests":[{"mediaType":"%s","digest":"%s","size":%d,"annotations":{"io.containerd.image.name":"%s","org.opencontainers.image.ref.name":"%s"}}]}\n' \
		"$4" "$5" "$(run content get "$5" | wc -c)" "$1" "${1##*:}" >"$2.new/index.json"
	tar -C "$2.new" -cf "$2.part" oci-layout index.json
	rm -r "$2.new"
	mv "$2.part" "$2"
}

# Add the images that are missing.
restore() {
	have=$(run images ls -q) || return
	number=0
	while read -r name; do
		number=$((number + 1))
		echo "$have" | grep -qxF "$name" && continue
		[ -e "$archives/$number" ] || continue
		echo "adding $name, which was removed"
		run images import --local --snapshotter overlayfs \
			--label io.cri-containerd.image=managed "$archives/$number" >/dev/null
	done <"$names"
}

# What an earlier version of Kubernetes needed.
for digest in $(run content ls -q 'labels."containerd.io/gc.root"==manykube'); do
	run content label "$digest" containerd.io/gc.root= >/dev/null
done
mkdir -p "$archives"
rm -rf "${archives:?}"/*
number=0
while read -r name; do
	number=$((number + 1))
	keep "$name" "$archives/$number"
done <"$names"

mkfifo "$archives/events"
run events >"$archives/events" &
trap 'kill $!; exit 0' TERM INT
while read -r event; do
	case $event in
	*/images/delete*) restore ;;
	esac
done <"$archives/events"
