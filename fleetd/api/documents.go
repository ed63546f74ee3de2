package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/auth"
	"troupe/fleetd/view"
)

type documentList struct {
	Documents []view.RobotDocument `json:"documents"`
}

// documents registers the request for what a robot has published, byte by byte.
func (s *server) documents(h huma.API) {
	register(h, op("list-documents", http.MethodGet, "/robots/{id}/documents", "robots", "List the retained documents of a robot as it published them",
		"The newest of each topic that fleetd has received; of a robot that is away, the last ones. What fleetd desires of the robot is not among them: see desired."), auth.View,
		func(_ context.Context, in *PathID) (*answer[documentList], error) {
			if _, err := s.robot(in.ID); err != nil {
				return nil, err
			}
			list, _ := s.Robots.Documents(in.ID)
			return &answer[documentList]{documentList{nonNil(list)}}, nil
		})
}
