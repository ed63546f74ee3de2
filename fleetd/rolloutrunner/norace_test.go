//go:build !race

package rolloutrunner

const killEvery = 1
