package api

import (
	"context"
	"net/http"

	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/fleetd/view"
)

type documentList struct {
	Documents []view.RobotDocument `json:"documents"`
}

// documents registers the request for what a robot has published, byte by byte.
func (s *server) documents(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-documents", Method: http.MethodGet, Path: "/robots/{id}/documents", Tag: "robots", Right: auth.View,
		Summary: "List the retained documents of a robot as it published them",
		Description: "The newest of each topic that fleetd has received; of a robot that is away, the last ones. What fleetd " +
			"desires of the robot is not among them: see desired.",
		Example: "robot documents r1",
		Columns: "KIND kind | TOPIC topic | RECEIVED received | BYTES bytes",
	}, func(_ context.Context, in *PathID) (*answer[documentList], error) {
		if _, err := s.robot(in.ID); err != nil {
			return nil, err
		}
		list, _ := s.View.Documents(in.ID)
		return &answer[documentList]{documentList{nonNil(list)}}, nil
	})
}
