package soak

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// A packetLog records every packet of a world in order, with its delivery. Two
// runs of a seed are the same if their logs are.
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

// text returns the log with the lines of the same instant in alphabetical order:
// the scheduler decides which goroutine comes first in it. A client may end two
// subscriptions with one packet or with two, so equal lines of these count once.
func (l *packetLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	endsSubscription := func(line string) bool {
		return strings.Contains(line, fmt.Sprintf(" up %d ", unsubscribe)) || strings.Contains(line, fmt.Sprintf(" down %d ", unsuback))
	}
	lines := slices.CompactFunc(slices.Sorted(slices.Values(l.lines)), func(a, b string) bool { return a == b && endsSubscription(a) })
	return strings.Join(lines, "\n")
}

// digest is a short hash of the log.
func (l *packetLog) digest() string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(l.text())))[:12]
}
