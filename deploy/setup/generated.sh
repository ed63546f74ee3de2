#!/usr/bin/env bash
# Fails when `go generate` changes, adds or removes a file: the generated files
# in the tree are then not those of the code in the tree. It leaves the new ones
# in place, to be looked at and committed. web.sh looks at those of the console that npm makes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

files() {
	find . \( -path ./.git -o -path ./bin -o -path ./.demo -o -path ./.cache -o -path ./fleetd/console/web/dist -o -path ./fleetd/console/web/src/api/schema.ts -o -name node_modules \) -prune -o -type f -exec sha256sum {} + | sort -k 2
}

before=$(files)
go generate ./...
after=$(files)
if [ "$before" != "$after" ]; then
	echo "go generate changed these files; look at them and commit them:" >&2
	diff <(echo "$before") <(echo "$after") | sed -n 's/^[<>] [0-9a-f]*  /    /p' | sort -u >&2
	exit 1
fi
