package auto

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
	"troupe/schema"
)

var stories = []Story{
	{}, {ID: "none", Rev: 1},
	{ID: "a", Rev: 1, Acts: 1}, {ID: "a", Rev: 2, Acts: 3, Times: 2}, {ID: "b", Rev: 1, Acts: 2, Times: 1, OnError: Stop},
	{ID: "c", Rev: 1, Acts: 2, OnError: Retry, Retries: 1},
}

// walk calls Step with random inputs.
func walk(t *rapid.T, see func(was, s State, f Facts, in Input, d Decision)) {
	s, now, f := Boot(), time.Duration(0), Facts{}
	hold := func(label string) PauseCause {
		return PauseCause{Present: rapid.IntRange(0, 4).Draw(t, label) == 0, Sticky: rapid.Bool().Draw(t, label+" sticky"),
			Reason: schema.ReasonLinkLost}
	}
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		now += time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond
		if rapid.IntRange(0, 4).Draw(t, "new story") == 0 {
			f.Story = rapid.SampledFrom(stories).Draw(t, "story")
			f.Apply = rapid.SampledFrom([]schema.Apply{"", schema.ApplyNextAct, schema.ApplyNow, schema.ApplyNextStart}).Draw(t, "apply")
			f.Place = Place{Revision: rapid.Bool().Draw(t, "revision"), Act: rapid.IntRange(0, f.Story.Acts).Draw(t, "place")}
			f.Place.Kept = f.Place.Act < f.Story.Acts && rapid.Bool().Draw(t, "kept")
			f.Place.Same = f.Place.Kept && rapid.Bool().Draw(t, "same")
		}
		if rapid.IntRange(0, 3).Draw(t, "new facts") == 0 {
			f.Safety, f.Safeguard, f.LinkLost = hold("safety"), hold("guard"), hold("link")
		}
		in := Input{
			What: rapid.SampledFrom([]What{Tick, Enter, Enter, Leave, StartStory, StartStory, StopStory, SkipAct, SkipAct, Pause, Pause, Continue,
				Continue, ActDone, ActDone, ActFailed, Acquire, Release}).Draw(t, "what"),
			Client: rapid.SampledFrom([]string{"op1", "op2"}).Draw(t, "client"), Req: rapid.StringMatching("[a-e]").Draw(t, "req"),
			Kind: rapid.SampledFrom([]Kind{ByInterrupt, ByActivity}).Draw(t, "kind"), Key: rapid.StringMatching("[a-c]").Draw(t, "key"),
		}
		if held := s.Held(); len(held) > 0 && rapid.Bool().Draw(t, "by name") {
			in.Token = rapid.SampledFrom(held).Draw(t, "token").Name()
		}
		was := s
		d := Step(&s, now, Defaults(), f, in)
		see(was, s, f, in, d)
	}
}

func TestPausedExactlyWhileTokenIsHeld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, s State, f Facts, in Input, d Decision) {
			if s.Count() < 0 {
				t.Fatalf("%d tokens", s.Count())
			}
			// There is one transition per step; further ones follow with the next ticks.
			settled := s
			for range 3 {
				Step(&settled, s.Since+time.Hour, Defaults(), f, Input{What: Tick})
			}
			if settled.Status == schema.AutoPerforming && settled.Count() > 0 || settled.Status == schema.AutoPaused && settled.Count() == 0 {
				t.Fatalf("%s with %d tokens after %s", settled.Status, settled.Count(), in.What)
			}
			if d.Begin && s.Count() > 0 {
				t.Fatalf("an act begins while %s is held", s.Held()[0].Name())
			}
		})
	})
}

func TestEveryTokenIsReleasedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		held := map[string]int{}
		walk(t, func(was, s State, f Facts, in Input, d Decision) {
			for _, tok := range d.Acquired {
				held[tok.Name()]++
			}
			for _, tok := range d.Released {
				held[tok.Name()]--
			}
			total := 0
			for name, n := range held {
				if n < 0 || n > 1 {
					t.Fatalf("%s is held %d times after %s", name, n, in.What)
				}
				total += n
			}
			if total != s.Count() {
				t.Fatalf("%d tokens are held, %d by the decisions", s.Count(), total)
			}
			if s.Status == schema.AutoNotActive {
				for _, tok := range s.Held() {
					if tok.Kind != ByOperator {
						t.Fatalf("%s is held while ato is not active", tok.Name())
					}
				}
			}
		})
	})
}

func TestUnnamedContinueReleasesOnlyOwnPause(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, s State, f Facts, in Input, d Decision) {
			if in.What != Continue {
				return
			}
			asked := 0
			for _, tok := range d.Released {
				if tok.Kind == ByOperator {
					asked++
					if tok.Client != in.Client && tok.Name() != in.Token {
						t.Fatalf("%s released %s", in.Client, tok.Name())
					}
				}
			}
			if asked > 1 {
				t.Fatalf("one continue released %d pauses", asked)
			}
		})
	})
}

