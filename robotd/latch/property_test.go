package latch

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"troupe/schema"
)

var ids = []string{"a", "b", "wall1"}

func drawStops(t *rapid.T) []schema.StopLatch {
	var out []schema.StopLatch
	for _, id := range ids {
		if rapid.Bool().Draw(t, id) {
			out = append(out, schema.StopLatch{ID: id, Level: rapid.SampledFrom([]schema.StopLevel{schema.StopSoft, schema.StopStop, schema.StopHalt}).Draw(t, "level")})
		}
	}
	return out
}

func drawDocument(t *rapid.T) Document {
	d := Document{
		From: rapid.SampledFrom([]Source{Robot, Fleet}).Draw(t, "from"), Rev: rapid.Int64Range(1, 12).Draw(t, "rev"),
		Authority: rapid.SampledFrom([]string{"desk", "desk", "desk", "other"}).Draw(t, "authority"), Stops: drawStops(t),
	}
	if rapid.IntRange(0, 5).Draw(t, "garbled") == 0 {
		return Document{From: d.From, Problem: "syntax"}
	}
	return d
}

func has(s *State, id string) bool { return s.find(id) != nil }

// TestNothingFreesALatchButAReleaseByWhoMay looks at every way a latch can go and
// asks whether one who may let go of it did.
func TestNothingFreesALatchButAReleaseByWhoMay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s State
		f := Facts{Robot: "r1", Authority: "desk"}
		newest := map[Source]int64{}          // revisions of the robot's own fleet that were taken
		wrote := map[string]map[Source]bool{} // by id: which of its documents has it, since it was last asked for
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			before := slices.Clone(s.Latches)
			var in Input
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				id := rapid.SampledFrom(ids).Draw(t, "id")
				in = Asked{StopLatch: schema.StopLatch{ID: id, Level: schema.StopStop}, Anew: id == "wall1"}
			case 1:
				in = Reset{}
			default:
				in = drawDocument(t)
			}
			d := Step(&s, 0, f, in)
			doc, isDoc := in.(Document)
			own := isDoc && doc.Problem == "" && doc.Authority == "desk"
			for _, l := range before {
				if has(&s, l.ID) {
					continue
				}
				switch in.(type) {
				case Asked:
					t.Fatalf("a stop released %s", l.ID)
				case Reset:
					if len(wrote[l.ID]) > 0 {
						t.Fatalf("a reset at the robot released %s, which the desk holds", l.ID)
					}
					continue
				}
				switch {
				case !own:
					t.Fatalf("%s was released by %+v", l.ID, doc)
				case doc.Rev <= newest[doc.From]:
					t.Fatalf("%s was released by revision %d after %d", l.ID, doc.Rev, newest[doc.From])
				case l.ID == illegibleID(doc.From):
				case !wrote[l.ID][doc.From] || len(wrote[l.ID]) > 1:
					t.Fatalf("%s was released by a document that did not hold it alone: %v", l.ID, wrote[l.ID])
				}
			}
			// What was asked for is held.
			switch in := in.(type) {
			case Asked:
				if !has(&s, in.ID) {
					t.Fatalf("%s is not held", in.ID)
				}
			case Document:
				if in.Problem != "" && !has(&s, illegibleID(in.From)) {
					t.Fatal("an unreadable stop does not hold")
				}
				for _, stop := range in.Stops {
					if !has(&s, stop.ID) && d.Ignored != schema.ReasonStaleRevision {
						t.Fatalf("%s is not held", stop.ID)
					}
				}
			}
			// The model of who wrote what down.
			if a, ok := in.(Asked); ok && a.Anew {
				delete(wrote, a.ID)
			}
			if own && doc.Rev > newest[doc.From] {
				newest[doc.From] = doc.Rev
				for _, set := range wrote {
					delete(set, doc.From)
				}
				for _, stop := range doc.Stops {
					if wrote[stop.ID] == nil {
						wrote[stop.ID] = map[Source]bool{}
					}
					wrote[stop.ID][doc.From] = true
				}
			} else if own && doc.Rev == newest[doc.From] {
				for _, stop := range doc.Stops {
					if !slices.ContainsFunc(before, func(l Latch) bool { return l.ID == stop.ID }) {
						if wrote[stop.ID] == nil {
							wrote[stop.ID] = map[Source]bool{}
						}
						wrote[stop.ID][doc.From] = true
					}
				}
			}
			for id := range wrote {
				if len(wrote[id]) == 0 || !has(&s, id) {
					delete(wrote, id)
				}
			}
		}
	})
}

func TestLatchesThatNobodyWritesDownAreBounded(t *testing.T) {
	var s State
	for i := range 10 * MaxLoose {
		level := schema.StopStop
		if i == 5*MaxLoose {
			level = schema.StopHalt
		}
		Step(&s, 0, Facts{}, Asked{StopLatch: schema.StopLatch{ID: string(rune('a' + i)), Level: level}})
	}
	if len(s.Latches) != MaxLoose+1 {
		t.Errorf("%d latches are held", len(s.Latches))
	}
	if more := s.find(MoreID); more == nil || more.Level != schema.StopHalt {
		t.Errorf("the rest is held as %+v", more)
	}
}

func TestWhomALiveStopMeans(t *testing.T) {
	at := Facts{Robot: "r1", Labels: map[string]string{"site": "museum"}, Labelled: true}
	for _, c := range []struct {
		r    schema.StopRequest
		f    Facts
		want bool
	}{
		{schema.StopRequest{}, at, true},
		{schema.StopRequest{Robots: []string{"r1", "r2"}}, at, true},
		{schema.StopRequest{Robots: []string{"r2"}}, at, false},
		{schema.StopRequest{Labels: map[string]string{"site": "museum"}}, at, true},
		{schema.StopRequest{Labels: map[string]string{"site": "shop"}}, at, false},
		{schema.StopRequest{Labels: map[string]string{"site": "museum", "floor": "2"}}, at, false},
		{schema.StopRequest{Labels: map[string]string{"site": "shop"}}, Facts{Robot: "r1"}, true},
		{schema.StopRequest{Robots: []string{"r1"}, Labels: map[string]string{"site": "shop"}}, at, true},
	} {
		if got := Applies(c.r, c.f); got != c.want {
			t.Errorf("%+v means %+v: %v", c.r, c.f, got)
		}
	}
}
