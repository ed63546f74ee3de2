package act

import (
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// handed is an executor whose first two lanes are one occupant that attends to
// its units.
type handed struct {
	t    *testing.T
	x    *Executor
	now  time.Duration
	outs []Out
}

func newHanded(t *testing.T) *handed {
	h := &handed{t: t, x: New(Config{Units: testUnits, Limits: Defaults(), Lanes: []LaneConfig{
		{Lane: "voice", Occupant: "hand", Attends: true}, {Lane: "noise", Occupant: "hand", Attends: true}, {Lane: story},
	}})}
	h.x.Gate(Gate{}, nil)
	return h
}

func (h *handed) push(to Lane, a score.Action) {
	h.t.Helper()
	out, refused := h.x.Push(to, Entry{ID: string(to), Act: &score.Act{ID: string(to), Actions: []score.Action{a}}, Clear: true}, nil)
	if refused != nil {
		h.t.Fatalf("push to %s: %+v", to, *refused)
	}
	h.outs = append(h.outs, out...)
}

func (h *handed) tick() {
	h.now += tick
	h.outs = h.x.Tick(h.now, h.outs)
}

// of are what was said of a lane, of one kind.
func (h *handed) of(l Lane, k Kind) (list []Out) {
	for _, o := range h.outs {
		if o.Lane == l && o.Kind == k {
			list = append(list, o)
		}
	}
	return list
}

func untilDone(a score.Action) score.Action {
	limit := int64(10_000)
	a.TimeoutMS = &limit
	return a
}

func TestLanesOfOneOccupantShareAUnit(t *testing.T) {
	h := newHanded(t)
	say := untilDone(score.Action{Type: score.TypeSay, Text: score.Text{"en": "hello"}})
	h.push(story, say)
	h.tick()
	h.push("voice", say)
	h.push("noise", untilDone(score.Action{Type: score.TypeSound, Sound: "chime"}))
	h.tick()
	h.tick()
	if len(h.of("voice", Start)) != 1 || len(h.of("noise", Start)) != 1 || len(h.of("voice", Stop))+len(h.of("noise", Stop)) != 0 {
		t.Fatalf("the two do not speak at a time: %+v", h.outs)
	}
	if len(h.of(story, Start)) != 1 || len(h.of(story, Stop)) != 1 {
		t.Fatalf("the story did not give its unit away: %+v", h.outs)
	}
	h.x.Done(h.of("voice", Start)[0].Key, "", "", h.now)
	h.tick()
	if len(h.of(story, Start)) != 1 {
		t.Fatal("the story speaks while half of the occupant has the unit")
	}
	h.x.Done(h.of("noise", Start)[0].Key, "", "", h.now)
	h.tick()
	h.tick()
	if len(h.of(story, Start)) != 2 {
		t.Fatal("the story does not get its unit back")
	}
}

func TestALaneThatAttendsEndsWhenItsUnitHasSpoken(t *testing.T) {
	for _, c := range []struct {
		why  schema.Reason
		want Outcome
	}{{"", EntryCompleted}, {schema.ReasonUnitError, EntryFailed}} {
		h := newHanded(t)
		h.push("voice", score.Action{Type: score.TypeFace, Face: "smile"})
		for range 10 {
			h.tick()
		}
		if len(h.of("voice", Start)) != 1 || len(h.of("voice", Ended)) != 0 {
			t.Fatalf("it did not wait for its unit: %+v", h.outs)
		}
		h.x.Done(h.of("voice", Start)[0].Key, c.why, "", h.now)
		h.tick()
		if ended := h.of("voice", Ended); len(ended) != 1 || ended[0].Outcome != c.want || ended[0].Reason != c.why {
			t.Errorf("the unit said %q, and the act ended %+v", c.why, ended)
		}
	}
}
