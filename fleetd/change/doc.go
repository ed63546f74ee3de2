// Package change carries out the changes that people request of the database: of the
// library, of desired documents, labels, accounts, credentials, and robots that leave. It also reads
// for requests what the view does not have.
//
// Each change is one transaction: it reads the rows that its plan needs, runs the pure plan,
// applies the result and notes it in the audit under the request's principal. The plans are in
// packages library, desired and enrol; where little has to be decided, the change does so itself.
// After the commit it calls Deps.Changed, unless the view shows nothing of it: package accounts
// reads changes of accounts back, and an acknowledged alert, a token or a renewed certificate
// is read by the request that shows it.
package change
