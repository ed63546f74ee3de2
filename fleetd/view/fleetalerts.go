package view

import (
	"cmp"
	"slices"
	"strings"

	"troupe/fleetd/desired"
	"troupe/schema"
)

// fleetAlerts are the alerts that fleetd itself raises about a robot of the fleet: what it reports is
// not what the database has. They are among the alerts of the robot, so lists, pages and the command
// line show them.
func (e *entry) fleetAlerts(id, fleetID string) []schema.Alert {
	var alerts []schema.Alert
	for topic, h := range e.reportedRevs {
		rev := e.dbRow.DesiredRevOf(topic)
		if rev > 0 || !h.InEffect { // this runs for each message, and seldom goes on
			continue
		}
		detail, hint := desired.Unknown(fleetID, id, topic, rev, e.documents[desired.ReportOn[topic]].Body)
		source := strings.TrimPrefix(string(topic), "desired_")
		alerts = append(alerts, schema.Alert{Type: desired.AlertNotInDatabase, Level: schema.AlertWarn, Source: source, Detail: detail,
			Hint: hint})
	}
	if held := e.notHeld; len(held) > 0 {
		alerts = append(alerts, schema.Alert{
			Type: "stop_not_held", Level: schema.AlertError, Source: "stop",
			Detail: "latched for this robot, which does not report it: " + strings.Join(held, ", "),
			Hint:   "fleetd publishes it again, and the robot stops; fleetd stop release " + strings.Join(held, " ") + " --why REASON releases it",
		})
	}
	slices.SortFunc(alerts, func(a, b schema.Alert) int { return cmp.Compare(a.Source, b.Source) })
	e.keepFirstTimes(alerts)
	return alerts
}

// keepFirstTimes gives alerts their ids and the times at which they were first raised.
func (e *entry) keepFirstTimes(alerts []schema.Alert) {
	if len(alerts)+len(e.alertSince) == 0 {
		return
	}
	was := e.alertSince
	e.alertSince = map[string]schema.Time{}
	for i := range alerts {
		a := &alerts[i]
		a.ID = "fleetd-" + a.Source
		a.FirstTS = cmp.Or(was[a.ID], wireTime(e.changedAt))
		e.alertSince[a.ID] = a.FirstTS
	}
}
