package stop

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/sign"
)

var start = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

func at(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }

// fleetModel applies plans to rows in memory, as the database does.
type fleetModel struct {
	t         rapid.TB
	rows      Rows
	documents map[string]schema.DesiredStop
	all       schema.FleetStop

	payloads map[string][]byte // newest documents by robot
}

var key = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, ed25519.SeedSize))

// verify checks that a document is signed for its robot, with a new counter.
func (d *fleetModel) verify(doc Document, kind sign.Kind, counter int64, sig *schema.Signature) {
	d.t.Helper()
	d.payloads[doc.Robot] = doc.Payload
	if d.rows.Signer.Key == nil {
		if sig != nil || counter != 0 {
			d.t.Fatalf("a fleetd instance without a key signed %s", doc.Payload)
		}
		return
	}
	sum, err := sign.Digest(doc.Payload)
	if err == nil {
		err = sign.Ring{sign.PublicKey(sign.SignsDesired, d.rows.Signer.Key)}.Verify(sign.Subject{Kind: kind, Robot: doc.Robot, Document: sum},
			sig)
	}
	if err != nil || counter <= d.rows.Signer.Counter {
		d.t.Fatalf("counter %d after %d, %v: %s", counter, d.rows.Signer.Counter, err, doc.Payload)
	}
	d.rows.Signer.Counter = counter
}

func newFleetModel(t rapid.TB) *fleetModel {
	return &fleetModel{t: t, documents: map[string]schema.DesiredStop{}, payloads: map[string][]byte{},
		rows: Rows{FleetID: "fleetd", Signer: sign.Signer{Key: key}, Revs: map[string]int64{}, Robots: []Robot{
			{"r1", map[string]string{"site": "museum"}}, {"r2", map[string]string{"site": "shop"}}}}}
}

func (d *fleetModel) apply(c Changes) {
	for _, l := range c.Latches {
		d.rows.Latches = slices.DeleteFunc(d.rows.Latches, func(old Latch) bool { return old.ID == l.ID && old.Robot == l.Robot })
		d.rows.Latches = append(d.rows.Latches, l)
	}
	for _, doc := range c.Documents {
		if doc.Rev <= d.rows.Revs[doc.Robot] {
			d.t.Fatalf("revision %d of %q after %d", doc.Rev, doc.Robot, d.rows.Revs[doc.Robot])
		}
		d.rows.Revs[doc.Robot] = doc.Rev
		if doc.Robot == "" {
			v, problems := schema.DecodeStrict[schema.FleetStop](doc.Payload)
			if len(problems) > 0 || len(doc.Payload) > schema.TopicOf(schema.TopicFleetStop).MaxBytes {
				d.t.Fatalf("fleet/stop of %d bytes: %v", len(doc.Payload), problems)
			}
			d.verify(doc, sign.FleetStop, v.Counter, v.Sig)
			d.all = v
			continue
		}
		v, problems := schema.DecodeStrict[schema.DesiredStop](doc.Payload)
		if len(problems) > 0 || len(doc.Payload) > schema.TopicOf(schema.TopicDesiredStop).MaxBytes {
			d.t.Fatalf("desired/stop of %d bytes: %v", len(doc.Payload), problems)
		}
		d.verify(doc, sign.Stop, v.Counter, v.Sig)
		d.documents[doc.Robot] = v
	}
	if d.rows.Signer.Counter != max(c.Counter, d.rows.Signer.Counter) {
		d.t.Fatalf("counter %d was used, and %d would be stored", d.rows.Signer.Counter, c.Counter)
	}
}

func (d *fleetModel) hold(now int, requests ...Request) Changes {
	c, err := Persist(d.rows, requests, at(now))
	if err != nil {
		d.t.Fatal(err)
	}
	d.apply(c)
	return c
}

func (d *fleetModel) release(now int, ids ...string) []schema.Problem {
	c, problems, err := Release(d.rows, ids, Elsewhere{}, "ben", "seen", at(now))
	if err != nil {
		d.t.Fatal(err)
	}
	d.apply(c)
	return problems
}

func (d *fleetModel) on(robot string) string {
	var ids []string
	for _, s := range d.documents[robot].Stops {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, " ")
}

