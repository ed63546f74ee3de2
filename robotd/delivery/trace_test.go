package delivery

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/golden"
)

// TestTraces plays each script in testdata: a line is a time and an input, and
// the indented lines below it are its effects, in order.
//
//	desired REV [NAME:ACT,ACT...] [apply=..] [fleet_id=..] [size=..] [id=..] [rev=..] [until=..] [refused=..]
//	                                                                 a desired document; without a name it desires none
//	blob NAME [ACT,ACT...] | blob NAME REASON                        the bytes, or why they cannot be fetched
//	arriving NAME BYTES, file NAME, file NAME REASON                 the progress of a large file, that it is stored, or why not
//	written REV [REASON]    started NAME    start-failed NAME REASON
//	facts [performing] [paused] [between-acts] [interrupted]
//	missing ACT,ACT...      the acts that the robot lacks from now on
//	clock                           the fleet's time is known from now on
//	deleted, fleet-known FLEET, adopt FLEET, tick, restart [ACTS-DIGEST], lose NAME
func TestTraces(t *testing.T) {
	covered := map[string]bool{}
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		w := newWorld()
		w.covered = covered
		return func(line string) string { return w.play(t, line) }
	})
	for _, row := range Table {
		for _, from := range row.From {
			if edge := fmt.Sprintf("%s on %s", from, row.On); !covered[edge] {
				t.Errorf("no trace covers the transition %q", edge)
			}
		}
	}
}

