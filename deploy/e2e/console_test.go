package e2e

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"troupe/broker/access"
	"troupe/deploy/mosquittotest"
	"troupe/fleetd/store/pgtest"
	"troupe/schema"
	"troupe/schema/golden"
)

// TestEveryConsoleLineOfThePages runs every command of the pages exactly as the
// page shows it, and compares the output. -update writes the output into the page.
func TestEveryConsoleLineOfThePages(t *testing.T) {
	t.Parallel()
	guides, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(guides) == 0 {
		t.Fatalf("no page in docs/: %v", err)
	}
	for _, path := range append(guides, "../../README.md", "../../topics.md") {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := readPage(t, path)
			runs := make([][]printed, len(p.sessions))
			t.Cleanup(func() { // when all sessions have ended
				anew := map[*session][]printed{}
				for i, s := range p.sessions {
					if runs[i] != nil {
						anew[s] = runs[i]
					}
				}
				if golden.Updating() && len(anew) > 0 {
					golden.Compare(t, p.path, p.rewritten(anew))
				}
			})
			for i, s := range p.sessions {
				t.Run(strings.Fields(s.typed[0].command)[1], func(t *testing.T) {
					t.Parallel()
					runs[i] = play(t, p, s)
				})
			}
		})
	}
}

// play runs a session. With -update it returns the output of every command if
// any of them differs, so that ids stay the same within a session.
func play(t *testing.T, p *page, s *session) []printed {
	t.Helper()
	now := &playing{t: t, ports: map[string]string{}, back: map[string]string{}, copied: map[string]string{}}
	now.tools = newProxy(t, "")
	now.tools.onPacket = func(packet byte) {
		if packet == suback {
			now.granted.Add(1)
		}
	}
	now.terminal = openTerminal(t)
	var all []printed
	differs := false
	for _, c := range s.typed {
		began := time.Now()
		said := now.do(c)
		if took := time.Since(began); took > time.Second {
			t.Logf("%s:%d: %v for %s", filepath.Base(p.path), c.line, took.Round(time.Millisecond), c.command)
		}
		all = append(all, said)
		if _, ok := matchLines(c.shown, said.lines); ok || c.pasted {
			continue
		}
		differs = true
		if !golden.Updating() {
			t.Errorf("%s:%d: $ %s\nprints\n%s\nand the page shows (-update writes it)\n%s",
				filepath.Base(p.path), c.line, c.command, strings.Join(said.lines, "\n"), strings.Join(c.shown, "\n"))
		}
	}
	if !differs || !golden.Updating() {
		return nil
	}
	return all
}

// suback is the type of the packet that confirms a subscription.
const suback = 9

// playing is the state of a session that runs.
type playing struct {
	t        *testing.T
	terminal *terminal
	tools    *proxy // leads the typed clients to the session's broker
	granted  atomic.Int64
	world    *world       // around the broker; nil before it runs, and if it asks for passwords
	closed   bool         // the broker asks for passwords; the page's is "please"
	begun    []schema.Ack // answers to commands that have not ended
	server   string       // address of fleetd; empty before it runs
	jobs     []string     // background commands in their order: %1 and so on
	database string       // address that replaces the page's PostgreSQL; empty before it is used

	ports  map[string]string // the page's port to the bound one
	back   map[string]string // the bound port to the page's
	copied map[string]string // ids that a reader copies from output: the page's to this run's
}

