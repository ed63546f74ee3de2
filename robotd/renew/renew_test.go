package renew

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/golden"
)

const aDay = 24 * time.Hour

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

func certificateOf(robot string, from time.Time) Certificate {
	return Certificate{Robot: robot, Serial: "4f" + robot, NotBefore: from, NotAfter: from.Add(90 * aDay)}
}

// TestTraces plays each script of testdata. A line is a span of time and the result of
// every attempt within it; the indented lines below it are the decisions.
func TestTraces(t *testing.T) {
	golden.PlayTraces(t, func(t *testing.T) func(string) string {
		c, s, now := certificateOf("r7", morning), State{}, morning
		said := Alert{}
		return func(line string) string {
			span, word, words := golden.Timed(t, line)
			var out strings.Builder
			for end := now.Add(span); now.Before(end); {
				d := Decide(s, c, now)
				if d.Renew && word == "failing" { // as failed, but without a line for each attempt
					s = RecordFailure(s, c, strings.Join(words, " "), now)
					d = Decide(s, c, now)
				}
				if d.Renew {
					fmt.Fprintf(&out, "  day %.2f renew (%s): ", now.Sub(morning).Hours()/24, d.Why)
					if word == "answered" {
						c = certificateOf("r7", now)
						c.Serial = fmt.Sprint("4f", now.Unix())
						fmt.Fprintf(&out, "valid until day %.2f\n", c.NotAfter.Sub(morning).Hours()/24)
					} else {
						s = RecordFailure(s, c, strings.Join(words, " "), now)
						fmt.Fprintf(&out, "failed, again after %v\n", s.RetryAt.Sub(now).Round(time.Second))
					}
					d = Decide(s, c, now)
				}
				if d.Alert != said {
					said = d.Alert
					fmt.Fprintf(&out, "  day %.2f alert %s %q (%s)\n", now.Sub(morning).Hours()/24, said.Level, said.Detail, said.Hint)
				}
				now = d.NextCheck
				if now.After(end) {
					now = end
				}
			}
			return out.String()
		}
	})
}

// Robots that were enrolled on one day renew within three days.
func TestRenewalsOfAFleetAreSpread(t *testing.T) {
	days := map[int]int{}
	for i := range 300 {
		c := certificateOf(fmt.Sprintf("r%d", i), morning)
		at := Due(c).Sub(morning)
		if at < 60*aDay || at > 63*aDay {
			t.Fatalf("r%d renews after %v", i, at)
		}
		days[int(at/aDay)]++
	}
	for d := 60; d < 63; d++ {
		if days[d] < 60 {
			t.Errorf("%d of 300 robots renew on day %d: %v", days[d], d, days)
		}
	}
}

// The loop of a robot in fake time; fleetd is unreachable for some days or for ever.
func TestRobotRenewsWhenFleetdReturns(t *testing.T) {
	for away, want := range map[time.Duration]string{0: "", 10 * aDay: "", 25 * aDay: "", 200 * aDay: string(schema.AlertCritical)} {
		bubble.Test(t, func(t *testing.T) {
			c, s := certificateOf("r7", time.Now()), State{}
			began, back := time.Now(), Due(certificateOf("r7", time.Now())).Add(away)
			asked, renewed, worst := 0, time.Time{}, Alert{}
			for time.Since(began) < 100*aDay && renewed.IsZero() {
				d := Decide(s, c, time.Now())
				worst = d.Alert
				if d.Renew {
					asked++
					if time.Now().Before(back) {
						s = RecordFailure(s, c, "fleetd does not answer", time.Now())
					} else {
						renewed = time.Now()
					}
					continue
				}
				time.Sleep(time.Until(d.NextCheck))
			}
			switch {
			case want == "" && (renewed.IsZero() || renewed.Sub(back) > LongPause || !renewed.Before(c.NotAfter)):
				t.Errorf("away for %v: renewed %v after the return, in %d attempts", away, renewed.Sub(back), asked)
			case want != "" && (!renewed.IsZero() || string(worst.Level) != want):
				t.Errorf("away for %v: renewed %v, alert %+v", away, renewed, worst)
			case asked > 300:
				t.Errorf("away for %v: %d attempts", away, asked)
			}
		})
	}
}

// The next decision is always in the future, and no attempt is too early or uses an
// expired certificate.
func TestNextDecisionIsInTheFuture(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, s := certificateOf(rapid.StringMatching(`r[0-9]{1,3}`).Draw(t, "robot"), morning), State{}
		now := morning
		for range rapid.IntRange(1, 40).Draw(t, "looks") {
			d := Decide(s, c, now)
			if !d.NextCheck.After(now) || d.NextCheck.Sub(now) > longestWait {
				t.Fatalf("at %v the next decision is at %v", now, d.NextCheck)
			}
			if d.Renew && (now.Before(Due(c)) || !now.Before(c.NotAfter)) {
				t.Fatalf("it renews at %v", now)
			}
			if d.Renew {
				s = RecordFailure(s, c, "no", now)
				if pause := s.RetryAt.Sub(now); pause < FirstPause/2 || pause > LongPause {
					t.Fatalf("it retries after %v", pause)
				}
			}
			now = now.Add(time.Duration(rapid.Int64Range(1, int64(4*aDay)).Draw(t, "passes")))
		}
	})
}
