package desired

import (
	"crypto/ed25519"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"troupe/robotd/act"
	"troupe/robotd/clock"
	"troupe/robotd/config"
	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// fakeRobot is the rest of the robot.
type fakeRobot struct{ mode ModeFacts }

func (*fakeRobot) Capabilities() schema.Caps              { return schema.Caps{} }
func (*fakeRobot) Check(*score.Act) *act.Refusal          { return nil }
func (*fakeRobot) SetPlaces(*score.Places)                {}
func (*fakeRobot) DeliveryFacts() delivery.Facts          { return delivery.Facts{} }
func (*fakeRobot) Taught() (map[string]score.Act, string) { return nil, "" }
func (*fakeRobot) AtoPerforms() bool                      { return false }
func (r *fakeRobot) ModeFacts() ModeFacts                 { return r.mode }

// world is a robot that a broker brings documents, with a disk.
type world struct {
	base  config.Config
	robot fakeRobot
	state State
	out   effect.List
	now   time.Duration

	settings map[string]string
	asked    []effect.SetMode
	alerts   map[string]bool
	hint     string                 // of the last alert
	config   *schema.ReportedConfig // the newest reports
	mode     *schema.ReportedMode
}

func newWorld(change func(*config.Config)) *world {
	w := &world{base: config.Defaults("r1"), settings: map[string]string{}, alerts: map[string]bool{}}
	w.robot.mode = ModeFacts{Active: schema.ModeMnl, Settled: true}
	if change != nil {
		change(&w.base)
	}
	w.boot()
	return w
}

// boot starts the robot from what its disk kept.
func (w *world) boot() {
	w.state = New(&w.base, &w.robot, w.settings)
	w.part().Restore(Memory{Values: w.settings})
	w.state.ReportAll() // as a new session does
	w.settle()
}

func (w *world) part() Step {
	return Step{State: &w.state, Now: clock.Now{Mono: w.now, Wall: 1}, Session: "s", Out: &w.out}
}

// take brings a document, and lets the robot report what became of it.
func (w *world) take(ev event.Event) {
	w.now += time.Second
	w.part().Take(ev)
	w.settle()
}

func (w *world) settle() {
	w.part().Report()
	for i := range w.out.Len() {
		switch e := w.out.At(i).(type) {
		case effect.SaveValue:
			if w.settings[e.Name] = e.Value; e.Value == "" {
				delete(w.settings, e.Name)
			}
		case effect.SetMode:
			w.asked = append(w.asked, e)
		case effect.RaiseAlert:
			w.alerts[e.Kind+" "+e.Source], w.hint = true, e.Hint
		case effect.ClearAlert:
			delete(w.alerts, e.Kind+" "+e.Source)
		case effect.Document:
			switch d := e.Value.(type) {
			case *schema.ReportedConfig:
				w.config = d
			case *schema.ReportedMode:
				w.mode = d
			}
		}
	}
	w.out.Cut(0)
}

func (w *world) adopt(fleet string) {
	w.part().Adopt(effect.Dispatch{Key: "op1/k"}, fleet)
	w.settle()
}

func configOf(fleet string, rev, rate int64) event.DesiredConfig {
	values := map[string]jsontext.Value{"event_rate": jsontext.Value(strconv.FormatInt(rate, 10))}
	return event.DesiredConfig{Kind: sign.Config, Document: schema.DesiredConfig{Rev: rev, FleetID: fleet, Values: values}}
}

// model is what the rules say of the configuration: only a newer revision of the robot's
// own fleet is obeyed, a revision never changes, and what is obeyed survives a restart.
type model struct {
	fleet    string
	rev      int64
	obeyed   [2]int64 // revision and rate, as of the newest document that counts
	of       string   // its fleet
	rate     int64    // in force
	rejected int64    // revision that the report rejects; 0 = none
	foreign  *event.DesiredConfig
}

func (m *model) take(d event.DesiredConfig) {
	rate, _ := strconv.ParseInt(string(d.Document.Values["event_rate"]), 10, 64)
	rev := d.Document.Rev
	switch {
	case m.fleet != "" && d.Document.FleetID != m.fleet:
		m.foreign, m.rejected = &d, 0
	case rev < m.rev:
	case rev == m.rev && rate != m.obeyed[1]:
		m.rejected = rev
	default:
		m.fleet, m.rev, m.obeyed, m.rate = d.Document.FleetID, rev, [2]int64{rev, rate}, rate
		m.of, m.rejected, m.foreign = m.fleet, 0, nil
	}
}

func (m *model) adopt(fleet string) {
	if fleet == m.fleet {
		return
	}
	foreign := m.foreign
	m.fleet, m.rev, m.rejected, m.foreign = fleet, 0, 0, nil
	if foreign != nil {
		m.take(*foreign)
	}
}

func TestConfigurationFollowsTheNewestDocumentOfTheOwnFleet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(nil)
		m := model{rate: int64(w.base.EventRate)}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			fleet := rapid.SampledFrom([]string{"a", "a", "a", "b"}).Draw(t, "fleet")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				w.adopt(fleet)
				m.adopt(fleet)
			case 1:
				settings := maps.Clone(w.settings)
				w.boot()
				m.rejected, m.foreign = 0, nil // the broker brings them again
				if m.of == m.fleet {           // also if another fleet was adopted between
					m.rev = m.obeyed[0]
				}
				if !maps.Equal(settings, w.settings) {
					t.Fatalf("a restart made %v of %v", w.settings, settings)
				}
			default:
				d := configOf(fleet, rapid.Int64Range(1, 5).Draw(t, "rev"), rapid.Int64Range(5, 6).Draw(t, "rate"))
				w.take(d)
				m.take(d)
			}
			rev, _ := w.state.Revs()
			if got := int64(w.state.Config().EventRate); got != m.rate || rev != m.rev || w.state.FleetID() != m.fleet {
				t.Fatalf("in force is %d of revision %d of fleet %q, want %+v", got, rev, w.state.FleetID(), m)
			}
			if c := w.config; c != nil && ((c.Phase == schema.DeployRejected) != (m.rejected > 0) || m.rejected > 0 && c.DesiredRev != m.rejected) {
				t.Fatalf("reported %+v, want %+v", c, m)
			}
		}
	})
}

