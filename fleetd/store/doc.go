// Package store keeps the truth of the fleet: stories, desired documents and history, in
// PostgreSQL or in one SQLite file.
//
// It is one text of SQL for both, over database/sql; what differs between them
// is in dialect.go and is little: how to open, which error means what, who may
// run beside us. One conformance suite in the tests holds both to the same behaviour.
//
// A change that must reach a robot is decided by a pure plan from rows read
// inside a transaction and applied in the same transaction together with the
// outbox rows that tell of it; see Tx. The store decides nothing itself, knows
// no clock, and sends nothing.
package store
