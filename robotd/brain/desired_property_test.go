package brain

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/sign"
)

// fakeFleet is a fleet that publishes every desired document to a robot that believes
// signatures alone, through a network and on a disk that fail.
type fakeFleet struct {
	*rapid.T
	r        *rig
	newest   map[sign.Kind]int64
	last     map[sign.Kind]event.Event // the desired state of that revision, as its topic holds it
	reported map[schema.TopicKind][]byte
}

// forged is where the revisions of desired documents begin that nobody signed.
const forged = 1_000_000

func newFakeFleet(t *rapid.T) *fakeFleet {
	d := &fakeFleet{T: t, r: newRig(t), newest: map[sign.Kind]int64{}, last: map[sign.Kind]event.Event{},
		reported: map[schema.TopicKind][]byte{}}
	d.r.cfg.Signing, d.r.cfg.Trust = sign.Require, sign.Ring{sign.PublicKey(sign.SignsDesired, fleetdKey)}
	d.r.sent = func(p effect.Publish) { d.reported[p.Topic] = p.Payload }
	d.r.watch = func(_ event.Event, effects []effect.Effect) {
		for _, e := range effects {
			if o, ok := e.(effect.Order); ok && o.Order == driver.ToRun {
				t.Fatal("nobody enabled the robot, and its body may move")
			}
		}
	}
	d.r.boot()
	return d
}

// desired makes a desired state of a kind, and signs it if it is to be obeyed.
func (d *fakeFleet) desire(k sign.Kind, rev int64, signed bool) event.Event {
	pick := func(names ...string) *schema.ContentPin {
		name := rapid.SampledFrom(names).Draw(d.T, "what")
		pin, ok := stories[name]
		if !ok {
			if pin, ok = sets[name]; !ok {
				return nil
			}
		}
		return &pin
	}
	seal := func(document any) *schema.Signature {
		if !signed {
			return nil
		}
		sig, err := (&sign.Signer{Key: fleetdKey}).Sign(k, "r1", document)
		if err != nil {
			d.Fatal(err)
		}
		return sig
	}
	switch k {
	case sign.Story:
		w := schema.DesiredStory{Rev: rev, Counter: rev, FleetID: "fleetd", TS: epoch, Story: pick("talk", "tour", "once", "none"),
			Apply: rapid.SampledFrom([]schema.Apply{schema.ApplyNow, schema.ApplyNextAct}).Draw(d.T, "apply")}
		w.Sig = seal(w)
		return event.DesiredStory{Document: w, Digest: digestOf(d.r.t, w)}
	case sign.Config:
		values := map[string]jsontext.Value{}
		for _, kv := range []string{`labels={"site":"museum"}`, `languages=["de"]`, `boot_mode="ato"`, `link_loss.ato="continue"`, `link_timeout_ms.mnl=20000`, `default_mode="mnl"`, `event_rate=20`, `signing="require"`} {
			if key, v, _ := strings.Cut(kv, "="); rapid.Bool().Draw(d.T, key) {
				values[key] = jsontext.Value(v)
			}
		}
		w := schema.DesiredConfig{Rev: rev, Counter: rev, FleetID: "fleetd", TS: epoch, Values: values}
		w.Sig = seal(w)
		return event.DesiredConfig{Document: w, Digest: digestOf(d.r.t, w)}
	case sign.Mode:
		w := schema.DesiredMode{Rev: rev, Counter: rev, FleetID: "fleetd", TS: epoch,
			Mode:  rapid.SampledFrom([]schema.ModeID{schema.ModeMnl, schema.ModeAto, schema.ModeStr}).Draw(d.T, "mode"),
			Apply: rapid.SampledFrom([]schema.ApplyMode{schema.ApplyModeBoot, schema.ApplyModeNow}).Draw(d.T, "apply")}
		w.Sig = seal(w)
		return event.DesiredMode{Document: w, Digest: digestOf(d.r.t, w)}
	}
	w := schema.DesiredSet{Rev: rev, Counter: rev, FleetID: "fleetd", TS: epoch}
	if w.Set = pick("visitors", "none"); k == sign.Places {
		w.Set = pick("hall", "outside", "charted", "none")
	}
	w.Sig = seal(w)
	return event.DesiredSet{Kind: k, Document: w, Digest: digestOf(d.r.t, w)}
}

var configurable = []sign.Kind{sign.Story, sign.Config, sign.Mode, sign.Activities, sign.Places}

func (d *fakeFleet) something() {
	r := d.r
	k := rapid.SampledFrom(configurable).Draw(d.T, "kind")
	switch rapid.IntRange(0, 11).Draw(d.T, "what happens") {
	case 0, 1, 2:
		d.newest[k]++
		d.last[k] = d.desire(k, d.newest[k], true)
		r.give(d.last[k])
	case 3:
		r.give(d.desire(k, forged+d.newest[k], false))
	case 4:
		if d.newest[k] > 1 { // played back: signed once, and old
			r.give(d.desire(k, d.newest[k]-1, true))
		}
	case 5:
		if d.last[k] != nil {
			r.give(d.last[k])
		}
	case 6:
		r.give(event.Disconnected{Why: "the connection broke"})
		r.give(event.Connected{Session: "again"})
	case 7:
		r.boot()
	case 8:
		r.diskFull = !r.diskFull
	case 9:
		r.noBlobs = !r.noBlobs
	case 10:
		verb := rapid.SampledFrom([]string{"stop", "estop", "reset"}).Draw(d.T, "verb")
		r.give(event.Command{Client: "op1", Group: "safety", Verb: verb})
	case 11:
		r.beats = !r.beats
		if r.beats {
			r.beat(0)
		}
	}
	r.until(r.now + time.Duration(rapid.IntRange(0, 4000).Draw(d.T, "ms"))*time.Millisecond)
}

