#!/bin/sh
# Fail if shellcheck finds something in our scripts; exit 77 (skipped) without shellcheck.
set -eu

cd "$(dirname "$0")/.."
command -v shellcheck >/dev/null 2>&1 || { echo "shellcheck is not installed"; exit 77; }
git ls-files -co --exclude-standard -- '*.sh' '*.bash' .ci/run | xargs -r shellcheck -x
# A test is not failed by a line that begins with '!'.
git ls-files -co --exclude-standard -- '*.bats' | xargs -r shellcheck -x --include=SC2314,SC2315
