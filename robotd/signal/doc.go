// Package signal has the signals of a robot's body as named values, the facts that
// conditions are about, and the rules by which a signal asks for a handler.
//
// A reading counts when it has lasted as long as the row of its signal says: until then a
// loose contact changes nothing. A condition is evaluated only when a key that it names
// has changed, or a time that it names is over, and costs nothing otherwise.
//
// It decides nothing about interrupts: what a rule asks for goes through their checks.
// Time is an argument.
package signal
