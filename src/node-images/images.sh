#!/bin/sh
# List, tag and remove images in a node that cannot run our own code: list | tag FROM TO |
# remove NAME...  The exit status is an errno; images-look.c describes the lines of a list.

fail() {
	code=$1
	shift
	echo "error $*"
	exit "$code"
}

# The names of all images.
names() {
	printf '%s\n' "$all" | tail -n +2 | cut -d ' ' -f 1
}

list() {
	printf '%s\n' "$all" | awk '
	NR > 1 && $3 ~ /^sha256:/ {
		number++
		name[number] = $1
		digest[number] = substr($3, 8)
		unit = $4 $5
		size[number] = $4 + 0
		if (unit ~ /^[0-9.]+KiB/) size[number] *= 1024
		if (unit ~ /^[0-9.]+MiB/) size[number] *= 1048576
		if (unit ~ /^[0-9.]+GiB/) size[number] *= 1073741824
		if (/io\.cri-containerd\.image=managed/) flags[number] = "m"
		if (/io\.cri-containerd\.pinned=pinned/) flags[number] = flags[number] "p"
		if ($1 ~ /^sha256:/) config[digest[number]] = substr($1, 8)
	}
	END {
		for (i = 1; i <= number; i++) {
			id = config[digest[i]]
			printf "image %s %s %s %.0f %s\n", name[i], digest[i], id ? id : "-", size[i],
				flags[i] ? flags[i] : "-"
		}
	}'
}

# The names $@ as far as they exist, and the IDs of images that have no name left then.
choose() {
	printf '%s\n' "$all" | wanted=" $* " awk '
	NR > 1 {
		name[NR] = $1
		digest[NR] = $3
		chosen[NR] = index(ENVIRON["wanted"], " " $1 " ")
		if (chosen[NR]) gone[$3] = 1
		else if ($1 !~ /^sha256:/) named[$3] = 1
	}
	END {
		for (i = 2; i <= NR; i++)
			if (chosen[i] || (name[i] ~ /^sha256:/ && (digest[i] in gone) && !(digest[i] in named)))
				print name[i]
	}'
}

tries=0
until ctr version >/dev/null 2>&1; do
	tries=$((tries + 1))
	[ "$tries" -lt 300 ] || fail 110 "containerd does not answer"
	sleep 0.1
done
# ctr warns of old kernels with every call.
all=$(ctr -n k8s.io images ls 2>/dev/null) || fail 5 "ctr cannot list the images"
verb=$1
shift
case $verb in
list) list ;;
tag)
	names | grep -qxF -e "$1" || fail 2 "there is no image '$1'"
	said=$(ctr -n k8s.io images tag --force "$1" "$2" 2>&1) || fail 5 "$said"
	ctr -n k8s.io images label "$2" io.cri-containerd.pinned= >/dev/null 2>&1
	exit 0
	;;
remove)
	chosen=$(choose "$@")
	[ "$chosen" ] || fail 2 "there is no image '$1'"
	# shellcheck disable=SC2086 # names without spaces
	said=$(ctr -n k8s.io images rm --sync $chosen 2>&1) || fail 5 "$said"
	;;
esac
