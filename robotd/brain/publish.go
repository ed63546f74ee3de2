package brain

import (
	"troupe/robotd/desired"
	"troupe/robotd/effect"
	"troupe/robotd/manual"
	"troupe/robotd/mode"
	"troupe/robotd/report"
	"troupe/robotd/request"
	"troupe/schema"
)

// publishDue publishes what has changed, at the end of a step: the state first, then the
// answers that depend on it, then the other documents.
func (t *step) publishDue() {
	t.persistStops()
	if t.report.DocumentsPending() {
		if t.Pending() {
			return
		}
		t.publishAllForNewSession()
	}
	t.toReport(report.Step.ContinueReplay)
	t.toRequests(request.Step.Release)
	t.publishState()
	t.answerStops()
	t.publishAnswers()
	if t.over() {
		t.do(effect.Exit{Why: "no mode is in charge and the body is at rest", Again: t.modes.Mode().Restart})
	}
	if t.report.Session() == "" {
		return
	}
	t.toReport(report.Step.RepublishDropped)
	t.publishModes()
	t.toDesired(desired.Step.Report)
	t.toReport(report.Step.RepairPresence)
	t.toManual(manual.Step.Telemetry)
	if seq, next, due := t.reportStep().HeartbeatDue(t.atRest()); due {
		// It depends on no save, so it waits for no disk: a robot whose disk hangs must not
		// look dead.
		t.publish(effect.Document{Topic: schema.TopicHeartbeat, Value: t.heartbeatDocument(seq, next), First: true})
	}
}

// publishState publishes the state if it is due, after everything that belongs to one event
// was processed.
func (t *step) publishState() {
	if t.Pending() || !t.report.StateDue(t.now.Mono) {
		return
	}
	_, urgent := t.reportStep().NextState()
	t.publish(effect.Document{Topic: schema.TopicState, Value: t.stateDocument(), First: urgent})
}

// publishModes publishes the catalogue of modes if it may have changed: while the link is
// lost, by time alone, because the modes wait for operators for different times.
func (t *step) publishModes() {
	if lost, _ := t.link.Lost(t.now); lost && t.link.Told() {
		t.report.ModesChanged()
	}
	if t.reportStep().ModesDue() {
		d := &schema.Modes{Session: t.report.Session()}
		t.toModes(func(m mode.Step) { d.Modes = m.List(t.body.CalibrationChecks(t.cfg.Languages)) })
		t.toReport(func(r report.Step) { r.PublishModes(d) })
	}
}

// publishActs publishes the acts that people taught the robot if there is a session.
func (t *step) publishActs() {
	if t.report.Session() != "" {
		d := t.manual.Taught().Document(t.cfg.Languages)
		d.TS, d.Session = t.now.Wall, t.report.Session()
		t.publish(effect.Document{Topic: schema.TopicActs, Value: d})
	}
}

// publishCaps publishes the robot's capabilities if there is a session.
func (t *step) publishCaps() {
	if t.report.Session() != "" {
		d := t.body.Caps(t.cfg, manual.Verbs(&t.body))
		d.TS, d.Session = t.now.Wall, t.report.Session()
		t.publish(effect.Document{Topic: schema.TopicCaps, Value: d})
	}
}
