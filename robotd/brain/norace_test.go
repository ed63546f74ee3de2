//go:build !race

package brain

// race: this run looks for races, and takes its time for it.
const race = false
