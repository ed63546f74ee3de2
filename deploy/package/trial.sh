#!/usr/bin/env bash
# Installs the packages on bare Debian roots, each with a systemd and a network of its own, as an administrator
# would: a server set up by `fleetd setup`, a robot enrolled by the line that it prints, a story performed, a
# reinstall, a removal and a purge; then the earlier release of deploy/compat/EARLIER with ROBOTS performing
# robots, its upgrade, a refused downgrade, and the way back with a copy of the data from before.
#
# bin has the programs (make build). Needs root, mmdebstrap, iproute2 and util-linux; a root is made once, in
# .cache/trial. Nothing of this machine is changed: all of it is in namespaces and in memory.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cache=$PWD/.cache/trial
robots=${ROBOTS:-3}

declare -A at=() # pid of the systemd of each host
work=
die() {
	local name
	echo "FAIL: $*" >&2
	[ ! -e "$work/apt.log" ] || tail -n 5 "$work/apt.log" >&2
	for name in "${!at[@]}"; do
		echo "-- $name" >&2
		on "$name" journalctl -q --no-pager -o cat -n 15 -u fleetd -u fleetd-backup -u troupe-broker -u robotd >&2 || true
	done
	exit 1
}
say() { printf '\n== %s\n' "$*"; }
holds() { "${@:2}" >/dev/null 2>&1 || { "${@:2}" || true; die "$1"; }; echo "ok    $1"; }
fails() { ! "${@:2}" >/dev/null 2>&1 || die "$1"; echo "ok    $1"; }
# until_holds waits up to 30 s.
until_holds() {
	local _
	for _ in $(seq 1 150); do
		if "${@:2}" >/dev/null 2>&1; then
			echo "ok    $1"
			return
		fi
		sleep 0.2
	done
	"${@:2}" || true
	die "$1"
}

# boot runs systemd on a copy of the bare root that lives in memory; name is that of the host.
boot() {
	local folder=$1 name=$2
	mount --make-rprivate /
	mkdir -p "$folder/cgroup" "$folder/mem"
	mount -t cgroup2 none "$folder/cgroup"
	mkdir -p "$folder/cgroup/troupe-trial/$name"
	echo $$ >"$folder/cgroup/troupe-trial/$name/cgroup.procs"
	exec unshare --fork --kill-child --pid --mount --cgroup --uts --ipc --net "$0" init "$folder" "$name"
}

init() {
	local folder=$1 name=$2 root=$1/mem/root device
	mount --make-rprivate /
	hostname "$name"
	mount -t tmpfs tmpfs "$folder/mem"
	mkdir "$folder/mem/upper" "$folder/mem/work" "$root"
	mount -t overlay overlay -o "lowerdir=$cache/root,upperdir=$folder/mem/upper,workdir=$folder/mem/work" "$root"
	mount -t proc proc "$root/proc"
	mount -t sysfs sysfs "$root/sys"
	mountpoint -q "$root/sys/fs/cgroup" || mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
	mount -t cgroup2 none "$root/sys/fs/cgroup"
	mount -t tmpfs tmpfs "$root/dev"
	for device in null zero full random urandom tty; do
		: >"$root/dev/$device"
		mount --bind "/dev/$device" "$root/dev/$device"
	done
	mkdir "$root/dev/pts" "$root/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
	ln -s pts/ptmx "$root/dev/ptmx"
	mount -t tmpfs tmpfs "$root/dev/shm"
	ln -s /proc/self/fd "$root/dev/fd"
	ln -s fd/0 "$root/dev/stdin"
	ln -s fd/1 "$root/dev/stdout"
	ln -s fd/2 "$root/dev/stderr"
	mount -t tmpfs tmpfs "$root/run"
	mount -t tmpfs tmpfs "$root/tmp"
	mkdir -p "$root/packages"
	mount --bind "$cache/packages" "$root/packages"
	echo "$name" >"$root/etc/hostname"
	cd "$root"
	mkdir -p mnt
	pivot_root . mnt
	umount -l /mnt
	exec env -i container=troupe PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system >/dev/null 2>&1
}

