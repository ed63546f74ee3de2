//go:build !race

package soak

const (
	seedsWithTheTests = 200
	fleetSize         = 300 // how many robots lose their broker at the same moment
)
