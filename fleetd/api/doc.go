// Package api is fleetd's HTTP API under /api/v1, described by /api/openapi.json, and
// the types of its answers, which the command line uses too.
//
// It decides how a request is parsed, which queries and changes go to the database and
// to the running fleetd (see Fleet), and how an answer or a problem is written. It does
// not dispatch commands, hold connections or compute presence.
//
// An error of the client never becomes an internal error: it is a problem of a stable
// type (see Kinds) that says where, what and what to do.
package api
