package driver

import "testing"

func TestQueueDropsOnlyWhatMayBeMissed(t *testing.T) {
	var q Queue
	q.Push(Event{Kind: Done, Key: 1})
	q.Push(Event{Kind: Sensed, Signal: EStopInput, Name: "bumper", On: true})
	for i := range Droppables + 10 {
		q.Push(Event{Kind: Speed, VX: float64(i)})
	}
	var got []Event
	events := make(chan Event)
	for to, e := q.Next(events); to != nil; to, e = q.Next(events) {
		got = append(got, e)
		q.Pop()
	}
	if len(got) != Droppables+2 || got[0].Kind != Done || got[1].Signal != EStopInput || got[2].VX != 10 {
		t.Errorf("%d events, the first are %+v", len(got), got[:3])
	}
	for range Droppables + 10 { // as a head sends them while nobody reads
		q.Push(Event{Kind: Angles})
	}
	if n := len(q.events); n != Droppables {
		t.Errorf("%d readings are kept, at most %d may be", n, Droppables)
	}
	q = Queue{}
	q.Push(Event{Kind: Speed})
	if to, _ := q.Next(events); to == nil {
		t.Error("an empty queue takes no event any more")
	}
}
