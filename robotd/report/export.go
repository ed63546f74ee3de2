package report

import (
	"cmp"
	"fmt"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/verb"
)

// The span of an export of the flight recorder.
const (
	exportLast = 10 * time.Minute // if none is given
	maxExport  = 24 * time.Hour
)

// exportRecord begins to send what the flight recorder has to fleetd. One at a time: each
// reads the robot's disk and uses its network.
func (t Step) exportRecord(o effect.Dispatch, a verb.ExportRecord) {
	no := func(r schema.Reason, pointer, detail string) {
		t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusRejected, Reason: r, Pointer: pointer, Detail: detail})
	}
	last := cmp.Or(time.Duration(a.LastMS)*time.Millisecond, exportLast)
	switch {
	case !schema.ValidID(a.To): // it becomes part of a path
		no(schema.ReasonBadRequest, "/args/to", "it is not a key that fleetd gave; fleetd robot record asks for a record")
	case a.LastMS > maxExport.Milliseconds():
		no(schema.ReasonBadRequest, "/args/last_ms", fmt.Sprintf("at most %d, a day", maxExport.Milliseconds()))
	case t.exporting != "":
		no(schema.ReasonBusy, "", "a flight record is being sent for "+t.exporting.Client()+" already; ask again when it has arrived")
	default:
		t.exporting = o.Key
		t.Out.Do(effect.ExportRecord{To: a.To, Last: last})
		t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusAccepted})
	}
}

// RecordExported answers the command when its file has arrived at fleetd, or did not.
func (t Step) RecordExported(ev event.RecordExported) {
	v := schema.Verdict{Status: schema.StatusFailed, Reason: ev.Reason, Detail: ev.Detail}
	if ev.Reason == "" {
		v = schema.Verdict{Status: schema.StatusSucceeded, Detail: fmt.Sprintf("%d records, %d KiB", ev.Records, (ev.Bytes+1023)>>10)}
	}
	t.Out.Reply(t.exporting, v)
	t.exporting = ""
}
