// Package stage sets up all of Troupe in one process: the broker, fleetd with
// its database, and robots with simulated bodies that perform the content that
// ships. The demo is its thin main.
//
// Each part is the real one, started as its own program would start it; only
// the network between them is left out. What a person would do to make a fleet
// perform is done through fleetd's HTTP interface, where it shows in the
// record: label the robots, publish acts and stories, assign, enable, and ask
// for ato.
//
// Started again on the same directory it goes on where it was: what a person
// changed since stays, robots have their stories from their own disks. They move
// again only because starting the stage is itself a person's act.
//
// Nothing here is protected: it is served to this machine alone.
package stage
