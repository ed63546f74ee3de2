#!/usr/bin/env bash
# Checks the console: format, types, tests, and that the types of the API and the build in
# the tree are those of the sources in the tree. It changes nothing until both are made, since
# Go may compile the build meanwhile; new ones it puts into place, to be committed. It also
# tests the package as it is built without the console (-tags noweb).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../fleetd/console/web"
made=node_modules/.made # by what the tree has

rm -rf "$made"
mkdir -p "$made"
npm run --silent openapi
npx openapi-typescript node_modules/.openapi.json -o "$made/schema.ts" >/dev/null
changed=$(cmp -s "$made/schema.ts" src/api/schema.ts || echo "    src/api/schema.ts")
[ -z "$changed" ] || cp "$made/schema.ts" src/api/schema.ts

npm run --silent check
npm run --silent test
npx vite build --outDir "$made/dist" >/dev/null
go run ../licences >"$made/dist/licences-go.json"
changed+=$(diff -rq dist "$made/dist" | sed 's/^/    /' || true)
if [ -n "$changed" ]; then
	rm -rf dist
	cp -r "$made/dist" dist
	echo "make web changed these files; commit them:" >&2
	echo "$changed" >&2
	exit 1
fi
go test -count=1 -tags noweb ..