// do runs one command and returns the output in the page's terms.
func (now *playing) do(c *typed) printed {
	now.t.Helper()
	said := printed{command: replaced(c.command, now.copied)}
	switch {
	case strings.HasPrefix(c.command, "make demo"):
		said.lines = now.asThePage(now.demo(c.command))
	case c.command == "make build":
		recipe(now.t, c.command) // the programs are in bin already
	default:
		mark := 0
		if now.world != nil {
			mark = now.world.observer.mark()
		}
		now.provide(c)
		grants := now.granted.Load() + int64(strings.Count(c.command, "mosquitto_sub "))
		fits := func(lines []string) bool {
			_, ok := matchLines(c.shown, now.asThePage(lines))
			return ok
		}
		typed := now.here(said.command)
		limit := waitLimit
		enough := func(lines []string) bool {
			return fits(lines) || !golden.Updating() && !slices.Contains(c.shown, omitted) && len(lines) >= len(c.shown)
		}
		switch {
		case serves.MatchString(c.command): // wait for its line ready, even if the page shows a different one
			enough = func(lines []string) bool { return slices.ContainsFunc(lines, isReady) }
		case golden.Updating():
			limit = 4 * time.Second // the page may show output that will not come
		}
		lines, status := now.terminal.run(typed, limit, enough)
		// Repeat a command that only reads, as a reader does, until its output fits.
		for late := time.Now().Add(min(limit, waitLimit)); looks.MatchString(c.command) && !c.pasted && !fits(lines) && time.Now().Before(late); {
			lines, status = now.terminal.run(typed, limit, func([]string) bool { return true })
		}
		if c.pasted && status != 0 {
			now.t.Errorf("line %d: %s ended with status %d:\n%s", c.line, c.command, status, strings.Join(lines, "\n"))
		}
		if listener.MatchString(c.command) && os.Geteuid() == 0 {
			now.terminal.type_("echo user root >> mosquitto.conf")
		}
		now.learn(c.command, lines)
		now.settle(mark, grants, said.command, lines)
		said.lines = now.final(mark, c.shown, now.asThePage(lines))
	}
	now.copy(c.shown, said.lines)
	return said
}

// demo starts the demo as the Makefile does, on free ports, and waits until all
// of its robots perform.
func (now *playing) demo(command string) []string {
	now.t.Helper()
	lines := recipe(now.t, command, "MQTT=127.0.0.1:0", "HTTP=127.0.0.1:0", "DATA="+now.t.TempDir())
	args, ok := strings.CutPrefix(lines[len(lines)-1], "exec bin/demo ")
	if !ok {
		now.t.Fatalf("make demo does something else:\n%s", strings.Join(lines, "\n"))
	}
	p := launch(now.t, "demo", program(now.t, "demo"), strings.Fields(args), nil)
	p.ready()
	p.log.await(now.t, "demo", "how to end it", func(line string) bool { return strings.Contains(line, "Ctrl-C") })
	said := strings.Split(p.log.String(), "\n")
	now.learn(command, said)
	for _, rid := range []string{"r1", "r2", "r3", "r4", "r5"} {
		now.world.awaitPerforming(rid)
	}
	return said
}