count=0
# host starts one more host, with the next address of 10.77.0.0/24 on a bridge.
host() {
	local name=$1 folder=$work/$1 outer pid='' _
	count=$((count + 1))
	mkdir -p "$folder"
	unshare --mount "$0" boot "$folder" "$name" &
	outer=$!
	for _ in $(seq 1 600); do
		pid=$(pgrep -x systemd -P "$outer" || true)
		[ -z "$pid" ] || break
		sleep 0.1
	done
	[ -n "$pid" ] || die "$name: systemd did not start"
	at[$name]=$pid
	ip link add "v$count" type veth peer name eth0 netns "$pid"
	ip link set "v$count" master trial up
	nsenter -t "$pid" -n ip addr add "10.77.0.$count/24" dev eth0
	nsenter -t "$pid" -n ip link set eth0 up
	nsenter -t "$pid" -n ip link set lo up
	for _ in $(seq 1 150); do
		case $(on "$name" systemctl is-system-running 2>/dev/null) in running | degraded) break ;; esac
		sleep 0.2
	done
	on "$name" sh -c 'printf "127.0.0.1 localhost\n10.77.0.1 fleet\n" >/etc/hosts'
}
off() { # ends a host
	kill -KILL "${at[$1]}"
	unset "at[$1]"
}
# on runs a command on a host.
on() { nsenter -t "${at[$1]}" -m -p -C -u -i -n -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "${@:2}"; }
# install installs packages of a folder below .cache/trial/packages with apt.
install() {
	local host=$1 from=$2 name debs=()
	for name in "${@:3}"; do debs+=("$(basename "$(ls "$cache/packages/$from/troupe-${name}_"*_amd64.deb)")"); done
	on "$host" sh -c "cd /packages/$from && apt-get install -y -q --allow-downgrades $(printf './%s ' "${debs[@]}")" >"$work/apt.log" 2>&1
}
must_install() { install "$@" || die "apt install of ${*:3} ($2) on $1"; }
prop() { on "$1" systemctl show "$2" -p "$3" --value; }
# starts is how often a service has started.
starts() { on "$1" journalctl -q --no-pager -o cat -u "$2" | grep -c '^Started ' || true; }
# pause is the longest time in ms between the end of a robotd and the next one that is ready.
pause() {
	on "$1" journalctl -q --no-pager -o short-unix -u robotd | awk '
		/ systemd\[1\]: Stopping / { stopped = $1 }
		/ ready robot=/ && stopped { ms = ($1 - stopped) * 1000; if (ms > longest) longest = ms; stopped = 0 }
		END { printf "%d\n", longest }'
}
# enabled_on says that a robot was not taken from ENABLED since a time.
enabled_on() { ! on "$1" journalctl -q --no-pager -o cat -u robotd --since "$2" | grep 'safety: ENABLED -> '; }
started() { [ "$(starts "$1" "$2")" -eq "$3" ]; }
waits() { { on "$1" systemctl status --no-pager "$2" || true; } | grep 'waits ' || die "$2 does not say what it waits for"; }
listens() { nsenter -t "${at[$1]}" -n ss -Hltn | grep .; }
# fleet runs the command line on the server as the user that signed in.
fleet() { on fleet env TROUPE_SERVER=https://localhost:8080 TROUPE_SERVER_CA=/etc/troupe/ca/root.pem fleetd "$@"; }
performs() { fleet robot get "$1" | grep -E '^ato +performing'; }
online() { fleet robot get "$1" | grep -E '^presence +online'; }

# perform enables robots and lets them perform the story that they have.
perform() {
	fleet safety enable "$@" --wait >/dev/null
	fleet mode set ato "$@" --wait >/dev/null
	local robot
	for robot in "$@"; do until_holds "$robot performs" performs "$robot"; done
}

fresh() {
	say "A bare Debian as server: apt install, fleetd setup, services up"
	host fleet
	must_install fleet new broker fleetd
	waits fleet fleetd
	waits fleet troupe-broker
	holds "both are enabled" on fleet systemctl is-enabled fleetd troupe-broker
	fails "nothing listens before somebody has set it up" listens fleet
	on fleet sh -c 'cat >/root/answers.yaml' <<-END
	name: museum
	hosts: [fleet, 10.77.0.1]
	sites: [lobby]
	robots: {first: r1}
	END
	holds "folders that the services cannot write to are refused" on fleet sh -c '
		! fleetd setup --file /root/answers.yaml --set folders.data=/srv/troupe --set folders.config=/srv/etc >/tmp/refused 2>&1 &&
		grep -F "does not read its settings from /srv/etc/fleetd.env" /tmp/refused && grep -F "may not write to /srv/troupe/fleetd" /tmp/refused'
	on fleet fleetd setup --file /root/answers.yaml
	on fleet systemctl start troupe-broker fleetd
	until_holds "fleetd runs" on fleet sh -c 'journalctl -q -o cat -u fleetd | grep "^ready "'
	on fleet sh -c 'journalctl -q -o cat -u fleetd -u troupe-broker | grep ^ready'
	on fleet sed 's/password  .*/password  .../; s/TROUPE-[^ ]*/TROUPE-.../' /etc/troupe/first-secrets
	on fleet sh -c 'sed -n "s/.*admin has the password  //p" /etc/troupe/first-secrets >/root/password'
	fleet login --user admin --password-file /root/password
	on fleet fleetd doctor --env /etc/troupe/fleetd.env
	on fleet chown -R root: /etc/troupe/ca
	fails "the doctor names a CA that root has copied" on fleet fleetd doctor
	holds "a set-up gives it to fleetd" on fleet fleetd setup --file /root/answers.yaml
	holds "the doctor is content" on fleet fleetd doctor
	on fleet mv /etc/troupe/ca/root.key.pem /root/stick # it is for root alone, so the service cannot put it into a backup
	on fleet sh -c '(umask 077; echo "correct horse battery staple" >/etc/troupe/backup.passphrase)'
	holds "the timer of backups runs" on fleet systemctl -q is-active fleetd-backup.timer
	holds "a backup is made" on fleet systemctl start fleetd-backup
	holds "it is there" on fleet sh -c 'ls /var/backups/troupe/*'

	say "A second bare Debian as robot: apt install, the printed line, a story"
	host r1
	must_install r1 new robotd
	waits r1 robotd
	local line
	line=$(on fleet sed -n 's/^ *\(robotd enrol .*\)/\1/p' /etc/troupe/first-secrets)
	# shellcheck disable=SC2086 # the words of the line
	on r1 $line | sed 's/TROUPE-[^ ]*/TROUPE-.../'
	on r1 systemctl start robotd
	prop r1 robotd StatusText
	holds "robotd has a user of its own" on r1 sh -c '[ "$(stat -c %U /proc/$(systemctl show robotd -p MainPID --value))" = robotd ]'
	until_holds "r1 is in the fleet" online r1
	fleet story publish -f /usr/share/troupe/library >/dev/null
	fleet story assign museum-welcome r1 --wait
	perform r1

	say "A notification of the installed service reaches a receiver"
	# shellcheck disable=SC2016 # perl expands it
	on r1 systemd-run -q --unit=receiver perl -MIO::Socket::INET -e '
		$server = IO::Socket::INET->new(LocalPort => 9999, Listen => 5, ReuseAddr => 1) or die;
		while ($client = $server->accept) {
			$length = 0;
			while (<$client>) { $length = $1 if /^content-length: (\d+)/i; last if /^\r?\n$/ }
			read $client, $body, $length;
			print $client "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
			close $client;
		}'
	on fleet sh -c 'printf "receiver: desk\nkind: webhook\nurl: http://10.77.0.2:9999/\n" >/root/desk.yaml'
	fleet receiver put /root/desk.yaml
	holds "the receiver takes a test" fleet receiver test desk

	say "Installed again over the running services: one restart, settings stay"
	local before
	before=$(starts r1 robotd)
	on r1 sed -i 's/^#TROUPE_ROBOTD_LOG_LEVEL=.*/TROUPE_ROBOTD_LOG_LEVEL=debug/' /etc/troupe/robotd.env
	on r1 sh -c 'cd /packages/new && dpkg -i ./troupe-robotd_*_amd64.deb' >/dev/null 2>&1
	until_holds "robotd has started once more" started r1 robotd $((before + 1))
	holds "the changed setting is there" on r1 grep -x TROUPE_ROBOTD_LOG_LEVEL=debug /etc/troupe/robotd.env
	until_holds "r1 is in the fleet again" online r1
	perform r1
	holds "it was one restart" started r1 robotd $((before + 1))
	holds "a stopped service stays off" on r1 sh -c 'systemctl stop robotd && cd /packages/new && dpkg -i ./troupe-robotd_*_amd64.deb && ! systemctl -q is-active robotd'
	on r1 systemctl start robotd

	say "Man pages, completion, remove, purge"
	holds "man pages are there" on fleet test -s /usr/share/man/man1/fleetd-setup.1.gz
	holds "completion is there" on fleet bash -c '. /usr/share/bash-completion/completions/fleetd'
	on r1 apt-get remove -y -q troupe-robotd >/dev/null 2>&1
	holds "remove keeps the robot's data" on r1 test -s /var/lib/troupe/robotd/identity/cert.pem
	fails "remove ends the service" on r1 systemctl -q is-active robotd
	must_install r1 new robotd
	until_holds "installed again, it is the same robot" online r1
	on r1 apt-get purge -y -q troupe-robotd >/dev/null 2>&1
	on fleet rm /etc/troupe/backup.passphrase # purge leaves it: without it nobody can open the backups
	on fleet apt-get purge -y -q troupe-fleetd troupe-broker >/dev/null 2>&1
	holds "purge leaves nothing of the robot" on r1 sh -c '[ ! -e /var/lib/troupe ] && [ ! -e /etc/troupe ]'
	holds "purge leaves nothing of the server" on fleet sh -c '[ ! -e /var/lib/troupe ] && [ ! -e /etc/troupe ]'
	off r1
	off fleet
	count=0
}

# manual_setup sets up the earlier release, which has neither fleetd setup nor accounts.
manual_setup() {
	on fleet sh -euc '
		cd /etc/troupe
		fleetd ca init --dir ca --name museum >/dev/null
		fleetd ca server --dir ca --dns fleet --dns localhost --ip 127.0.0.1 --out fleetd >/dev/null
		fleetd ca server --dir ca --dns fleet --dns localhost --ip 127.0.0.1 --out broker >/dev/null
		chmod 755 ca
		chown -R fleetd:fleetd ca fleetd.pem fleetd.key.pem
		chown troupe-broker: broker.pem broker.key.pem
		cat >>fleetd.env <<-END
		TROUPE_FLEETD_DATABASE=sqlite:/var/lib/troupe/fleetd/fleet.db
		TROUPE_FLEETD_CA=/etc/troupe/ca
		TROUPE_FLEETD_BROKER=mqtts://localhost:8883
		TROUPE_FLEETD_ROBOT_BROKER=mqtts://fleet:8883
		TROUPE_FLEETD_HTTP=127.0.0.1:8080
		TROUPE_FLEETD_HTTP_TLS_CERT=/etc/troupe/fleetd.pem
		TROUPE_FLEETD_HTTP_TLS_KEY=/etc/troupe/fleetd.key.pem
		TROUPE_FLEETD_ENROL=0.0.0.0:8443
		TROUPE_FLEETD_ENROL_URL=https://fleet:8443
		END
		cat >>broker.env <<-END
		TROUPE_BROKER_MQTT=
		TROUPE_BROKER_MQTTS=0.0.0.0:8883
		TROUPE_BROKER_TLS_CERT=/etc/troupe/broker.pem
		TROUPE_BROKER_TLS_KEY=/etc/troupe/broker.key.pem
		TROUPE_BROKER_CLIENT_CA=/etc/troupe/ca/ca.pem
		TROUPE_BROKER_CRL=/etc/troupe/ca/crl.pem
		END
		systemctl start troupe-broker fleetd'
	until_holds "fleetd $old runs" fleet robot list
}

upgrade() {
	local names=() robot line i before=()
	for i in $(seq 1 "$robots"); do names+=("r$i"); done
	say "The earlier release, $old, with $robots robots that perform"
	host fleet
	must_install fleet old broker fleetd
	manual_setup
	for robot in "${names[@]}"; do
		host "$robot"
		must_install "$robot" old robotd
		line=$(fleet robot enrol "$robot" | sed -n 's/^ *\(robotd enrol .*\) --data.*/\1 --data \/var\/lib\/troupe\/robotd/p')
		# shellcheck disable=SC2086 # the words of the line
		on "$robot" $line >/dev/null
		on "$robot" systemctl start robotd
	done
	for robot in "${names[@]}"; do until_holds "$robot is in the fleet" online "$robot"; done
	fleet story publish -f /packages/old/library >/dev/null
	fleet story assign museum-welcome "${names[@]}" --wait | tail -n 2
	perform "${names[@]}"
	fleet stop r1 --why 'before the update' >/dev/null
	fleet stop list
	for robot in "${names[@]}"; do before+=("$(starts "$robot" robotd)"); done

	say "Upgrade to $new: the server, then each robot"
	local since longest=0 ms
	since=$(on fleet date '+%F %T')
	on fleet systemctl stop fleetd
	on fleet cp -a /var/lib/troupe/fleetd /root/before
	on fleet systemctl start fleetd
	must_install fleet new broker fleetd
	holds "the server says its version" on fleet sh -c 'fleetd version | grep -F "'"${new/\~/-}"'"'
	until_holds "its first administrator signs in" fleet login --user admin --password-file /var/lib/troupe/fleetd/fleet.db.admin-password
	for robot in "${names[@]:1}"; do
		until_holds "$robot performs on, with the earlier robotd" performs "$robot"
		holds "$robot was enabled all the time" enabled_on "$robot" "$since"
	done
	for i in "${!names[@]}"; do
		robot=${names[i]}
		on "$robot" cp -a /var/lib/troupe/robotd /root/before
		must_install "$robot" new robotd
		until_holds "$robot has started again" started "$robot" robotd $((before[i] + 1))
		until_holds "$robot is in the fleet again" online "$robot"
		holds "$robot has its story" on fleet sh -c "TROUPE_SERVER=https://localhost:8080 TROUPE_SERVER_CA=/etc/troupe/ca/root.pem fleetd robot get $robot | grep museum-welcome@1"
	done
	holds "the stop is still latched" on fleet sh -c "TROUPE_SERVER=https://localhost:8080 TROUPE_SERVER_CA=/etc/troupe/ca/root.pem fleetd stop list | grep 'before the update'"
	for i in "${!names[@]}"; do holds "${names[i]}: it was one restart" started "${names[i]}" robotd $((before[i] + 1)); done
	for robot in "${names[@]}"; do
		ms=$(pause "$robot")
		[ "$ms" -le "$longest" ] || longest=$ms
	done
	echo "the longest of these restarts took $longest ms from the end of robotd until it was ready"
	fails "r1 cannot be enabled" fleet safety enable r1 --wait
	perform "${names[@]:1}"
	fleet robot list

	say "Downgrade: refused, and the way back with the data from before"
	fails "the package refuses" install fleet old fleetd
	grep -A2 '^troupe-fleetd: not installed' "$work/apt.log"
	holds "the newer one runs on" on fleet systemctl -q is-active fleetd
	on fleet sh -euc 'cd /packages/old; dpkg -i ./troupe-broker_*_amd64.deb >/dev/null 2>&1
		systemctl stop fleetd; rm -rf /var/lib/troupe/fleetd; cp -a /root/before /var/lib/troupe/fleetd
		TROUPE_DOWNGRADE=yes dpkg -i ./troupe-fleetd_*_amd64.deb >/dev/null 2>&1; systemctl start fleetd'
	until_holds "fleetd $old runs on its data" fleet robot list
	on fleet fleetd version
	# A robot that heard no fleetd for 5 s has paused, as docs/update.md says.
	fleet auto continue "${names[@]:1}" --wait >/dev/null || true
	for robot in "${names[@]:1}"; do until_holds "$robot performs on, with the newer robotd" performs "$robot"; done
	robot=${names[-1]}
	on "$robot" sh -euc 'systemctl stop robotd; rm -rf /var/lib/troupe/robotd; cp -a /root/before /var/lib/troupe/robotd
		cd /packages/old; TROUPE_DOWNGRADE=yes dpkg -i ./troupe-robotd_*_amd64.deb >/dev/null 2>&1; systemctl start robotd'
	until_holds "$robot is in the fleet, with the earlier robotd" online "$robot"
}

case ${1-} in boot | init) "$@" ;; esac

