#!/usr/bin/env bash
# Brings the packages of npm, in the versions that the lock files name: MQTT.js, with
# which tests talk to the broker as a JavaScript program would, Foxglove's reader of
# recordings, and what builds and tests the console; or those of the folders that are named. Costs nothing when they are there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

[ $# -gt 0 ] || set -- deploy/mcapjs deploy/mqttjs fleetd/console/web
for folder in "$@"; do
	if [ ! "$folder/node_modules/.package-lock.json" -nt "$folder/package-lock.json" ]; then
		(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
	fi
done
