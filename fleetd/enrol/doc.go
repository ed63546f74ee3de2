// Package enrol decides who becomes a robot of the fleet, stays one, and is one
// no longer: whether a token that somebody shows may be used, whether a robot may
// have its next certificate, and what a revocation takes away.
//
// Rows and the time come in, decisions go out. Whoever calls applies them in the
// transaction from which the rows came.
package enrol
