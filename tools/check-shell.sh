#!/bin/sh
# Fail if shellcheck reports a problem in a script; exit 77 (skipped) without shellcheck.
set -eu

cd "$(dirname "$0")/.."
command -v shellcheck >/dev/null 2>&1 || { echo "shellcheck is not installed"; exit 77; }
git ls-files -co --exclude-standard -- '*.sh' '*.bash' .ci/run | xargs -r shellcheck -x
# In bats, a line that begins with '!' does not make a test fail.
git ls-files -co --exclude-standard -- '*.bats' | xargs -r shellcheck -x --include=SC2314,SC2315