func TestDesiredModeIsAskedForOnceOrHeld(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*world)
		mode   schema.ModeID
		apply  schema.ApplyMode
		asks   int
		phase  schema.DeployPhase
		reason schema.Reason
	}{
		{"another mode is in charge", nil, schema.ModeAto, schema.ApplyModeNow, 1, schema.DeployWaiting, ""},
		{"it is in charge", nil, schema.ModeMnl, schema.ApplyModeNow, 0, schema.DeployActive, ""},
		{"a person has control", func(w *world) { w.robot.mode.Prevented = schema.ReasonNotInControl }, schema.ModeAto, schema.ApplyModeNow, 0,
			schema.DeployHeld, schema.ReasonNotInControl},
		{"for the next start", nil, schema.ModeAto, schema.ApplyModeBoot, 0, schema.DeployWaiting, ""},
		{"no mode that can be desired", nil, schema.ModeSafe, schema.ApplyModeNow, 0, schema.DeployRejected, schema.ReasonUnknownMode},
		{"no mode", nil, "dance", schema.ApplyModeNow, 0, schema.DeployRejected, schema.ReasonUnknownMode},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(nil)
			w.part().StartupEnded("")
			w.now += storyWait // start-up is over, and for long
			w.settle()
			if c.change != nil {
				c.change(w)
			}
			d := event.DesiredMode{Kind: sign.Mode, Document: schema.DesiredMode{Rev: 3, FleetID: "a", Mode: c.mode, Apply: c.apply}}
			w.take(d)
			w.robot.mode.Prevented = ""
			w.take(d) // as after each connection
			if len(w.asked) != c.asks {
				t.Errorf("it was asked for %d times, want %d", len(w.asked), c.asks)
			}
			if w.mode.Phase != c.phase || w.mode.Reason != c.reason || w.mode.DesiredRev != 3 || w.mode.Retry == schema.RetryLater {
				t.Errorf("reported %+v, want %s %s, and nothing that comes later by itself", w.mode, c.phase, c.reason)
			}
			if c.asks == 0 {
				return
			}
			w.part().Answered(w.asked[0].By, schema.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonNoDefaultStory})
			w.settle()
			if w.mode.Phase != schema.DeployRejected || w.mode.Reason != schema.ReasonNoDefaultStory {
				t.Errorf("after the refusal %+v is reported", w.mode)
			}
		})
	}
}

func TestStartUpEndsInTheDesiredMode(t *testing.T) {
	w := newWorld(nil)
	w.take(event.DesiredMode{Kind: sign.Mode, Document: schema.DesiredMode{Rev: 1, FleetID: "a", Mode: schema.ModeAto,
		Apply: schema.ApplyModeBoot}})
	if boot := w.state.Config().Mode.Boot; boot != schema.ModeAto {
		t.Errorf("the start that runs ends in %s", boot)
	}
	w.boot()
	if boot := w.state.Config().Mode.Boot; boot != schema.ModeAto || w.base.Mode.Boot != schema.ModeMnl {
		t.Errorf("the next start ends in %s, and the robot's own mode is %s", boot, w.base.Mode.Boot)
	}
}

