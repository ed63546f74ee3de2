#!/usr/bin/env bash
# Builds the files of a release into bin/release: goreleaser with .goreleaser.yaml.
# It needs no network once the module cache has what go.mod and deploy/release/go.mod name, and publishes nothing.
# Further arguments go to goreleaser.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tools=$PWD/.cache/release
mkdir -p "$tools"
# The list of materials has the digest of the program that wrote it: it is built without paths of this machine, too.
GOFLAGS='' go -C deploy/release build -trimpath -buildvcs=false -o "$tools/" \
	github.com/goreleaser/goreleaser/v2 github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

# The programs say their version; files are named by it without the v.
go build -buildvcs=true -o "$tools/robotd" ./robotd
version=$("$tools/robotd" version)
export TROUPE_VERSION=${version#robotd v} PATH=$tools:$PATH

goreleaser release --snapshot --clean "$@"
