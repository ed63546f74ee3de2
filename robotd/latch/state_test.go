package latch

import (
	"slices"
	"testing"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/request"
	"troupe/schema"
)

const epoch schema.Time = 1_800_000_000_000

func at(mono time.Duration) clock.Now { return clock.Now{Mono: mono, Wall: epoch.Add(mono)} }

// find returns the newest intent of a kind.
func find[T effect.Output](l *effect.List) (found T, ok bool) {
	for i := range l.Len() {
		if v, is := l.At(i).(T); is {
			found, ok = v, true
		}
	}
	return found, ok
}

// people names people as they name themselves.
type people struct{}

func (people) Asker(client, by string) string { return schema.Asker(client, by) }

func part(s *State, now clock.Now, out *effect.List) Step {
	return Step{State: s, Facts: Facts{Robot: "r1"}, People: people{}, Now: now, Out: out}
}

// stop has s stopped live and gives the disk the write.
func stop(s *State, now clock.Now) effect.SaveLatches {
	var out effect.List
	t := part(s, now, &out)
	t.LiveStop(event.LiveStop{Client: "op1", Payload: []byte(`{"id":"k1"}`)})
	t.Persist()
	save, _ := find[effect.SaveLatches](&out)
	return save
}

func TestLiveStopIsAnsweredWhenItIsOnTheDisk(t *testing.T) {
	var s State
	save := stop(&s, at(0))
	if save.N != 1 || len(s.Latches()) != 1 {
		t.Fatalf("write %d, latches %+v", save.N, s.Latches())
	}
	var out effect.List
	part(&s, at(0), &out).AnswerLiveStops(Answer{Session: "s"})
	if _, answered := find[effect.Document](&out); answered {
		t.Fatal("answered before the disk has it")
	}
	part(&s, at(time.Millisecond), &out).Saved(save.N, "")
	part(&s, at(time.Millisecond), &out).AnswerLiveStops(Answer{Session: "s"})
	d, _ := find[effect.Document](&out)
	ack, ok := d.Value.(*schema.Ack)
	if !ok || ack.Status != schema.StatusSucceeded || ack.Reason != "" || d.Param != "op1" {
		t.Errorf("answered %+v", d)
	}
}

func TestOldWriteConfirmsNoNewerStop(t *testing.T) {
	var s State
	old := stop(&s, at(0))
	var out effect.List
	step := part(&s, at(0), &out)
	step.LiveStop(event.LiveStop{Client: "op2", Payload: []byte(`{"id":"k2"}`)})
	step.Persist()
	step.AnswerLiveStops(Answer{Session: "s"})
	answered := func(written int64) (clients []string) {
		out = effect.List{}
		step.Saved(written, "")
		step.AnswerLiveStops(Answer{Session: "s"})
		for i := range out.Len() {
			if d, is := out.At(i).(effect.Document); is {
				clients = append(clients, d.Param)
			}
		}
		return clients
	}
	if got := answered(old.N); slices.Contains(got, "op2") {
		t.Errorf("the disk has the first stop, and %v were answered", got)
	}
	if got := answered(old.N + 1); !slices.Contains(got, "op2") {
		t.Errorf("the disk has both stops, and %v were answered", got)
	}
}

func TestLiveStopIsAnsweredWhileTheDiskHangs(t *testing.T) {
	var s State
	stop(&s, at(0))
	due, ok := s.Deadline()
	if !ok || due != persistWait {
		t.Fatalf("the deadline is %v, %v", due, ok)
	}
	var out effect.List
	part(&s, at(due), &out).Tick()
	if a, raised := find[effect.RaiseAlert](&out); !raised || a.Kind != notPersisted || !s.NotPersisted() {
		t.Errorf("raised %+v", a)
	}
	part(&s, at(due), &out).AnswerLiveStops(Answer{Session: "s"})
	d, _ := find[effect.Document](&out)
	if ack, ok := d.Value.(*schema.Ack); !ok || ack.Reason != schema.ReasonNotPersisted {
		t.Errorf("answered %+v", d.Value)
	}
}

func TestAnswersToStopsAreHeldBackAndForgottenWithTheSession(t *testing.T) {
	var s State
	stop(&s, at(0))
	answer := request.SendAck{Client: "op1", Ack: schema.Ack{Verb: "safety/stop", Status: schema.StatusSucceeded}}
	all := s.TakeHeldBack([]request.SendAck{answer})
	if len(all) != 1 || !s.HoldBack(&all[0]) {
		t.Fatalf("of an answer to a stop %+v was taken, and it is not held back", all)
	}
	if again := s.TakeHeldBack(nil); len(again) != 1 || !s.HoldBack(&again[0]) {
		t.Fatalf("held back are %+v", again)
	}
	s.Disconnected()
	if left := s.TakeHeldBack(nil); len(left) != 0 {
		t.Errorf("after the end of the session %+v is held back", left)
	}
}

