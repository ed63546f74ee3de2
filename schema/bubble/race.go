//go:build race

package bubble

// race is true in a build with the race detector.
const race = true
