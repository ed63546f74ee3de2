package brain

import (
	"troupe/robotd/desired"
	"troupe/robotd/event"
	"troupe/robotd/operatorlink"
	"troupe/robotd/report"
	"troupe/robotd/request"
	"troupe/schema"
)

func (t *step) connected(ev event.Connected) {
	t.reportStep().Connected(ev.Session)
	t.log("mqtt", "down", "up", "connected; the broker granted every subscription", "")
	t.toLink(operatorlink.Step.Connected)
}

// publishAllForNewSession publishes every document, because the broker may have lost them all, and then the
// answers that the journal has kept. It does so once all steps of the event are done: what
// the robot did meanwhile, or does in the same event, belongs to the state that the answers
// refer to.
func (t *step) publishAllForNewSession() {
	t.reportStep().DocumentsPublished()
	t.publishRetained()
	t.toReport(report.Step.StartHeartbeats)
	t.toRequests(request.Step.Connected)
	t.publishAnswers()
}

// publishRetained publishes every retained document of the robot except its presence.
func (t *step) publishRetained() {
	t.publishCaps()
	t.reportStep().MarkStateAndModesDue()
	t.publishModes()
	t.publishActs()
	t.publishState()
	t.desired.ReportAll()
	t.toDesired(desired.Step.Report)
}

func (t *step) disconnected(ev event.Disconnected) {
	if t.report.Session() == "" {
		return
	}
	t.log("mqtt", "up", "down", ev.Why, "")
	fault := ""
	if ev.HalfOpen {
		fault = ev.Why
	}
	t.reportStep().Disconnected(fault)
	t.requests.Disconnected()
	t.latches.Disconnected()
	t.toLink(func(l operatorlink.Step) { l.Disconnected(t.safety.At == schema.SafetyDisabled) })
	t.toReport(report.Step.ClearSessionAlerts)
}
