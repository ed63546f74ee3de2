package delivery

import (
	"testing"

	"troupe/schema"
	"troupe/schema/sign"
)

// story delivers a story until it is active.
func (w *world) story(text string, rev int64) {
	pin := w.pin(text)
	w.step(Document{Desired: Desired{Rev: rev, FleetID: "home", Apply: schema.ApplyNow, Pin: pin}})
	for _, e := range w.step(Fetched{SHA256: pin.SHA256, Bytes: []byte(text)}) {
		if e, ok := e.(Save); ok {
			w.save(e)
		}
	}
	w.step(Written{Rev: rev})
}

func TestReportContainsSelfCheck(t *testing.T) {
	w := newWorld()
	if d := w.s.Report().Story(); d.SelfCheck != "" || d.Active != nil {
		t.Errorf("without a story: %+v", d)
	}
	w.story("a x y", 1)
	if d := w.s.Report().Story(); d.SelfCheck != schema.SelfCheckPassed || d.Active == nil || len(d.Active.EffectiveActs) != 2 ||
		d.Progress != nil {
		t.Errorf("active: %+v", d)
	}
	w.missing["y"] = true
	w.step(RobotChanged{ActsDigest: "without y"})
	if d := w.s.Report().Story(); d.SelfCheck != schema.SelfCheckPassed || len(d.Active.Pruned) != 1 {
		t.Errorf("a part of it can be performed: %+v", d)
	}
	w.missing["x"] = true
	w.step(RobotChanged{ActsDigest: "without any"})
	if d := w.s.Report().Story(); d.SelfCheck != schema.SelfCheckFailed || d.Active != nil || d.Phase != schema.DeployRejected ||
		d.Reason != schema.ReasonStoryEmpty || d.Rejected == nil || d.Rejected.ID != "a" {
		t.Errorf("nothing of it can be performed: %+v", d)
	}
	clear(w.missing)
	w.step(RobotChanged{ActsDigest: "with all"})
	if d := w.s.Report().Story(); d.SelfCheck != schema.SelfCheckPassed || d.Phase != schema.DeployActive || d.Rejected != nil {
		t.Errorf("it can be performed again: %+v", d)
	}
}

func TestRefusedPinIsNamedByItsFieldInTheDocument(t *testing.T) {
	for kind, want := range map[sign.Kind]string{sign.Story: "/story/size", sign.Activities: "/set/size", sign.Places: "/set/size"} {
		w := newWorld()
		w.cfg.Kind = kind
		pin := w.pin("a x")
		pin.Size = w.cfg.MaxBytes + 1
		w.step(Document{Desired: Desired{Rev: 1, FleetID: "home", Apply: schema.ApplyNow, Pin: pin}})
		if r := w.s.Report(); r.Reason != schema.ReasonTooBig || r.Pointer != want {
			t.Errorf("%s: %s at %s, want %s", kind, r.Reason, r.Pointer, want)
		}
	}
}

func TestReportOnSetNamesActiveAndPrevious(t *testing.T) {
	w := newWorld()
	w.story("a x", 1)
	w.story("b x", 2)
	d := w.s.Report().Set()
	if d.Active == nil || d.Active.ID != "b" || d.Previous == nil || d.Previous.ID != "a" || d.DesiredRev != 2 || d.FleetID != "home" {
		t.Errorf("%+v", d)
	}
}
