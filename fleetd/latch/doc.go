// Package latch holds the stops of a fleet until people release them: it sends them,
// keeps them on this machine's disk until the database has them, writes down live
// stops of others and what robots show, and releases stops by their ids.
package latch
