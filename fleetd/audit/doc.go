// Package audit is what the audit log keeps: who did what, from where, why, what it changed
// and how it ended, and the chain of hashes that shows that no row was changed or removed
// since.
//
// It is pure. Package store writes entries in the transaction of the change that they
// record, and links them into the chain just before the commit.
package audit
