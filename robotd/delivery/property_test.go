package delivery

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
	"troupe/schema"
)

// fleet generates inputs at random: desired documents of rising revision, bytes
// that arrive or not, a disk that may refuse, and power cuts at any moment.
type fleet struct {
	*world
	t        *rapid.T
	newest   Desired
	bytes    map[string][]byte
	fetching string
	// withdrawn is the newest revision that withdrew the story.
	withdrawn  int64
	diskOK     bool // the disk accepts everything
	writing    []Save
	lastReport Report
}

var stories = []string{"a x y", "b y", "c z", "nonsense x", "d x z", "e x +gong +bell", "f +bell +drum z", "g +bell ++opera x",
	"h ++opera ++ballad"}

// unsigned is the lowest revision of the desired documents that must be refused.
const unsigned = 5000

// files are the files that the stories need.
var files = []string{"+gong", "+bell", "+drum", "++opera", "++ballad"}

func newFleet(t *rapid.T) *fleet {
	f := &fleet{world: newWorld(), t: t, bytes: map[string][]byte{}}
	for _, s := range slices.Concat(stories, files) {
		f.bytes[f.pin(s).SHA256] = []byte(s)
	}
	return f
}

func (f *fleet) apply(effects []Effect) {
	cut := len(effects)
	if cut > 0 && rapid.IntRange(0, 30).Draw(f.t, "power cut") == 0 {
		cut = rapid.IntRange(0, len(effects)).Draw(f.t, "after")
		defer f.restartNow()
	}
	refused := false
	for _, e := range effects[:cut] {
		switch e := e.(type) {
		case Fetch:
			if f.fetching != "" {
				f.t.Fatalf("%s is fetched while %s still is", f.names[e.SHA256], f.names[f.fetching])
			}
			f.fetching = e.SHA256
		case StopFetch:
			if f.fetching != e.SHA256 {
				f.t.Fatalf("fetch of %s is stopped, %s is fetched", f.names[e.SHA256], f.names[f.fetching])
			}
			f.fetching = ""
		case Save:
			if !f.diskOK && rapid.IntRange(0, 5).Draw(f.t, "disk full") == 0 {
				refused = true
				f.writing = append(f.writing, Save{Rev: e.Rev})
				continue
			}
			if f.neverLost(e.Persisted); e.Persisted.Desired.Rev >= unsigned {
				f.t.Fatalf("desired document %d was accepted and must be refused", e.Persisted.Desired.Rev)
			}
			f.save(e)
			if e.Blobs != nil {
				f.writing = append(f.writing, e)
			}
		case PublishReport:
			if refused {
				continue
			}
			f.lastReport = e.Report
			if a := e.Report.Active; a != nil && !f.whole(a) {
				f.t.Fatalf("%s is reported active and is not on disk", a.Pin.ID)
			}
		}
	}
}

// neverLost checks that only a newer desired document replaces or removes the
// active story, and that its bytes are on disk.
func (f *fleet) neverLost(k Persisted) {
	is, was := k.Active, f.saved.Active
	if was == nil {
		return
	}
	switch {
	case is == nil && f.withdrawn <= was.Rev:
		f.t.Fatalf("%s was removed under desired document %d", was.Pin.ID, k.Desired.Rev)
	case is != nil && is.Pin.SHA256 != was.Pin.SHA256 && is.Rev <= was.Rev:
		f.t.Fatalf("%s of revision %d was replaced by %s of revision %d under revision %d", was.Pin.ID, was.Rev, is.Pin.ID, is.Rev, k.Desired.Rev)
	case is != nil && !f.whole(is):
		f.t.Fatalf("the bytes of %s are not on disk", is.Pin.ID)
	}
}

// whole reports whether the bytes of a story and of its files are on disk.
func (f *fleet) whole(a *Accepted) bool {
	for _, d := range (&Persisted{Active: a}).Digests() {
		if f.blobs[d] == nil && f.files[d] == 0 {
			return false
		}
	}
	return true
}

func (f *fleet) restartNow() {
	f.fetching, f.writing = "", nil
	f.apply(f.restart(f.s.actsDigest))
	f.lastReport = f.s.Report() // reports are published again when the link is back
}

func (f *fleet) send(in Input) { f.apply(f.step(in)) }

func (f *fleet) desireAny() {
	rev := f.newest.Rev + int64(rapid.IntRange(-1, 2).Draw(f.t, "rev"))
	if rev < 1 {
		return
	}
	d := Desired{Rev: rev, FleetID: "home", Apply: rapid.SampledFrom([]schema.Apply{schema.ApplyNow, schema.ApplyNextAct,
		schema.ApplyNextStart}).Draw(f.t, "apply")}
	if i := rapid.IntRange(0, len(stories)).Draw(f.t, "story"); i < len(stories) {
		d.Pin = f.pin(stories[i])
	}
	if rapid.IntRange(0, 10).Draw(f.t, "foreign") == 0 {
		d.FleetID, d.Rev = "elsewhere", rev+1000
		if f.s.FleetID() == "home" { // the first one would be trusted
			f.send(Document{Desired: d})
		}
		return
	}
	if rapid.IntRange(0, 10).Draw(f.t, "refused") == 0 {
		d.Rev = rev + unsigned
		f.send(Document{Desired: d, Refused: schema.ReasonBadSignature})
		return
	}
	if rev > f.newest.Rev {
		f.newest = d
	} else if rev == f.newest.Rev {
		d = f.newest
	}
	if d.Pin == nil {
		f.withdrawn = max(f.withdrawn, d.Rev)
	}
	f.send(Document{Desired: d})
}

