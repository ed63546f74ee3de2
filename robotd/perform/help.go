package perform

import (
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/interrupts"
	"troupe/schema/verb"
)

// helpKey is the key on the disk that a person at the robot waits for help.
const helpKey = "help_asked"

// setHelp raises or clears the alert that a person at the robot asks for help. A restart keeps it.
func (t Step) setHelp(asked bool) {
	if asked == t.help {
		return
	}
	t.help = asked
	if !asked {
		t.Out.Clear(helpKey, interrupts.Service)
		t.Out.Do(effect.SaveValue{Name: helpKey})
		return
	}
	t.Out.Raise(helpKey, schema.AlertWarn, interrupts.Service, "a person at the robot asks for help", "go there, then send sys/ack-fault "+
		interrupts.Service+"; the choice "+interrupts.Done+" on the screen ends it, too")
	t.Out.Do(effect.SaveValue{Name: helpKey, Value: "yes"})
}

// RestoreHelp raises the alert again after a restart.
func (t Step) RestoreHelp(saved map[string]string) { t.setHelp(saved[helpKey] != "") }

// AskHelp takes the word of a person that somebody is with the one who asked for help, and reports whether the
// command is about that.
func (t Step) AskHelp(o effect.Dispatch) bool {
	if a, ok := o.Args.(verb.AckFault); !ok || a.Source != interrupts.Service {
		return false
	}
	v := schema.Verdict{Status: schema.StatusSucceeded}
	if !t.help {
		v.Reason, v.Detail = schema.ReasonUnchanged, "nobody asked for help"
	}
	t.setHelp(false)
	t.Out.Reply(o.Key, v)
	return true
}
