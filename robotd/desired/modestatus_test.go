package desired

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/fsm/fsmtest"
	"troupe/schema/golden"
)

func TestTableIsSound(t *testing.T) {
	fsmtest.Check(t, modeTable, schema.DeployIdle, modePhases)
}

func TestTableMatchesItsDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/desired.md", modeTable, schema.DeployIdle)
}

// TestTraces plays each script of testdata. A line is a time and an input; the indented
// line below it is the decision. The inputs are:
//
//	facts [active=MODE] [starting] [switching] [others=REASON] [story] [just-up]
//	desired REV MODE boot|now [retained]    answered STATUS [REASON]    boot-ended [REASON]    story?    adopted    restart
func TestTraces(t *testing.T) {
	covered := map[string]bool{}
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		var s modeStatus
		f := ModeFacts{Active: schema.ModeMnl, Settled: true}
		return func(line string) string {
			_, word, words := golden.Timed(t, line)
			arg := func(i int) string {
				if i < len(words) {
					return words[i]
				}
				return ""
			}
			var d modeDecision
			switch word {
			case "facts":
				f = ModeFacts{Settled: true}
				for _, w := range words {
					switch k, v, _ := strings.Cut(w, "="); k {
					case "active":
						f.Active = schema.ModeID(v)
					case "starting":
						f.Starting, f.Settled = true, false
					case "switching":
						f.Settled = false
					case "story":
						f.Story = true
					case "just-up":
						f.JustUp = true
					case "others":
						f.Prevented, f.Detail = schema.Reason(v), "so it is"
					default:
						t.Fatalf("%q: unknown fact", w)
					}
				}
				return ""
			case "restart":
				s = restart(s)
				return show(s, modeDecision{})
			case "desired":
				doc := desiredMode{Mode: schema.ModeID(arg(1)), Apply: schema.ApplyMode(arg(2))}
				if _, err := fmt.Sscan(arg(0), &doc.Rev); err != nil {
					t.Fatal(err)
				}
				d = s.newer(f, doc, arg(3) == "retained")
			case "answered":
				d = s.answered(f, schema.Verdict{Status: schema.Status(arg(0)), Reason: schema.Reason(arg(1))})
			case "boot-ended":
				d = s.startupEnded(f, schema.Reason(arg(0)))
			case "story?":
				d = s.followStory(f)
			case "adopted":
				d = s.adopted()
			default:
				t.Fatalf("%q: unknown input", line)
			}
			if d.Changed {
				covered[fmt.Sprintf("%s on %s", d.From, d.On)] = true
			}
			return show(s, d)
		}
	})
	for _, row := range modeTable {
		taken := false
		for _, from := range row.From {
			taken = taken || covered[fmt.Sprintf("%s on %s", from, row.On)]
		}
		if !taken {
			t.Errorf("no trace has a transition on %q", row.On)
		}
	}
}

func show(s modeStatus, d modeDecision) string {
	line := "  "
	if d.Changed {
		line += fmt.Sprintf("%s -> %s on %s (%s); ", d.From, d.To, d.On, d.Why)
	}
	line += fmt.Sprintf("%s %s %s", s.At(), s.Reason, s.Detail)
	if d.Ask {
		line += "; ask for " + string(s.Desired.Mode)
	}
	return strings.TrimRight(line, " ") + "\n"
}

func TestDesiredModeIsRequestedOnceAndOverrulesNoPerson(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s modeStatus
		asked := map[int64]int{}
		joined := false // the robot's first document was retained, and arrived just after start-up
		calm := false   // start-up ended without a story, and nothing has prevented the desired mode since
		for rev := int64(1); rev <= rapid.Int64Range(1, 12).Draw(t, "steps"); rev++ {
			f := ModeFacts{Active: rapid.SampledFrom([]schema.ModeID{"mnl", "ato", "safe"}).Draw(t, "active"),
				Starting: rapid.Bool().Draw(t, "starting"),
				Settled:  rapid.Bool().Draw(t, "settled"), Story: rapid.Bool().Draw(t, "story"), JustUp: rapid.Bool().Draw(t,
					"just up"), Prevented: rapid.SampledFrom([]schema.Reason{"", schema.ReasonLatched}).Draw(t, "others")}
			v := schema.Verdict{Status: rapid.SampledFrom([]schema.Status{schema.StatusSucceeded, schema.StatusRejected, schema.StatusFailed,
				schema.StatusAccepted}).Draw(t, "status"),
				Reason: rapid.SampledFrom([]schema.Reason{"", schema.ReasonNoDefaultStory}).Draw(t, "reason")}
			doc := desiredMode{Rev: rev, Mode: rapid.SampledFrom([]schema.ModeID{"mnl", "ato"}).Draw(t, "mode"),
				Apply: rapid.SampledFrom([]schema.ApplyMode{schema.ApplyModeBoot, schema.ApplyModeNow}).Draw(t, "apply")}
			if rapid.Bool().Draw(t, "restart") {
				s, calm = restart(s), false
				clear(asked)
			}
			what := rapid.SampledFrom([]string{"newer", "answered", "startup ended", "story", "adopted"}).Draw(t, "what")
			var d modeDecision
			switch what {
			case "newer":
				retained := rapid.Bool().Draw(t, "retained")
				joined = retained && f.JustUp && s.Desired.Rev == 0
				d = s.newer(f, doc, retained)
			case "answered":
				calm = calm || v.Reason == schema.ReasonNoDefaultStory && f.JustUp && s.At() == schema.DeployWaiting
				d = s.answered(f, v)
			case "startup ended":
				why := rapid.SampledFrom([]schema.Reason{"", schema.ReasonNoDefaultStory}).Draw(t, "why")
				d = s.startupEnded(f, why)
				calm = why == schema.ReasonNoDefaultStory && f.JustUp
			case "story":
				calm = calm && f.Prevented == "" && f.JustUp
				d = s.followStory(f)
			default:
				d = s.adopted()
			}
			if !d.Ask {
				continue
			}
			if what == "story" { // the request before was refused because there was none
				asked[s.Desired.Rev] = 0
			}
			if asked[s.Desired.Rev]++; asked[s.Desired.Rev] > 1 || f.Prevented != "" || what == "newer" &&
				(f.Starting || s.Desired.Apply != schema.ApplyModeNow && !joined) ||
				what != "newer" && (what != "story" || !calm || !f.Story || !f.Settled) {
				t.Fatalf("requested %+v on %s with %+v", s.Desired, what, f)
			}
		}
	})
}
