package auto

import (
	"testing"
	"time"

	"troupe/schema"
)

func TestStickyPauseReportsNeedsContinue(t *testing.T) {
	s := Boot()
	story := Story{ID: "s", Acts: 1}
	f := Facts{Story: story}
	Step(&s, 0, Limits{}, f, Input{What: Enter})
	f.Safety = Hold{Held: true, Sticky: true, Reason: schema.ReasonNeedsReset}
	Step(&s, time.Second, Limits{}, f, Input{What: Tick})
	if held := s.Held(); len(held) != 1 || held[0].Why != string(schema.ReasonNeedsReset) {
		t.Fatalf("held: %+v", held)
	}
	f.Safety = Hold{}
	Step(&s, 2*time.Second, Limits{}, f, Input{What: Tick})
	if held := s.Held(); len(held) != 1 || held[0].Why != string(schema.ReasonNeedsContinue) {
		t.Errorf("held: %+v", held)
	}
}
