package schema

import "embed"

// JSONSchemas holds one JSON Schema (2020-12) per message, as
// json/<message>.schema.json in lower case, and json/commands.schema.json with
// the arguments of every verb. They are generated from the Go types for programs in
// other languages.
//
//go:embed json/*.schema.json
var JSONSchemas embed.FS
