#!/usr/bin/env bash
# Example: a led as an adapter, with the clients of mosquitto and nothing else.
#
#     led.sh 127.0.0.1 1884
#
# robotd then runs with: --body bus --bus-listen 127.0.0.1:1884 --bus-adapters led
#
# The led is a coloured line on this terminal; `light` is what to change. A unit that moves needs
# more than this: it has to brake within 200 ms when robotd is gone, see ../python.
set -uo pipefail

host=${1:-127.0.0.1} port=${2:-1884}
session=$RANDOM$RANDOM # of this process
gone="{\"v\":1,\"present\":false,\"session\":\"$session\"}"
here="{\"v\":1,\"present\":true,\"session\":\"$session\",\"describe\":{\"model\":\"led.sh\",\"state_ms\":100,\"units\":[{\"id\":\"led\",\"kind\":\"led\"}]}}"
at=(-h "$host" -p "$port" -V mqttv311)

# light shows a colour such as #20c0ff; none is off.
light() {
	local c=${1#\#}
	if [ -z "$c" ]; then
		echo "led off"
	else
		printf 'led #%s \e[48;2;%d;%d;%dm      \e[0m\n' "$c" "0x${c:0:2}" "0x${c:2:2}" "0x${c:4:2}"
	fi
}

# text and number take a field out of a message of robotd, which has no spaces between its tokens.
text() { [[ $message =~ \"$1\":\"([^\"]*)\" ]] && echo "${BASH_REMATCH[1]}"; }
number() { [[ $message =~ \"$1\":([0-9]+) ]] && echo "${BASH_REMATCH[1]}"; }
event() { echo "{\"v\":1,\"session\":\"$session\",\"kind\":\"$1\",\"key\":$2${3:+,\"reason\":\"$3\",\"detail\":\"$4\"}}" >&"$events"; }

# One connection sends all states, a line each. When this script ends in any way, the
# loop says that the adapter is gone; and the broker says so if this machine fails.
state() {
	local seq=0 up parent=$$
	while [ "$parent" = $$ ]; do
		read -r up _ </proc/uptime # s since the start of the machine, with two digits behind the point
		echo "{\"v\":1,\"session\":\"$session\",\"seq\":$((++seq)),\"t_ms\":${up/./}0,\"units\":{\"led\":{\"state\":\"idle\"}}}"
		sleep 0.1
		read -r _ _ _ parent _ <"/proc/$BASHPID/stat" # another process when this script has ended
	done
	mosquitto_pub "${at[@]}" -q 1 -r -t bus/led/out/presence -m "$gone"
}
until mosquitto_pub "${at[@]}" -q 1 -r -t bus/led/out/presence -m "$gone" 2>/dev/null; do sleep 1; done # robotd may start later
exec {events}> >(exec mosquitto_pub "${at[@]}" -l -q 1 -t bus/led/out/event)
children=$!
exec {commands}< <(exec mosquitto_sub "${at[@]}" -q 1 -v -t bus/led/in/start -t bus/led/in/stop -t bus/led/out/presence -t bus/robotd/presence {events}>&-)
children+=" $!"
trap 'kill $children' EXIT
trap 'exit 0' INT TERM
echo "ready adapter=led units=led bus=mqtt://$host:$port"

declare -A had # keys of commands
begun= base= held= # the colour that was set, and the key of the command that holds another over it
while read -r topic message; do
	key=$(number key)
	case $topic in
	*/start)
		if [ -z "$key" ] || [ -n "${had[$key]:-}" ]; then
			continue # no message of the contract, or one that was delivered twice
		fi
		had[$key]=yes
		if [ "$(text type)" != led ]; then
			event failed "$key" bad_request "the led knows no $(text type)"
			continue
		fi
		if [ -n "$held" ]; then
			event failed "$held" superseded "a newer command takes its place"
			held=
		fi
		light "$(text colour)"
		if [[ $message == *'"holds":true'* ]]; then
			held=$key
		else
			base=$(text colour)
			event "done" "$key"
		fi
		;;
	*/presence)
		# Its own presence from above came back, so it is subscribed and may say that it is there. Or
		# robotd was started again, and perhaps the broker of the bus with it.
		if [[ $message == "$gone" || $topic == bus/robotd/* && $message == *'"present":true'* ]]; then
			mosquitto_pub "${at[@]}" -q 1 -r -t bus/led/out/presence -m "$here"
			had=()
			if [ -z "$begun" ]; then
				state {events}>&- {commands}<&- | exec mosquitto_pub "${at[@]}" -l -i "led.$session" -t bus/led/out/state {events}>&- {commands}<&- \
					--will-topic bus/led/out/presence --will-payload "$gone" --will-qos 1 --will-retain &
				children+=" $!"
			fi
			begun=yes
		fi
		;;
	*/stop)
		if [ "$key" = "$held" ]; then
			held=
			light "$base"
		fi
		;;
	esac
done <&"$commands"
