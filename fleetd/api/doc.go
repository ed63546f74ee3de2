// Package api is fleetd's HTTP API under /api/v1, described by /api/openapi.json, and
// the types of its answers, which the command line uses too. The types that describe what
// a component keeps, such as a robot or a latched stop, lie in the component's package.
//
// It decides how a request is parsed, who may make it, which of fleetd's components carries
// it out (see Deps), and how an answer or a problem is written. It does not dispatch
// commands, hold connections, compute presence or see the database: package change reads
// and changes it.
//
// Guard puts the principal of each request into its context, the row of an operation (see package operation) names the
// rights that it needs, and the handler gets the principal with its input (see caller).
//
// An error of the client never becomes an internal error: it is a problem of a stable
// type (see Kinds) that says where, what and what to do.
package api