func TestActsBeginOneAfterAnother(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		running := false
		walk(t, func(was, s State, f Facts, in Input, d Decision) {
			if in.What == ActDone || in.What == ActFailed {
				running = false
			}
			if d.Cancel {
				running = false
			}
			if d.Begin && running {
				t.Fatalf("a second act begins after %s", in.What)
			}
			running = running || d.Begin
			if running != s.Begun {
				t.Fatalf("an act runs: %v, ato has %v after %s", running, s.Begun, in.What)
			}
			if d.Begin && (s.Status != schema.AutoPerforming || s.Act >= s.Story.Acts) {
				t.Fatalf("act %d of %d begins in %s", s.Act, s.Story.Acts, s.Status)
			}
			if (s.Status == schema.AutoNotActive || s.Status == schema.AutoStopped) && (s.Begun || s.Act != 0) {
				t.Fatalf("%s at act %d, begun %v", s.Status, s.Act, s.Begun)
			}
		})
	})
}

func TestRefusedRequestChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, s State, f Facts, in Input, d Decision) {
			if d.Answer.Status != schema.StatusRejected {
				return
			}
			// Apply the changes that the facts alone cause.
			without := was
			Step(&without, s.Since, Defaults(), f, Input{What: Tick})
			if without.Status != s.Status || without.Count() != s.Count() || without.Act != s.Act {
				t.Fatalf("%s was refused and changed %+v to %+v", in.What, without, s)
			}
		})
	})
}

func TestManyPausesLeaveRoomForSafetyTokens(t *testing.T) {
	s, f := Boot(), Facts{Story: Story{ID: "a", Acts: 1}}
	Step(&s, 0, Defaults(), f, Input{What: Enter})
	for i := range 40 {
		Step(&s, 0, Defaults(), f, Input{What: Pause, Client: "op1", Req: string(rune('A' + i))})
		Step(&s, 0, Defaults(), f, Input{What: Acquire, Kind: ByInterrupt, Key: string(rune('A' + i))})
	}
	f.Safety, f.Safeguard, f.LinkLost = PauseCause{Present: true}, PauseCause{Present: true}, PauseCause{Present: true}
	Step(&s, 0, Defaults(), f, Input{What: Tick})
	if held := s.Held(); len(held) != MaxTokens || held[0].Kind != BySafety || held[1].Kind != BySafeguard || held[2].Kind != ByLink {
		t.Errorf("%d tokens, first %v", len(held), held[:3])
	}
}

func TestTickWithoutChangeDoesNotAllocate(t *testing.T) {
	s, f := Boot(), Facts{Story: Story{ID: "a", Acts: 1}}
	Step(&s, 0, Defaults(), f, Input{What: Enter})
	if n := testing.AllocsPerRun(100, func() { Step(&s, time.Second, Defaults(), f, Input{What: Tick}) }); n != 0 {
		t.Errorf("%v allocations a step", n)
	}
}

// TestDecisionSaysThatMoreIsAsked holds a decision to what robotd saves by it: whatever holds the story more than
// before is in one that says so.
func TestDecisionSaysThatMoreIsAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(was, s State, f Facts, in Input, d Decision) {
			wall := func(since time.Duration) schema.Time { return schema.Time(since.Milliseconds() + 1) }
			old, now := was.Asked(wall), s.Asked(wall)
			more := now.Stopped && !old.Stopped || now.NeedsContinue && !old.NeedsContinue || len(now.Pauses) > len(old.Pauses)
			if more && !d.Changed && !d.Stuck && len(d.Acquired) == 0 {
				t.Fatalf("%s: people asked %+v, and %+v before it, but the decision is %+v", in.What, now, old, d)
			}
		})
	})
}

// TestRestartUndoesNothingThatPeopleAsked enters ato without a request, as at boot, after any inputs.
func TestRestartUndoesNothingThatPeopleAsked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walk(t, func(_, s State, f Facts, in Input, _ Decision) {
			f.EntryRefused, f.Story = "", stories[3]
			wall := func(since time.Duration) schema.Time { return schema.Time(since.Milliseconds() + 1) }
			asked, restarted := s.Asked(wall), Boot()
			restarted.Restore(asked)
			entered := Step(&restarted, 0, Defaults(), f, Input{What: Enter})
			if still := asked.Stopped || asked.NeedsContinue || len(asked.Pauses) > 0; still && entered.Begin {
				t.Fatalf("an act begins after a restart, after %s and %+v", in.What, asked)
			}
			got := restarted.Asked(wall)
			if got.Stopped != asked.Stopped || asked.NeedsContinue && !got.NeedsContinue || !slices.Equal(got.Pauses, asked.Pauses) {
				t.Fatalf("after a restart people asked %+v, before it %+v", got, asked)
			}
		})
	})
}