func TestLatchesSurviveARestart(t *testing.T) {
	var s State
	save := stop(&s, at(0))
	for name, c := range map[string]struct {
		memory Memory
		want   []string
	}{
		"as it was":         {Memory{Latches: save.Value}, []string{"k1"}},
		"unreadable":        {Memory{Latches: []byte("{{{")}, []string{DiskLatch}},
		"the newest lost":   {Memory{Latches: save.Value, LatchesLost: true}, []string{"k1", DiskLatch}},
		"a lost memory":     {Memory{Lost: true}, []string{LostLatch}},
		"a disk that fails": {Memory{Latches: save.Value, Refused: schema.ReasonNoSpace}, []string{"k1", RefusingLatch}},
	} {
		var again State
		var out effect.List
		part(&again, at(0), &out).Restore(c.memory)
		var got []string
		for _, l := range again.Latches() {
			got = append(got, l.ID)
		}
		if len(got) != len(c.want) || got[0] != c.want[0] || got[len(got)-1] != c.want[len(c.want)-1] {
			t.Errorf("%s: held by %v, want %v", name, got, c.want)
		}
	}
}

// A stop that the disk refused before the start is written again, and counts as missing until then.
func TestStopThatTheDiskRefusedBeforeTheStartIsSavedAgain(t *testing.T) {
	saved, _ := LatchBeforeStart(clock.Now{}, Memory{}, "at-the-robot", "")
	for _, unsaved := range []bool{false, true} {
		var s State
		var out effect.List
		p := part(&s, at(0), &out)
		p.Restore(Memory{Latches: saved, LatchesUnsaved: unsaved})
		p.Persist()
		if s.persist.missing() != unsaved {
			t.Errorf("unsaved %v: missing %v", unsaved, s.persist.missing())
		}
	}
}

// The answer to a stop at the robot waits for the disk, whether or not there is a broker.
func TestLostConnectionDropsNoAnswerToThePage(t *testing.T) {
	var s State
	stop(&s, at(0))
	for _, client := range []string{"op1", schema.LocalClient} {
		h := s.TakeHeldBack([]request.SendAck{{Client: client, Ack: schema.Ack{Status: schema.StatusSucceeded}}})
		for _, one := range h {
			s.HoldBack(&one)
		}
	}
	s.Disconnected()
	if left := s.TakeHeldBack(nil); len(left) != 1 || left[0].Client != schema.LocalClient {
		t.Errorf("left are %+v", left)
	}
}

func TestReleaseNamesThePersonWhomTheDocumentNames(t *testing.T) {
	for want, released := range map[string][]schema.StopRelease{
		"ben":    {{ID: "other", By: "carl"}, {ID: "k1", By: "ben"}},
		"b?n":    {{ID: "k1", By: "b\x1bn"}},
		"fleetd": {{ID: "other", By: "carl"}, {ID: "k1"}},
	} {
		var s State
		give := func(rev int64, stops []schema.StopLatch, released []schema.StopRelease) *effect.List {
			var out effect.List
			part(&s, at(0), &out).Document(event.StopDocument{From: event.RobotStops, Rev: rev, FleetID: "f", Stops: stops, Released: released}, "",
				"")
			return &out
		}
		give(1, []schema.StopLatch{{ID: "k1", Level: schema.StopStop, By: "anna"}}, nil)
		e, ok := find[effect.Event](give(2, []schema.StopLatch{}, released))
		if d, is := e.Data.(stopData); !ok || !is || e.Kind != "stop_released" || d.ReleasedBy != want || d.By != "anna" {
			t.Errorf("want %s: %+v", want, e)
		}
	}
}

// How soon the robot has to report what a message changed in its stops.
func TestOnlyWhatRobotsReportIsReportedAnew(t *testing.T) {
	k1 := schema.StopLatch{ID: "k1", Level: schema.StopStop, By: "op1", Since: epoch, All: true}
	document := func(from event.StopSource, rev int64, stops ...schema.StopLatch) func(Step) {
		return func(s Step) {
			s.Document(event.StopDocument{From: from, Rev: rev, FleetID: "one", Stops: stops}, "", "")
		}
	}
	var s State
	for _, row := range []struct {
		name string
		do   func(Step)
		want effect.Urgency
	}{
		{"a live stop", func(s Step) { s.LiveStop(event.LiveStop{Client: "op1", Payload: []byte(`{"id":"k1"}`)}) }, effect.FlushNow},
		{"fleetd has recorded it", document(event.FleetStops, 5, k1), effect.FlushLater},
		{"in a second document, too", document(event.RobotStops, 4, k1), effect.Clean},
		{"one of them leaves it out", document(event.FleetStops, 6), effect.Clean},
		{"the other one, too", document(event.RobotStops, 7), effect.FlushNow},
	} {
		var out effect.List
		row.do(part(&s, at(time.Second), &out))
		got := effect.Clean
		for i := range out.Len() {
			if c, is := out.At(i).(effect.StateChanged); is {
				got = max(got, c.Urgency)
			}
		}
		if got != row.want {
			t.Errorf("%s: the state has changed with urgency %d, want %d", row.name, got, row.want)
		}
	}
}
