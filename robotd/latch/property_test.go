package latch

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"troupe/robotd/event"
	"troupe/schema"
)

var ids = []string{"a", "b", "wall1"}

func drawStops(t *rapid.T) []schema.StopLatch {
	var out []schema.StopLatch
	for _, id := range ids {
		if rapid.Bool().Draw(t, id) {
			out = append(out, schema.StopLatch{ID: id, Level: rapid.SampledFrom([]schema.StopLevel{schema.StopSoft, schema.StopStop,
				schema.StopHalt}).Draw(t, "level")})
		}
	}
	return out
}

func drawDocument(t *rapid.T) Document {
	d := Document{StopDocument: event.StopDocument{From: rapid.SampledFrom([]event.StopSource{event.RobotStops, event.FleetStops}).Draw(t,
		"from"), Rev: rapid.Int64Range(1, 12).Draw(t, "rev"),
		FleetID: rapid.SampledFrom([]string{"fleetd", "fleetd", "fleetd", "other"}).Draw(t, "fleet_id"), Stops: drawStops(t)},
		Verification: rapid.SampledFrom([]Verification{Verified, Verified, Verified, Replayed, Unverified}).Draw(t, "verification")}
	if rapid.IntRange(0, 5).Draw(t, "garbled") == 0 {
		return Document{StopDocument: event.StopDocument{From: d.From, Problem: "syntax"}}
	}
	return d
}

func has(s *Latched, id string) bool { return s.find(id) != nil }

