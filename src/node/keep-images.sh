#!/bin/sh
# Add Kubernetes' own images again when somebody removes them, such as 'docker image prune -a', or
# gives their names to other images, such as 'docker tag'.
#
# /etc/manykube/images has their names and IDs.  A label keeps their contents and snapshots when the
# image is removed, so adding it again only needs an archive with an index.

names=/etc/manykube/images
archives=/run/manykube/images

# ctr warns of old kernels with every call.
run() {
	ctr -n k8s.io "$@" 2>/dev/null
}

# Whether the manifest $1 is that of the image with the ID $2.
is_image() {
	run content get "$1" | grep -qF "\"$2\""
}

# Keep the contents of the image $1 with the ID $2, with the archive $3.  Its own name may be that of
# another image; the CRI plugin knows images by their IDs, too.
keep() {
	for name in "$1" "$2"; do
		# shellcheck disable=SC2046 # words: name, type, digest, size, ...
		set -- "$1" "$2" "$3" $(run images ls "name==$name" | tail -n +2)
		if [ -n "$6" ] && is_image "$6" "$2"; then
			keep_digest "$1" "$3" "$5" "$6"
			return
		fi
		set -- "$1" "$2" "$3"
	done
	echo "there is no $1 to keep"
}

# Keep the contents of the image $1, with the archive $2; its manifest has the type $3 and the digest
# $4.
keep_digest() {
	run content label "$4" containerd.io/gc.root=manykube >/dev/null || return 0
	mkdir -p "$2.new"
	echo '{"imageLayoutVersion":"1.0.0"}' >"$2.new/oci-layout"
	printf '{"schemaVersion":2,"manifests":[{"mediaType":"%s","digest":"%s","size":%d,"annotations":{"io.containerd.image.name":"%s","org.opencontainers.image.ref.name":"%s"}}]}\n' \
		"$3" "$4" "$(run content get "$4" | wc -c)" "$1" "${1##*:}" >"$2.new/index.json"
	tar -C "$2.new" -cf "$2.part" oci-layout index.json
	rm -r "$2.new"
	echo "$4" >"$2.digest"
	mv "$2.part" "$2"
}

# Add the images that are missing, or are others.
restore() {
	have=$(run images ls | awk '{ print $1, $3 }') || return
	number=0
	while read -r name _; do
		number=$((number + 1))
		[ -e "$archives/$number" ] || continue
		echo "$have" | grep -qxF "$name $(cat "$archives/$number.digest")" && continue
		echo "adding $name, which was removed or replaced"
		case $name in
		*/pause:*) pinned="--label io.cri-containerd.pinned=pinned" ;;
		*) pinned= ;;
		esac
		# shellcheck disable=SC2086 # two words or none
		run images import --local --snapshotter overlayfs \
			--label io.cri-containerd.image=managed $pinned "$archives/$number" >/dev/null
	done <"$names"
}

# Whether the event $1 is about one of these images.
is_ours() {
	while read -r name _; do
		case $1 in
		*"\"$name\""*) return 0 ;;
		esac
	done <"$names"
	return 1
}

# What an earlier version of Kubernetes needed.
for digest in $(run content ls -q 'labels."containerd.io/gc.root"==manykube'); do
	run content label "$digest" containerd.io/gc.root= >/dev/null
done
mkdir -p "$archives"
rm -rf "${archives:?}"/*
number=0
while read -r name id; do
	number=$((number + 1))
	keep "$name" "$id" "$archives/$number"
done <"$names"

mkfifo "$archives/events"
run events >"$archives/events" &
trap 'kill $!; exit 0' TERM INT
restore
while read -r event; do
	case $event in
	*/images/*) ! is_ours "$event" || restore ;;
	esac
done <"$archives/events"