func TestStopIsLatchedOnSelectedRobotsAndReleasedByID(t *testing.T) {
	d := newFleetModel(t)
	d.hold(1, Request{ID: "a", Level: schema.StopStop, By: "anna", Why: "fire drill", At: at(1), All: true})
	d.hold(2, Request{ID: "b", Level: schema.StopHalt, At: at(2), Robots: []string{"r1", "unknown"}})
	d.hold(3, Request{ID: "c", Level: schema.StopSoft, At: at(3), Labels: map[string]string{"site": "shop"}})
	if d.on("r1") != "a b" || d.on("r2") != "a c" || !d.all.Active || d.all.ID != "a" || d.all.By != "anna" {
		t.Fatalf("r1 %q, r2 %q, all %+v", d.on("r1"), d.on("r2"), d.all)
	}
	if problems := d.release(4, "a", "nothing"); len(problems) != 1 || problems[0].Code != CodeNotLatched || d.on("r1") != "a b" {
		t.Fatalf("an unknown id: %v, r1 %q", problems, d.on("r1"))
	}
	if problems := d.release(5, "a"); problems != nil || d.on("r1") != "b" || d.on("r2") != "c" || d.all.Active {
		t.Fatalf("%v, r1 %q, r2 %q, all %+v", problems, d.on("r1"), d.on("r2"), d.all)
	}
	if problems := d.release(6, "a"); len(problems) != 1 {
		t.Errorf("released twice: %v", problems)
	}
}

// The robot's record shall name the person: without it, every release is one of fleetd.
func TestReleaseNamesThePersonInTheRevisionThatReleases(t *testing.T) {
	d := newFleetModel(t)
	d.hold(1, Request{ID: "a", Level: schema.StopStop, At: at(1), All: true})
	d.hold(2, Request{ID: "b", Level: schema.StopStop, At: at(2), Robots: []string{"r1"}})
	d.release(3, "a", "b")
	a, b := schema.StopRelease{ID: "a", By: "ben"}, schema.StopRelease{ID: "b", By: "ben"}
	if r1, r2 := d.documents["r1"].Released, d.documents["r2"].Released; !slices.Equal(r1, []schema.StopRelease{a, b}) ||
		!slices.Equal(r2, []schema.StopRelease{a}) || !slices.Equal(d.all.Released, []schema.StopRelease{a}) {
		t.Errorf("r1 %v, r2 %v, all %v", r1, r2, d.all.Released)
	}
	d.hold(4, Request{ID: "c", Level: schema.StopStop, At: at(4), Robots: []string{"r1"}})
	if again := d.documents["r1"].Released; again != nil {
		t.Errorf("a later revision has %v", again)
	}
}

func TestUnsignedDocumentsArePublishedAgainWithKey(t *testing.T) {
	d := newFleetModel(t)
	d.rows.Signer.Key = nil
	d.hold(1, Request{ID: "a", Level: schema.StopStop, At: at(1), Robots: []string{"r1", "r2"}})
	d.hold(2, Request{ID: "b", Level: schema.StopStop, At: at(2), All: true})
	d.hold(3, Request{ID: "c", Level: schema.StopStop, At: at(3), Robots: []string{"r2"}})
	d.release(4, "b")
	d.release(5, "c")
	signAgain := func() Changes {
		c, err := SignAgain(d.rows, d.payloads, at(6))
		if err != nil {
			t.Fatal(err)
		}
		d.apply(c)
		return c
	}
	if c := signAgain(); len(c.Documents) > 0 {
		t.Errorf("without a key %d documents are published again", len(c.Documents))
	}
	d.rows.Signer.Key = key
	if c := signAgain(); len(c.Documents) != 2 || d.on("r1") != "a" || d.on("r2") != "a" || d.all.Active { // no stop of all robots is latched
		t.Errorf("published again: %+v; r1 %q, r2 %q", c.Documents, d.on("r1"), d.on("r2"))
	}
	if c := signAgain(); len(c.Documents) > 0 {
		t.Errorf("signed documents are published again: %+v", c.Documents)
	}
}

