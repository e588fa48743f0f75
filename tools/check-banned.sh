#!/bin/sh
# Fail if the code uses a function that has a safer replacement in src/base/.
set -eu

cd "$(dirname "$0")/.."
words='strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol strtol strtoul strtoull dup system popen basename dirname localtime gmtime sleep usleep gets alloca'
pattern="(^|[^a-zA-Z0-9_>.\"])($(echo "$words" | tr ' ' '|'))\("
if grep -EnH "$pattern" src/*.c src/*/*.[ch]; then
	echo "use the replacement in src/base/ (see CONTRIBUTING.md)" >&2
	exit 1
fi
