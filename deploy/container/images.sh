#!/usr/bin/env bash
# Builds the image of each program for amd64 and arm64 from the files in bin/release, into an OCI layout that is packed
# as bin/release/PROGRAM_VERSION_oci.tar. It needs buildah and root or user namespaces, no engine and no network: an
# image has the program only, and that of fleetd the CAs of Debian's package ca-certificates, as they are on this machine.
# The same files give the same bytes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=bin/release
if ! command -v buildah >/dev/null; then
	echo "images are built by buildah, which is not here: apt-get install --no-install-recommends buildah" >&2
	exit 1
fi
roots=/etc/ssl/certs/ca-certificates.crt
if [ ! -s "$roots" ]; then
	echo "the image of fleetd has the public CAs of $roots, which is not here: apt-get install ca-certificates" >&2
	exit 1
fi
version=$(sed -n 's/.*"version":"\([^"]*\)".*/\1/p' "$out/metadata.json")
commit=$(sed -n 's/.*"commit":"\([^"]*\)".*/\1/p' "$out/metadata.json")
time=$(git log -1 --format=%ct "$commit")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
store=(--root "$scratch/store" --runroot "$scratch/run" --storage-driver vfs)
mkdir -p "$out/empty"
install -m 644 "$roots" "$out/ca-certificates.crt"

for program in fleetd troupe-broker robotd; do
	name=localhost/$program
	buildah "${store[@]}" manifest create "$name" >/dev/null
	for arch in amd64 arm64; do
		image=$name:$arch
		buildah "${store[@]}" build --quiet --isolation chroot --platform "linux/$arch" --timestamp "$time" --tag "$image" \
			--label "org.opencontainers.image.version=$version" --label "org.opencontainers.image.revision=$commit" \
			--identity-label=false -f "deploy/container/$program.Containerfile" "$out" >/dev/null
		buildah "${store[@]}" manifest add "$name" "$image" >/dev/null
	done
	layout=$scratch/$program
	buildah "${store[@]}" manifest push --quiet --all "$name" "oci:$layout:${version/+/_}" >/dev/null
	archive=$out/${program}_${version}_oci.tar
	tar --create --file "$archive" --directory "$layout" --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX .
	echo "$archive"
done
(cd "$out" && sha256sum -- *_oci.tar >SHA256SUMS.images)