// TestOnlyAuthorizedReleasesFreeALatch looks at every way a latch can go and
// asks whether one who may release it did.
func TestOnlyAuthorizedReleasesFreeALatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Latched
		f := Facts{Robot: "r1", FleetID: "fleetd"}
		newest := map[event.StopSource]int64{} // revisions of the robot's own fleet that were taken
		// by id: the revision of each of its documents that named it last, since it was last asked for
		wrote := map[string]map[event.StopSource]int64{}
		released := map[string]map[event.StopSource]int64{} // by id: the newest revision of each that release it
		past := map[string]map[event.StopSource]int64{}     // by id: the newest revisions when it was asked for anew
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			before := slices.Clone(s.Latches)
			var in Input
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				id := rapid.SampledFrom(ids).Draw(t, "id")
				in = Asked{StopLatch: schema.StopLatch{ID: id, Level: schema.StopStop}, Anew: id == "wall1"}
			case 1:
				in = LocalRelease{}
			default:
				in = drawDocument(t)
			}
			s.step(0, f, in)
			doc, isDoc := in.(Document)
			own := isDoc && doc.Problem == "" && doc.FleetID == "fleetd"
			for _, l := range before {
				if has(&s, l.ID) {
					continue
				}
				switch in.(type) {
				case Asked:
					t.Fatalf("a stop released %s", l.ID)
				case LocalRelease:
					if len(wrote[l.ID]) > 0 {
						t.Fatalf("a release at the robot released %s, which fleetd holds", l.ID)
					}
					continue
				}
				switch {
				case !own:
					t.Fatalf("%s was released by %+v", l.ID, doc)
				case doc.Verification != Verified:
					t.Fatalf("%s was released by an unverified document: %+v", l.ID, doc)
				case l.ID == unreadableID(doc.From):
					if doc.Rev <= newest[doc.From] {
						t.Fatalf("%s was released by revision %d after %d", l.ID, doc.Rev, newest[doc.From])
					}
				case wrote[l.ID][doc.From] == 0 || len(wrote[l.ID]) > 1 || doc.Rev <= wrote[l.ID][doc.From]:
					t.Fatalf("%s was released by revision %d of %s, which did not hold it alone before: %v", l.ID, doc.Rev, doc.From, wrote[l.ID])
				}
			}
			// What was asked for is held.
			switch in := in.(type) {
			case Asked:
				if !has(&s, in.ID) {
					t.Fatalf("%s is not held", in.ID)
				}
			case Document:
				if in.Problem != "" && !has(&s, unreadableID(in.From)) {
					t.Fatal("an unreadable stop does not hold")
				}
				for _, stop := range in.Stops {
					if !has(&s, stop.ID) && in.Rev >= released[stop.ID][in.From] {
						t.Fatalf("%s is not held", stop.ID)
					}
				}
			}
			// The model of who wrote what down.
			if a, ok := in.(Asked); ok && a.Anew {
				delete(wrote, a.ID)
				past[a.ID] = maps.Clone(newest)
			}
			if own && doc.Verification != Unverified {
				named := map[string]bool{}
				for _, stop := range doc.Stops {
					named[stop.ID] = true
					unrecorded := len(wrote[stop.ID]) == 0 && slices.ContainsFunc(before, func(l Latch) bool { return l.ID == stop.ID })
					if doc.Rev < released[stop.ID][doc.From] || unrecorded && doc.Rev <= past[stop.ID][doc.From] {
						continue
					}
					if wrote[stop.ID] == nil {
						wrote[stop.ID] = map[event.StopSource]int64{}
					}
					wrote[stop.ID][doc.From] = max(wrote[stop.ID][doc.From], doc.Rev)
				}
				for id, by := range wrote {
					if doc.Verification == Verified && !named[id] && by[doc.From] > 0 && by[doc.From] < doc.Rev {
						delete(by, doc.From)
						if released[id] == nil {
							released[id] = map[event.StopSource]int64{}
						}
						released[id][doc.From] = doc.Rev
					}
				}
				if doc.Verification == Verified {
					newest[doc.From] = max(newest[doc.From], doc.Rev)
				}
			}
			for id := range past {
				if !has(&s, id) {
					delete(past, id)
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

// A fleetd instance latches and releases stops, each document the whole set under the next
// revision, and a network that brings them in any order, twice or not at all.
func TestNewestDocumentDecidesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var published []Document // by fleetd, in its order
		held := map[string]bool{}
		for rev := range rapid.Int64Range(1, 12).Draw(t, "documents") {
			for _, id := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 3).Draw(t, "changes") {
				held[id] = !held[id]
			}
			doc := Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: rev + 1, FleetID: "fleetd"}}
			for id, is := range held {
				if is {
					doc.Stops = append(doc.Stops, schema.StopLatch{ID: id, Level: schema.StopStop})
				}
			}
			published = append(published, doc)
		}
		var s Latched
		f := Facts{Robot: "r1", FleetID: "fleetd"}
		var newest Document
		left := map[string]int64{} // the newest revision that this robot saw release it
		for range rapid.IntRange(1, 30).Draw(t, "deliveries") {
			doc := rapid.SampledFrom(published).Draw(t, "document")
			doc.Verification = rapid.SampledFrom([]Verification{Verified, Verified, Verified, Replayed}).Draw(t, "verification")
			if doc.Rev >= newest.Rev {
				doc.Verification = Verified // the newest one was never published before
			}
			before := s.Latches
			s.Latches = slices.Clone(before)
			s.step(0, f, doc)
			names := func(d Document, id string) bool {
				return slices.ContainsFunc(d.Stops, func(l schema.StopLatch) bool { return l.ID == id })
			}
			if doc.Rev >= newest.Rev {
				newest = doc
			}
			for _, stop := range newest.Stops {
				if !has(&s, stop.ID) {
					t.Fatalf("revision %d is the newest that came, and its %s is not held after revision %d", newest.Rev, stop.ID, doc.Rev)
				}
			}
			if doc.Rev == newest.Rev && len(s.Latches) != len(newest.Stops) {
				t.Fatalf("revision %d came and holds %v; held are %+v", doc.Rev, newest.Stops, s.Latches)
			}
			for _, l := range before {
				if has(&s, l.ID) {
					continue
				}
				if names(doc, l.ID) || doc.Verification != Verified || l.ByRobot >= doc.Rev {
					t.Fatalf("%s, which revision %d held, was lost to revision %d", l.ID, l.ByRobot, doc.Rev)
				}
				left[l.ID] = max(left[l.ID], doc.Rev)
			}
			for _, l := range s.Latches {
				if was := slices.ContainsFunc(before, func(w Latch) bool { return w.ID == l.ID }); !was && doc.Rev < left[l.ID] {
					t.Fatalf("%s, which revision %d release, is held again by revision %d", l.ID, left[l.ID], doc.Rev)
				}
			}
			if wall := rapid.IntRange(0, 9).Draw(t, "restart"); wall == 0 { // from the disk
				text, err := json.Marshal(&s)
				if err == nil {
					s = Latched{}
					err = json.Unmarshal(text, &s)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// A fleetd instance that begins to lead publishes the newest documents first, and what it
// had not published after them: a stop that was persisted and released meanwhile is released.
func TestStopReleasedBeforeItsDocumentIsReleased(t *testing.T) {
	var s Latched
	f := Facts{Robot: "r1", FleetID: "fleetd"}
	named := func(rev int64, ids ...string) Document {
		d := Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: rev, FleetID: "fleetd"}}
		for _, id := range ids {
			d.Stops = append(d.Stops, schema.StopLatch{ID: id, Level: schema.StopStop})
		}
		return d
	}
	s.step(0, f, Asked{StopLatch: schema.StopLatch{ID: "s-1", Level: schema.StopStop}})
	for _, doc := range []Document{named(8), named(7, "s-1"), named(8)} {
		s.step(0, f, doc)
	}
	if has(&s, "s-1") {
		t.Error("it was written down and released, and holds")
	}
	// Under an id that names many stops that may be another one.
	s.step(0, f, Asked{StopLatch: schema.StopLatch{ID: "wall1", Level: schema.StopStop}, Anew: true})
	for _, doc := range []Document{named(8), named(7, "wall1"), named(8)} {
		s.step(0, f, doc)
	}
	if !has(&s, "wall1") {
		t.Error("what was asked for later than the documents was released by them")
	}
}

func TestStopInOlderDocumentSurvivesNewerDocument(t *testing.T) {
	var s Latched
	f := Facts{Robot: "r1", FleetID: "fleetd"}
	// Somebody wrote one manually, and was generous with the revision.
	s.step(0, f, Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 1 << 50, FleetID: "fleetd"}})
	s.step(0, f, Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 7, FleetID: "fleetd",
		Stops: []schema.StopLatch{{ID: "a", Level: schema.StopStop}}}})
	if !has(&s, "a") {
		t.Error("fleetd's stop does not hold")
	}
	s.step(0, f, Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 8, FleetID: "fleetd"}})
	if has(&s, "a") {
		t.Error("fleetd does not get its stop released")
	}
	s.step(0, f, Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 7, FleetID: "fleetd",
		Stops: []schema.StopLatch{{ID: "a", Level: schema.StopStop}}}})
	if has(&s, "a") {
		t.Error("an old copy holds it again")
	}
}

