package server

import (
	"io"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema/bubble"
)

// Whatever a client does, its delay is at most one time limit, and a tenth of the time
// after that.
func TestSlownessAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const limit = time.Second
		var s slowness
		now, idle, held, fairly := time.Unix(0, 0), time.Duration(0), time.Duration(0), time.Duration(0)
		for range rapid.IntRange(1, 50).Draw(t, "writes") {
			pause := time.Duration(rapid.Int64Range(0, int64(3*time.Second)).Draw(t, "pause"))
			n := rapid.IntRange(1, 512<<10).Draw(t, "bytes")
			now, idle = now.Add(pause), idle+pause
			most := s.allowed(now, n, limit)
			if most < fair(n, limit) {
				t.Fatalf("%d bytes may take %v", n, most)
			}
			took := time.Duration(rapid.Float64Range(0, 1).Draw(t, "share") * float64(most))
			now, held, fairly = now.Add(took), held+took, fairly+fair(n, limit)
			s.wrote(now, n, limit)
			if held > fairly+limit+idle/forgiveFactor {
				t.Fatalf("after %v its writes took %v", now.Sub(time.Unix(0, 0)), held)
			}
		}
	})
}

// writeToSlowReader writes to a client that reads some bytes at a time with a pause before each. It
// returns how long the writes took until the client was disconnected.
func writeToSlowReader(bytes int, pause, most time.Duration) (held time.Duration, cut bool) {
	ours, theirs := newPipe()
	var n counters
	c := &conn{Conn: ours, raw: ours, counters: &n}
	c.timeout.Store(int64(time.Second))
	c.unsent.sending = make(chan struct{}, 1)
	done := make(chan struct{})
	defer func() { c.Close(); theirs.Close(); <-done }()
	go func() {
		defer close(done)
		for buf, err := make([]byte, bytes), error(nil); err == nil; _, err = io.ReadFull(theirs, buf) {
			time.Sleep(pause)
		}
	}()
	for packet := make([]byte, 8<<10); held < most; {
		began := time.Now()
		_, err := c.Write(packet)
		if err == nil {
			err = c.send()
		}
		held += time.Since(began)
		if err != nil {
			return held, n.get(stalled) == 1
		}
	}
	return held, false
}

func TestSlowReaderIsCutButPoorNetworkIsNot(t *testing.T) {
	for _, c := range []struct {
		bytes int
		pause time.Duration
		cut   bool
	}{
		{8 << 10, 900 * time.Millisecond, true}, {1, time.Second, true}, {4 << 10, 90 * time.Millisecond, true},
		{8 << 10, 100 * time.Millisecond, false}, // 80 KiB a second
	} {
		bubble.Test(t, func(t *testing.T) {
			held, cut := writeToSlowReader(c.bytes, c.pause, 5*time.Minute)
			if cut != c.cut || cut && held > 4*time.Second {
				t.Errorf("%d bytes every %v: cut %v, after writes of %v altogether", c.bytes, c.pause, cut, held)
			}
		})
	}
}
