//go:build race

package e2e

// raceEnabled says whether this test is built with the race detector. A program that has it ends
// with a status of its own when it finds a race.
const raceEnabled = true
