package rollout

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/presence"
	"troupe/schema"
	"troupe/schema/fsm/fsmtest"
	"troupe/schema/golden"
)

func TestTablesAreSound(t *testing.T) {
	fsmtest.Check(t, Table, Draft, States, RolledBack)
	fsmtest.Check(t, WaveTable, WavePlanned, WaveStates, WaveSkipped)
	fsmtest.Check(t, RobotTable, Planned, RobotStates, Unchanged, LeftOut, Superseded, Decommissioned, Pinned, Restored)
}

func TestTablesMatchDiagrams(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/rollout.md", Table, Draft)
	fsmtest.CheckDiagram(t, "testdata/wave.md", WaveTable, WavePlanned)
	fsmtest.CheckDiagram(t, "testdata/robot.md", RobotTable, Planned)
}

// TestTraces plays each script of testdata: a line is what happens, the indented lines below it what was saved, each
// with the time since the beginning.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string { return (&player{t: t, w: newWorld(0)}).play })
}

// TestEveryRowIsNeeded removes each row of the tables.
func TestEveryRowIsNeeded(t *testing.T) {
	run := func() string {
		return golden.ConcatTraces(t, func(t *testing.T) func(string) string { return (&player{t: t, w: newWorld(0)}).play })
	}
	fsmtest.CheckEveryRowIsNeeded(t, &Table, run)
	fsmtest.CheckEveryRowIsNeeded(t, &WaveTable, run)
	fsmtest.CheckEveryRowIsNeeded(t, &RobotTable, matrix)
}

type player struct {
	t *testing.T
	w *world
}

func (p *player) play(line string) string {
	w := p.w
	words := strings.Fields(line)
	before, was := w.saved, maps.Clone(w.rows)
	before.Waves = cloneWaves(before.Waves)
	done := func() string { return w.say(before, was, Changes{Rollout: w.saved, Robots: p.rows()}) }
	switch words[0] {
	case "fleet":
		p.w = newWorld(p.number(words[1]))
		return ""
	case "rollout":
		return p.begin(words[1:])
	case "after":
		return p.wait(words[1])
	case "start", "pause", "resume", "retry", "abort", "rollback", "approve", "schedule":
		d := Decision{On: Event(words[0]), By: "bob", Why: "bob says so"}
		for _, word := range words[1:] {
			switch key, value, _ := strings.Cut(word, "="); key {
			case "by":
				d.By = value
			case "digest":
				if d.Digest = value; value == "yes" {
					d.Digest = w.saved.Digest
				}
			case "in":
				d.NotBefore = w.now.Add(p.duration(value))
			default:
				p.t.Fatalf("unknown word %q in %q", word, line)
			}
		}
		if found := w.decide(d); len(found) > 0 {
			var out strings.Builder
			for _, problem := range found {
				fmt.Fprintf(&out, "  refused: %s\n", problem)
			}
			return out.String()
		}
		return done()
	case "waits":
		return "  " + w.saved.Waits() + "\n"
	case "fleetd":
		switch words[1] {
		case "restarts":
			w.fleetd.Since = w.now
			for _, b := range w.bots {
				b.seen = time.Time{}
			}
			w.restart()
		case "disconnected":
			w.fleetd.Connected = false
		case "connected":
			w.fleetd = presence.Fleetd{Connected: true, Since: w.now}
		}
		return ""
	}
	p.robots(words, line)
	return ""
}

func (p *player) rows() (rows []Robot) {
	for _, b := range p.w.run.Robots() {
		rows = append(rows, p.w.rows[b.ID])
	}
	return rows
}

func (p *player) number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

func (p *player) duration(word string) time.Duration {
	d, err := time.ParseDuration(word)
	if err != nil {
		p.t.Fatal(err)
	}
	return d
}

