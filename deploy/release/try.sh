#!/usr/bin/env bash
# Runs what `make release` and `make images` have built: a fleet of the arm64 programs and a robot of armv7 under
# qemu-user, and as root a fleet with TLS in the images, with the settings of deploy/container/compose.yaml. An image's
# file system is run by chroot, as buildah does without an engine. Of deploy/container/kubernetes.yaml it runs the first
# container's script and the broker, each as its user, with folders for volumes.
set -euo pipefail
set -m # each program has a process group of its own, with what it starts
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

release=$PWD/bin/release
folder=$(mktemp -d)
chmod 755 "$folder"
started=()
finish() {
	for pid in "${started[@]}"; do kill -- "-$pid" 2>/dev/null || true; done
	wait 2>/dev/null || true
	[ -z "${container:-}" ] || buildah "${store[@]}" rm --all >/dev/null
	rm -rf "$folder"
}
trap finish EXIT

need() { command -v "$1" >/dev/null || { echo "$1 is not here: apt-get install --no-install-recommends $2" >&2; exit 1; }; }
need qemu-aarch64-static qemu-user-static
need buildah buildah

# start runs a program in the background until it prints its line, and leaves the line in $ready.
start() {
	local name=$1
	shift
	"$@" >"$folder/$name.out" 2>"$folder/$name.log" &
	local pid=$!
	started+=("$pid")
	for _ in $(seq 1 600); do
		ready=$(grep -m1 '^ready ' "$folder/$name.out" || true)
		[ -z "$ready" ] || { echo "$name: $ready"; return; }
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.2
	done
	echo "FAIL: $name does not start:" >&2
	tail -n 20 "$folder/$name.log" >&2
	exit 1
}
# field returns one address of the newest line.
field() { sed -n "s#.*\b$1=\(\S*\).*#\1#p" <<<"$ready"; }
# until_online waits until fleetd shows that robot online.
until_online() {
	for _ in $(seq 1 150); do
		if "$release"/fleetd_linux_amd64_v1/fleetd robot list >"$folder/robots" 2>&1 && grep -q "^$1 .*online" "$folder/robots"; then
			grep "^$1 " "$folder/robots"
			return
		fi
		sleep 0.2
	done
	echo "FAIL: $1 is not online:" >&2
	cat "$folder/robots" >&2
	exit 1
}
stop_all() {
	for pid in "${started[@]}"; do kill -- "-$pid"; done
	wait "${started[@]}" 2>/dev/null || true
	started=()
}

start broker qemu-aarch64-static "$release/broker_linux_arm64_v8.0/troupe-broker" --dev --mqtt 127.0.0.1:0 --http=
broker=mqtt://$(field mqtt)
start fleetd qemu-aarch64-static "$release/fleetd_linux_arm64_v8.0/fleetd" serve --dev --http 127.0.0.1:0 --broker "$broker" \
	--database "sqlite:$folder/fleet.db"
TROUPE_SERVER=$(field http)
export TROUPE_SERVER
start r1 qemu-aarch64-static "$release/robotd_linux_arm64_v8.0/robotd" --id r1 --broker "$broker" --data "$folder/r1" --page off
start r2 qemu-arm-static "$release/robotd_linux_arm_7/robotd" --id r2 --broker "$broker" --data "$folder/r2" --page off
until_online r1
until_online r2
stop_all
echo "arm64 and armv7: ok"

# From here on in the images. The ports are not those that a fleet on this machine may have.
if [ "$(id -u)" -ne 0 ]; then
	echo "FAIL: the images are run by chroot, which only root may do" >&2
	exit 1
fi
store=(--root "$folder/store" --runroot "$folder/run" --storage-driver vfs)
container=on
mkdir -p "$folder/troupe/broker" "$folder/data" "$folder/robot" "$folder/tmp"
chown 65532:65532 "$folder"/{troupe,troupe/broker,data,robot,tmp}
volumes=(--volume "$folder/troupe:/etc/troupe" --volume "$folder/tmp:/tmp")
declare -A of=()
for program in fleetd troupe-broker robotd; do
	archive=("$release/${program}"_*_oci.tar)
	of[$program]=$(buildah "${store[@]}" from --quiet --name "$program" --platform linux/amd64 "oci-archive:${archive[0]}")
done
as=() # the image's own user
in_image() { # PROGRAM ARGUMENT...
	buildah "${store[@]}" run --isolation chroot "${as[@]}" "${volumes[@]}" "${settings[@]}" "${of[$1]}" -- "/usr/bin/$1" "${@:2}"
}
# settings_of reads the settings of a service from the compose file.
settings_of() {
	settings=()
	while read -r line; do
		settings+=(--env "$line")
	done < <(sed -n 's/^      \(TROUPE_'"$1"'_[A-Z_]*\): "\?\([^"]*\)"\?$/\1=\2/p' deploy/container/compose.yaml |
		sed 's/${FLEET:-localhost}/localhost/g; s#//broker:#//localhost:#; s/:8883/:28883/; s/:8080/:28080/; s/:8443/:28443/')
	[ "${#settings[@]}" -ge 14 ] || { echo "FAIL: only ${#settings[@]} words of settings for $1 in compose.yaml" >&2; exit 1; }
}

