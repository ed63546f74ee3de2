package diskvalues

import (
	"slices"
	"testing"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

func TestRefusedSettingIsSavedAgainWithItsNewestValue(t *testing.T) {
	var s State
	answer := func(at time.Duration, why schema.Reason, names ...string) {
		s.Saved(at, event.ValuesSaved{Names: names, Refused: why})
	}
	retry := func(at time.Duration) (saved []string) {
		var out effect.List
		again := s.Retry(at, &out)
		for i := range out.Len() {
			e := out.At(i).(effect.SaveValue)
			saved = append(saved, e.Name+"="+e.Value)
		}
		if again != (len(saved) > 0) {
			t.Errorf("at %v: it reports %v, and saves %v", at, again, saved)
		}
		return saved
	}
	expect := func(what string, got []string, want ...string) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	expect("nothing was saved", retry(time.Hour))
	answer(0, schema.ReasonNoSpace, "of an earlier start")
	expect("not saved since the start", retry(time.Hour))

	s.Saving(effect.SaveValue{Name: "volume", Value: "0.2"})
	s.Saving(effect.SaveValue{Name: "fault.battery"})
	s.Saving(effect.SaveValue{Name: "mode.ato", Value: "off"})
	answer(time.Second, schema.ReasonNoSpace, "volume", "fault.battery")
	answer(time.Second+Pause/2, "", "mode.ato")
	s.Saving(effect.SaveValue{Name: "volume", Value: "0.7"})
	if at, due := s.Deadline(); !due || at != time.Second+Pause {
		t.Errorf("it is due at %v, %v", at, due)
	}
	expect("before it is time", retry(time.Second+Pause-1))
	expect("a deletion, and the newest value", retry(time.Second+Pause), "fault.battery=", "volume=0.7")
	expect("while that save is under way", retry(time.Hour))
	answer(time.Hour, "", "volume")
	answer(time.Hour, schema.ReasonNoSpace, "fault.battery")
	expect("refused once more", retry(time.Hour+Pause), "fault.battery=")
	answer(time.Hour+Pause, "", "fault.battery")
	expect("all is on the disk", retry(2*time.Hour))
}
