#!/usr/bin/env bash
# Runs robotd.service as it is under a systemd of its own, in namespaces and on a copy of this
# machine's files that only lives in memory, and tries what the service promises: systemd takes it
# for started only when its control loop runs (READY=1); it reports the robot's state (STATUS=),
# feeds the watchdog, is started again when it hangs or is killed, and ends when it is stopped.
# Needs root, systemd and util-linux.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# as_init becomes systemd on the copy.
as_init() {
	local copy=$1/copy
	mount --make-rprivate /
	mount -t tmpfs tmpfs "$1"
	mkdir "$1/upper" "$1/work" "$copy"
	mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$copy"
	mount -t proc proc "$copy/proc"
	mount -t sysfs sysfs "$copy/sys"
	mountpoint -q "$copy/sys/fs/cgroup" || mount -t tmpfs tmpfs "$copy/sys/fs/cgroup"
	mount -t cgroup2 none "$copy/sys/fs/cgroup"
	mount --rbind /dev "$copy/dev"
	mount -t tmpfs tmpfs "$copy/run"
	mount -t tmpfs tmpfs "$copy/tmp"
	# Nothing of this machine is started but robotd.
	local system=$copy/lib/systemd/system
	rm -rf "$copy"/lib/systemd/system-generators/* "$copy"/etc/systemd/system/* "$system"/*
	for target in sysinit basic shutdown umount network; do
		printf '[Unit]\nDefaultDependencies=no\n' >"$system/$target.target"
	done
	cp "$here/robotd.service" "$system/"
	mkdir -p "$copy/etc/troupe" "$copy/usr/lib/troupe" "$system/robotd.service.d"
	cp "$here/../../bin/robotd" "$copy/usr/bin/"
	cp "$here/../package/configured" "$copy/usr/lib/troupe/configured-robotd"
	systemd-sysusers --root="$copy" "$here/../package/sysusers/robotd.conf" 2>/dev/null
	printf '[Service]\nStandardError=append:/robotd.log\n' >"$system/robotd.service.d/log.conf" # there is no journal
	printf 'TROUPE_ROBOTD_%s\n' ID=r1 BROKER=mqtt://127.0.0.1:1 PAGE=off >"$copy/etc/troupe/robotd.env"
	cd "$copy"
	mkdir -p mnt
	pivot_root . mnt
	umount -l /mnt
	exec env -i container=troupe PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=robotd.service --log-target=null
}

# in_cgroup gives systemd a cgroup of its own.
in_cgroup() {
	mount --make-rprivate /
	mkdir "$1/cgroup" "$1/init"
	mount -t cgroup2 none "$1/cgroup"
	mkdir -p "$1/cgroup/troupe-try"
	echo $$ >"$1/cgroup/troupe-try/cgroup.procs"
	exec unshare --fork --kill-child --pid --mount --cgroup --uts --ipc --net "$0" as_init "$1/init"
}

case ${1-} in as_init | in_cgroup) "$@" ;; esac

folder=$(mktemp -d)
unshare --mount "$0" in_cgroup "$folder" &
outer=$!
finish() {
	kill -KILL "$outer" 2>/dev/null || true # and systemd with it
	wait "$outer" 2>/dev/null || true
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare --mount bash -c 'mount --make-rprivate / && mount -t cgroup2 none "$1/cgroup" && for _ in 1 2 3 4 5; do
		find "$1/cgroup/troupe-try" -depth -type d -exec rmdir {} + 2>/dev/null && break; sleep 0.2; done' - "$folder" || true
	rm -rf "$folder"
}
trap finish EXIT

init=
inside() { nsenter -t "$init" -m -p -C -u -i -n -r -w "$@"; }
is() { inside systemctl show robotd -p "$1" --value 2>/dev/null || true; }
# until_is waits up to 30 s until a property of the service matches a pattern.
until_is() {
	local now=
	for _ in $(seq 1 150); do
		init=${init:-$(pgrep -x -P "$outer" systemd || true)} # before it there are shells, and what they run
		now=$([ -z "$init" ] || is "$1")
		# shellcheck disable=SC2053 # a pattern
		if [[ $now == $2 ]]; then
			echo "$3 ($1=$now)"
			return
		fi
		sleep 0.2
	done
	echo "FAIL: $3: $1 is $now, want $2" >&2
	inside tail -n 5 /robotd.log >&2 || true
	exit 1
}

# holds runs a command that succeeds if a promise is kept.
holds() {
	"${@:2}" || { echo "FAIL: $1" >&2; exit 1; }
	echo "$1"
}

until_is ActiveState active "started when the loop runs"
until_is StatusText 'mnl, DISABLED, no broker*' "reports the robot's state"
fed=$(is WatchdogTimestampMonotonic)
sleep 3
holds "feeds the watchdog" test "$(is WatchdogTimestampMonotonic)" -gt "$fed"
inside kill -STOP "$(is MainPID)"
until_is NRestarts 1 "a hung robotd is started again"
holds "its log has where it hung" inside grep -q SIGABRT /robotd.log
until_is ActiveState active "and is active again"
inside kill -KILL "$(is MainPID)"
until_is NRestarts 2 "a killed robotd is started again"
until_is ActiveState active "and is active again"
inside sed -i 's/PAGE=off/PAGE=off\nTROUPE_ROBOTD_BODY=bus\nTROUPE_ROBOTD_BUS_ADAPTERS=talker\nTROUPE_ROBOTD_BUS_LISTEN=127.0.0.1:1884\nTROUPE_ROBOTD_BUS=mqtt:\/\/127.0.0.1:1884/' /etc/troupe/robotd.env
inside systemctl restart --no-block robotd
until_is StatusText 'starting: adapter talker is not there*' "says which adapter it waits for"
inside systemctl stop robotd
until_is ActiveState inactive "ends when it is stopped"
