package api

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/schema"
)

const schemaSuffix = ".schema.json"

type schemaList struct {
	Schemas []string `json:"schemas" doc:"names of messages in lower case, and commands for the arguments of all verbs"`
}

type schemaText struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// schemas serves the JSON Schemas of the MQTT messages.
func (s *server) schemas(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-schemas", Method: http.MethodGet, Path: "/schemas", Tag: "fleetd", Right: auth.View,
		Summary: "List the JSON Schemas of the MQTT messages",
		Example: "schema message", Without: "without fleetd",
	}, func(context.Context, *noInput) (*answer[schemaList], error) {
		files, err := fs.ReadDir(schema.JSONSchemas, "json")
		if err != nil {
			return nil, fmt.Errorf("read the schemas: %w", err)
		}
		out := schemaList{Schemas: []string{}}
		for _, f := range files {
			out.Schemas = append(out.Schemas, strings.TrimSuffix(f.Name(), schemaSuffix))
		}
		return &answer[schemaList]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "get-schema", Method: http.MethodGet, Path: "/schemas/{id}", Tag: "fleetd", Right: auth.View,
		Summary:     "Get one JSON Schema (2020-12)",
		Description: "For MQTT messages; this API is described by /api/openapi.json.",
		Example:     "schema message state", Without: "without fleetd",
	}, func(_ context.Context, in *struct {
		caller
		ID string `path:"id" maxLength:"64" pattern:"^[a-z]+$"`
	}) (*schemaText, error) {
		body, err := schema.JSONSchemas.ReadFile("json/" + in.ID + schemaSuffix)
		if err != nil {
			return nil, KindNotFound.Problem("there is no schema "+in.ID, "/api/v1/schemas lists them")
		}
		return &schemaText{"application/schema+json", body}, nil
	})
}
