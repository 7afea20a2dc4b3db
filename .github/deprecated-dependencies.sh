#!/usr/bin/env bash
# Lists the direct dependencies of all packages whose newest version is deprecated, and fails if there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
# An alias such as "npm:typescript@5.4.5" names the package in its value.
names=$(git ls-files 'package.json' '*/package.json' | xargs cat | jq --raw-output '
  [.dependencies, .devDependencies, .optionalDependencies] | map(. // {} | to_entries) | add[]
  | select(.value | startswith("workspace:") | not)
  | if .value | startswith("npm:") then .value | ltrimstr("npm:") | sub("@[^@]+$"; "") else .key end' | sort --unique)
deprecated=0
for name in $names; do
  reason=$(npm view "$name" deprecated)
  if [ -n "$reason" ]; then
    echo "$name is deprecated: $reason"
    deprecated=1
  fi
done
echo "Checked $(wc -w <<< "$names") packages."
exit "$deprecated"
