// Package stage runs all of Troupe in one process: the broker, fleetd with its
// database, and robots with simulated bodies that perform the shipped acts and
// stories. Command demo is its main.
//
// Each program is the real one, started as its own main would start it; only the
// network between them is left out. What an operator would do to make a fleet
// perform is done through fleetd's HTTP API, so that the audit log shows it: label
// the robots, publish acts and stories, assign stories, enable the robots, and set
// mode ato.
//
// Started again on the same directory, it continues: changes that people made
// stay, and robots have their stories from their own disks. The robots are enabled
// again only because starting the stage is itself an operator's decision.
//
// There is no access control, so it serves this machine only.
package stage
