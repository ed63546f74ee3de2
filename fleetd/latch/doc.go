// Package latch keeps stops latched until people release them by their ids. It keeps a stop on this
// machine's disk until the database has it, and also persists live stops of other clients
// and stops that robots report although nobody has persisted them.
package latch
