package api

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/auth"
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
func (s *server) schemas(h huma.API) {
	register(h, op("list-schemas", http.MethodGet, "/schemas", "fleetd", "List the JSON Schemas of the MQTT messages"), auth.View,
		func(context.Context, *noInput) (*answer[schemaList], error) {
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
	register(h, op("get-schema", http.MethodGet, "/schemas/{id}", "fleetd", "Get one JSON Schema (2020-12)",
		"For MQTT messages; this API is described by /api/openapi.json."), auth.View,
		func(_ context.Context, in *struct {
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
