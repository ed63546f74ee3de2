package report

import (
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// disk is whether the disk takes what it is given.
type disk struct {
	okAt       time.Duration // when the alert of a disk that refused is cleared at the earliest; 0 = there is none
	wroteSince bool          // it took a write since it refused one
}

// DiskAlertClearsAfter is how long a disk must not have refused until its alert is cleared: on
// one that is full something small fits now and then.
const DiskAlertClearsAfter = 10 * time.Second

// NoteDiskWrite takes the result of a write. It raises an alert while the disk refuses writes, so
// that the robot cannot keep what it promises.
func (t Step) NoteDiskWrite(refused schema.Reason) {
	if refused == "" {
		t.disk.wroteSince = true
		return
	}
	t.disk.wroteSince, t.disk.okAt = false, t.Now.Mono+DiskAlertClearsAfter
	t.RaiseAlert(effect.RaiseAlert{Kind: "disk_refuses", Level: schema.AlertError, Source: "disk",
		Detail: "the robot's disk refuses to write: " + string(refused),
		Hint: "make room on it, or see with robotd doctor whether it is broken; until then the robot obeys stops and begins no command that " +
			"it has to write down",
		Params: schema.AlertParams{Reason: refused}}, false)
}

// ClearDiskAlert clears the alert when the disk has refused nothing for DiskAlertClearsAfter.
func (t Step) ClearDiskAlert() {
	if t.disk.okAt > 0 && t.disk.wroteSince && t.Now.Mono >= t.disk.okAt {
		t.disk.okAt = 0
		t.Clear("disk_refuses", "disk")
	}
}

// NoteRecorderState notes how the flight recorder is doing.
func (t Step) NoteRecorderState(ev event.Recorder) {
	if t.recordsDropped != ev.Dropped {
		t.recordsDropped = ev.Dropped
		t.Out.Changed(effect.FlushSoon)
	}
	if !ev.Failing {
		t.Clear("recorder_fails", "recorder")
		return
	}
	t.Raise("recorder_fails", schema.AlertWarn, "recorder", "the flight recorder cannot write: what happens now is not recorded",
		"make room on the robot's disk; see the robot's log")
}

// RecordsDropped is how many records the flight recorder lost.
func (s *State) RecordsDropped() int64 { return s.recordsDropped }
