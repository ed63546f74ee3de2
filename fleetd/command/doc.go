// Package command decides how a request becomes one command per robot, and what
// fleetd makes of each until it is final.
//
// A robot's word is final; fleetd's patience is not. What was sent and never
// answered is UNKNOWN, not failed, and a late answer resolves it. A command is
// sent again only as the same bytes under the same id, which the robot performs
// once.
//
// The package sends, stores and waits for nothing: Step returns what to do, and
// Due when to ask again.
package command
