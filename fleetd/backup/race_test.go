//go:build race

package backup_test

// kills is how often a backup is killed: each one takes seconds under the race detector.
const kills = 3
