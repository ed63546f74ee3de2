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
			if r.Phase != schema.DeployRejected || r.Reason != schema.ReasonStoryEmpty || r.Active == nil || r.Active.Story.ID != "a" {
				t.Errorf("%s %s, active %+v", r.Phase, r.Reason, r.Active)
			}
			if l, why := w.s.InUse(); l == nil || l.Story.ID != "a" {
				t.Errorf("in use: %+v %s", l, why)
			}
		})
	}
}
