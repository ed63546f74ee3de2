package brain

import (
	"fmt"

	"troupe/robotd/effect"
)

// settle carries out what a part of the robot has left in the list from the i-th on,
// in the order in which it stands there.
func (t *step) settle(from int) {
	for i, n := from, t.list.Len(); i < n; i++ {
		switch in := t.list.At(i).(type) {
		case effect.Effect:
			t.do(in)
		case effect.Event:
			t.tell(in.Kind, in.Source, in.Cause, in.Req, in.Data)
		case effect.Raise:
			t.raise(in.Kind, in.Level, in.Source, in.Detail, in.Hint)
		case effect.Clear:
			t.clear(in.Kind, in.Source)
		case effect.Reply:
			t.reply(in.To, in.Verdict)
		case effect.Ask:
			t.asking(in.Input)
		case effect.Changed:
			t.dirty(in.Urgency)
		case effect.Document:
			t.do(effect.Publish{Topic: in.Topic, Param: in.Param, Payload: within(in.Topic, in.Value), First: in.First, Confirm: in.Confirm})
		case effect.Disk:
			t.disk(in.Refused)
		case effect.Caps:
			t.tellCaps()
		default:
			panic(fmt.Sprintf("brain: no such intent: %T", in))
		}
	}
	t.list.Cut(from)
}
