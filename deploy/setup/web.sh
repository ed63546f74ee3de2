#!/usr/bin/env bash
# Checks the console: format, types, tests, and that the types of the API and the build in
# the tree are those of the sources in the tree. It leaves new ones in place, to be
# committed. It also tests the package as it is built without the console (-tags noweb).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../fleetd/console/web"

files() { find dist src/api/schema.ts -type f -exec sha256sum {} + | sort -k 2; }

before=$(files)
npm run --silent types >/dev/null
npm run --silent check
npm run --silent test
npm run --silent build >/dev/null
after=$(files)
if [ "$before" != "$after" ]; then
	echo "make web changed these files; commit them:" >&2
	diff <(echo "$before") <(echo "$after") | sed -n 's/^[<>] [0-9a-f]*  /    /p' | sort -u >&2
	exit 1
fi
go test -count=1 -tags noweb ..
