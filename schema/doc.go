// Package schema is the vocabulary that the programs, the broker and every
// client share: topics, messages, verbs, enums and reasons, with strict decoding
// of whatever comes from outside.
//
// It decides what is well said, never what is allowed now: a message that passes
// here may still be refused by a robot. The topic table (Topics), the verb table
// (Verbs) and the reason list (Reasons) are data; the broker's access rules, the
// tables in topics.md and the JSON Schemas beside this package are made from
// them.
//
// Rules for all payloads: a UTF-8 JSON object without byte order mark, at most
// 16 levels deep, no duplicate keys, keys in exactly the given case, integers
// within 2^53, times in RFC 3339 UTC with milliseconds, durations in *_ms,
// lengths in metres, angles in radians. Readers of documents ignore fields they
// do not know; arguments of commands are strict, because an ignored argument
// that matters for safety is worse than a refusal.
package schema

//go:generate go run ./gen
