// Package schema is the wire contract of the programs, the broker and all clients:
// topics, messages, enums and reasons, with strict decoding of all input from outside.
// The verbs of commands are in package verb.
//
// The package decides whether a message is well-formed, not whether it is allowed: a
// robot may refuse a well-formed message. The topic table (Topics), the verb table
// (verb.All) and the list of reasons (Reasons) are data; the broker's access rules, the
// tables in topics.md and the JSON Schemas are generated from them.
//
// Rules for all payloads: a UTF-8 JSON object without byte order mark, at most
// 16 levels deep, no duplicate keys, keys in exactly the given case, integers
// within 2^53, times in RFC 3339 UTC with milliseconds, durations in *_ms,
// lengths in metres, angles in radians. Readers of documents ignore unknown fields.
// Unknown arguments of commands are refused, because ignoring an argument that matters
// for safety is worse than a refusal.
package schema

//go:generate go run ./gen
