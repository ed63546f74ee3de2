// Package library plans changes of acts, stories, activities and assets: what may be published, which
// revisions result, how a deletion changes the stories and activities that use an act, and which desired
// documents robots get.
//
// A plan is a pure function of rows, the request and the time. Before it runs, its
// Reading reads the rows that it looks at. A plan returns either the changes to apply or problems, never both. The store
// applies the changes, with the outbox rows for the broker, in the transaction in which it read the rows. The package does no I/O.
package library
