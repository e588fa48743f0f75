#!/bin/sh
# Fail if one of the given programs lacks hardening: position independence, read-only relocations, a
# non-executable stack, stack canaries, checked calls of the C library, and stack clash protection.
set -eu

bad=0
complain() {
	echo "$program: $1"
	bad=1
}

for program; do
	headers=$(readelf -W -h -l -d "$program")
	echo "$headers" | grep -q 'Type: *DYN' || complain "not position-independent"
	echo "$headers" | grep -q 'GNU_RELRO' || complain "relocations are writable (no RELRO)"
	# A static program is relocated completely before it runs.
	echo "$headers" | grep -Eq 'BIND_NOW|FLAGS_1.*NOW' || complain "relocations are lazy (no BIND_NOW)"
	echo "$headers" | grep -Eq 'GNU_STACK.* RW +0x' || complain "the stack is executable"
done

# Symbols show this only for dynamically linked programs, so the compiler flags are checked as well.
readelf -W --dyn-syms "$1" | grep -q '__stack_chk_fail' || { program=$1 complain "it has no canaries"; }
readelf -W --dyn-syms "$1" | grep -Eq '__(sprintf|snprintf|memcpy|read|vsnprintf)_chk' ||
	{ program=$1 complain "calls are not checked (no FORTIFY)"; }
commands=$(dirname "$1")/compile_commands.json
for flag in -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=; do
	# Each line of the file is one compiler command.
	if grep '"command":' "$commands" | grep -E ' (\.\./)*src/' | grep -vq -e "$flag"; then
		program=$commands complain "sources are compiled without $flag"
	fi
done
exit $bad
