package act

import (
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// occupantRig has an executor whose first two lanes belong to one occupant and
// wait for their units' reports.
type occupantRig struct {
	t    *testing.T
	x    *Executor
	now  time.Duration
	outs []Effect
}

func newOccupantRig(t *testing.T) *occupantRig {
	h := &occupantRig{t: t, x: New(Config{Units: testUnits, Limits: Defaults(), Lanes: []LaneConfig{
		{Lane: "voice", Occupant: "hand", AwaitsReports: true}, {Lane: "noise", Occupant: "hand", AwaitsReports: true}, {Lane: story},
	}})}
	h.x.Gate(Gate{}, nil)
	return h
}

func (h *occupantRig) push(to Lane, a score.Action) {
	h.t.Helper()
	out, refused := h.x.Push(to, Entry{ID: string(to), Act: &score.Act{ID: string(to), Actions: []score.Action{a}}, Clear: true}, nil)
	if refused != nil {
		h.t.Fatalf("push to %s: %+v", to, *refused)
	}
	h.outs = append(h.outs, out...)
}

func (h *occupantRig) tick() {
	h.now += tick
	h.outs = h.x.Tick(h.now, h.outs)
}

// of returns the output of one kind for a lane.
func (h *occupantRig) of(l Lane, k Kind) (list []Effect) {
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

func TestLanesOfOneOccupantShareUnits(t *testing.T) {
	h := newOccupantRig(t)
	say := untilDone(score.Action{Do: score.Say{Text: score.Text{"en": "hello"}}})
	h.push(story, say)
	h.tick()
	h.push("voice", say)
	h.push("noise", untilDone(score.Action{Do: score.Sound{Sound: "chime"}}))
	h.tick()
	h.tick()
	if len(h.of("voice", Start)) != 1 || len(h.of("noise", Start)) != 1 || len(h.of("voice", Stop))+len(h.of("noise", Stop)) != 0 {
		t.Fatalf("the two lanes do not use the speaker together: %+v", h.outs)
	}
	if len(h.of(story, Start)) != 1 || len(h.of(story, Stop)) != 1 {
		t.Fatalf("the story was not interrupted: %+v", h.outs)
	}
	h.x.Reported(h.of("voice", Start)[0].Key, "", "", h.now)
	h.tick()
	if len(h.of(story, Start)) != 1 {
		t.Fatal("the story resumed while a lane of the occupant owns the unit")
	}
	h.x.Reported(h.of("noise", Start)[0].Key, "", "", h.now)
	h.tick()
	h.tick()
	if len(h.of(story, Start)) != 2 {
		t.Fatal("the story was not resumed")
	}
}

func TestLaneThatAwaitsReportsEndsWhenUnitReports(t *testing.T) {
	for _, c := range []struct {
		why  schema.Reason
		want Outcome
	}{{"", EntryCompleted}, {schema.ReasonUnitError, EntryFailed}} {
		h := newOccupantRig(t)
		h.push("voice", score.Action{Do: score.Face{Face: "smile"}})
		for range 10 {
			h.tick()
		}
		if len(h.of("voice", Start)) != 1 || len(h.of("voice", Ended)) != 0 {
			t.Fatalf("it did not wait for the unit's report: %+v", h.outs)
		}
		h.x.Reported(h.of("voice", Start)[0].Key, c.why, "", h.now)
		h.tick()
		if ended := h.of("voice", Ended); len(ended) != 1 || ended[0].Outcome != c.want || ended[0].Reason != c.why {
			t.Errorf("the unit reported %q, and the act ended %+v", c.why, ended)
		}
	}
}
