// Package score is what a robot performs, as words: acts, stories and the
// actions they are made of, what each means, and whether they can be performed
// at all, and on this robot.
//
// It is one implementation for both programs: fleetd validates before it
// publishes, the robot before it accepts. Every problem comes with a JSON
// Pointer, a severity and a way out. It performs nothing and knows no clock: an
// act's time is milliseconds from the start of its group.
package score