func TestRepeatedRequestChangesNothingEvenAfterRelease(t *testing.T) {
	d := newFleetModel(t)
	o := Request{ID: "a", Level: schema.StopStop, At: at(1), All: true}
	d.hold(1, o)
	if c := d.hold(2, o); !c.Empty() || len(c.Documents) > 0 || len(c.Notes) > 0 {
		t.Errorf("the second time: %+v", c)
	}
	d.release(3, "a")
	if c := d.hold(4, o); !c.Empty() {
		t.Errorf("after its release: %+v", c)
	}
	o.At = at(9) // a robot or a broker may repeat it at any time
	if c := d.hold(9, o); !c.Empty() {
		t.Errorf("long after its release: %+v", c)
	}
	// A wall button uses its own name as the id.
	wall := RequestOf("wall1", []byte("{{{"), at(5))
	if wall.ID != "wall1" || !wall.All || !wall.NoOwnID || wall.Level != schema.StopStop {
		t.Fatalf("got %+v", wall)
	}
	d.hold(5, wall)
	d.release(6, "wall1")
	if c := d.hold(7, wall); !c.Empty() {
		t.Errorf("the earlier live stop: %+v", c)
	}
	before := d.rows.Revs["r1"]
	d.hold(8, RequestOf("wall1", nil, at(8)))
	d.hold(9, RequestOf("wall1", nil, at(9))) // robots must learn that it is persisted
	if d.on("r1") != "wall1" || d.rows.Revs["r1"] < before+2 {
		t.Errorf("published again: %q at revision %d after %d", d.on("r1"), d.rows.Revs["r1"], before)
	}
}

func TestRequestPersistedByAnotherInstanceIsRecognised(t *testing.T) {
	d := newFleetModel(t)
	named := RequestOf("op1", []byte(`{"id":"a"}`), at(1))
	wall, later := RequestOf("wall1", nil, at(60)), RequestOf("wall1", nil, at(120))
	nobody := RequestOf("op1", []byte(`{"id":"n","labels":{"site":"moon"}}`), at(1))
	for _, o := range []Request{named, wall} {
		if !o.Observed() || AlreadyPersisted(d.rows, o) {
			t.Errorf("%s before it is persisted: observed %v, persisted %v", o.ID, o.Observed(), AlreadyPersisted(d.rows, o))
		}
	}
	if !AlreadyPersisted(d.rows, nobody) {
		t.Error("a request that selects no robot waits for ever")
	}
	// The clock of the instance that persisted them differs.
	d.hold(5, RequestOf("op1", []byte(`{"id":"a"}`), at(5)), RequestOf("wall1", nil, at(52)))
	if !AlreadyPersisted(d.rows, named) || !AlreadyPersisted(d.rows, wall) || AlreadyPersisted(d.rows, later) {
		t.Errorf("named %v, unnamed %v, unnamed later %v", AlreadyPersisted(d.rows, named), AlreadyPersisted(d.rows, wall),
			AlreadyPersisted(d.rows, later))
	}
	d.release(70, "a", "wall1")
	if !AlreadyPersisted(d.rows, named) || !AlreadyPersisted(d.rows, wall) || AlreadyPersisted(d.rows, later) {
		t.Errorf("released: named %v, unnamed %v, unnamed later %v", AlreadyPersisted(d.rows, named), AlreadyPersisted(d.rows, wall),
			AlreadyPersisted(d.rows, later))
	}
	// A live stop right after the release is another stop.
	again, before := RequestOf("wall1", nil, at(75)), RequestOf("wall1", nil, at(69))
	d.hold(66, RequestOf("wall1", nil, at(66)))
	if !AlreadyPersisted(d.rows, again) {
		t.Error("a stop that is latched already waits to be persisted")
	}
	d.release(70, "wall1")
	if AlreadyPersisted(d.rows, again) || !AlreadyPersisted(d.rows, before) {
		t.Errorf("published after the release %v, before it %v", AlreadyPersisted(d.rows, again), AlreadyPersisted(d.rows, before))
	}
	if own := (Request{ID: "x", All: true}); own.Observed() {
		t.Error("a request of this instance counts as observed")
	}
}

