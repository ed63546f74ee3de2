// Package api is fleetd's face for programs: the HTTP interface under
// /api/v1, described by /api/openapi.json, and the words of its answers, which
// the command line reads too.
//
// It decides how a request is read, what is asked of the database and of the
// running fleetd (see Fleetd), and how an answer or a problem is told. It does not
// drive commands, keep connections or compute presence: it is told.
//
// A mistake of the asker is never answered as a fault of ours: it is a problem
// of a stable type (see Kinds) that says where, what and the way out.
package api
