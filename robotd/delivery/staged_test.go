package delivery

import (
	"testing"

	"troupe/schema"
)

// stage delivers a story until it is on probation.
func (w *world) stage(text string, rev int64) {
	w.facts = Facts{Performing: true, BetweenActs: true}
	w.story(text, rev)
}

func TestStoryThatBecomesUnusableBeforeItBeginsLeavesTheActiveOne(t *testing.T) {
	for name, change := range map[string]func(*world){
		"on probation": func(w *world) { w.step(RobotChanged{ActsDigest: "without y"}) },
		"over a restart": func(w *world) {
			w.restart("without y")
			w.facts = Facts{}
			w.step(Tick{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.story("a x", 1)
			w.stage("b y", 2)
			if r := w.s.Report(); r.Phase != schema.DeployActivating {
				t.Fatalf("the story is %s", r.Phase)
			}
			w.missing["y"] = true
			change(w)
			w.facts = Facts{} // nothing is performed when the story in use is gone
			w.step(Tick{})
			r := w.s.Report()
			if r.Phase != schema.DeployRejected || r.Reason != schema.ReasonStoryEmpty || r.Active == nil || r.Active.Pin.ID != "a" {
				t.Errorf("%s %s, active %+v", r.Phase, r.Reason, r.Active)
			}
			if l, why := w.s.InUse(); l == nil || l.Pin.ID != "a" {
				t.Errorf("in use: %+v %s", l, why)
			}
		})
	}
}

func TestContentThatIsBeingWrittenIsFittedAgainWhenTheRobotChanges(t *testing.T) {
	w := newWorld()
	w.missing["y"] = true
	pin := w.pin("a x y")
	w.step(Document{Desired: Desired{Rev: 1, FleetID: "home", Apply: schema.ApplyNow, Pin: pin}})
	w.step(Fetched{SHA256: pin.SHA256, Bytes: []byte("a x y")})
	clear(w.missing)
	w.step(RobotChanged{ActsDigest: "with y"})
	w.step(Written{Rev: 1})
	if r := w.s.Report(); r.Phase != schema.DeployActive || len(r.Names) != 2 || len(r.Pruned) != 0 {
		t.Errorf("the robot got what y needs while the disk wrote: %s", w.report(r))
	}
}

func TestContentThatBecomesUnusableWhileItIsWrittenIsRefused(t *testing.T) {
	w := newWorld()
	w.story("a x", 1)
	pin := w.pin("b y")
	w.step(Document{Desired: Desired{Rev: 2, FleetID: "home", Apply: schema.ApplyNow, Pin: pin}})
	w.step(Fetched{SHA256: pin.SHA256, Bytes: []byte("b y")})
	w.missing["y"] = true
	w.step(RobotChanged{ActsDigest: "without y"})
	w.step(Written{Rev: 2})
	if r := w.s.Report(); r.Phase != schema.DeployRejected || r.Reason != schema.ReasonStoryEmpty || r.Active == nil ||
		r.Active.Pin.ID != "a" {
		t.Errorf("the robot lost what y needs while the disk wrote: %s", w.report(r))
	}
}

func TestOldWriteConfirmsNoNewerContent(t *testing.T) {
	w := newWorld()
	for rev, text := range []string{"a x", "b y"} {
		pin := w.pin(text)
		w.step(Document{Desired: Desired{Rev: int64(rev) + 1, FleetID: "home", Apply: schema.ApplyNow, Pin: pin}})
		w.step(Fetched{SHA256: pin.SHA256, Bytes: []byte(text)})
	}
	w.step(Written{Rev: 1})
	if r := w.s.Report(); r.Phase == schema.DeployActive || r.Active != nil {
		t.Errorf("the disk has the first content only: %s", w.report(r))
	}
	w.step(Written{Rev: 2})
	if r := w.s.Report(); r.Phase != schema.DeployActive || r.Active.Pin.ID != "b" {
		t.Errorf("the disk has the second content: %s", w.report(r))
	}
}