func TestStopHeldByRobotIsLatchedAgain(t *testing.T) {
	d := newFleetModel(t)
	d.hold(1, Request{ID: "a", Level: schema.StopStop, At: at(1), Robots: []string{"r1"}})
	d.release(2, "a")
	found := Request{ID: "a", Level: schema.StopStop, At: at(20), Robots: []string{"r1"}, FromRobot: true}
	d.hold(20, found)
	if d.on("r1") != "a" {
		t.Fatalf("r1 %q", d.on("r1"))
	}
	if c := d.hold(30, Request{ID: "a", Level: schema.StopStop, At: at(30), Robots: []string{"r1"}, FromRobot: true}); !c.Empty() {
		t.Errorf("it was persisted again: %+v", c)
	}
}

func TestRequestFromRobotAcceptsAnyLevelAndValidIDsOnly(t *testing.T) {
	o, ok := RequestFromRobot("r1", schema.StopLatch{ID: "wall:1", Level: "freeze", By: "\x00", Why: strings.Repeat("ü", 300)}, 0, at(1))
	if !ok || o.Level != schema.StopStop || o.By != "?" || len(o.Why) != 256 || !o.FromRobot || !o.Includes("r1", nil) {
		t.Errorf("an unknown level: %+v, %v", o, ok)
	}
	for _, id := range []string{"", "a b", "\x00", strings.Repeat("a", 65)} {
		if o, ok := RequestFromRobot("r1", schema.StopLatch{ID: id, Level: schema.StopHalt}, 0, at(1)); ok {
			t.Errorf("%q is accepted as an id: %+v", id, o)
		}
	}
}

func TestRevisionIsNeverBelowFleetdsTime(t *testing.T) {
	d := newFleetModel(t)
	d.hold(1, Request{ID: "a", Level: schema.StopStop, At: at(1), Robots: []string{"r1"}})
	if want := at(1).UnixMilli(); d.rows.Revs["r1"] != want {
		t.Errorf("revision %d, want %d", d.rows.Revs["r1"], want)
	}
	d.rows.Revs["r1"] += 1000_000 // the clock was set back
	d.hold(2, Request{ID: "b", Level: schema.StopStop, At: at(2), Robots: []string{"r1"}})
	if want := at(1).UnixMilli() + 1000_001; d.rows.Revs["r1"] != want {
		t.Errorf("revision %d, want %d", d.rows.Revs["r1"], want)
	}
}

func TestDocumentsOfManyLongStopsFit(t *testing.T) {
	d := newFleetModel(t)
	for i := range 100 {
		d.hold(i, Request{ID: fmt.Sprintf("%060d", i), Level: schema.StopStop, By: strings.Repeat("ü", 31), Why: strings.Repeat("\"", 256),
			At: at(i), All: true})
	}
	if n := len(d.documents["r1"].Stops); n != maxLatched || d.documents["r1"].Stops[0].ID != fmt.Sprintf("%060d", 0) {
		t.Errorf("%d stops are listed, the first %s", n, d.documents["r1"].Stops[0].ID)
	}
}

func TestStopsUnderOneIDAreAsStrongAsTheStrongest(t *testing.T) {
	levels := []schema.StopLevel{schema.StopSoft, schema.StopStop, schema.StopHalt}
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for _, later := range []bool{false, true} {
			d := newFleetModel(t)
			for i, n := range order {
				second := 9 - i
				if later {
					second = i
				}
				d.hold(10+i, Request{ID: "wall1", Level: levels[n], At: at(second), Robots: []string{"r1"}, NoOwnID: true})
			}
			if got := d.documents["r1"].Stops; len(got) != 1 || got[0].Level != schema.StopHalt {
				t.Errorf("levels in the order %v, each requested later %v: %+v", order, later, got)
			}
		}
	}
}

