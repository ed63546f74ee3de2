// Package publish publishes what only the leader publishes, on a connection of its own: the rows of
// the outbox, every retained document of fleetd after a connect, blobs again that robots wait
// for, and desired documents again that a robot does not report.
package publish
