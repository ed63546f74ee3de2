// Package command turns a request of a person into one command per robot, and decides the life of
// each command in fleetd: when to send it, to send it again, to query it and to stop
// waiting.
//
// What a robot does with a command that was sent only the robot says, by its answer or by
// having no record of it. A command that was not answered in time is UNKNOWN, not failed, and a
// late answer resolves it. A command is sent again only as
// the same bytes under the same id, so that the robot performs it once.
//
// What is a command here is called request in robotd (robotd/request, last_req): there it is what a
// client asks of the robot.
//
// The package does no I/O: Step returns what to do, and Due when to call Step again.
package command
