// Package fleet assembles fleetd: it reads the configuration, opens the database, the link to
// the broker and the HTTP addresses, gives each part what it needs (wiring.go), routes
// messages of the broker to the parts (router.go), and starts and stops their loops.
//
// The parts are packages of their own, such as view, dispatch, latch, publish, teleop, records,
// accounts and replica; docs/architecture.md lists them. None of them knows this package.
//
// The database is the source of truth. Whatever fleetd owns on the broker is published again
// at every connect. Without the database robots go on and can be stopped; without the broker
// fleetd reports that it knows nothing.
package fleet