// recipe returns the commands that make would run.
func recipe(t *testing.T, command string, more ...string) []string {
	t.Helper()
	cmd := exec.Command("make", append(append(strings.Fields(command)[1:], "--no-print-directory", "-n"), more...)...)
	cmd.Dir = "../.."
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// looks matches commands that change nothing.
var looks = regexp.MustCompile(`^fleetd (audit|version|\w+ (list|get))\b`)

// serves matches commands that start a program which prints a line ready.
var serves = regexp.MustCompile(`^(bin/)?(broker .*|fleetd serve .*|robotd (-.*)?)&$`)

func isReady(line string) bool { return strings.HasPrefix(line, "ready ") }

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

// provide writes the file that a page shows with "cat FILE", unless it exists.
func (now *playing) provide(c *typed) {
	now.t.Helper()
	name, ok := strings.CutPrefix(c.command, "cat ")
	if !ok || len(c.shown) == 0 {
		return
	}
	now.terminal.type_("[ -e " + name + " ] || mkdir -p $(dirname " + name + ") && cat > " + name + " <<'END'\n" + strings.Join(c.shown, "\n") + "\nEND")
}

// settle waits until background programs work and the effects of commands are
// complete, for which a reader's pace is enough.
func (now *playing) settle(mark int, grants int64, command string, lines []string) {
	now.t.Helper()
	words := strings.Fields(command)
	words[0] = filepath.Base(words[0])
	behind := words[len(words)-1] == "&"
	if behind {
		now.jobs = append(now.jobs, strings.Join(words, " "))
	}
	switch {
	case behind && strings.Contains(command, "mosquitto_sub "):
		now.until("the subscriptions of "+command, func() bool { return now.granted.Load() >= grants })
	case behind && words[0] == "mosquitto":
		bound := now.ports["1883"]
		now.until("mosquitto to listen", func() bool {
			c, err := net.Dial("tcp", "127.0.0.1:"+bound)
			if err == nil {
				_ = c.Close()
			}
			return err == nil
		})
		now.post("1883", bound, false)
		now.terminal.export("TROUPE_ROBOTD_BROKER", now.tools.url())
	case behind && words[0] == "robotd" && !slices.Contains(words, "--id"): // the page itself waits for its presence
	case behind && words[0] == "robotd" && now.closed:
		awaitCalibrated(now.t, now.tools.listener.Addr().String())
	case behind && words[0] == "robotd":
		rid := words[slices.Index(words, "--id")+1]
		awaitDocumentAfter(now.world, mark, robotTopic(rid, "state"), rid+" to be in mnl and calibrated", func(s schema.State) bool {
			return s.Mode.Active == schema.ModeMnl && s.Mode.Phase == schema.PhaseRunning && s.Mode.Calibrated
		})
		if now.server != "" {
			now.until("fleetd to list "+rid, func() bool { return now.lists(rid) })
		}
	case words[0] == "kill" && !now.isRobot(words): // only a robot's end is published
	case words[0] == "kill":
		awaitDocumentAfter(now.world, mark, robotTopic("+", "presence"), "somebody to be missed", func(p schema.Presence) bool { return p.State != schema.PresenceOnline })
	case words[0] == "mosquitto_pub" && strings.Contains(command, "/desired/story "):
		awaitDocumentAfter(now.world, mark, robotTopic("+", "reported/story"), "the desired state to be answered for", func(r schema.ReportedStory) bool {
			return r.Phase == schema.DeployActive || r.Phase == schema.DeployRejected
		})
	case now.world != nil && strings.HasPrefix(command, "fleetd stop release "):
		now.isReleased(words[3])
	case now.world != nil && words[0] == "fleetd":
		for _, line := range lines {
			if row := strings.Fields(line); len(row) > 1 && row[1] == string(schema.StatusSucceeded) {
				now.rests(now.answer(mark, robotTopic(row[0], "ack/+"), "the answer of "+row[0], func(a schema.Ack) bool { return a.Status.Final() }))
				if words[1] == "stop" {
					now.isSeen(row[0])
				}
			}
		}
	case now.world != nil:
		for _, line := range lines {
			now.rests(strings.TrimPrefix(line, topicOf(line)+" "))
		}
	}
}

// rests waits until the robot of an answer has reached the resulting state, and
// after a stop until the commands that it ended are answered too.
func (now *playing) rests(line string) {
	now.t.Helper()
	a, problems := schema.Decode[schema.Ack]([]byte(line))
	if len(problems) > 0 || a.StateSeq == 0 {
		return
	}
	if !a.Status.Final() {
		now.begun = append(now.begun, a)
	} else if strings.HasSuffix(a.Verb, "stop") {
		for _, each := range now.begun {
			now.ended(0, *each.ID)
		}
		now.begun = nil
	}
	awaitDocumentAfter(now.world, 0, robotTopic("+", "state"), "rest after "+line, func(s schema.State) bool {
		return s.Session == a.Session && s.StateSeq >= a.StateSeq && s.Mode.Phase == schema.PhaseRunning &&
			(s.Safety.State == schema.SafetyEnabled || s.Safety.State == schema.SafetyDisabled || s.Safety.State == schema.SafetyEStop)
	})
}

// isReleased waits until no robot's newest state has a latch of that id.
func (now *playing) isReleased(id string) {
	now.t.Helper()
	eye := now.world.observer
	eye.await(now.t, "every robot to release "+id, func() bool {
		held := map[string]bool{}
		for _, m := range eye.messages {
			if s, problems := schema.Decode[schema.State]([]byte(m.Payload)); access.Matches(robotTopic("+", "state"), m.Topic) && len(problems) == 0 {
				held[m.Topic] = slices.ContainsFunc(s.Safety.Latches, func(l schema.StopLatch) bool { return l.ID == id })
			}
		}
		return !slices.Contains(slices.Collect(maps.Values(held)), true)
	})
}

// isSeen waits until fleetd knows the robot's present state: when the second
// heartbeat arrives, fleetd has processed the first.
func (now *playing) isSeen(rid string) {
	now.t.Helper()
	for range 2 {
		now.world.observer.awaitMessage(now.t, now.world.observer.mark(), robotTopic(rid, "heartbeat"), "a heartbeat of "+rid, func(message) bool { return true })
	}
}

// isRobot reports whether a kill names a job that is a robot.
func (now *playing) isRobot(kill []string) bool {
	for _, word := range kill {
		if n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSuffix(word, ";"), "%")); err == nil && n > 0 && n <= len(now.jobs) {
			return strings.HasPrefix(now.jobs[n-1], "robotd")
		}
	}
	return false
}

