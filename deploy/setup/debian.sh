#!/usr/bin/env bash
# Brings what `make test` needs beside Go, make and git onto a Debian machine, and with TROUPE_RELEASE=1 what
# `make release-trial` needs.
#
# It looks for the programs themselves, so a machine that has them from
# elsewhere passes, and costs nothing when all are there. What is missing it
# installs when it may (as root, or with a sudo that asks for no password);
# otherwise it names the packages and the line to type, and fails.
#
# Debian starts mosquitto, postgresql and prometheus when it installs them. They would
# sit on ports that `make demo` and people's own servers want, and no test uses
# them: tests start private ones, or none. So they are kept from starting while they are
# installed and disabled afterwards. A daemon that ran before is left alone.
set -euo pipefail

# Debian keeps mosquitto in /usr/sbin, which is in few people's PATH.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

policy=/usr/sbin/policy-rc.d
mark='# made by deploy/setup/debian.sh, removed when it ends'

have() { command -v "$1" >/dev/null 2>&1; }

have_postgres() {
	have initdb && have postgres && have pg_ctl && return
	local server
	for server in /usr/lib/postgresql/*/bin/postgres; do
		[ -x "$server" ] && return
	done
	return 1
}

# Any will do. Of Debian's the one without windows is wanted, which takes a fifth less processor time for the
# same pages.
have_browser() {
	have chromium-headless-shell && return
	! have apt-get && { have chromium || have chromium-browser || have google-chrome; }
}

# Another Python may stand before Debian's in the PATH.
have_paho() {
	local python
	for python in python3 /usr/bin/python3; do
		"$python" -c 'import paho.mqtt.client' >/dev/null 2>&1 && return
	done
	return 1
}

# Each package with the reason a reader may ask for.
missing() {
	have mosquitto || echo mosquitto                  # the other broker that the end-to-end tests run against
	{ have mosquitto_pub && have mosquitto_sub && have mosquitto_rr; } || echo mosquitto-clients
	have_postgres || echo postgresql                  # the store's second database
	have sqlite3 || echo sqlite3                      # copies the database as the page about backups says
	have_browser || echo chromium-headless-shell      # looks at fleetd's page as a person would
	have node || echo nodejs                          # MQTT.js runs on it
	have npm || echo npm                              # ... and is brought by this
	have_paho || echo python3-paho-mqtt               # the example responder and the adapters run on it
	have promtool || echo prometheus                  # tries the alert rules, and checks what the programs serve of metrics
	have systemd-analyze || echo systemd              # reads the unit files
	[ -z "${TROUPE_RELEASE:-}" ] || have buildah || echo buildah # builds images without an engine
	[ -z "${TROUPE_RELEASE:-}" ] || have qemu-aarch64-static || echo qemu-user-static # runs the programs for ARM
	have gcc || echo gcc                              # the race detector links with it
	[ -e /usr/include/stdlib.h ] || echo libc6-dev    # ... and with this
	[ -s /etc/ssl/certs/ca-certificates.crt ] || [ "$(uname -s)" != Linux ] || echo ca-certificates
}

# A minimal Debian has no pgrep.
running() { grep -qsx "$1" /proc/[0-9]*/comm; }

mapfile -t want < <(missing)
if [ ${#want[@]} -eq 0 ]; then
	exit 0
fi

line="apt-get install --no-install-recommends ${want[*]}"
if ! have apt-get; then
	echo "missing here, by the names of Debian's packages: ${want[*]}" >&2
	echo "this machine has no apt-get: install what it calls these, then run this again" >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	if have sudo && sudo -n true 2>/dev/null; then
		exec sudo -n TROUPE_RELEASE="${TROUPE_RELEASE:-}" "$BASH" "${BASH_SOURCE[0]}"
	fi
	echo "missing packages: ${want[*]}" >&2
	echo "they can only be installed as root; type:" >&2
	echo "    sudo ${BASH_SOURCE[0]}" >&2
	echo "which keeps the daemons among them from starting, or do it manually:" >&2
	echo "    sudo $line" >&2
	exit 1
fi

# The daemons that this run brings along, and those of them that may have to be
# stopped: one that already runs under such a name is somebody else's.
daemons=()
idle=()
for package in "${want[@]}"; do
	case $package in
	mosquitto)
		daemons+=(mosquitto)
		running mosquitto || idle+=(mosquitto)
		;;
	postgresql)
		daemons+=(postgresql)
		running postgres || idle+=(postgresql)
		;;
	prometheus)
		daemons+=(prometheus)
		running prometheus || idle+=(prometheus)
		;;
	esac
done

# Only a policy of our own is ever removed, also one left by a run that was killed.
tidy() {
	if [ -e "$policy" ] && grep -qxF "$mark" "$policy"; then
		rm -f "$policy"
	fi
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
tidy
if [ ${#daemons[@]} -gt 0 ] && [ ! -e "$policy" ]; then
	{
		echo '#!/bin/sh'
		echo "$mark"
		echo 'for word in "$@"; do'
		echo '	case $word in'
		for daemon in "${daemons[@]}"; do
			echo "	$daemon|$daemon.service|$daemon@*) exit 101 ;;"
		done
		echo '	esac'
		echo 'done'
		echo 'exit 0'
	} >"$policy"
	chmod 755 "$policy"
fi

echo "installing ${want[*]}"
export DEBIAN_FRONTEND=noninteractive
install=(apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "${want[@]}")
# The lists on a fresh or an old machine name no package, or one that is gone.
if ! "${install[@]}"; then
	echo "refreshing the package lists, then once more"
	apt-get update -q
	"${install[@]}"
fi

# Not at the next boot either; and if somebody's own policy let one start now, it ends.
for daemon in "${daemons[@]}"; do
	if have systemctl; then
		systemctl disable "$daemon" >/dev/null 2>&1 || echo "could not disable $daemon: see systemctl status $daemon" >&2
	elif have update-rc.d; then
		update-rc.d "$daemon" disable >/dev/null || echo "could not disable $daemon: see /etc/rc*.d" >&2
	fi
done
for daemon in "${idle[@]}"; do
	process=${daemon/postgresql/postgres}
	if running "$process" && have service; then
		service "$daemon" stop || echo "$daemon was started by its package and still runs" >&2
	fi
done

mapfile -t want < <(missing)
if [ ${#want[@]} -ne 0 ]; then
	echo "installed, and still not to be found: ${want[*]}" >&2
	exit 1
fi
