package report

import (
	"troupe/robotd/effect"
	"troupe/schema"
)

// LogKey is the key on the disk under which is stored whether robotd writes transitions, alerts and
// events to files in its data directory (verbs log/on, log/off).
const LogKey = "log"

// setLog begins or ends these files, also for later starts.
func (t Step) setLog(o effect.Dispatch, on bool) {
	r := schema.Verdict{Status: schema.StatusSucceeded}
	if t.logOn == on {
		r.Reason = schema.ReasonUnchanged
	} else {
		value := ""
		if on {
			value = "on"
		}
		t.logOn = on
		t.Out.Do(effect.SetLocalLog{On: on})
		t.Out.Do(effect.SaveValue{Name: LogKey, Value: value})
		t.Out.Changed(effect.FlushSoon)
	}
	t.Out.Reply(o.Key, r)
}

// RestoreLog begins these files again after a restart.
func (t Step) RestoreLog(saved map[string]string) {
	if t.logOn = saved[LogKey] != ""; t.logOn {
		t.Out.Do(effect.SetLocalLog{On: true})
	}
}

// LogOn reports whether robotd writes these files.
func (s *State) LogOn() bool { return s.logOn }
