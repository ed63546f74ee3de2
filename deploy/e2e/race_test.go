//go:build race

package e2e

// raceEnabled: the programs are built with the race detector, as this test was; they
// end with a status of their own when it finds something.
const raceEnabled = true
