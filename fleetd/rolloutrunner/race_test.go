//go:build race

package rolloutrunner

// killEvery is how many statements are between two places at which a test ends the process: with the race detector each
// rollout takes several times as long.
const killEvery = 4
