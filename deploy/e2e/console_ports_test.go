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
	"troupe/fleetd/store/storetest"
)

// defaultPorts are the default ports of the programs, which the pages show.
var defaultPorts = map[string]map[string]string{
	"make":   {"mqtt": "1883", "http": "8080"},
	"broker": {"mqtt": "1883", "http": "9101"},
	"fleetd": {"http": "8080"},
}

// busOfPage is the address of a robot's bus on the pages. An adapter knows it before the
// robotd that serves it has begun.
const (
	busPort   = "1884"
	busOfPage = "127.0.0.1:" + busPort
)

var (
	listens    = regexp.MustCompile(`(--(mqtts?|wss?|http|enrol) )(?:127\.0\.0\.1|localhost|0\.0\.0\.0):(\d+)`)
	listener   = regexp.MustCompile(`listener (\d+)`)
	port       = regexp.MustCompile(`(:|-p )(\d{4,5})\b`)
	onPostgres = regexp.MustCompile(`postgres://\S+`)
	waits      = regexp.MustCompile(`-W \d+`)
)

// adapt replaces the page's ports and database in a command, and its time-out if
// it ends after a number of messages anyway.
func (r *sessionRun) adapt(command string) string {
	command = strings.TrimPrefix(command, "go run ./") // the built programs are in the PATH
	command = listens.ReplaceAllString(command, "${1}127.0.0.1:0")
	command = onPostgres.ReplaceAllStringFunc(command, func(string) string {
		if r.database == "" {
			r.database = storetest.Postgres(r.t)
		}
		return "'" + r.database + "'"
	})
	command = listener.ReplaceAllStringFunc(command, func(text string) string {
		free := strconv.Itoa(mosquittotest.FreePort(r.t))
		r.bind(strings.Fields(text)[1], free)
		return "listener " + free
	})
	if strings.Contains(command, busOfPage) && r.ports[busPort] == "" {
		r.bind(busPort, strconv.Itoa(mosquittotest.FreePort(r.t)))
	}
	if strings.Contains(command, " -C ") {
		command = waits.ReplaceAllString(command, "-W 60")
	}
	return port.ReplaceAllStringFunc(command, func(text string) string { return otherPort(text, r.ports) })
}

// asOnPage replaces bound ports in output by the page's.
func (r *sessionRun) asOnPage(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = port.ReplaceAllStringFunc(line, func(text string) string { return otherPort(text, r.back) })
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
func (r *sessionRun) bind(ofPage, bound string) {
	r.back[bound] = ofPage
	r.ports[ofPage] = bound
}

// readAddresses reads the addresses from a program's line ready, and makes the next
// commands use them.
func (r *sessionRun) readAddresses(command string, lines []string) {
	r.t.Helper()
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
			ofPage := cmp.Or(given[what], defaultPorts[name][what])
			if err != nil || ofPage == "" {
				continue
			}
			r.bind(ofPage, bound)
			switch {
			case what == "mqtt":
				r.connectClients(ofPage, bound, strings.Contains(command, "--users"))
				if !strings.Contains(command, "--client-ca") { // otherwise the page names the broker
					r.terminal.export("TROUPE_ROBOTD_BROKER", r.tools.url())
					r.terminal.export("TROUPE_FLEETD_BROKER", r.tools.url())
				}
			case what == "http" && name != "broker":
				r.server = strings.TrimSuffix(address, "/")
				r.terminal.export("TROUPE_SERVER", r.server)
				if strings.HasPrefix(address, "http://") { // otherwise the page names the address
					r.terminal.export("TROUPE_ROBOTD_FLEETD", strings.TrimSuffix(address, "/"))
				}
			}
		}
	}
}

// connectClients makes later mosquitto clients connect to the broker on that port.
func (r *sessionRun) connectClients(ofPage, bound string, closed bool) {
	r.t.Helper()
	r.tools.connectTo("127.0.0.1:" + bound)
	_, near, _ := net.SplitHostPort(r.tools.listener.Addr().String())
	r.bind(ofPage, near)
	for _, client := range []string{"pub", "sub", "rr"} {
		options := "-h 127.0.0.1\n-p " + near + "\n"
		if err := os.WriteFile(filepath.Join(r.terminal.folder, "mosquitto_"+client), []byte(options), 0o600); err != nil {
			r.t.Fatal(err)
		}
	}
	if r.closed = closed; !closed {
		r.world = worldAround(r.t, "127.0.0.1:"+bound)
		for _, filter := range []string{robotTopic("+", "cmd/#"), "troupe/v1/fleet/cmd/#", robotTopic("+", "event")} {
			r.world.recorder.Allow(filter) // pages also show mistakes, and replayed events
		}
	}
}
