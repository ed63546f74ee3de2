package taught

import (
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := schema.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func ptr[T any](v T) *T { return &v }

func TestRecordingKeepsTheTimingOfWhatWasDone(t *testing.T) {
	r := Recording{Act: "bow"}
	say := score.Action{TimeoutMS: ptr[int64](61_000), Do: score.Say{Text: score.Text{"en": "Hello"}}}
	r.Begin("1", say, ms(5000))
	r.Begin("2", score.Action{TimeoutMS: ptr[int64](11_000), Do: score.Head{Axes: score.Axes{YawRad: ptr(0.5)}}}, ms(5500))
	r.End("2", false, false, ms(6200)) // replaced by the next
	r.Begin("3", score.Action{TimeoutMS: ptr[int64](11_000), Do: score.Head{Axes: score.Axes{YawRad: ptr(0.0)}}}, ms(6200))
	r.End("1", true, false, ms(6800))
	r.Begin("4", score.Action{TimeoutMS: ptr[int64](301_000), Do: score.Goto{Point: "dock"}}, ms(7000))
	r.End("4", false, true, ms(7500)) // failed
	r.Begin("5", score.Action{TimeoutMS: ptr[int64](31_000), Do: score.Motion{Motion: "nod"}}, ms(8000))
	r.End("5", false, false, ms(8100)) // its type cannot have an end
	a, _ := r.Recorded(ms(9000))
	want := `{"act":"bow","actions":[{"type":"say","start_ms":0,"timeout_ms":61000,"text":{"en":"Hello"}},` +
		`{"type":"head","start_ms":500,"end_ms":1200,"yaw_rad":0.5},{"type":"head","start_ms":1200,"timeout_ms":11000,"yaw_rad":0}]}`
	if got := text(t, a); got != want {
		t.Errorf("recorded %s\nwant     %s", got, want)
	}
	if found := schema.Errors(score.ValidateAct(a)); len(found) > 0 {
		t.Errorf("the act is not valid: %v", found)
	}
	second, _ := r.Recorded(ms(9000))
	if again := text(t, second); r.Act != "bow" || again != want {
		t.Errorf("the second time, %s was recorded as %q", again, r.Act)
	}
}

func TestRecordingMakesDrivesOfFrames(t *testing.T) {
	r := Recording{Act: "way", MaxMPS: 0.6, MaxTurn: 1.5}
	at := int64(0)
	drive := func(vx, wz float64, for_ int64) {
		for end := at + for_; at < end; at += 20 {
			r.Drive(vx, wz, ms(at))
		}
	}
	drive(0, 0, 1000)
	drive(0.3, 0, 2000)
	drive(0.32, 0, 1000)  // about the same
	drive(0.2, 0.5, 1000) // a turn
	drive(0, 0, 500)
	drive(0.3, 0, 100) // too short
	drive(0, 0, 500)
	drive(0.6, 0, 12_000)     // longer than one action
	r.Recorded(ms(at - 6000)) // changes nothing
	a, _ := r.Recorded(ms(at))
	if found := schema.Errors(score.ValidateAct(a)); len(found) > 0 {
		t.Errorf("the act is not valid: %v", found)
	}
	want := `{"act":"way","actions":[{"type":"drive","start_ms":0,"end_ms":3000,"vx_mps":0.32,"wz_radps":0},` +
		`{"type":"drive","start_ms":3000,"end_ms":4000,"vx_mps":0.22,"wz_radps":0.56},` +
		`{"type":"drive","start_ms":5100,"end_ms":15100,"vx_mps":0.6,"wz_radps":0},{"type":"drive","start_ms":15100,"end_ms":17100,"vx_mps":0.6,"wz_radps":0}]}`
	if got := text(t, a); got != want {
		t.Errorf("recorded %s\nwant     %s", got, want)
	}
}

func TestRecordingWithTooManyActionsSaysSo(t *testing.T) {
	r := Recording{Act: "long"}
	for i := range int64(MaxActions) {
		r.Begin("", score.Action{Do: score.Face{Face: "smile"}}, ms(10*i))
	}
	if a, tooLong := r.Recorded(ms(1000)); tooLong || r.TooLong() || len(a.Actions) != MaxActions {
		t.Errorf("with %d actions it has %d, and is too long: %v, %v", MaxActions, len(a.Actions), tooLong, r.TooLong())
	}
	r.Drive(0.2, 0, ms(1000)) // goes on
	if _, tooLong := r.Recorded(ms(3000)); !tooLong || r.TooLong() {
		t.Errorf("with a drive as its last action it is too long: %v, want true; without it %v, want false", tooLong, r.TooLong())
	}
	for i := range int64(1000) {
		r.Begin("", score.Action{Do: score.Face{Face: "smile"}}, ms(3000+i))
	}
	if a, tooLong := r.Recorded(ms(5000)); !tooLong || !r.TooLong() || len(a.Actions) != MaxActions {
		t.Errorf("it has %d actions, and is too long: %v, %v", len(a.Actions), tooLong, r.TooLong())
	}
}

func TestWhatWasTaughtOutlastsARestart(t *testing.T) {
	s := Restore(nil)
	empty := s.Digest()
	disk := map[string]string{}
	keep := func(saved StoredValue) { disk[saved.Name] = saved.Value }
	keep(s.SetPoint("window", Point{score.Point{XM: 1, YM: 2, ThetaRad: ptr(0.5)}, "ab12"}))
	keep(s.SetAct(score.Act{ID: "bow", Name: score.Text{"en": "Bow"}, Actions: []score.Action{{Do: score.Face{Face: "smile"}}}}))
	first := s.Digest()
	keep(s.SetAct(score.Act{ID: "bow", Name: score.Text{"en": "Bow"}, Actions: []score.Action{{Do: score.Face{Face: "sad"}}}}))
	if s.Digest() == first || first == empty {
		t.Error("the digest does not change with the acts")
	}
	disk["taught.act.broken"] = "{"
	again := Restore(disk)
	if got, want := text(t, again.Document([]string{"en"})), text(t, s.Document([]string{"en"})); got != want ||
		again.Document(nil).Acts[0].Rev != 2 {
		t.Errorf("after a restart the acts are %s, want %s", got, want)
	}
	if text(t, again.Points()) != text(t, s.Points()) {
		t.Errorf("after a restart the points are %v", again.Points())
	}
	if _, had := again.DeleteAct("bow"); !had || again.Digest() != empty {
		t.Error("the act was not deleted")
	}
	if _, had := again.DeletePoint("window"); !had || len(again.Points()) > 0 {
		t.Error("the point was not deleted")
	}
	if _, had := again.DeletePoint("window"); had {
		t.Error("the point was deleted twice")
	}
}
