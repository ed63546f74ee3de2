#!/usr/bin/env bash
# Builds the files of a release into bin/release: goreleaser with .goreleaser.yaml, then
# packages for Debian and RPM with deploy/package.
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
go build -buildvcs=true -o "$tools/here/" ./broker ./robotd ./fleetd
version=$("$tools/here/robotd" version)
export TROUPE_VERSION=${version#robotd v} PATH=$tools:$PATH

goreleaser release --snapshot --clean "$@"

# Packages have manual pages and settings that the programs print, so they are packed afterwards.
out=bin/release
go run ./deploy/package -bin "$tools/here" -out bin/package
for arch in amd64 arm64; do
	deploy/package/build.sh fleetd $arch "$TROUPE_VERSION" "$(echo $out/fleetd_linux_${arch}_*/fleetd)" $out
	deploy/package/build.sh broker $arch "$TROUPE_VERSION" "$(echo $out/broker_linux_${arch}_*/troupe-broker)" $out
	deploy/package/build.sh robotd $arch "$TROUPE_VERSION" "$(echo $out/robotd_linux_${arch}_*/robotd)" $out
done
deploy/package/build.sh robotd arm7 "$TROUPE_VERSION" $out/robotd_linux_arm_7/robotd $out
(cd $out && sha256sum -- *.deb *.rpm >>SHA256SUMS)
