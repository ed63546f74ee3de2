package report

import (
	"time"

	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/verb"
)

// resyncEvery is how often all documents are published at most: they are many.
const resyncEvery = time.Second

// Ask takes a command, and reports whether it is one of what the robot reports.
func (t Step) Ask(o effect.Dispatch) bool {
	switch a := o.Args.(type) {
	case verb.Resync:
		t.resync(o)
	case verb.Replay:
		t.replayEvents(o, a)
	case verb.ExportRecord:
		t.exportRecord(o, a)
	case verb.LogOn, verb.LogOff:
		t.setLog(o, o.Args == verb.LogOn{})
	default:
		return false
	}
	return true
}

// resync publishes every document again, for a broker or a fleetd instance that has lost
// them.
func (t Step) resync(o effect.Dispatch) {
	if t.session.resyncedAt != 0 && t.Now.Mono < t.session.resyncedAt+resyncEvery {
		t.Out.Refuse(o.Key, schema.ReasonOverloaded, "", "every document was published less than a second ago")
		return
	}
	t.session.resyncedAt = t.Now.Mono
	if t.session.id != "" {
		t.PublishPresence()
		t.Out.Do(effect.PublishAll{})
	}
	t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded})
}
