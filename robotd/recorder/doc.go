// Package recorder is the flight recorder of a robot: what passed robotd's loop, in MCAP
// files that hold their own JSON Schemas, so that Foxglove and other programs read them
// without this one.
//
// The loop gives it records and never waits: a record that finds the queue full is dropped
// and counted, and the file says how many are missing. A goroutine of its own writes the
// files. They form a ring: together they never exceed a number of bytes, and the oldest is
// removed first. Each chunk of a file is complete in itself, so a file that was cut off in
// mid-write is readable up to its last whole chunk, and the next start closes it.
//
// A record has the time of the step that it belongs to. The package reads no clock.
package recorder
