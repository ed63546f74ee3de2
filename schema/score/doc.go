// Package score defines acts, stories and their actions, and validates them in general
// and for a particular robot.
//
// Both programs use it: fleetd validates before it publishes, the robot before it accepts.
// Every problem has a JSON Pointer, a severity and a hint. The package performs nothing
// and reads no clock: times in an act are milliseconds from the start of their group.
package score