func (d *fakeFleet) holds() {
	s := d.r.s
	config, mode := s.desired.Revs()
	for _, rev := range []int64{s.desired.Story().Report().DesiredRev, config, mode} {
		if rev >= forged && s.desired.Story().HasAccepted("fleetd", rev) {
			d.Fatalf("revision %d was obeyed, which nobody signed", rev)
		}
	}
	if config >= forged || mode >= forged || s.cfg.Signing != sign.Require {
		d.Fatalf("what nobody signed was obeyed: config %d, mode %d, signing %s", config, mode, s.cfg.Signing)
	}
	if l, _ := s.desired.Story().InUse(); l != nil && s.desired.Story().ProbationDigest() == "" && d.r.blobs[l.Pin.SHA256] == nil &&
		!d.r.diskFull {
		d.Fatalf("%s is active and not on the disk", l.Pin.ID)
	}
}

func reportedAs[T any](d *fakeFleet, k schema.TopicKind) T {
	v, problems := schema.Decode[T](d.reported[k])
	if len(problems) > 0 {
		d.Fatalf("%s: %v in %s", k, problems, d.reported[k])
	}
	return v
}

func TestDesiredStateIsReportedInTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newFakeFleet(t)
		d.r.give(event.Connected{Session: "first"})
		for range rapid.IntRange(1, 25).Draw(t, "events") {
			d.something()
			d.holds()
		}
		// Everything works from now on; the fleet publishes its desired documents again, or others.
		r := d.r
		r.diskFull, r.noBlobs = false, false
		if rapid.Bool().Draw(t, "a last restart") {
			r.boot()
		}
		r.give(event.Connected{Session: "last"})
		for _, k := range configurable {
			if d.last[k] == nil || rapid.IntRange(0, 3).Draw(t, "and desired documents once more") > 0 {
				d.newest[k]++
				d.last[k] = d.desire(k, d.newest[k], true)
			}
			r.give(d.last[k])
		}
		r.until(r.now + 100*time.Second)
		r.boot() // all of it is on the disk
		r.until(r.now + time.Second)
		r.give(event.Connected{Session: "and a look"})
		r.until(r.now + time.Second)
		d.holds()

		fulfilled := func(what string, rev int64, phase schema.DeployPhase, pin *schema.ContentPin, active string) {
			want := schema.DeployActive
			if pin == nil {
				want = schema.DeployWithdrawn
			}
			if rev != d.newest[sign.Kind(what)] || phase != want || pin != nil && active != pin.SHA256 {
				t.Fatalf("%s: desired %d %+v, reported %d %s %s", what, d.newest[sign.Kind(what)], pin, rev, phase, active)
			}
		}
		story := reportedAs[schema.ReportedStory](d, schema.TopicReportedStory)
		digest := ""
		if story.Active != nil {
			digest = story.Active.SHA256
		}
		fulfilled("story", story.DesiredRev, story.Phase, d.last[sign.Story].(event.DesiredStory).Document.Story, digest)
		for k, topic := range map[sign.Kind]schema.TopicKind{sign.Activities: schema.TopicReportedActivities,
			sign.Places: schema.TopicReportedPlaces} {
			set := reportedAs[schema.ReportedSet](d, topic)
			digest = ""
			if set.Active != nil {
				digest = set.Active.SHA256
			}
			fulfilled(string(k), set.DesiredRev, set.Phase, d.last[k].(event.DesiredSet).Document.Set, digest)
		}
		config := reportedAs[schema.ReportedConfig](d, schema.TopicReportedConfig)
		if desired := d.last[sign.Config].(event.DesiredConfig).Document; config.DesiredRev != desired.Rev ||
			config.Phase != schema.DeployActive || len(config.Rejected) > 0 || len(config.RestartNeeded) > 0 ||
			len(config.Applied) != len(desired.Values) {
			t.Fatalf("desired %s, reported %s", desired.Values, d.reported[schema.TopicReportedConfig])
		}
		mode := reportedAs[schema.ReportedMode](d, schema.TopicReportedMode)
		if mode.DesiredRev != d.newest[sign.Mode] || mode.Phase == schema.DeployIdle {
			t.Fatalf("desired %d, reported %s", d.newest[sign.Mode], d.reported[schema.TopicReportedMode])
		}
		if mode.Phase == schema.DeployActive && !mode.Diverged && r.s.modes.Mode().Active != mode.Mode && r.s.modes.Mode().Reason == "" {
			t.Fatalf("%s is reported to be in charge, and it is %s", mode.Mode, r.s.modes.Mode().Active)
		}
	})
}
