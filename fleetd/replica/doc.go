// Package replica elects the leader among the fleetd instances on one database, and
// knows which of the other instances are running.
package replica
