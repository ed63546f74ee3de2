package report

import (
	"troupe/robotd/effect"
	"troupe/robotd/request"
	"troupe/schema"
)

// LogSetting is the setting that says that the log on the robot is on.
const LogSetting = "log"

// SetLog begins or ends the log on the robot, also for later starts.
func (t Step) SetLog(o request.Perform, on bool) {
	r := schema.Verdict{Status: schema.StatusSucceeded}
	if t.logs == on {
		r.Reason = schema.ReasonUnchanged
	} else {
		value := ""
		if on {
			value = "on"
		}
		t.logs = on
		t.Out.Do(effect.Log{On: on})
		t.Out.Do(effect.SaveSetting{Name: LogSetting, Value: value})
		t.Out.Changed(effect.FlushSoon)
	}
	t.Out.Reply(o.Key, r)
}

// RestoreLog goes on with the log after a restart.
func (t Step) RestoreLog(saved map[string]string) {
	if t.logs = saved[LogSetting] != ""; t.logs {
		t.Out.Do(effect.Log{On: true})
	}
}

// Logs reports whether the log on the robot is on.
func (s *State) Logs() bool { return s.logs }
