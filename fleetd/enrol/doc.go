// Package enrol decides about the credentials of robots: whether an enrolment token may be
// used, whether a robot may renew its certificate, and what a revocation revokes.
//
// Its functions take rows and the time and return decisions. The caller applies a decision
// in the transaction in which it read the rows.
package enrol