if [ "${1-}" != inside ]; then
	[ "$(id -u)" = 0 ] || die "only root can make namespaces"
	command -v mmdebstrap >/dev/null || [ -d "$cache/root" ] || die "mmdebstrap is missing: apt-get install mmdebstrap"
	if [ ! -d "$cache/root" ]; then
		mkdir -p "$cache"
		mmdebstrap --quiet --variant=minbase --include=systemd,systemd-sysv,dbus bookworm "$cache/root.new"
		mv "$cache/root.new" "$cache/root"
	fi
	rm -rf "$cache/packages"
	mkdir -p "$cache/packages"
	# The packaging is the present one; only the programs and the stories are those of the earlier release.
	earlier=$(sed -n '/^[0-9a-f]\{40\}$/p' deploy/compat/EARLIER)
	if [ ! -e "$cache/earlier/$earlier/bin/robotd" ]; then
		rm -rf "$cache/earlier"
		git worktree prune
		git worktree add -q --detach "$cache/earlier/$earlier" "$earlier"
		(cd "$cache/earlier/$earlier" && mkdir -p bin && go build -o bin/ ./broker ./robotd ./fleetd)
	fi
	go run ./deploy/package
	export FORMATS=deb
	# The earlier robotd does not notify systemd.
	rm -rf "$cache/units"
	cp -r deploy/systemd "$cache/units"
	sed -i 's/^Type=notify$/Type=exec/; /^WatchdogSec=/d' "$cache/units/robotd.service"
	for program in fleetd broker robotd; do
		deploy/package/build.sh "$program" amd64 "$(bin/fleetd version 2>/dev/null | sed -n 's/^fleetd v//p')" "bin/$program" "$cache/packages/new"
		UNITS=$cache/units deploy/package/build.sh "$program" amd64 0.2.0 "$cache/earlier/$earlier/bin/$program" "$cache/packages/old"
	done
	cp -r "$cache/earlier/$earlier/deploy/library" "$cache/packages/old/library"
	work=$(mktemp -d)
	finish() {
		# shellcheck disable=SC2016 # the inner shell expands it
		unshare --mount bash -c 'mount --make-rprivate / && mkdir -p "$1/cgroup" && mount -t cgroup2 none "$1/cgroup" && for _ in 1 2 3 4 5; do
			find "$1/cgroup/troupe-trial" -depth -type d -exec rmdir {} + 2>/dev/null && break; sleep 0.2; done' - "$work" || true
		rm -rf "$work"
	}
	trap finish EXIT
	unshare --fork --kill-child --pid --mount --mount-proc --net "$0" inside "$work"
	exit
fi

work=$2
new=$(basename "$(ls "$cache"/packages/new/troupe-fleetd_*.deb)" | cut -d_ -f2)
old=0.2.0
ip link set lo up
ip link add trial type bridge
ip link set trial up
[ "${PART:-fresh}" != fresh ] || fresh
[ "${PART:-upgrade}" != upgrade ] || upgrade
say "all of it holds"
