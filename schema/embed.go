package schema

import "embed"

// JSONSchemas holds one JSON Schema (2020-12) per message, as
// json/<message>.schema.json in lower case, and json/commands.schema.json with
// the arguments of every verb. They are generated from the Go types for programs in
// other languages. For authors there are act, story and activities, see AuthorSchema.
//
//go:embed json/*.schema.json
var JSONSchemas embed.FS

// AuthorSchema returns the path in JSONSchemas of the schema of a file that authors write: an
// act, a story or an activity.
func AuthorSchema(kind string) string {
	if kind == "activity" {
		kind = "activities"
	}
	return "json/" + kind + ".schema.json"
}
