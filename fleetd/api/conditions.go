package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/auth"
	"troupe/schema/cond"
)

// ConditionKey is a fact that a condition may name.
type ConditionKey struct {
	Name string `json:"name" example:"people"`
	Type string `json:"type" example:"int"`
	Doc  string `json:"doc"`
}

type conditionKeys struct {
	Keys []ConditionKey `json:"keys"`
}

// conditions registers the request for what conditions may name. Whether one is true on a
// robot, the robot itself says: life/explain.
func (s *server) conditions(h huma.API) {
	register(h, op("list-condition-keys", http.MethodGet, "/conditions/keys", "activities", "List what the condition of an activity may name",
		"The command life/explain asks a robot whether a condition is true on it now, and why not."), auth.View,
		func(context.Context, *noInput) (*answer[conditionKeys], error) {
			out := conditionKeys{Keys: []ConditionKey{}}
			for _, k := range cond.Keys {
				out.Keys = append(out.Keys, ConditionKey{k.Name, string(k.Type), k.Doc})
			}
			return &answer[conditionKeys]{out}, nil
		})
}
