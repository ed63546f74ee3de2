package act

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"troupe/schema"
	"troupe/schema/golden"
	"troupe/schema/score"
)

// TestTraces plays each script in testdata. A line is a time and an input; the
// indented lines below it are the executor's output since the line before. Between
// two lines it ticks every 20 ms, or at the interval set with "every". The acts
// follow below the script.
func TestTraces(t *testing.T) {
	golden.CheckScripts(t, "testdata/*.txtar", func(t *testing.T, script string) string {
		archive := txtar.Parse([]byte(script))
		p := &play{rig: newRig(t), acts: map[string]*score.Act{}, every: tick}
		for _, f := range archive.Files {
			a, problems := score.ParseAct(f.Data)
			if len(problems) > 0 {
				t.Fatalf("%s: %v", f.Name, problems)
			}
			p.acts[strings.TrimSuffix(f.Name, ".yaml")] = &a
		}
		archive.Comment = []byte(golden.RewriteOutput(string(archive.Comment), func(line string) (before, after string) {
			return p.until(line), p.line(line)
		}))
		return string(txtar.Format(archive))
	})
}

type play struct {
	*rig
	acts  map[string]*score.Act
	every time.Duration
	late  bool
}

// until ticks up to the time of a line.
func (p *play) until(line string) string {
	at, err := time.ParseDuration(strings.Fields(line)[0])
	if err != nil || at < p.now {
		p.t.Fatalf("%q: time is earlier than the line before", line)
	}
	var b strings.Builder
	for next := p.now.Truncate(p.every) + p.every; next <= at && !p.late; next += p.every {
		p.now = next
		p.check(p.x.Tick(next, nil))
		b.WriteString(p.flushOuts())
	}
	p.now, p.late = at, false
	return b.String()
}

func (p *play) line(line string) string {
	f := strings.Fields(line)[1:]
	args := map[string]string{}
	var words []string
	for _, w := range f[1:] {
		if k, v, ok := strings.Cut(w, "="); ok {
			args[k] = v
		} else {
			words = append(words, w)
		}
	}
	word := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	lane := Lane(word(0))
	switch f[0] {
	case "tick":
		p.check(p.x.Tick(p.now, nil))
	case "every":
		p.every, _ = time.ParseDuration(word(0))
	case "late": // no ticks up to the next line
		p.late = true
	case "push":
		e := Entry{ID: word(1), Act: p.acts[word(2)], Languages: []string{args["language"]}, OnResume: score.OnResume(args["on_resume"]),
			Clear: word(3) == "clear", FinishBeforePause: word(3) == "finish"}
		if guest, ok := args["guest"]; ok {
			e.With = map[string]string{"guest": guest}
		}
		outs, refusal := p.x.Push(lane, e, nil)
		p.check(outs)
		if refusal != nil {
			return fmt.Sprintf("  refused %s at %s: %s\n", refusal.Reason, refusal.Pointer, refusal.Detail)
		}
	case "done":
		p.done(word(0))
	case "failed":
		p.report(word(0), schema.Reason(word(1)))
	case "pause":
		how := AtOnce
		if word(1) != "" {
			how = Pausing(word(1))
		}
		p.check(p.x.Pause(lane, how, p.now, nil))
	case "resume":
		p.x.Resume(lane, p.now)
	case "cancel":
		p.check(p.x.Cancel(lane, word(1), schema.ReasonStopped, nil))
	case "gate":
		p.setGate(map[string]Gate{
			"open": {}, "closed": {Moves: schema.ReasonSafetyDisabled},
			"e-stop":        {Moves: schema.ReasonNeedsReset, Sounds: schema.ReasonNeedsReset},
			"service-moves": {Moves: schema.ReasonStopped, Mover: service}, "service-speaks": {Moves: schema.ReasonNeedsReset,
				Sounds: schema.ReasonNeedsReset, Speaker: service},
		}[word(0)])
	case "revoke":
		p.check(p.x.SetUnitDisabled(word(0), "it is broken", nil))
	case "restore":
		p.check(p.x.SetUnitDisabled(word(0), "", nil))
	case "view":
		return p.flushOuts() + fmt.Sprintf("  %+v\n", p.x.View(lane))
	default:
		p.t.Fatalf("%q: unknown input", line)
	}
	for _, l := range testConfig.Lanes {
		p.a.paused[l.Lane] = p.x.View(l.Lane).Paused
	}
	return p.flushOuts()
}

// flushOuts returns the output since the last call.
func (p *play) flushOuts() string {
	var b strings.Builder
	for _, o := range p.outs {
		fmt.Fprintf(&b, "  %5dms %s %s/%s", p.now.Milliseconds(), o.Kind, o.Lane, o.Entry)
		if o.Action != "" {
			fmt.Fprintf(&b, " %s", o.Action)
		}
		switch o.Kind {
		case Start:
			fmt.Fprintf(&b, " on %s", o.Unit)
			if o.Text != "" {
				fmt.Fprintf(&b, " %q", o.Text)
			}
			if len(o.Choices) > 0 {
				fmt.Fprintf(&b, " choices %q", o.Choices)
			}
			if o.From != 0 {
				fmt.Fprintf(&b, " from %v", o.From)
			}
			if !o.Holds {
				b.WriteString(" for good")
			}
		case Ended:
			fmt.Fprintf(&b, " %s", o.Outcome)
			if o.Begun {
				fmt.Fprintf(&b, " after %v", o.Lasted)
			}
		case Warned:
			fmt.Fprintf(&b, " %s", o.Warning)
		}
		if o.Reason != "" {
			fmt.Fprintf(&b, " (%s)", o.Reason)
		}
		if o.Detail != "" {
			fmt.Fprintf(&b, ": %s", o.Detail)
		}
		b.WriteString("\n")
	}
	p.outs = p.outs[:0]
	return b.String()
}
