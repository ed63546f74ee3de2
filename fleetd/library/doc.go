// Package library decides about acts and stories: what may be published, which
// revisions come of it, what becomes of the stories that used an act that is
// gone, and what robots are told.
//
// A plan is a pure function of the rows it is shown, of the request and of now;
// it returns the changes to apply or the problems that stand in the way, never
// half of both. The store applies the changes in the transaction the rows were
// read in, with the outbox rows that tell the robots. Nothing here publishes,
// stores or waits.
package library
