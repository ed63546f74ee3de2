package e2e

import (
	"cmp"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"troupe/deploy/mosquittotest"
	"troupe/fleetd/store/pgtest"
)

// doors are the default ports of the programs, which the pages show.
var doors = map[string]map[string]string{
	"make":   {"mqtt": "1883", "http": "8080"},
	"broker": {"mqtt": "1883", "http": "9101"},
	"fleetd": {"http": "8080"},
}

var (
	listens    = regexp.MustCompile(`(--(mqtts?|wss?|http|enrol) )(?:127\.0\.0\.1|localhost|0\.0\.0\.0):(\d+)`)
	listener   = regexp.MustCompile(`listener (\d+)`)
	port       = regexp.MustCompile(`(:|-p )(\d{4,5})\b`)
	onPostgres = regexp.MustCompile(`postgres://\S+`)
	waits      = regexp.MustCompile(`-W \d+`)
)

// here replaces the page's ports and database in a command, and its time-out if
// it ends after a number of messages anyway.
func (now *playing) here(command string) string {
	command = strings.TrimPrefix(command, "go run ./") // the built programs are in the PATH
	command = listens.ReplaceAllString(command, "${1}127.0.0.1:0")
	command = onPostgres.ReplaceAllStringFunc(command, func(string) string {
		if now.database == "" {
			now.database = pgtest.Start(now.t)
		}
		return "'" + now.database + "'"
	})
	command = listener.ReplaceAllStringFunc(command, func(text string) string {
		free := strconv.Itoa(mosquittotest.FreePort(now.t))
		now.bind(strings.Fields(text)[1], free)
		return "listener " + free
	})
	if strings.Contains(command, " -C ") {
		command = waits.ReplaceAllString(command, "-W 60")
	}
	return port.ReplaceAllStringFunc(command, func(text string) string { return otherPort(text, now.ports) })
}

// asThePage replaces bound ports in output by the page's.
func (now *playing) asThePage(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = port.ReplaceAllStringFunc(line, func(text string) string { return otherPort(text, now.back) })
	}
	return out
}

func otherPort(text string, ports map[string]string) string {
	m := port.FindStringSubmatch(text)
	if other := ports[m[2]]; other != "" {
		return m[1] + other
	}
	return text
}

// bind records which port replaces one of the page's.
func (now *playing) bind(ofPage, bound string) {
	now.back[bound] = ofPage
	now.ports[ofPage] = bound
}

// learn reads the addresses from a program's line ready, and makes the next
// commands use them.
func (now *playing) learn(command string, lines []string) {
	now.t.Helper()
	name := filepath.Base(strings.Fields(command)[0])
	given := map[string]string{}
	for _, m := range listens.FindAllStringSubmatch(command, -1) {
		given[m[2]] = m[3]
	}
	for _, line := range lines {
		if !isReady(line) {
			continue
		}
		for _, field := range strings.Fields(line)[1:] {
			what, address, _ := strings.Cut(field, "=")
			_, bound, err := net.SplitHostPort(address[strings.LastIndex(address, "/")+1:])
			ofPage := cmp.Or(given[what], doors[name][what])
			if err != nil || ofPage == "" {
				continue
			}
			now.bind(ofPage, bound)
			switch {
			case what == "mqtt":
				now.post(ofPage, bound, strings.Contains(command, "--users"))
				if !strings.Contains(command, "--client-ca") { // otherwise the page names the broker
					now.terminal.export("TROUPE_ROBOTD_BROKER", now.tools.url())
					now.terminal.export("TROUPE_FLEETD_BROKER", now.tools.url())
				}
			case what == "http" && name != "broker":
				now.server = strings.TrimSuffix(address, "/")
				now.terminal.export("TROUPE_SERVER", now.server)
				if strings.HasPrefix(address, "http://") { // otherwise the page names the address
					now.terminal.export("TROUPE_ROBOTD_FLEETD", strings.TrimSuffix(address, "/"))
				}
			}
		}
	}
}

// post connects the clients that are typed from now on to the broker on that port.
func (now *playing) post(ofPage, bound string, closed bool) {
	now.t.Helper()
	now.tools.connectTo("127.0.0.1:" + bound)
	_, near, _ := net.SplitHostPort(now.tools.listener.Addr().String())
	now.bind(ofPage, near)
	for _, client := range []string{"pub", "sub", "rr"} {
		options := "-h 127.0.0.1\n-p " + near + "\n"
		if err := os.WriteFile(filepath.Join(now.terminal.folder, "mosquitto_"+client), []byte(options), 0o600); err != nil {
			now.t.Fatal(err)
		}
	}
	if now.closed = closed; !closed {
		now.world = worldAround(now.t, "127.0.0.1:"+bound)
		for _, filter := range []string{robotTopic("+", "cmd/#"), "troupe/v1/fleet/cmd/#", robotTopic("+", "event")} {
			now.world.recorder.Allow(filter) // pages also show mistakes, and replayed events
		}
	}
}
