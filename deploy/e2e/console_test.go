package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
				rerun := map[*session][]printed{}
				for i, s := range p.sessions {
					if runs[i] != nil {
						rerun[s] = runs[i]
					}
				}
				if golden.Updating() && len(rerun) > 0 {
					golden.Compare(t, p.path, p.rewritten(rerun))
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
	r := &sessionRun{t: t, ports: map[string]string{}, back: map[string]string{}, copied: map[string]string{}}
	r.tools = newProxy(t, "")
	r.tools.onPacket = func(packet byte) {
		if packet == suback {
			r.granted.Add(1)
		}
	}
	r.terminal = openTerminal(t)
	var all []printed
	differs := false
	for _, c := range s.typed {
		began := time.Now()
		out := r.run(c)
		if took := time.Since(began); took > time.Second {
			t.Logf("%s:%d: %v for %s", filepath.Base(p.path), c.line, took.Round(time.Millisecond), c.command)
		}
		all = append(all, out)
		if _, ok := matchLines(c.shown, out.lines); ok || c.pasted {
			continue
		}
		differs = true
		if !golden.Updating() {
			t.Errorf("%s:%d: $ %s\nprints\n%s\nand the page shows (-update writes it)\n%s",
				filepath.Base(p.path), c.line, c.command, strings.Join(out.lines, "\n"), strings.Join(c.shown, "\n"))
		}
	}
	if !differs || !golden.Updating() {
		return nil
	}
	return all
}

// suback is the type of the packet that confirms a subscription.
const suback = 9

// sessionRun is the state of a session while it runs.
type sessionRun struct {
	t        *testing.T
	terminal *terminal
	tools    *proxy // between the typed clients and the session's broker
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

// run runs one command and returns its output, with the page's ports and ids.
func (r *sessionRun) run(c *typed) printed {
	r.t.Helper()
	out := printed{command: replaced(c.command, r.copied)}
	switch {
	case strings.HasPrefix(c.command, "make demo"):
		out.lines = r.asOnPage(r.demo(c.command))
	case c.command == "make build":
		recipe(r.t, c.command) // the programs are in bin already
	default:
		mark := 0
		if r.world != nil {
			mark = r.world.observer.mark()
		}
		r.writeShownFile(c)
		grants := r.granted.Load() + int64(strings.Count(c.command, "mosquitto_sub "))
		fits := func(lines []string) bool {
			_, ok := matchLines(c.shown, r.asOnPage(lines))
			return ok
		}
		typed := r.adapt(out.command)
		limit := waitLimit
		complete := func(lines []string) bool {
			return fits(lines) || !golden.Updating() && !slices.Contains(c.shown, omitted) && len(lines) >= len(c.shown)
		}
		switch {
		case startsProgram.MatchString(c.command): // wait for its line ready, even if the page shows a different one
			complete = func(lines []string) bool { return slices.ContainsFunc(lines, isReady) }
		case golden.Updating():
			limit = 4 * time.Second // the page may show output that will not come
		}
		lines, status := r.terminal.run(typed, limit, complete)
		// Repeat a command that only reads, as a reader does, until its output fits.
		for late := time.Now().Add(min(limit, waitLimit)); readsOnly.MatchString(c.command) && !c.pasted && !fits(lines) &&
			time.Now().Before(late); {
			lines, status = r.terminal.run(typed, limit, func([]string) bool { return true })
		}
		if c.pasted && status != 0 {
			r.t.Errorf("line %d: %s ended with status %d:\n%s", c.line, c.command, status, strings.Join(lines, "\n"))
		}
		if listener.MatchString(c.command) && os.Geteuid() == 0 {
			r.terminal.type_("echo user root >> mosquitto.conf")
		}
		r.readAddresses(c.command, lines)
		r.settle(mark, grants, out.command, lines)
		out.lines = r.withFinal(mark, c.shown, r.asOnPage(lines))
	}
	r.copyIDs(c.shown, out.lines)
	return out
}

// demo starts the demo as the Makefile does, on free ports, and waits until all
// of its robots perform.
func (r *sessionRun) demo(command string) []string {
	r.t.Helper()
	lines := recipe(r.t, command, "MQTT=127.0.0.1:0", "HTTP=127.0.0.1:0", "DATA="+r.t.TempDir())
	args, ok := strings.CutPrefix(lines[len(lines)-1], "exec bin/demo ")
	if !ok {
		r.t.Fatalf("make demo does something else:\n%s", strings.Join(lines, "\n"))
	}
	p := launch(r.t, "demo", program(r.t, "demo"), strings.Fields(args), nil)
	p.ready()
	p.log.await(r.t, "demo", "how to end it", func(line string) bool { return strings.Contains(line, "Ctrl-C") })
	out := strings.Split(p.log.String(), "\n")
	r.readAddresses(command, out)
	for _, rid := range []string{"r1", "r2", "r3", "r4", "r5"} {
		r.world.awaitPerforming(rid)
	}
	return out
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

// readsOnly matches commands that change nothing.
var readsOnly = regexp.MustCompile(`^(fleetd (audit|version|\w+ (list|get))|head)\b`)

// startsProgram matches commands that start a program which prints a line ready.
var startsProgram = regexp.MustCompile(`^(bin/)?(broker .*|fleetd serve .*|robotd (-.*)?|/usr/bin/python3 .*)&$`)

func isReady(line string) bool { return strings.HasPrefix(line, "ready ") }

// writeShownFile writes the file that a page shows with "cat FILE", unless it exists.
func (r *sessionRun) writeShownFile(c *typed) {
	r.t.Helper()
	name, ok := strings.CutPrefix(c.command, "cat ")
	if !ok || len(c.shown) == 0 {
		return
	}
	r.terminal.type_("[ -e " + name + " ] || mkdir -p $(dirname " + name + ") && cat > " + name + " <<'END'\n" + strings.Join(c.shown, "\n") +
		"\nEND")
}

// withFinal replaces a robot's first answer by its final one if the page shows that:
// on a busy machine a command may take half a second, and is ACCEPTED first.
func (r *sessionRun) withFinal(mark int, shown, lines []string) []string {
	if r.world == nil || len(lines) != len(shown) {
		return lines
	}
	for i, line := range lines {
		first, problems := schema.Decode[schema.Ack]([]byte(line))
		last, others := schema.Decode[schema.Ack]([]byte(shown[i]))
		if len(problems)+len(others) > 0 || first.ID == nil || first.Status.Final() || !last.Status.Final() {
			continue
		}
		lines[i] = r.awaitFinal(mark, *first.ID)
	}
	return lines
}

// copyIDs records the ids that a reader copies from output into later commands.
func (r *sessionRun) copyIDs(shown, lines []string) {
	found, ok := matchLines(shown, lines)
	if !ok {
		found = lines // with -update: output that is nearly the same, in the same order
	}
	for i := range min(len(shown), len(found)) {
		_, page := maskVariableParts(shown[i])
		_, run := maskVariableParts(found[i])
		for j := range min(len(page), len(run)) {
			if page[j].copied && run[j].copied {
				r.copied[page[j].text] = run[j].text
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
