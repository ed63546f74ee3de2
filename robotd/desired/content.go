package desired

import (
	"cmp"

	"troupe/robotd/config"
	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// content is one kind of content that fleetd delivers.
type content[C any] struct {
	*delivery.State[C]
	config delivery.Config[C]
}

// restoreContents reads the saved contents. Places come first, because a story and an activity
// are fitted to the points of the body and may go to one of them.
func (t Step) restoreContents(m Memory) {
	read := t.cfg.Readers
	if read == nil {
		read = &ownReaders
	}
	restore(t, &t.places, m, sign.Places, delivery.Judge[score.Places]{Read: read.Places, Files: filesOfPlaces, Fit: fitAll[score.Places]})
	t.placesInUse, _ = t.places.InUse()
	t.placesToBody()
	restore(t, &t.activities, m, sign.Activities, delivery.Judge[score.Activities]{Read: read.Activities, Files: filesOfActivities,
		Fit: t.fitActivities})
	restore(t, &t.story, m, sign.Story, t.judge(read.Story))
}

func restore[C any](t Step, c *content[C], m Memory, k sign.Kind, j delivery.Judge[C]) {
	c.config = delivery.Defaults(k, j)
	c.config.Probation = t.cfg.Probation
	var out []delivery.Effect
	kept := m.Deliveries[k]
	kept.Desired.FleetID = cmp.Or(kept.Desired.FleetID, t.fleetID)
	c.State, out = delivery.Restore(t.deliveryNow(), &c.config, kept, m.Contents, t.actsDigest(), nil)
	t.applyDelivery(k, out)
}

func (t Step) deliveryNow() delivery.Now {
	n := delivery.Now{Mono: t.Now.Mono, Wall: t.Now.Wall}
	n.Fleet = t.Fleet
	return n
}

// deliver gives one delivery one input and carries out its decision.
func deliver[C any](t Step, c *content[C], f delivery.Facts, in delivery.Input) {
	t.delivered = delivery.Step(c.State, t.deliveryNow(), &c.config, f, in, t.delivered[:0])
	t.applyDelivery(c.config.Kind, t.delivered)
	clear(t.delivered)
}

// stepStory gives the delivery of stories one input.
func (t Step) stepStory(in delivery.Input) {
	deliver(t, &t.story, t.robot.DeliveryFacts(), in)
}

// stepSet gives the delivery of activities or of places one input. Without facts nothing is
// performed for it, so a set takes over at once, without a probation.
func (t Step) stepSet(k sign.Kind, in delivery.Input) {
	switch k {
	case sign.Activities:
		deliver(t, &t.activities, delivery.Facts{}, in)
	case sign.Places:
		deliver(t, &t.places, delivery.Facts{}, in)
		t.applyPlaces()
	}
}

// ToDeliveries gives each delivery the same input.
func (t Step) ToDeliveries(in delivery.Input) {
	t.stepSet(sign.Places, in)
	t.stepSet(sign.Activities, in)
	t.stepStory(in)
}

// Saved takes the disk's answer.
func (t Step) Saved(ev event.ContentSaved) {
	in := delivery.Written{Rev: ev.Rev, Refused: ev.Refused}
	if ev.Kind == sign.Story {
		t.stepStory(in)
		return
	}
	t.stepSet(ev.Kind, in)
}

// applyDelivery carries out the effects of a delivery. A phase that is over within the same step is in the log only: nobody could
// see its report before the next one replaced it.
func (t Step) applyDelivery(k sign.Kind, effects []delivery.Effect) {
	var newest *delivery.PublishReport
	for _, e := range effects {
		switch e := e.(type) {
		case delivery.Fetch:
			t.Out.Do(effect.Fetch(e))
		case delivery.StopFetch:
			t.Out.Do(effect.EndFetch{SHA256: e.SHA256})
		case delivery.Save:
			t.Out.Do(effect.SaveContent{Save: detached(e)})
		case delivery.RecordEvent:
			t.Out.Event(orWord(e.Reason, string(k)+"_deletion_ignored"), eventSource(k), string(e.Reason), "", effect.Described{Reason: e.Reason,
				Detail: e.Detail})
		case delivery.PublishReport:
			t.Out.LogTransition(eventSource(k), string(e.From), string(e.To), e.Why, cmp.Or(e.Report.Detail, string(e.Report.Reason), string(e.On)))
			if outcome(e.To) && e.From != e.To {
				t.Out.Event(string(k)+"_"+string(e.To), eventSource(k), string(e.Report.Reason), "", effect.Described{Reason: e.Report.Reason,
					Detail: e.Report.Detail})
			}
			t.damagedAlert(k, e.Report)
			newest = &e
		}
	}
	if newest != nil {
		t.report(k, newest.Report)
	}
}

// damagedAlert raises an alert while what the robot fetches of a content arrives damaged.
func (t Step) damagedAlert(k sign.Kind, r delivery.Report) {
	const kind = "content_damaged"
	if r.Damaged == "" {
		t.Out.Clear(kind, eventSource(k))
		return
	}
	t.Out.Raise(kind, schema.AlertError, eventSource(k), "what the robot fetches arrives damaged: "+r.Damaged,
		"the robot tries again by itself; look for what changes bytes between it and fleetd, such as a proxy, a portal or bad memory")
}

// eventSource is the source of events about a content: the name of its delivery, as in the log.
func eventSource(k sign.Kind) string {
	if k == sign.Story {
		return "delivery"
	}
	return string(k)
}

// detached copies a save, because the delivery changes while another goroutine writes it.
func detached(s delivery.Save) delivery.Save {
	for _, a := range []**delivery.Accepted{&s.Persisted.Active, &s.Persisted.Previous, &s.Persisted.Staged} {
		if *a != nil {
			own := **a
			*a = &own
		}
	}
	return s
}

// outcome reports whether a phase is recorded as an event: an end of a delivery that somebody
// waits for, or a failed attempt. The others are only in the report.
func outcome(p schema.DeployPhase) bool {
	switch p {
	case schema.DeployActive, schema.DeployRejected, schema.DeployFailed, schema.DeployRolledBack, schema.DeployWithdrawn:
		return true
	}
	return false
}

func orWord(r schema.Reason, word string) string {
	if r == "" {
		return word
	}
	return string(r)
}

// report publishes the state of a delivery.
func (t Step) report(k sign.Kind, r delivery.Report) {
	switch {
	case t.Session == "":
	case k == sign.Story:
		t.reportStory(r.Story())
	default:
		d := r.Set()
		d.TS, d.Session = t.Now.Wall, t.Session
		t.Out.Do(effect.Document{Topic: reportTopic[k], Value: &d})
	}
}

var reportTopic = map[sign.Kind]schema.TopicKind{
	sign.Story: schema.TopicReportedStory, sign.Activities: schema.TopicReportedActivities, sign.Places: schema.TopicReportedPlaces,
}

// reportStory adds whether the story is performed.
func (t Step) reportStory(r schema.ReportedStory) {
	r.TS, r.Session, r.Performing = t.Now.Wall, t.Session, t.robot.AtoPerforms()
	t.performingReported = r.Performing
	t.Out.Do(effect.Document{Topic: schema.TopicReportedStory, Value: &r})
}

// Report publishes the states of the deliveries: all of them to a new session, and that of
// the story also when ato begins or ends performing.
func (t Step) Report() {
	if t.reportAll || t.config.dirty {
		t.reportConfig()
	}
	if t.reportAll || t.mode.dirty {
		t.reportMode()
	}
	if t.reportAll {
		t.report(sign.Places, t.places.Report())
		t.report(sign.Activities, t.activities.Report())
	}
	if t.reportAll || t.robot.AtoPerforms() != t.performingReported {
		t.reportAll = false
		t.report(sign.Story, t.story.Report())
	}
}

var ownReaders = Readers()

// Readers are those of a robot that shares contents with no other one.
func Readers() config.Readers {
	return config.Readers{Story: readStory, Activities: readActivities, Places: readPlaces}
}

// readPlaces and readActivities decode and validate contents.
func readPlaces(data []byte) (*score.Places, []schema.Problem) {
	p, problems := score.ParsePlaces(data)
	if len(schema.Errors(problems)) == 0 {
		problems = append(problems, score.ValidatePlaces(p)...)
	}
	return &p, problems
}

func readActivities(data []byte) (*score.Activities, []schema.Problem) {
	a, problems := score.ParseActivities(data)
	if len(schema.Errors(problems)) == 0 {
		problems = append(problems, score.ValidateActivities(a)...)
	}
	return &a, problems
}

func filesOfPlaces(p *score.Places) []score.Asset {
	if p.Map == nil {
		return nil
	}
	return []score.Asset{*p.Map}
}

func filesOfActivities(a *score.Activities) []score.Asset { return a.Assets }

// fitAll returns a content unchanged: every robot can use it.
func fitAll[C any](c *C) delivery.Fit[C] { return delivery.Fit[C]{Content: c} }

// applyPlaces applies the active places: goto can use their points, so stories that need them can
// be performed.
func (t Step) applyPlaces() {
	l, _ := t.places.InUse()
	if l == t.placesInUse || l != nil && t.placesInUse != nil && l.Content == t.placesInUse.Content {
		return
	}
	t.placesInUse = l
	t.placesToBody()
	t.Out.Do(effect.CapsChanged{})
	t.RobotChanged()
}

// placesToBody gives the body the places.
func (t Step) placesToBody() {
	var p *score.Places
	if t.placesInUse != nil {
		p = t.placesInUse.Content
	}
	t.robot.SetPlaces(p)
}

// StoryTried reports to the delivery how the story on probation began.
func (t Step) StoryTried(e effect.StoryTried) {
	switch {
	case t.story.ProbationDigest() != e.SHA256:
	case e.Refused == "":
		t.stepStory(delivery.Started{SHA256: e.SHA256})
	default:
		t.stepStory(delivery.StartFailed{SHA256: e.SHA256, Reason: e.Refused, Detail: e.Detail})
	}
}
