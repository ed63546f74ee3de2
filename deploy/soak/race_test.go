//go:build race

package soak

// Under the race detector everything takes several times as long and on one processor only.
const (
	seedsWithTheTests = 60
	fleetSize         = 100
)
