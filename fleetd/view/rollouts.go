package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/library"
	"troupe/fleetd/presence"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Fleetd is fleetd's own connection to the broker.
func (v *View) Fleetd() presence.Fleetd {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.fleetd
}

// Known is what the view knows of a robot for a rollout.
type Known struct {
	rollout.RobotFacts // without what the view does not know: windows, pins, and other rollouts
	Labels             map[string]string
	Activities         []library.Pin // that are assigned to it
}

// ForRollout returns what is known of a robot for a rollout of documents on topic; false if the robot is not in the fleet.
func (v *View) ForRollout(id string, topic schema.TopicKind, now time.Time) (Known, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.robots[id]
	if e == nil || !e.adopted {
		return Known{}, false
	}
	status := e.assessment.Status
	return Known{Labels: e.dbRow.Labels, Activities: e.dbRow.Activities, RobotFacts: rollout.RobotFacts{
		Online: status.Reachable(), SignedOff: status == presence.Offline || status == presence.Sleeping, SeenAt: e.facts.AliveAt,
		Pause: e.facts.Pause,
		Idle:  isIdle(e.summary.Doing), DesiredRev: e.dbRow.DesiredRevOf(topic), Report: e.reportFor(topic, v.fleetID), Health: e.health(now),
	}}, true
}

// isIdle reports whether a robot performs nothing that new content would interrupt.
func isIdle(d selector.Doing) bool {
	switch d {
	case selector.Performing, selector.Failing, selector.Interrupted, selector.Activity, selector.Paused, selector.PausedBySafety,
		selector.Manual, selector.StartUp, selector.Switching:
		return false
	}
	return true
}

// HealthOfOthers is the health of the robots of the fleet that were not updated.
func (v *View) HealthOfOthers(updated func(id string) bool, now time.Time) (sum rollout.Health) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for id, e := range v.robots {
		if e.adopted && !updated(id) {
			sum = sum.Add(e.health(now))
		}
	}
	return sum
}

// Candidate is what a plan of a rollout has to know of a robot; false if it is not in the fleet.
func (v *View) Candidate(id string) (c rollout.Candidate, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	e := v.robots[id]
	if e == nil || !e.adopted {
		return c, false
	}
	c.Robot, c.Online = e.selectable(id), e.assessment.Status.Reachable()
	if e.caps != nil && understandsNothing(e.caps.Software.Protocol) {
		c.Refused, c.Detail = schema.ReasonUnsupportedVersion, protocolSkew(e.caps.Software.Protocol)
	}
	return c, true
}

// health is the health of this robot alone.
func (e *entry) health(now time.Time) rollout.Health {
	h := rollout.Health{Robots: 1}
	if !e.assessment.Status.Reachable() {
		h.Offline = 1
	}
	if slices.ContainsFunc(e.summary.Alerts, func(a schema.Alert) bool { return a.Level == schema.AlertCritical }) {
		h.Critical = 1
	}
	if len(e.summary.Latches) > 0 {
		h.Latched = 1
	}
	h.Acts, h.ActErrors, h.Interrupts = e.recent.sum(now)
	return h
}

// reported is what a robot reported about a desired document of any kind.
type reported struct {
	FleetID    string               `json:"fleet_id"`
	DesiredRev int64                `json:"desired_rev"`
	Phase      schema.DeployPhase   `json:"phase"`
	Reason     schema.Reason        `json:"reason"`
	Retry      schema.Retry         `json:"retry"`
	Detail     string               `json:"detail"`
	Rejected   []schema.RejectedKey `json:"rejected"` // of settings; a story has one object of this name, which is not read
	Refused    []schema.RefusedPart `json:"refused"`
	SelfCheck  schema.SelfCheck     `json:"self_check"`
}

// decodeReport decodes a report for rollouts; nil if it cannot be read.
func decodeReport(kind schema.TopicKind, body []byte) *reported {
	if kind == schema.TopicReportedStory {
		s, problems := schema.Decode[schema.ReportedStory](body)
		if len(problems) > 0 {
			return nil
		}
		return &reported{FleetID: s.FleetID, DesiredRev: s.DesiredRev, Phase: s.Phase, Reason: s.Reason, Retry: s.Retry, Detail: s.Detail,
			SelfCheck: s.SelfCheck}
	}
	r, problems := schema.Decode[reported](body)
	if len(problems) > 0 {
		return nil
	}
	return &r
}

// reportFor is what the robot reported last about its desired document on topic, without what it reported about documents
// of another fleet. A story that is active, but whose acts all fail or did not pass the self-check, does not count as active.
func (e *entry) reportFor(topic schema.TopicKind, fleetID string) (out rollout.Report) {
	r := e.reports[topic]
	if r == nil || r.FleetID != "" && r.FleetID != fleetID {
		return out
	}
	out = rollout.Report{Rev: r.DesiredRev, Phase: r.Phase, Reason: r.Reason, Retry: r.Retry, Detail: r.Detail,
		Partial: len(r.Rejected)+len(r.Refused) > 0}
	if out.Partial && out.Detail == "" {
		out.Detail = partsText(r)
	}
	out.Active = r.Phase == schema.DeployActive || r.Phase == schema.DeployWithdrawn
	if topic == schema.TopicDesiredStory && out.Active && (r.SelfCheck == schema.SelfCheckFailed || e.summary.Doing == selector.Failing) {
		out.Active = false
		out.Detail = cmp.Or(out.Detail, alertDetail(e.summary.Alerts, "story_failing"), "it has the story, and cannot perform it")
	}
	return out
}

// alertDetail is what an alert of a type says; empty if there is none.
func alertDetail(alerts []schema.Alert, kind string) string {
	i := slices.IndexFunc(alerts, func(a schema.Alert) bool { return a.Type == kind })
	if i < 0 {
		return ""
	}
	return alerts[i].Detail
}

// partsText says which parts a robot refuses.
func partsText(r *reported) string {
	var parts []string
	for _, k := range r.Rejected {
		parts = append(parts, k.Key+": "+strings.TrimSpace(string(k.Reason)+" "+k.Detail))
	}
	for _, k := range r.Refused {
		parts = append(parts, k.ID+": "+strings.TrimSpace(string(k.Reason)+" "+k.Detail))
	}
	return strings.Join(parts, "; ")
}

// minutesCounted is for how many minutes events are counted for the health of a robot.
const minutesCounted = 5

// recentEvents counts what happened to a robot, by minute. It is counted from the events that arrive, so an instance that
// started a moment ago knows less.
type recentEvents [minutesCounted]struct {
	minute                      int64
	acts, actErrors, interrupts int32
}

// add counts one event.
func (r *recentEvents) add(event string, now time.Time) {
	minute := now.Unix() / 60
	at := &r[minute%minutesCounted]
	if at.minute != minute {
		*at = recentEvents{}[0]
		at.minute = minute
	}
	switch event {
	case "act_ended":
		at.acts++
	case "act_failed":
		at.actErrors++
	case "interrupt_started":
		at.interrupts++
	}
}

// sum is what happened within the last minutes.
func (r *recentEvents) sum(now time.Time) (acts, actErrors, interrupts int) {
	minute := now.Unix() / 60
	for _, one := range r {
		if one.minute > minute-minutesCounted {
			acts, actErrors, interrupts = acts+int(one.acts), actErrors+int(one.actErrors), interrupts+int(one.interrupts)
		}
	}
	return acts, actErrors, interrupts
}
