package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/schema/bubble"
)

func TestRepeatedLogLinesAreCounted(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		c := &logThrottle{log: slog.New(slog.NewTextHandler(&out, nil))}
		lines := func() (got []string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, l := range strings.Split(strings.TrimSpace(out.String()), "\n") {
				if _, l, ok := strings.Cut(l, "msg="); ok {
					got = append(got, l)
				}
			}
			out.Reset()
			return got
		}
		want := func(when string, want ...string) {
			t.Helper()
			if got := lines(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s:\n%s\nwant\n%s", when, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		for i := range 9000 {
			c.add(slog.LevelWarn, "refused", "login", "192.0.2.1", "user", fmt.Sprint("x", i))
		}
		c.add(slog.LevelWarn, "refused", "login", "192.0.2.2", "user", "op1")
		c.add(slog.LevelError, "refused", "busy", "192.0.2.1", "user", "op2")
		want("first events", "refused user=x0", "refused user=op1", "refused user=op2")
		time.Sleep(throttleInterval - time.Second)
		want("within the interval")
		time.Sleep(2 * time.Second)
		want("after the interval", "refused user=x8999 count=8999 within=5s")
		c.add(slog.LevelWarn, "refused", "login", "192.0.2.1", "user", "y")
		want("another event within the next interval")
		time.Sleep(throttleInterval)
		want("after the next interval", "refused user=y count=1 within=5s")
		time.Sleep(3 * throttleInterval)
		if synctest.Wait(); c.timer != nil || len(c.throttle.byKey) > 0 {
			t.Errorf("%d kinds are remembered after a quiet time", len(c.throttle.byKey))
		}
		c.add(slog.LevelWarn, "refused", "login", "192.0.2.1", "user", "z")
		c.add(slog.LevelWarn, "refused", "login", "192.0.2.1", "user", "z")
		c.close()
		want("after a quiet time and the close", "refused user=z", "refused user=z count=1 within=0s")
	})
}

func TestRepetitionsOfManyKindsAreCountedTogether(t *testing.T) {
	var g throttle
	lines := 0
	for i := range 100_000 {
		lines += len(g.add(time.Time{}, lineKey{what: "refused", whose: fmt.Sprint(i)}, nil))
	}
	if lines > maxLineKeys+1 || len(g.byKey) > maxLineKeys+1 {
		t.Fatalf("%d lines, %d remembered", lines, len(g.byKey))
	}
	if say := g.due(time.Time{}.Add(throttleInterval), false); len(say) != 1 || say[0].whose != "others" {
		t.Errorf("%d lines, want one for the others", len(say))
	}
}