// begin reads the words of a rollout, such as `waves=2,50%,100% soak=60 start`.
func (p *player) begin(words []string) string {
	var spec Spec
	n := New{Why: "a new text"}
	a := p.w.ask(spec)
	soak := int64(60)
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "waves":
			for _, wave := range strings.Split(value, ",") {
				var s WaveSpec
				if percent, ok := strings.CutSuffix(wave, "%"); ok {
					s.Percent = float64(p.number(percent))
				} else {
					s.Count = p.number(wave)
				}
				spec.Waves = append(spec.Waves, s)
			}
		case "soak":
			soak = int64(p.duration(value) / time.Second)
		case "decided":
			for i := range spec.Waves {
				n := p.number(value)
				spec.Waves[i].MinDecided = &n
			}
		case "tolerant": // up to half of the robots may fail
			for i := range spec.Waves {
				half := 50.0
				spec.Waves[i].MaxFailurePercent, spec.Waves[i].SuccessPercent = &half, &half
			}
		case "rate":
			spec.OffersPerMin = p.number(value)
		case "offline":
			spec.Offline = OfflinePolicy(value)
		case "expiry":
			spec.OfflineExpiryS = int64(p.duration(value) / time.Second)
		case "retries":
			n := p.number(value)
			spec.Retries = &n
		case "windows":
			spec.InWindows = true
		case "idle":
			spec.OnlyIdle = true
		case "replace":
			spec.Pinned = PinnedReplace
		case "all-at-once":
			spec.AllAtOnce = true
		case "in":
			a.NotBefore = p.w.now.Add(p.duration(value))
		case "start":
			n.Start = true
		case "approval":
			a.ApproveAbove = 1
		case "refused":
			for i := range a.Robots {
				if a.Robots[i].ID == value {
					a.Robots[i].Refused = schema.ReasonUnsupportedVersion
				}
			}
		default:
			p.t.Fatalf("unknown word %q", word)
		}
	}
	for i := range spec.Waves {
		spec.Waves[i].SoakS = &soak
	}
	a.Spec = spec
	p.w.begin(a, n)
	var out strings.Builder
	fmt.Fprintf(&out, "  %s\n", p.w.saved.State)
	for i, v := range p.w.saved.Waves {
		fmt.Fprintf(&out, "  wave %s:", v.Name)
		for _, b := range p.w.run.Robots() {
			if b.Wave == i {
				fmt.Fprintf(&out, " %s", b.ID)
				if b.State != Planned {
					fmt.Fprintf(&out, " (%s: %s)", b.State, b.Why)
				}
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

// wait lets time pass, with a step each second; each ten seconds if it is long.
func (p *player) wait(word string) string {
	w := p.w
	var out strings.Builder
	d, each := p.duration(word), time.Second
	if d >= 20*time.Minute {
		each = 10 * time.Second
	}
	for end := w.now.Add(d); w.now.Before(end); {
		w.now = w.now.Add(each)
		w.beat()
		before, was := w.saved, maps.Clone(w.rows)
		before.Waves = cloneWaves(before.Waves)
		out.WriteString(w.say(before, was, w.step()))
	}
	return out.String()
}

// robots changes robots: `r1 offline`, `offered active` for all robots of a state, or `all busy`.
func (p *player) robots(words []string, line string) {
	for _, b := range p.w.bots {
		if words[0] != b.id && words[0] != "all" && !strings.EqualFold(words[0], string(p.w.rows[b.id].State)) {
			continue
		}
		report := func(phase schema.DeployPhase) {
			b.report = Report{Rev: b.rev, Phase: phase}
			for _, word := range words[2:] {
				switch word {
				case "later":
					b.report.Retry = schema.RetryLater
				case "parts":
					b.report.Partial = true
				default:
					b.report.Reason = schema.Reason(word)
				}
			}
		}
		switch what := words[1]; what {
		case "online":
			b.online, b.signedOff, b.unseen, b.seen = true, false, false, p.w.now
		case "offline":
			b.online = false
		case "signs-off":
			b.online, b.signedOff = false, true
		case "hangs": // sends no heartbeats
			b.unseen = true
		case "busy", "idle":
			b.busy = what == "busy"
		case "closed":
			b.closed, b.opens = true, time.Time{}
			if len(words) > 2 {
				b.opens = p.w.now.Add(p.duration(words[2]))
			}
		case "open":
			b.closed = false
		case "pinned", "unpinned":
			b.pinned = what == "pinned"
		case "leaves":
			b.gone = true
		case "newer":
			b.newer = "ro-2"
		case "assigned":
			b.rev, b.desired = b.rev+1, story(9)
		case "renumbered":
			b.rev++
		case "latched":
			b.health.Latched = 1
		case "failing-acts":
			b.health.ActErrors = 5
		case "active":
			report(schema.DeployActive)
			b.report.Active = true
		case "rejected", "failed", "rolled_back", "fetching", "validating", "staged", "waiting", "activating", "withdrawn":
			report(schema.DeployPhase(what))
		case "not-playing":
			report(schema.DeployActive)
		default:
			p.t.Fatalf("unknown line %q", line)
		}
	}
}
