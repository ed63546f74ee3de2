// Package publish publishes what all robots go by, on the leader's connection: the
// outbox of the database, everything anew after a connect, blobs once more that robots
// wait for, and desired documents once more that a robot does not report on.
package publish
