package brain

import (
	"troupe/robotd/request"
	"troupe/schema"
)

// alertsOf are the alerts that tell of what a reason names.
var alertsOf = map[schema.Reason]string{
	schema.ReasonUnitError:     "unit_error",
	schema.ReasonLinkLost:      "link_lost",
	schema.ReasonNotCalibrated: "calibration_failed",
}

// inTheWay names what stands against a command that did not go well, so that its
// sender need not look for it in the state.
func (t *step) inTheWay(r request.Verdict) []schema.Ref {
	if !r.Status.Final() || r.Status == schema.StatusSucceeded {
		return nil
	}
	var refs []schema.Ref
	switch r.Reason {
	case schema.ReasonLatched:
		refs = t.stops.Refs()
	case schema.ReasonEStopInput, schema.ReasonUnitError:
		refs = t.body.Refs(r.Reason)
	case schema.ReasonNotInControl, schema.ReasonResourceBusy:
		refs = t.manual.Refs(r.Reason)
	case schema.ReasonIgnoredDuplicate, schema.ReasonIgnoredGlobal:
		refs = t.perform.Refs(r.Reason)
	case schema.ReasonStopped, schema.ReasonSafetyLatched:
		if at := t.safety.At; at != schema.SafetyEnabled && at != schema.SafetyDisabled {
			refs = request.Key(t.safety.Cause.Req).Refs()
		}
	}
	for _, a := range t.report.Alerts() {
		if a.Type == alertsOf[r.Reason] {
			refs = append(refs, schema.Ref{Kind: schema.RefAlert, ID: a.ID})
		}
	}
	return refs[:min(len(refs), schema.MaxRefs)]
}
