// Package store is fleetd's database: robots, the library of acts and stories, desired
// documents, commands, stops, identities and history, in PostgreSQL or in one SQLite file.
//
// Both databases run the same SQL through database/sql. What differs between them is in
// dialect.go: how to open, what an error code means, whether other programs may use the
// database at the same time, and how a statement takes many rows. One conformance suite in
// the tests runs on both.
//
// A change that must reach a robot is planned by a pure function from rows that a
// transaction has read. The same transaction writes the result and the outbox rows that
// publish it; see Tx. The store decides nothing, reads no clock and sends nothing.
package store
