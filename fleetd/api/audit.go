package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/auth"
	"troupe/schema"
)

// AuditEntry is one line of the audit.
type AuditEntry struct {
	At     schema.Time `json:"at"`
	Who    string      `json:"who"`
	What   string      `json:"what" doc:"what was done; mqtt GROUP/VERB is a command that another MQTT client sent to a robot"`
	Target string      `json:"target"`
	Detail string      `json:"detail,omitempty"`
}

type audit struct {
	Notes []AuditEntry `json:"notes"`
}

func (s *server) audit(h huma.API) {
	register(h, op("list-audit", http.MethodGet, "/audit", "fleetd", "List who did what, the newest first",
		"Requests to fleetd, and commands that other MQTT clients sent to robots."), auth.View,
		func(ctx context.Context, in *struct {
			caller
			Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (*answer[audit], error) {
			notes, err := s.History.Audit(ctx, in.Limit)
			if err != nil {
				return nil, s.fail(err, "audit")
			}
			return &answer[audit]{audit{nonNil(notes)}}, nil
		})
}
