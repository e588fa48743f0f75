#!/bin/sh
# Fail if clang-format would lay out any C file differently; exit 77 (skipped) without clang-format.
set -eu

cd "$(dirname "$0")/.."
command -v clang-format >/dev/null 2>&1 || { echo "clang-format is not installed"; exit 77; }
git ls-files -co --exclude-standard -- 'src/*.[ch]' 'tests/*.[ch]' | xargs clang-format --dry-run -Werror
