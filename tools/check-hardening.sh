#!/bin/sh
# Fail if one of the programs given lacks what makes an error in it harder to exploit: a position
# that is chosen anew for every run, relocations that can't be written to, a stack that can't be
# executed, canaries, checked calls of the C library, and a stack that does not jump over its guard.
set -eu

bad=0
complain() {
	echo "$program: $1"
	bad=1
}

for program; do
	headers=$(readelf -W -h -l -d "$program")
	echo "$headers" | grep -q 'Type: *DYN' || complain "it is not position-independent"
	echo "$headers" | grep -q 'GNU_RELRO' || complain "relocations stay writable (no RELRO)"
	# What is static is relocated before it runs, all at once.
	echo "$headers" | grep -Eq 'BIND_NOW|FLAGS_1.*NOW' || complain "relocations are lazy (no BIND_NOW)"
	echo "$headers" | grep -Eq 'GNU_STACK.* RW +0x' || complain "its stack can be executed"
done

# Symbols tell of what is linked dynamically only; what sources are compiled with tells of all.
readelf -W --dyn-syms "$1" | grep -q '__stack_chk_fail' || { program=$1 complain "it has no canaries"; }
readelf -W --dyn-syms "$1" | grep -Eq '__(sprintf|snprintf|memcpy|read|vsnprintf)_chk' ||
	{ program=$1 complain "calls are not checked (no FORTIFY)"; }
commands=$(dirname "$1")/compile_commands.json
for flag in -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=; do
	# One line of the file is a whole command.
	if grep '"command":' "$commands" | grep -E ' (\.\./)*src/' | grep -vq -e "$flag"; then
		program=$commands complain "sources are compiled without $flag"
	fi
done
exit $bad
