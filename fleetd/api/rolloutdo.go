package api

import (
	"context"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
)

// errNotServed is until the database keeps rollouts.
var errNotServed = KindInternal.Problem("fleetd does not keep rollouts yet", "")

func (s *server) planRollout(context.Context, auth.Principal, RolloutRequest) (*answer[RolloutPlan], error) {
	return nil, errNotServed
}

func (s *server) createRollout(context.Context, auth.Principal, NewRollout) (*answer[RolloutDetail], error) {
	return nil, errNotServed
}

func (s *server) listRollouts(context.Context, *RolloutQuery) (*answer[RolloutList], error) {
	return nil, errNotServed
}

func (s *server) getRollout(context.Context, auth.Principal, string, string) (*rolloutAnswer, error) {
	return nil, errNotServed
}

func (s *server) listRolloutRobots(context.Context, *RolloutRobotsQuery) (*answer[RolloutRobots], error) {
	return nil, errNotServed
}

func (s *server) approveRollout(context.Context, auth.Principal, string, Approval) (*answer[RolloutDetail], error) {
	return nil, errNotServed
}

func (s *server) decideRollout(context.Context, auth.Principal, string, decision, Decision) (*answer[RolloutDetail], error) {
	return nil, errNotServed
}

func (s *server) listPins(context.Context, auth.Principal, string) (*answer[ContentPins], error) {
	return nil, errNotServed
}

func (s *server) setPin(context.Context, auth.Principal, PinID, audit.Attribution) (*answer[ContentPin], error) {
	return nil, errNotServed
}

func (s *server) removePin(context.Context, auth.Principal, PinID, audit.Attribution) error {
	return errNotServed
}

func (s *server) startRollout(context.Context, auth.Principal, string, Start) (*answer[RolloutDetail], error) {
	return nil, errNotServed
}