func (w *world) play(t *testing.T, line string) string {
	t.Helper()
	at, word, words := golden.Timed(t, line)
	w.now.Mono, w.now.Wall = at, noon.Add(at)
	if w.now.Fleet > 0 {
		w.now.Fleet = noon.Add(at)
	}
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	var rev int64
	if word == "desired" || word == "written" {
		if _, err := fmt.Sscan(arg(0), &rev); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	var in Input
	switch word {
	case "desired":
		in = w.desire(t, rev, words[1:])
	case "blob":
		b := Fetched{SHA256: w.digest(arg(0))}
		if acts := arg(1); strings.Contains(acts, "_") {
			b.Reason, b.Detail = schema.Reason(acts), "so it is"
		} else {
			b.Bytes = []byte(text(arg(0), acts))
		}
		in = b
	case "arriving":
		a := Arriving{SHA256: w.digest(arg(0))}
		if _, err := fmt.Sscan(arg(1), &a.Bytes); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		in = a
	case "file":
		f := Fetched{SHA256: w.digest(arg(0)), Reason: schema.Reason(arg(1))}
		if f.Stored = f.Reason == ""; f.Stored {
			w.stored[f.SHA256] = fileBytes
		} else {
			f.Detail = "so it is"
		}
		in = f
	case "written":
		in = Written{Rev: rev, Refused: schema.Reason(arg(1))}
	case "started":
		in = Started{w.digest(arg(0))}
	case "start-failed":
		in = StartFailed{SHA256: w.digest(arg(0)), Reason: schema.Reason(arg(1))}
	case "facts":
		w.facts = Facts{}
		for _, fact := range words {
			switch fact {
			case "performing":
				w.facts.Performing = true
			case "paused":
				w.facts.Paused = true
			case "between-acts":
				w.facts.BetweenActs = true
			case "interrupted":
				w.facts.Interrupted = true
			default:
				t.Fatalf("%q: unknown fact", line)
			}
		}
		in = Tick{}
	case "missing":
		clear(w.missing)
		for _, act := range strings.Split(arg(0), ",") {
			w.missing[act] = true
		}
		in = RobotChanged{"without " + arg(0)}
	case "clock": // the fleet's time is known from now on
		w.now.Fleet = noon.Add(at)
		in = Tick{}
	case "fleet-known":
		in = FleetKnown{arg(0)}
	case "deleted":
		in = DocumentDeleted{}
	case "adopt":
		in = Adopt{arg(0)}
	case "tick":
		in = Tick{}
	case "lose":
		w.blobs[w.digest(arg(0))] = []byte("worm eaten")
		delete(w.files, w.digest(arg(0)))
		return ""
	case "restart":
		digest := w.s.actsDigest
		if arg(0) != "" {
			digest = arg(0) // as a robot with other acts
		}
		return w.format(append(w.restart(digest), w.step(Tick{})...))
	default:
		t.Fatalf("%q: unknown input", line)
	}
	return w.format(w.step(in))
}

func text(name, acts string) string {
	return strings.TrimSpace(name + " " + strings.ReplaceAll(acts, ",", " "))
}

func (w *world) desire(t *testing.T, rev int64, words []string) (in Document) {
	t.Helper()
	d := Desired{Rev: rev, FleetID: "home", Apply: schema.ApplyNextAct}
	for _, word := range words {
		k, v, ok := strings.Cut(word, "=")
		switch {
		case !ok:
			name, acts, _ := strings.Cut(word, ":")
			d.Pin = w.pin(text(name, acts))
		case k == "apply":
			d.Apply = schema.Apply(v)
		case k == "fleet_id":
			d.FleetID = v
		case k == "until":
			until, err := time.ParseDuration(v)
			if err != nil {
				t.Fatal(err)
			}
			d.Deadline = noon.Add(until)
		case k == "refused":
			in.Refused, in.Detail = schema.Reason(v), "so it is"
		case k == "id":
			d.Pin.ID = v
		case k == "rev":
			if _, err := fmt.Sscan(v, &d.Pin.Rev); err != nil {
				t.Fatal(err)
			}
		case k == "size":
			if _, err := fmt.Sscan(v, &d.Pin.Size); err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatalf("%q: unknown option", word)
		}
	}
	in.Desired = d
	return in
}

func (w *world) format(effects []Effect) string {
	var b strings.Builder
	name := func(a *Accepted) string {
		if a == nil {
			return "-"
		}
		return a.Pin.ID
	}
	for _, e := range effects {
		switch e := e.(type) {
		case Fetch:
			what := "fetch"
			if e.File {
				what = "fetch the file"
			}
			fmt.Fprintf(&b, "  %s %s\n", what, w.names[e.SHA256])
		case StopFetch:
			fmt.Fprintf(&b, "  stop fetching %s\n", w.names[e.SHA256])
		case Save:
			w.save(e)
			fmt.Fprintf(&b, "  save desired state %d, active %s, previous %s, staged %s", e.Persisted.Desired.Rev, name(e.Persisted.Active),
				name(e.Persisted.Previous), name(e.Persisted.Staged))
			for i, blob := range e.Blobs {
				if i == 0 {
					fmt.Fprintf(&b, ", with %d bytes", len(blob.Bytes))
				} else {
					fmt.Fprintf(&b, " and %d of %s", len(blob.Bytes), w.names[blob.SHA256])
				}
			}
			b.WriteString("\n")
		case PublishReport:
			if e.On != "" {
				fmt.Fprintf(&b, "  %s -> %s on %s (%s)\n", e.From, e.To, e.On, e.Why)
			} else {
				fmt.Fprintf(&b, "  (%s)\n", e.Why)
			}
			b.WriteString("    report " + w.report(e.Report) + "\n")
		case RecordEvent:
			fmt.Fprintf(&b, "  note %s\n", strings.TrimSpace(string(e.Reason)+" "+e.Detail))
		}
	}
	playing, why := w.s.InUse()
	if playing != nil {
		fmt.Fprintf(&b, "  = playing %s\n", playing.Pin.ID)
	} else {
		fmt.Fprintf(&b, "  = playing nothing: %s\n", why)
	}
	return b.String()
}

func (w *world) report(r Report) string {
	s := fmt.Sprintf("rev %d %s", r.DesiredRev, r.Phase)
	for _, f := range []struct{ name, v string }{{"reason", string(r.Reason)}, {"retry", string(r.Retry)}, {"pointer", r.Pointer},
		{"detail", r.Detail}, {"fetching", w.names[r.Fetching]}} {
		if f.v != "" {
			s += fmt.Sprintf(" %s=%s", f.name, f.v)
		}
	}
	if r.Progress != nil && *r.Progress > 0 {
		s += fmt.Sprintf(" progress=%d%%", *r.Progress)
	}
	if r.Attempts > 1 {
		s += fmt.Sprintf(" attempts=%d", r.Attempts)
	}
	if r.Active != nil {
		s += fmt.Sprintf(" active=%s%v", r.Active.Pin.ID, r.Names)
		if len(r.Pruned) > 0 {
			s += fmt.Sprintf(" pruned=%v", r.Pruned)
		}
	}
	if r.Staged != nil {
		s += " staged=" + r.Staged.Pin.ID
	}
	if r.Previous != nil {
		s += " previous=" + r.Previous.Pin.ID
	}
	return s
}
