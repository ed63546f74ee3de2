// Package e2e has the end-to-end tests: broker, robotd and fleetd as processes
// of their own, watched and operated with Debian's mosquitto clients, fleetd's
// command line and its HTTP interface, as a person would.
//
// A test tells what happens to a world. The world starts programs, kills them,
// cuts their connections, and waits for what they say; it never sleeps to let
// something happen. Whatever a program writes is kept, and shown when the test
// fails. Every message is held against the contract while the test runs.
//
// What one room decides is tested in that room. Here is tested that the rooms
// together keep what was promised, on either database and on either broker.
package e2e
