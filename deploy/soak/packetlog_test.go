package soak

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// A log is everything that was put on the wires of a world, in its order, with
// what became of it. Two runs of a seed are the same when their logs are.
type packetLog struct {
	began time.Time

	mu    sync.Mutex
	lines []string
}

func newPacketLog() *packetLog { return &packetLog{began: time.Now()} }

func (l *packetLog) record(way, what string, f delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%15.9f %s %s %+v", time.Since(l.began).Seconds(), way, what, f))
}

// text is the log with the lines of one instant in alphabetical order: which
// goroutine was the first in it is up to the scheduler.
func (l *packetLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(slices.Sorted(slices.Values(l.lines)), "\n")
}

// digest is short, and of this log alone.
func (l *packetLog) digest() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(l.text())))[:12]
}
