// Package change carries out the changes that people request of the database: of the
// library, of desired documents, labels, credentials, and robots that leave.
//
// Each change is one transaction: it reads the rows that its plan needs, runs the pure plan,
// applies the result and notes it in the audit under the request's principal. After the
// commit it calls Deps.Changed. The plans are in packages library, desired, enrol and
// decommission.
package change