holds() { "${@:2}" >/dev/null || { echo "FAIL: $1" >&2; exit 1; }; echo "ok    $1"; }
fails() { ! "${@:2}" >/dev/null 2>&1 || { echo "FAIL: not so: $1" >&2; exit 1; }; echo "ok    $1"; }
broker_user=(setpriv --reuid 65533 --regid 65533 --clear-groups)

settings=()
in_image fleetd ca init --dir /etc/troupe/ca >/dev/null
in_image fleetd ca server --dir /etc/troupe/ca --dns localhost --out /etc/troupe/server
in_image fleetd ca server --dir /etc/troupe/ca --dns localhost --out /etc/troupe/broker/server
touch "$folder/troupe/broker/users"
chown 65533:65533 "$folder"/troupe/broker/*
settings_of BROKER
holds "the broker's user reads what it needs of the CA" "${broker_user[@]}" head -c 1 "$folder"/troupe/ca/{ca,crl}.pem
fails "it cannot read the keys of the fleet" "${broker_user[@]}" head -c 1 "$folder"/troupe/ca/intermediate.key.pem
holds "the image of fleetd has public CAs" grep -q 'BEGIN CERTIFICATE' \
	"$(buildah "${store[@]}" mount "${of[fleetd]}")/etc/ssl/certs/ca-certificates.crt"
as=(--user 65533:65533)
start broker in_image troupe-broker --http ''
as=()
settings_of FLEETD
volumes+=(--volume "$folder/data:/var/lib/troupe/fleetd")
start fleetd in_image fleetd serve --database sqlite:fleet.db
export TROUPE_SERVER=https://localhost:28080 TROUPE_SERVER_CA=$folder/troupe/ca/root.pem XDG_CONFIG_HOME=$folder/config
"$release"/fleetd_linux_amd64_v1/fleetd login --user admin --password-file "$folder/data/stops.admin-password"
for page in / /healthz; do
	curl -fsS --cacert "$TROUPE_SERVER_CA" -o /dev/null "$TROUPE_SERVER$page" || { echo "FAIL: $page does not answer" >&2; exit 1; }
done
token=$("$release"/fleetd_linux_amd64_v1/fleetd robot enrol r7 | grep -o 'TROUPE-r7-[A-Z0-9]*')
settings=()
volumes=(--volume "$folder/robot:/var/lib/troupe/robotd" --volume "$folder/tmp:/tmp")
in_image robotd enrol --token "$token" --server https://localhost:28443 --data /var/lib/troupe/robotd
start r7 in_image robotd --data /var/lib/troupe/robotd --page off
until_online r7
[ "$(stat -c %u "$folder/data/fleet.db")" = 65532 ] || { echo "FAIL: fleetd does not run as the image's user" >&2; exit 1; }
stop_all
echo "images: ok"

# In the cluster the kubelet gives each container the group of the volumes, and files of secrets that group.
keys=$folder/keys broker=$folder/secret data=$folder/kubernetes
mkdir "$broker" "$data"
"$release/fleetd_linux_amd64_v1/fleetd" ca init --dir "$keys" >/dev/null
"$release/fleetd_linux_amd64_v1/fleetd" ca server --dir "$keys" --dns fleet.example --ip 127.0.0.1 --out "$broker/server" >/dev/null
touch "$broker/users"
rm "$keys/root.key.pem"
chown 0:65532 "$keys"/* "$broker"/* "$data"
chmod 440 "$keys"/* "$broker"/*
chmod 2775 "$data"
script=$(sed -n '/^              \[ ! -e /,/^              mv /s/^              //p' deploy/container/kubernetes.yaml | sed "s#/data#$data#g; s#/secret#$keys#g")
for _ in once again; do setpriv --reuid 65532 --regid 65532 --groups 65532 sh -euc "$script"; done
broker_user=(setpriv --reuid 65533 --regid 65533 --groups 65532)
fails "the broker's user cannot read the keys of the fleet" "${broker_user[@]}" head -c 1 "$data/ca/intermediate.key.pem"
settings=()
while read -r name value; do
	settings+=("$name=$value")
done < <(sed -n 's/^ *- {name: \(TROUPE_BROKER_[A-Z_]*\), value: "\?\([^"}]*\)"\?}$/\1 \2/p' deploy/container/kubernetes.yaml |
	sed "s#/etc/troupe/ca/#$data/ca/#; s#/etc/troupe/broker/#$broker/#; s/:8883/:28883/; s/:9101/:29101/")
[ "${#settings[@]}" -eq 9 ] || { echo "FAIL: ${#settings[@]} settings of the broker in kubernetes.yaml" >&2; exit 1; }
start broker "${broker_user[@]}" env "${settings[@]}" "$release/broker_linux_amd64_v1/troupe-broker"
holds "it is ready" curl -fsS http://127.0.0.1:29101/healthz
stop_all
echo "kubernetes.yaml: ok"
