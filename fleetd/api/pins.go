package api

import (
	"context"
	"net/http"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/operation"
	"troupe/schema"
)

func (s *server) contentPins(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-pins", Method: http.MethodGet, Path: "/pins", Tag: "rollouts", Right: auth.View,
		Summary:     "List what people pinned on robots",
		Description: "A pinned robot keeps what it has of that kind: policies and rollouts leave it.",
		Use:         "pin list",
		Columns:     "ROBOT robot | KIND kind | SINCE at | BY by | WHY why",
		None:        "nothing is pinned",
	}, func(ctx context.Context, in *struct {
		caller
		Robot string `query:"robot" maxLength:"64" doc:"only of this robot"`
	}) (*answer[ContentPins], error) {
		found, err := s.Rollouts.Pins(ctx, change.PinQuery{Robot: in.Robot, Sites: in.principal.Sites})
		if err != nil {
			return nil, s.fail(err, "pins")
		}
		out := ContentPins{Pins: []ContentPin{}}
		for _, p := range found {
			out.Pins = append(out.Pins, contentPin(p))
		}
		return &answer[ContentPins]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "set-pin", Method: http.MethodPut, Path: "/robots/{id}/pins/{kind}", Tag: "rollouts", Right: auth.Assign,
		Summary: "Pin what a robot has of one kind", Audit: audit.ActionPin,
		Description: "Policies and rollouts then leave it as it is, until the pin is removed.",
		Use:         "pin set ROBOT KIND", Example: "pin set r1 story --why show",
		Done: "{id} keeps its {kind}",
	}, func(ctx context.Context, in *struct {
		PinID
		Body audit.Attribution
	}) (*answer[ContentPin], error) {
		pin, err := s.Rollouts.SetPin(ctx, in.principal, in.ID, in.topic(), attribute(in.principal, in.Body))
		if err != nil {
			return nil, s.fail(err, "robot "+in.ID)
		}
		return &answer[ContentPin]{contentPin(pin)}, nil
	})
	operation.Register(t, operation.Row{
		ID: "remove-pin", Method: http.MethodDelete, Path: "/robots/{id}/pins/{kind}", Tag: "rollouts", Right: auth.Assign,
		Summary: "Remove the pin of a robot", Audit: audit.ActionUnpin,
		Description: "Its policy decides again what it has.",
		Use:         "pin remove ROBOT KIND", Example: "pin remove r1 story",
		Done: "policies and rollouts may change the {kind} of {id} again",
	}, func(ctx context.Context, in *struct {
		PinID
		AttributionQuery
	}) (*struct{}, error) {
		if err := s.Rollouts.RemovePin(ctx, in.principal, in.ID, in.topic(), in.attribution(in.principal)); err != nil {
			return nil, s.fail(err, "pin of the "+in.Kind+" of robot "+in.ID)
		}
		return nil, nil
	})
}

// PinID names what a robot has of one kind.
type PinID struct {
	PathID
	Kind string `path:"kind" enum:"story,activities,config,mode,places"`
}

func (p PinID) topic() schema.TopicKind { return schema.TopicKind("desired_" + p.Kind) }

func contentPin(p change.Pin) ContentPin {
	return ContentPin{Robot: p.Robot, Kind: kindOf(p.Topic), At: timeOf(p.At), By: p.By, Why: p.Why}
}
