package mode

import (
	"cmp"

	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/verb"
)

// AskRobot takes a command about robotd itself, and reports whether it is one. A reboot ends
// robotd like a shutdown; its answer precedes the end, because the connection ends with robotd.
func (t Step) AskRobot(o effect.Dispatch, asker string) bool {
	a, ok := o.Args.(verb.Reboot)
	if !ok {
		return false
	}
	if safety.Feeds(t.Safety) {
		detail := "the robot is coming to rest, it is " + string(t.Safety) + "; ask again in some seconds"
		if t.Safety == schema.SafetyEnabled || t.Safety == schema.SafetySoftStop {
			detail = "the robot may move, it is " + string(t.Safety) + "; safety/stop ends that"
		}
		if t.Safety == schema.SafetyReset {
			detail = "the robot's units are being reset; ask again in some seconds"
		}
		t.Out.Refuse(o.Key, schema.ReasonBusy, "", detail)
		return true
	}
	t.Add(Input{Kind: Shutdown, Restart: true})
	t.Out.Event("ending", "robotd", "sys/reboot by "+asker, string(o.Key), effect.Described{Detail: cmp.Or(a.Why, o.Why)})
	t.Out.Reply(o.Key, schema.Verdict{Status: schema.StatusSucceeded, Detail: "robotd ends; its service manager starts it again"})
	return true
}
