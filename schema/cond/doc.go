// Package cond has the conditions of activities, handlers and rules: expressions in the
// Common Expression Language (cel.dev) over facts about the robot, such as
//
//	people > 0 && battery > 0.3 && since_s("touch") < 5.0
//
// [Keys] lists what a condition may name. [Parse] refuses an unknown key, a wrong
// type, and a condition without a yes-or-no result. A fact that the robot does not
// have at the moment is missing, and a condition that depends on a missing fact is
// not true, nor is its negation. [Condition.Explain] says which part of a condition
// is not true, and which facts it reads.
//
// A condition has no loops and a bounded length, so one evaluation takes
// microseconds.
package cond
