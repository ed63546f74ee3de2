package report

import (
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// alerts are those that are on the state.
type alerts struct {
	list []schema.Alert
	seq  int64
}

// Alerts are those that are on the state.
func (s *State) Alerts() []schema.Alert { return s.alerts.list }

// Raise adds an alert to the robot's state; its source is not a unit.
func (t Step) Raise(kind string, level schema.AlertLevel, source, detail, hint string) {
	t.RaiseAlert(effect.RaiseAlert{Kind: kind, Level: level, Source: source, Detail: detail, Hint: hint}, false)
}

// RaiseAlert adds an alert to the robot's state, unless it is there with the same detail; then it
// only gets the new hint. unit says that its source is a unit. Clear removes it.
func (t Step) RaiseAlert(n effect.RaiseAlert, unit bool) {
	for i := range t.alerts.list {
		a := &t.alerts.list[i]
		if a.Type == n.Kind && a.Source == n.Source {
			if a.Detail == n.Detail && a.Hint == n.Hint {
				return
			}
			if a.Detail == n.Detail {
				a.Hint = n.Hint
				t.Changed(effect.FlushSoon)
				return
			}
			t.Clear(n.Kind, n.Source)
			break
		}
	}
	t.alerts.seq++
	a := schema.Alert{ID: alertID(t.alerts.seq), Type: n.Kind, Level: n.Level, Source: n.Source, FirstTS: t.Now.Wall, Detail: n.Detail,
		Hint: n.Hint, Params: n.Params}
	if unit {
		a.Refs = []schema.Ref{{Kind: schema.RefUnit, ID: n.Source}}
	}
	t.alerts.list = append(t.alerts.list, a)
	t.Changed(effect.FlushSoon)
	t.Out.Do(effect.LogAlert{Level: n.Level, Type: n.Kind, Source: n.Source, Detail: n.Detail, Hint: n.Hint, LoggedByDriver: n.LoggedByDriver})
	row := schema.EventOf("alert_raised")
	row.Level = eventLevels[n.Level]
	t.event(row, n.Source, n.Kind, "", effect.Described{ID: a.ID, Detail: n.Detail})
}

// eventLevels is the level of the event that reports an alert.
var eventLevels = map[schema.AlertLevel]schema.EventLevel{
	schema.AlertInfo: schema.EventInfo, schema.AlertWarn: schema.EventWarn,
	schema.AlertError: schema.EventError, schema.AlertCritical: schema.EventError,
}

func (t Step) Clear(kind, source string) {
	for i := range t.alerts.list {
		if a := t.alerts.list[i]; a.Type == kind && a.Source == source {
			t.alerts.list = append(t.alerts.list[:i:i], t.alerts.list[i+1:]...)
			t.Changed(effect.FlushSoon)
			t.Event("alert_cleared", source, kind, "", effect.Described{ID: a.ID})
			return
		}
	}
}

func alertID(n int64) string {
	const digits = "0123456789"
	var b [20]byte
	i := len(b)
	for {
		i--
		b[i] = digits[n%10]
		if n /= 10; n == 0 {
			return "alert-" + string(b[i:])
		}
	}
}

// alertsOf are the alerts about what a reason names.
var alertsOf = map[schema.Reason]string{
	schema.ReasonUnitError: "unit_error",
	schema.ReasonSafeguard: "safeguard",

	schema.ReasonUnitCritical:   "device_critical",
	schema.ReasonDeviceDisabled: "device_disabled",
	schema.ReasonLinkLost:       "link_lost",
	schema.ReasonNotCalibrated:  "calibration_failed",
}

// AlertRefs lists the alerts about what a reason names.
func (s *State) AlertRefs(why schema.Reason) (refs []schema.Ref) {
	for _, a := range s.alerts.list {
		if a.Type == alertsOf[why] {
			refs = append(refs, schema.Ref{Kind: schema.RefAlert, ID: a.ID})
		}
	}
	return refs
}

// CertificateAlert is raised while the robot's certificate is about to end and was
// not renewed.
const CertificateAlert = "certificate_expiring"

// CertificateState raises and clears the alert of the robot's certificate.
func (t Step) CertificateState(ev event.CertificateState) {
	if ev.Level == "" {
		t.Clear(CertificateAlert, "identity")
		return
	}
	t.RaiseAlert(effect.RaiseAlert{Kind: CertificateAlert, Level: ev.Level, Source: "identity", Detail: ev.Detail, Hint: ev.Hint,
		Params: schema.AlertParams{Until: ev.Until}}, false)
}
