#!/usr/bin/env bash
# Packs a program as deb and rpm:
#
#     deploy/package/build.sh PROGRAM ARCH VERSION BINARY FOLDER
#
# PROGRAM is fleetd, broker or robotd; ARCH is amd64, arm64 or arm7; VERSION is a semantic one, without v; the
# packages go to FOLDER. `go run ./deploy/package` must have made the files in bin/package before. The times in the
# packages are SOURCE_DATE_EPOCH, by default that of the commit, so the same commit gives the same bytes. FORMATS
# limits them to deb or rpm, and UNITS names another folder of units than deploy/systemd.
set -euo pipefail
[ $# -eq 5 ] || { sed -n '2,9s/^# \?//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
short=$1 arch=$2 version=$3 binary=$4 out=$5
mkdir -p "$out"
out=$(realpath "$out") binary=$(realpath "$binary")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# own is what the program has in /etc/troupe, which a purge removes; dated says that a downgrade may not read its data.
timers='' folders=''
case $short in
fleetd)
	timers=fleetd-backup.timer folders=/var/backups/troupe
	program=fleetd unit=fleetd dated=yes what='Server of a fleet of performing robots: API, console and command line.'
	own='fleetd.env fleetd.pem fleetd.key.pem ca first-secrets for-the-broker'
	;;
broker)
	program=troupe-broker unit=troupe-broker dated=no what='MQTT broker between robots and fleetd.'
	own='broker.env broker.pem broker.key.pem broker.users'
	;;
robotd)
	program=robotd unit=robotd dated=yes what='Safety, modes, story and commands of one robot.'
	own='robotd.env'
	;;
*)
	echo "no such program: $short" >&2
	exit 2
	;;
esac

# As nfpm writes a semantic version for Debian: 0.3.0-dev+4f2a is before 0.3.0.
debversion=${version/-/\~}
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
mkdir "$files/scripts"
fill() {
	sed -e "s|@PACKAGE@|troupe-$short|g; s|@PROGRAM@|$program|g; s|@UNIT@|$unit|g; s|@SHORT@|$short|g; s|@USER@|$unit|g" \
		-e "s|@DATA@|/var/lib/troupe/$short|g; s|@OWN@|$own|g; s|@DATED@|$dated|g; s|@WHAT@|$what|g; s|@ARCH@|$arch|g" \
		-e "s|@VERSION@|$version|g; s|@DEBVERSION@|$debversion|g; s|@BINARY@|$binary|g; s|@FILES@|$files|g; s|@TIMERS@|$timers|g; s|@FOLDERS@|$folders|g; s|@UNITS@|${UNITS:-deploy/systemd}|g" "$1"
}
for script in preinst postinst prerm postrm; do
	fill "deploy/package/scripts/$script" >"$files/scripts/$script"
done
fill deploy/package/nfpm.yaml >"$files/nfpm.yaml"
if [ "$short" = fleetd ]; then # also stories to begin with, a backup each night, and what monitors the fleet
	for folder in acts activities sounds stories; do
		echo "  - {src: \"deploy/library/$folder/*\", dst: /usr/share/troupe/library/$folder/, file_info: {mode: 0644}}"
	done >>"$files/nfpm.yaml"
	cat >>"$files/nfpm.yaml" <<-END
	  - {src: deploy/systemd/fleetd-backup.service, dst: /usr/lib/systemd/system/fleetd-backup.service, file_info: {mode: 0644}}
	  - {src: deploy/systemd/fleetd-backup.timer, dst: /usr/lib/systemd/system/fleetd-backup.timer, file_info: {mode: 0644}}
	  - {src: deploy/monitor/prometheus.yml, dst: /usr/share/troupe/monitor/prometheus.yml, file_info: {mode: 0644}}
	  - {src: deploy/monitor/rules.yml, dst: /usr/share/troupe/monitor/rules.yml, file_info: {mode: 0644}}
	  - {src: "deploy/monitor/grafana/*", dst: /usr/share/troupe/monitor/grafana/, file_info: {mode: 0644}}
	END
fi

export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
nfpm=${NFPM-}
if [ -z "$nfpm" ]; then
	nfpm=$PWD/.cache/release/nfpm
	GOFLAGS='' go -C deploy/release build -o "$nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm
fi
for format in ${FORMATS:-deb rpm}; do
	"$nfpm" package --config "$files/nfpm.yaml" --packager "$format" --target "$out" | sed -n 's/^created package: //p'
done
