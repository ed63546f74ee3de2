#!/usr/bin/env bash
# Brings MQTT.js into deploy/mqttjs, in the version that its lock file names, for
# the tests that talk to the broker as a JavaScript program would. Costs nothing
# when it is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../mqttjs"

if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
fi