func (f *fleet) deliver(good bool) {
	if f.fetching == "" {
		return
	}
	b := Fetched{SHA256: f.fetching, Bytes: f.bytes[f.fetching]}
	if large(string(b.Bytes)) {
		f.deliverFile(good)
		return
	}
	if !good {
		switch rapid.IntRange(0, 2).Draw(f.t, "how bad") {
		case 0:
			b.Bytes = []byte("damaged")
		case 1:
			b = Fetched{SHA256: f.fetching, Reason: schema.ReasonForbidden}
		case 2:
			b.SHA256 = f.pin("c z").SHA256 // perhaps not the requested one
		}
	}
	f.send(b)
}

// deliverFile delivers a large file, a part of it, or something else.
func (f *fleet) deliverFile(good bool) {
	file := Fetched{SHA256: f.fetching, Stored: true}
	how := 0
	if !good {
		how = rapid.IntRange(1, 4).Draw(f.t, "how bad a file")
	}
	switch how {
	case 0:
		f.stored[file.SHA256] = fileBytes
	case 1:
		file.Stored, file.Reason = false, schema.ReasonBadDigest
	case 2:
		file.Stored, file.Reason = false, schema.ReasonUnavailable
	case 3:
		f.send(Arriving{SHA256: file.SHA256, Bytes: rapid.Int64Range(-1, fileBytes+1).Draw(f.t, "bytes")})
		return
	case 4: // a blob with that digest
		file.Stored, file.Bytes = false, []byte("++opera")
	}
	f.send(file)
}

func (f *fleet) write() {
	if len(f.writing) == 0 {
		return
	}
	w := f.writing[0]
	f.writing = f.writing[1:]
	in := Written{Rev: w.Rev}
	if w.Blobs == nil {
		in.Refused = schema.ReasonNoSpace
	}
	f.send(in)
}

func (f *fleet) pass(d time.Duration) {
	f.now.Mono += d
	f.now.Wall = noon.Add(f.now.Mono)
}

func (f *fleet) perform() {
	f.facts = Facts{Performing: rapid.Bool().Draw(f.t, "performing"), Paused: rapid.Bool().Draw(f.t, "held"),
		BetweenActs: rapid.Bool().Draw(f.t, "boundary"), Interrupted: rapid.Bool().Draw(f.t, "interrupted")}
	trial := f.s.ProbationDigest()
	switch rapid.IntRange(0, 2).Draw(f.t, "trial") {
	case 0:
		f.send(Tick{})
	case 1:
		f.send(Started{trial})
	case 2:
		f.send(StartFailed{SHA256: trial, Reason: schema.ReasonDeviceDisabled})
	}
}

func TestNewestDocumentIsFulfilledAndNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFleet(t)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			f.pass(time.Duration(rapid.IntRange(0, 6000).Draw(t, "ms")) * time.Millisecond)
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0, 1:
				f.desireAny()
			case 2:
				f.deliver(true)
			case 3:
				f.deliver(false)
			case 4:
				f.write()
			case 5:
				f.perform()
			case 6:
				f.send(rapid.SampledFrom([]Input{DocumentDeleted{}, Tick{}}).Draw(t, "nothing"))
			case 7:
				if rapid.IntRange(0, 3).Draw(t, "power") == 0 {
					f.restartNow()
				}
			}
			if p, _ := f.s.InUse(); p != nil && len(p.Fit.Names) == 0 {
				t.Fatal("an empty story is performed")
			}
		}
		// Finally a valid story is desired, and everything works from now on.
		f.newest.Rev++
		f.newest = Desired{Rev: f.newest.Rev, FleetID: "home", Apply: schema.ApplyNextAct,
			Pin: f.pin(rapid.SampledFrom([]string{"a x y", "b y", "c z", "e x +gong +bell", "f +bell +drum z", "g +bell ++opera x",
				"h ++opera ++ballad"}).Draw(t, "last"))}
		f.send(Document{Desired: f.newest})
		f.facts, f.diskOK = Facts{}, true
		for range 200 {
			_, waits := f.s.Deadline()
			if f.lastReport.Phase == schema.DeployActive && f.lastReport.DesiredRev == f.newest.Rev && !waits && len(f.writing) == 0 {
				break
			}
			if d, ok := f.s.Deadline(); ok && f.fetching == "" && len(f.writing) == 0 {
				f.pass(max(0, d-f.now.Mono))
			}
			f.send(Document{Desired: f.newest})
			f.deliver(true)
			f.write()
		}
		r := f.lastReport
		if r.DesiredRev != f.newest.Rev || r.Phase != schema.DeployActive || r.Active == nil || r.Active.Pin.SHA256 != f.newest.Pin.SHA256 {
			t.Fatalf("desired %s with revision %d, reported %s", f.newest.Pin.ID, f.newest.Rev, f.report(r))
		}
		if !slices.Contains(f.saved.Digests(), r.Active.Pin.SHA256) || !f.whole(r.Active) {
			t.Fatalf("%s is active and not on disk", r.Active.Pin.ID)
		}
	})
}

func TestBackoffDoublesUpToItsLimit(t *testing.T) {
	w := newWorld()
	w.step(Document{Desired: Desired{Rev: 1, FleetID: "home", Apply: schema.ApplyNow, Pin: w.pin("a x")}})
	var waits []time.Duration
	for range 12 {
		d, _ := w.s.Deadline()
		w.now.Mono = d
		w.step(Tick{}) // the attempt ends
		d, _ = w.s.Deadline()
		waits = append(waits, d-w.now.Mono)
		w.now.Mono = d
		w.step(Tick{}) // the next begins
	}
	s := time.Second
	if want := []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 256 * s, 300 * s, 300 * s, 300 * s}; !slices.Equal(
		waits, want) {
		t.Errorf("waited %v, want %v", waits, want)
	}
}
