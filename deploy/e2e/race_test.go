//go:build race

package e2e

// raceEnabled: the programs are built with the race detector, as this test was.
// When it finds a race, a program ends with a status of its own.
const raceEnabled = true