// lists reports whether a robot belongs to fleetd's fleet and is online there.
func (now *playing) lists(rid string) bool {
	now.t.Helper()
	client := http.Client{Timeout: waitLimit}
	defer client.CloseIdleConnections()
	answer, err := client.Get(now.server + "/api/v1/robots/" + rid)
	if err != nil {
		now.t.Fatalf("ask fleetd for %s: %v", rid, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return err == nil && bytes.Contains(text, []byte(`"adopted":true`)) && bytes.Contains(text, []byte(`"view":"online"`))
}

// ended waits for the final answer to a command, after a mark.
func (now *playing) ended(mark int, id string) string {
	now.t.Helper()
	return now.answer(mark, robotTopic("+", "ack/+"), "the final answer to "+id, func(a schema.Ack) bool {
		return a.ID != nil && *a.ID == id && a.Status.Final()
	})
}

// answer waits for an answer after a mark.
func (now *playing) answer(mark int, filter, what string, holds func(schema.Ack) bool) string {
	now.t.Helper()
	return now.world.observer.awaitMessage(now.t, mark, filter, what, func(m message) bool {
		a, problems := schema.Decode[schema.Ack]([]byte(m.Payload))
		return len(problems) == 0 && holds(a)
	}).Payload
}

func (now *playing) until(what string, holds func() bool) {
	now.t.Helper()
	for late := time.Now().Add(waitLimit); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(late) {
			now.t.Fatalf("waited %v for %s", waitLimit, what)
		}
	}
}

// final replaces a robot's first answer by its final one if the page shows that:
// on a busy machine a command may take half a second, and is ACCEPTED first.
func (now *playing) final(mark int, shown, lines []string) []string {
	if now.world == nil || len(lines) != len(shown) {
		return lines
	}
	for i, line := range lines {
		first, problems := schema.Decode[schema.Ack]([]byte(line))
		last, others := schema.Decode[schema.Ack]([]byte(shown[i]))
		if len(problems)+len(others) > 0 || first.ID == nil || first.Status.Final() || !last.Status.Final() {
			continue
		}
		lines[i] = now.ended(mark, *first.ID)
	}
	return lines
}

// copy records the ids that a reader copies from output into later commands.
func (now *playing) copy(shown, lines []string) {
	found, ok := matchLines(shown, lines)
	if !ok {
		found = lines // with -update: output that is nearly the same, in the same order
	}
	for i := range min(len(shown), len(found)) {
		_, page := maskVariableParts(shown[i])
		_, run := maskVariableParts(found[i])
		for j := range min(len(page), len(run)) {
			if page[j].copied && run[j].copied {
				now.copied[page[j].text] = run[j].text
			}
		}
	}
}

func replaced(text string, by map[string]string) string {
	var pairs []string
	for from, to := range by {
		pairs = append(pairs, from, to)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
