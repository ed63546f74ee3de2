// Package replica is this instance among the others of its fleet: whether it leads,
// and which of the others are there.
package replica