// The desired mode waits for its story after start-up, but not for ever, and not behind the back of a person.
func TestDesiredModeWaitsForItsStory(t *testing.T) {
	for _, c := range []struct {
		name   string
		during func(*world)
		phase  schema.DeployPhase
		reason schema.Reason
	}{
		{"nothing happens", func(*world) {}, schema.DeployWaiting, schema.ReasonNoDefaultStory},
		{"it takes long", func(w *world) { w.now += storyWait }, schema.DeployFailed, schema.ReasonNoDefaultStory},
		{"a person requests a mode", func(w *world) { w.part().NoteIntendedMode("op1/k", schema.ModeMnl) }, schema.DeployFailed,
			schema.ReasonNoDefaultStory},
		{"a person acts on the robot", func(w *world) { w.state.NoteActed() }, schema.DeployFailed, schema.ReasonNoDefaultStory},
		{"a person stops the robot", func(w *world) { w.robot.mode.Prevented = schema.ReasonLatched }, schema.DeployHeld, schema.ReasonLatched},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(nil)
			w.take(event.DesiredMode{Kind: sign.Mode, Document: schema.DesiredMode{Rev: 1, FleetID: "a", Mode: schema.ModeAto,
				Apply: schema.ApplyModeBoot}})
			w.part().StartupEnded(schema.ReasonNoDefaultStory)
			w.settle()
			if at, any := w.state.Deadline(); !any || at > w.now+storyWait {
				t.Errorf("it looks again at %v, %v", at, any)
			}
			c.during(w)
			w.part().FollowStory()
			w.robot.mode.Prevented = ""
			w.part().FollowStory()
			w.settle()
			if len(w.asked) > 0 || w.mode.Phase != c.phase || w.mode.Reason != c.reason {
				t.Errorf("asked %v, reported %+v", w.asked, w.mode)
			}
		})
	}
}

// Whom the robot has to trust decides before what the document says.
func TestUnsignedDocumentIsRefusedAsFarAsThePolicyWants(t *testing.T) {
	for policy, c := range map[sign.Policy]struct {
		obeyed, alert bool
	}{sign.Off: {true, false}, sign.Warn: {true, true}, sign.Require: {false, true}} {
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			w := newWorld(func(cfg *config.Config) { cfg.Signing = policy })
			w.take(configOf("a", 1, 7))
			if obeyed := w.state.Config().EventRate == 7; obeyed != c.obeyed || w.alerts["untrusted_document desired/config"] != c.alert {
				t.Errorf("obeyed %v, alerts %v", obeyed, w.alerts)
			}
			if c.obeyed != (w.config.Phase == schema.DeployActive) || c.obeyed != (w.config.Reason == "") {
				t.Errorf("reported %+v", w.config)
			}
		})
	}
}

func TestHintNamesTheKeyThatIsMissing(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(func(cfg *config.Config) {
		cfg.Signing, cfg.Trust = sign.Require, sign.Ring{{Role: sign.SignsDesired, Public: public}, {Role: sign.SignsReleases, Public: public}}
	})
	what := sign.Subject{Kind: sign.Story, Robot: "r1", FleetID: "a", Rev: 1, Counter: 1, Document: strings.Repeat("a", 64)}
	sig, err := what.Sign(private)
	if err != nil {
		t.Fatal(err)
	}
	for signature, key := range map[*schema.Signature]string{nil: "--sign-key", sig: "--release-key"} {
		v := w.part().Verify(what, signature, &schema.ContentPin{ID: "welcome", Rev: 1, SHA256: strings.Repeat("b", 64)}, nil)
		if w.settle(); v.Refused != schema.ReasonBadSignature || !strings.Contains(w.hint, key) {
			t.Errorf("%+v: the hint does not name %s: %s", v, key, w.hint)
		}
	}
}

func TestAlertOfLostCountersEndsWithTheNextSignedDocument(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(func(cfg *config.Config) {
		cfg.Signing, cfg.Trust = sign.Require, sign.Ring{{Role: sign.SignsDesired, Public: public}}
	})
	w.settings[CountersKey] = "damaged"
	w.boot()
	if !w.alerts["untrusted_document disk"] {
		t.Fatal("counters that cannot be read raise no alert")
	}
	signer := sign.Signer{Key: private}
	d := configOf("a", 1, 7).Document
	d.Counter = signer.Next(time.Now())
	if d.Sig, err = signer.Sign(sign.Config, "r1", d); err != nil {
		t.Fatal(err)
	}
	payload, err := schema.Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	w.take(event.ReadDesired(schema.TopicDesiredConfig, payload))
	if w.state.Config().EventRate != 7 || w.alerts["untrusted_document disk"] {
		t.Errorf("event rate %v, alerts %v", w.state.Config().EventRate, w.alerts)
	}
}