func TestRememberedReleasesAreBoundedAndStayReleased(t *testing.T) {
	var s Latched
	f := Facts{Robot: "r1", FleetID: "fleetd"}
	of := func(i int) Document {
		return Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: int64(2 * i), FleetID: "fleetd",
			Stops: []schema.StopLatch{{ID: fmt.Sprint("s", i), Level: schema.StopStop}}}}
	}
	const n = 3 * MaxReleases
	for i := 1; i <= n; i++ {
		s.step(0, f, of(i))
		s.step(0, f, Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: int64(2*i + 1), FleetID: "fleetd"}})
	}
	if len(s.Releases) != MaxReleases || len(s.Latches) != 0 {
		t.Fatalf("%d releases are remembered, %d stops held", len(s.Releases), len(s.Latches))
	}
	for i := 1; i <= n; i++ {
		if s.step(0, f, of(i)); len(s.Latches) != 0 {
			t.Fatalf("the copy of revision %d holds again", 2*i)
		}
	}
}

func TestUnverifiedDocumentLatchesAndReleasesNothing(t *testing.T) {
	var s Latched
	f := Facts{Robot: "r1", FleetID: "fleetd"}
	stop := func(id string) []schema.StopLatch { return []schema.StopLatch{{ID: id, Level: schema.StopStop}} }
	s.step(0, f, Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 5, FleetID: "fleetd", Stops: stop("a")}})
	s.step(0, f, Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 1 << 50, FleetID: "fleetd", Stops: stop("x")},
		Verification: Unverified})
	if !has(&s, "a") || !has(&s, "x") {
		t.Fatalf("held are %+v", s.Latches)
	}
	if s.step(0, f, Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 6, FleetID: "fleetd"}}); has(&s, "a") ||
		!has(&s, "x") {
		t.Errorf("after the fleet's own word of a lower revision are held %+v", s.Latches)
	}
	if s.step(0, f, Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 5, FleetID: "fleetd", Stops: stop("a")},
		Verification: Unverified}); has(&s, "a") {
		t.Error("an old unsigned copy latched a released stop again")
	}
	var fresh Latched
	if fresh.step(0, Facts{Robot: "r1"}, Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 1, FleetID: "unknown"},
		Verification: Unverified}); fresh.FleetID != "" {
		t.Error("the robot obeys the first fleet that sent an unsigned document")
	}
}

func TestUnrecordedLatchesAreBounded(t *testing.T) {
	var s Latched
	for i := range 10 * MaxUnrecorded {
		level := schema.StopStop
		if i == 5*MaxUnrecorded {
			level = schema.StopHalt
		}
		s.step(0, Facts{}, Asked{StopLatch: schema.StopLatch{ID: string(rune('a' + i)), Level: level}})
	}
	if len(s.Latches) != MaxUnrecorded+1 {
		t.Errorf("%d latches are held", len(s.Latches))
	}
	if more := s.find(MoreID); more == nil || more.Level != schema.StopHalt {
		t.Errorf("the rest is held as %+v", more)
	}
}

func TestLiveStopSelectsRobots(t *testing.T) {
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

// A person may stop again under the id of a stop that was released, such as the name of a button.
func TestNewerStopUnderAReleasedIDIsLatched(t *testing.T) {
	for _, from := range []event.StopSource{event.RobotStops, event.FleetStops} {
		var s Latched
		f := Facts{Robot: "r1", FleetID: "fleetd"}
		named := func(rev int64, ids ...string) Document {
			d := Document{StopDocument: event.StopDocument{From: from, Rev: rev, FleetID: "fleetd"}}
			for _, id := range ids {
				d.Stops = append(d.Stops, schema.StopLatch{ID: id, Level: schema.StopStop})
			}
			return d
		}
		for _, in := range []Input{named(1, "wall1"), named(2), named(1, "wall1")} {
			s.step(0, f, in)
		}
		if has(&s, "wall1") {
			t.Errorf("%s: it was released, and an old copy latched it again", from)
		}
		if s.step(0, f, named(3, "wall1")); !has(&s, "wall1") {
			t.Errorf("%s: a newer document names it again, and it is not latched", from)
		}
		s.step(0, f, named(4))
		if s.step(0, f, Asked{StopLatch: schema.StopLatch{ID: "wall1", Level: schema.StopStop}}); !has(&s, "wall1") {
			t.Errorf("%s: somebody stopped again under the id, and it is not latched", from)
		}
	}
}