// A client that repeats a stop under its own id at a higher level raises it, also if fleetd learns
// that from the robot only. After the release the old id latches nothing.
func TestStopUnderItsOwnIDIsRaisedWhileItIsLatched(t *testing.T) {
	for _, raise := range []Request{
		{ID: "gate-7", Level: schema.StopHalt, At: at(2), Robots: []string{"r1"}, Client: "op1"},
		{ID: "gate-7", Level: schema.StopHalt, At: at(2), Robots: []string{"r1"}, FromRobot: true},
	} {
		d := newFleetModel(t)
		d.hold(1, Request{ID: "gate-7", Level: schema.StopStop, At: at(1), Robots: []string{"r1"}, Client: "op1"})
		if AlreadyPersisted(d.rows, raise) && !raise.FromRobot {
			t.Error("the higher level counts as persisted before it is")
		}
		d.hold(2, raise)
		if got := d.documents["r1"].Stops; len(got) != 1 || got[0].Level != schema.StopHalt {
			t.Errorf("raised to halt by %+v: %+v", raise, got)
		}
		if !AlreadyPersisted(d.rows, raise) {
			t.Error("the higher level does not count as persisted")
		}
		raise.Level = schema.StopSoft
		if d.hold(3, raise); d.documents["r1"].Stops[0].Level != schema.StopHalt {
			t.Error("a lower level lowered it")
		}
		if err := d.release(4, "gate-7"); err != nil {
			t.Fatal(err)
		}
		raise.Level, raise.FromRobot, raise.Client = schema.StopHalt, false, "op1"
		if d.hold(5, raise); d.on("r1") != "" || !IDReused(d.rows, raise) {
			t.Errorf("after the release its id latches %q, reused %v", d.on("r1"), IDReused(d.rows, raise))
		}
		if raise.Robots = []string{"r2"}; IDReused(d.rows, raise) {
			t.Error("a robot on which the id was never latched does not count")
		}
	}
}

// For any stops and releases, the documents match the rows.
func TestDocumentsMatchLatchedStops(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newFleetModel(t)
		held := map[string]map[string]bool{"": {}, "r1": {}, "r2": {}}
		for i := range rapid.IntRange(1, 20).Draw(t, "steps") {
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
			if rapid.IntRange(0, 2).Draw(t, "what") == 0 {
				if d.release(i, id) == nil {
					for _, ids := range held {
						delete(ids, id)
					}
				}
			} else {
				o := Request{ID: id, Level: schema.StopStop, At: at(i), NoOwnID: true, All: rapid.Bool().Draw(t, "all")}
				if !o.All {
					o.Robots = []string{rapid.SampledFrom([]string{"r1", "r2"}).Draw(t, "robot")}
					held[o.Robots[0]][id] = true
				} else {
					for _, ids := range held {
						ids[id] = true
					}
				}
				d.hold(i, o)
			}
			for _, robot := range []string{"r1", "r2"} {
				if got := strings.Fields(d.on(robot)); len(got) != len(held[robot]) ||
					slices.ContainsFunc(got, func(id string) bool { return !held[robot][id] }) {
					t.Fatalf("the document of %s lists %v, latched are %v", robot, got, held[robot])
				}
			}
			if d.all.Active != (len(held[""]) > 0) || d.all.Active && !held[""][d.all.ID] {
				t.Fatalf("fleet/stop is %+v, latched are %v", d.all, held[""])
			}
		}
	})
}

// A client that may stop robots can write any name as by.
func TestLiveStopIsPersistedWithItsClient(t *testing.T) {
	d := newFleetModel(t)
	c := d.hold(1, RequestOf("op1", []byte(`{"id":"a","by":"anna"}`), at(1)), Request{ID: "b", Level: schema.StopStop, By: "ben", At: at(2), Robots: []string{"r1"}})
	var notes []string
	for _, n := range c.Notes {
		notes = append(notes, n.Who+": "+n.Target)
	}
	if got := strings.Join(notes, ", "); got != "anna at op1: stop a, ben: stop b" {
		t.Errorf("the audit says %s", got)
	}
	for _, doc := range c.Documents {
		asked := map[string]string{}
		if doc.Robot == "" {
			v, _ := schema.Decode[schema.FleetStop](doc.Payload)
			asked[v.ID] = v.By + " by way of " + v.Client
		} else {
			v, _ := schema.Decode[schema.DesiredStop](doc.Payload)
			for _, l := range v.Stops {
				asked[l.ID] = l.By + " by way of " + l.Client
			}
		}
		if b, named := asked["b"]; asked["a"] != "anna by way of op1" || named && b != "ben by way of " {
			t.Errorf("the stops of %q say %v", doc.Robot, asked)
		}
	}
}
