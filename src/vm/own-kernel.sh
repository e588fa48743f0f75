#!/bin/sh
# Put the kernel $2, an image or a Debian package, and its modules into the directory $1.
set -eu

out=$1 file=$2

# What the header of the image $1 calls its version; nothing if it has no such header.
version_in() {
	[ "$(dd if="$1" bs=1 skip=514 count=4 2>/dev/null)" = HdrS ] || return 0
	at=$(($(od -An -tu2 -j526 -N2 "$1") + 512))
	dd if="$1" bs=1 skip="$at" count=128 2>/dev/null | tr '\000' '\n' | sed -n '1s/ .*//p'
}

take_image() {
	version=$(version_in "$file")
	[ -n "$version" ] || version=$(basename "$file" | sed -n 's/^vmlinu[xz]-//p')
	if [ -z "$version" ]; then
		echo "'$file' does not tell its version; call it vmlinuz-VERSION" >&2
		exit 1
	fi
	modules=$(dirname "$(dirname "$file")")/lib/modules/$version
	[ -d "$modules" ] || modules=/lib/modules/$version
	if [ ! -d "$modules" ]; then
		echo "there are no modules of the kernel $version in '$modules'; 'make modules_install' makes them" >&2
		exit 1
	fi
	mkdir -p "$out/boot" "$out/lib/modules/$version/kernel"
	cp "$file" "$out/boot/vmlinuz-$version"
	[ ! -d "$modules/kernel" ] || cp -r "$modules/kernel/." "$out/lib/modules/$version/kernel/"
	for name in modules.builtin modules.builtin.modinfo modules.order; do
		[ ! -e "$modules/$name" ] || cp "$modules/$name" "$out/lib/modules/$version/"
	done
}

if [ "$(head -c 7 "$file" | tr -d '\000')" = '!<arch>' ]; then
	dpkg-deb -x "$file" "$out"
	[ -d "$out/lib" ] || ln -s usr/lib "$out/lib"
	if [ ! -e "$out/boot/vmlinuz-$(ls "$out/lib/modules" 2>/dev/null)" ]; then
		echo "'$file' is not the package of a kernel with its modules" >&2
		exit 1
	fi
else
	take_image
fi
