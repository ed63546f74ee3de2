package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"troupe/deploy/mosquittotest"
	"troupe/schema"
	"troupe/schema/score"
)

// ringMiB is the bound of the recorders in TestBodyLoad: the smallest, so that a run of ten
// minutes reaches it.
const ringMiB = 1

// TestBodyLoad lets two robots perform side by side, one on adapters with many units and one
// simulated, and prints what each costs. TROUPE_BODY_LOAD=minutes,units (make body-load) says
// for how long; otherwise it takes a few seconds.
func TestBodyLoad(t *testing.T) {
	span, report, minutes, units := 4*time.Second, 2*time.Second, 0.0, 20
	if text := os.Getenv("TROUPE_BODY_LOAD"); text != "" {
		if _, err := fmt.Sscanf(text, "%g,%d", &minutes, &units); err != nil || units < 3 {
			t.Fatalf("TROUPE_BODY_LOAD=%s: want minutes and at least 3 units, such as 10,20", text)
		}
		span, report = time.Duration(minutes*float64(time.Minute)), 10*time.Second
	}
	w := newWorld(t, ownBroker)
	port := strconv.Itoa(mosquittotest.FreePort(t))
	var sent atomic.Int64
	launch(t, "many", mosquittotest.PythonWithPaho(t),
		[]string{"-B", filepath.Join("testdata", "many.py"), "--bus", "mqtt://127.0.0.1:" + port},
		func(line string) {
			if n, err := strconv.ParseInt(strings.TrimPrefix(line, "messages "), 10, 64); err == nil {
				sent.Store(n)
			}
		}, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "UNITS="+strconv.Itoa(units)) })
	// nobody sends heartbeats
	continued := []string{"--recorder-mib", strconv.Itoa(ringMiB), "--link-loss-mnl", "continue", "--link-loss-ato", "continue"}
	loads := []*bodyLoad{
		{id: "r1", body: "bus", flags: []string{"--body", "bus", "--bus", "mqtt://127.0.0.1:" + port, "--bus-listen", "127.0.0.1:" + port,
			"--bus-adapters", "many"}},
		{id: "r2", body: "sim", flags: []string{"--sim-at", "dock"}},
	}
	for _, l := range loads {
		l.w, l.process = w, w.runRobot(l.id, "", append(l.flags, continued...)...)
		w.awaitState(l.id, "calibrated", func(s schema.State) bool { return s.Mode.Calibrated && s.Mode.Active == schema.ModeMnl })
		l.perform()
	}
	fmt.Printf("%d processors; robotd with body bus serves the bus itself, and the %d units are one process in Python; "+
		"robotd with body sim has %d units\n",
		runtime.NumCPU(), units, loads[1].units)
	for _, l := range loads {
		l.begin()
	}
	first, began := sent.Load(), time.Now()
	for due := report; ; due += report {
		<-time.After(time.Until(began.Add(min(due, span))))
		passed := time.Since(began)
		fmt.Printf("%5.0f s", passed.Seconds())
		for _, l := range loads {
			fmt.Printf("   %s", l.measure(passed))
		}
		fmt.Printf("   %.0f messages/s on the bus\n", float64(sent.Load()-first)/passed.Seconds())
		for _, l := range loads {
			l.resumePerformance()
		}
		if due >= span {
			break
		}
	}
	for _, l := range loads {
		if minutes > 0 && l.acts() == 0 { // otherwise the first act lasts longer than the run
			t.Errorf("%s performed no act", l.id)
		}
		if l.ring > ringMiB<<20 {
			t.Errorf("the recorder's ring of %s had %d bytes, its bound is %d", l.id, l.ring, ringMiB<<20)
		}
		fmt.Printf("%s: %.1f %% of a core, RSS %.1f MiB at the start, %.1f MiB at the end, %.1f MiB at most; "+
			"recorder's ring at most %d of %d KiB; %d acts, %d stops\n",
			l.body, l.cpu, mib(l.rss0), mib(l.rss), mib(l.peak), l.ring>>10, ringMiB<<10, l.acts(), l.stops)
	}
}

// bodyLoad is what one robotd costs.
type bodyLoad struct {
	w        *world
	process  *process
	id, body string
	flags    []string
	units    int
	mark     int

	cpu0 time.Duration
	cpu  float64 // % of a core since the start

	rss0, rss, peak, ring int64 // bytes; ring is the largest
	stops                 int
}

