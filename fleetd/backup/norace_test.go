//go:build !race

package backup_test

// kills is how often a backup is killed.
const kills = 12
