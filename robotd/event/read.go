package event

import (
	"context"
	"errors"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/sign"
)

// ReadDesired turns a desired document into an event; an empty payload is a deleted one.
func ReadDesired(k schema.TopicKind, payload []byte) Event {
	switch k {
	case schema.TopicDesiredActivities:
		return readDesired[schema.DesiredSet](sign.Activities, payload)
	case schema.TopicDesiredPlaces:
		return readDesired[schema.DesiredSet](sign.Places, payload)
	case schema.TopicDesiredConfig:
		return readDesired[schema.DesiredConfig](sign.Config, payload)
	case schema.TopicDesiredMode:
		return readDesired[schema.DesiredMode](sign.Mode, payload)
	}
	return readDesired[schema.DesiredStory](sign.Story, payload)
}

func readDesired[T any](k sign.Kind, payload []byte) Desired[T] {
	ev := Desired[T]{Kind: k, Emptied: len(payload) == 0}
	if !ev.Emptied {
		ev.Document, ev.Digest, ev.Problems = read[T](payload)
	}
	return ev
}

// read decodes a document and computes its digest from the same bytes, so that the robot
// never obeys anything that was not signed.
func read[T any](payload []byte) (T, string, []schema.Problem) {
	v, problems := schema.Decode[T](payload)
	if len(problems) > 0 {
		return v, "", problems
	}
	sum, err := sign.Digest(payload)
	if err != nil {
		return v, "", []schema.Problem{schema.NewProblem("", "syntax", err.Error(), "send one well-formed JSON object")}
	}
	return v, sum, nil
}

// ReadStops reads desired/stop or fleet/stop.
func ReadStops(kind schema.TopicKind, payload []byte) (ev StopDocument) {
	if kind == schema.TopicDesiredStop {
		v, sum, problems := read[schema.DesiredStop](payload)
		if len(problems) > 0 {
			return StopDocument{From: RobotStops, Problem: "desired/stop cannot be read: " + problems[0].String()}
		}
		ev = StopDocument{From: RobotStops, Rev: v.Rev, FleetID: v.FleetID, Stops: v.Stops, Released: v.Released}
		ev.Counter, ev.Sig, ev.Digest = v.Counter, v.Sig, sum
		return ev
	}
	v, sum, problems := read[schema.FleetStop](payload)
	if len(problems) > 0 {
		return StopDocument{From: FleetStops, Problem: "fleet/stop cannot be read: " + problems[0].String()}
	}
	ev = StopDocument{From: FleetStops, Rev: v.Rev, FleetID: v.FleetID, Released: v.Released}
	ev.Counter, ev.Sig, ev.Digest = v.Counter, v.Sig, sum
	if v.Active {
		ev.Stops = []schema.StopLatch{{ID: v.ID, Level: v.Level, By: v.By, Client: v.Client, Why: v.Why, Since: v.TS, All: true}}
	}
	return ev
}

// CalibratedOf turns what a driver's calibration returned into an event. A cancelled one has ended with context.Canceled.
func CalibratedOf(run int64, m driver.Map, c driver.Calibration, err error) Calibrated {
	ev := Calibrated{Run: run, Map: m, Result: c.Map}
	switch {
	case errors.Is(err, context.Canceled):
		ev.Reason, ev.Detail = schema.ReasonStopped, "calibration was ended"
	case err != nil:
		ev.Reason, ev.Detail = schema.ReasonInternal, err.Error()
	case c.Map.Reason != "":
		ev.Reason, ev.Detail = c.Map.Reason, c.Map.Detail
	case !c.OK():
		ev.Reason = schema.ReasonUnitError
		for _, u := range c.Units {
			if u.Reason != "" {
				ev.Reason, ev.Detail = u.Reason, "unit "+u.Unit+": "+u.Detail
				break
			}
		}
	}
	if err == nil {
		ev.Units = c.Units
	}
	return ev
}