// perform gives the robot a story that moves and uses each of its units.
func (l *bodyLoad) perform() {
	l.w.t.Helper()
	caps := awaitDocument(l.w, robotTopic(l.id, "caps"), "the units", func(schema.Caps) bool { return true })
	l.units = len(caps.Units)
	acts := map[string]score.Act{}
	for i, point := range []string{"desk", "dock"} {
		var lines strings.Builder
		fmt.Fprintf(&lines, "act: to-%s\nactions:\n  - {type: goto, start_ms: 0, point: %s, timeout_ms: 30000}\n", point, point)
		for _, u := range caps.Units {
			switch u.Kind {
			case schema.UnitSpeaker:
				fmt.Fprintf(&lines, "  - {type: say, unit: %s, start_ms: 0, timeout_ms: 8000, text: {en: Here I go again.}}\n", u.ID)
			case schema.UnitFace:
				fmt.Fprintf(&lines, "  - {type: face, unit: %s, start_ms: 0, end_ms: 4000, face: smile}\n", u.ID)
			case schema.UnitLED:
				fmt.Fprintf(&lines, "  - {type: led, unit: %s, start_ms: 0, end_ms: 4000, colour: '#2040%02x'}\n", u.ID, 16+i)
			case schema.UnitScreen:
				fmt.Fprintf(&lines, "  - {type: screen, unit: %s, start_ms: 0, end_ms: 4000, text: {en: To the %s}}\n", u.ID, point)
			case schema.UnitHead:
				fmt.Fprintf(&lines, "  - {type: head, unit: %s, start_ms: 0, yaw_rad: %g, timeout_ms: 8000}\n", u.ID, 0.8-1.6*float64(i))
			}
		}
		a, problems := score.ParseAct([]byte(lines.String()))
		if len(schema.Errors(problems)) > 0 {
			l.w.t.Fatalf("%s: %v", lines.String(), problems)
		}
		acts[a.ID] = a
	}
	s, problems := score.ParseStory([]byte("story: to-and-fro\nname: {en: To and fro}\nlanguages: [en]\nrepeat: loop\n" +
		"acts: [{act: to-desk}, {act: to-dock}]\n"))
	if len(schema.Errors(problems)) > 0 {
		l.w.t.Fatal(problems)
	}
	blob, sum, err := score.EncodePublishedStory(s, acts, 1)
	if err != nil {
		l.w.t.Fatal(err)
	}
	ref := schema.StoryRef{ID: "to-and-fro", Rev: 1, SHA256: sum}
	l.w.publishRetained(schema.DefaultNamespace.Topic(schema.TopicBlob, sum), blob)
	l.w.publishDesiredStory(l.id, manualFleetID, ref, len(blob), schema.ApplyNow)
	l.w.awaitActiveStory(l.id, ref)
	l.w.mustRequest("op1", l.id, "safety/enable", "")
	l.w.mustRequest("op1", l.id, "mode/set", "ato")
	l.w.awaitState(l.id, "performing", isPerforming)
}

func (l *bodyLoad) begin() {
	l.cpu0, l.rss0 = l.used(), l.memory("VmRSS")
	l.mark = l.w.observer.mark()
}

// measure takes the figures and returns them as text.
func (l *bodyLoad) measure(passed time.Duration) string {
	l.w.t.Helper()
	l.cpu = 100 * (l.used() - l.cpu0).Seconds() / passed.Seconds()
	l.rss, l.peak = l.memory("VmRSS"), l.memory("VmHWM")
	var ring int64
	files, err := filepath.Glob(filepath.Join(l.w.folder, l.id, "recorder", "*"))
	if err != nil {
		l.w.t.Fatal(err)
	}
	for _, f := range files {
		if is, err := os.Stat(f); err == nil { // the oldest may be removed meanwhile
			ring += is.Size()
		}
	}
	l.ring = max(l.ring, ring)
	return fmt.Sprintf("%s %4.1f %% of a core, RSS %.1f MiB, ring %d KiB", l.body, l.cpu, mib(l.rss), ring>>10)
}

// resumePerformance resets, enables and continues a robot that has stopped, as an operator does: on a computer with too much to
// do the adapter may be silent for longer than robotd allows.
func (l *bodyLoad) resumePerformance() {
	l.w.t.Helper()
	newest := func() schema.State {
		return awaitDocument(l.w, robotTopic(l.id, "state"), "its state", func(schema.State) bool { return true })
	}
	s := newest()
	if s.Safety.State == schema.SafetyEnabled && isPerforming(s) {
		return
	}
	l.stops++
	fmt.Printf("        %s stopped: %s in %s %s\n", l.body, s.Safety.State, s.Mode.Active, jsonText(s.Alerts))
	l.w.until(l.id+" to perform again", func() bool { // it may be stopped again meanwhile
		switch s := newest(); {
		case s.Safety.State == schema.SafetyEStop:
			l.w.request("op1", l.id, "safety/reset", "")
		case s.Safety.State == schema.SafetyDisabled:
			l.w.request("op1", l.id, "safety/enable", "")
		case s.Auto.Status == schema.AutoPaused:
			l.w.request("op1", l.id, "auto/continue", "")
		default:
			return isPerforming(s)
		}
		return false
	})
}

// acts returns how many acts began since the start.
func (l *bodyLoad) acts() (n int) {
	for _, m := range l.w.observer.since(l.mark, robotTopic(l.id, "event")) {
		if e, problems := schema.Decode[schema.Event]([]byte(m.Payload)); len(problems) == 0 && e.Type == "act_started" {
			n++
		}
	}
	return n
}

// used returns the processor time of the process. Linux counts it in ticks of 10 ms.
func (l *bodyLoad) used() time.Duration {
	l.w.t.Helper()
	text := l.proc("stat")
	fields := strings.Fields(text[strings.LastIndex(text, ")")+1:])
	var ticks int
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(f)
		if err != nil {
			l.w.t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func (l *bodyLoad) memory(of string) int64 {
	l.w.t.Helper()
	var kib int64
	_, after, _ := strings.Cut(l.proc("status"), of+":")
	if _, err := fmt.Sscanf(after, "%d kB", &kib); err != nil {
		l.w.t.Fatalf("%s of %s: %v", of, l.id, err)
	}
	return kib << 10
}

func (l *bodyLoad) proc(file string) string {
	l.w.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", l.process.cmd.Process.Pid, file))
	if err != nil {
		l.w.t.Fatal(err)
	}
	return string(text)
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
