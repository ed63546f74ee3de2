// Package e2e has the end-to-end tests: broker, robotd and fleetd as processes
// of their own, watched and operated with Debian's mosquitto clients, fleetd's
// command line and its HTTP interface, as a person would.
//
// A test drives a world, which starts programs, kills them, cuts their connections,
// and waits for messages and log lines; it does not sleep to let something happen.
// The programs' logs are printed if the test fails. Every message is checked
// against the MQTT contract while the test runs.
//
// Each package tests its own decisions. These tests check that the programs
// together keep the promises of the documentation, on both databases and both
// brokers.
package e2e
