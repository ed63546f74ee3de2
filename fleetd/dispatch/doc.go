// Package dispatch takes commands through their states: it sends them to robots in
// order, receives the answers, writes both to the database, ends the commands of
// instances that are gone, and audits the commands of clients that are not fleetd.
package dispatch
