package renew

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/golden"
)

const day1 = 24 * time.Hour

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

func ninety(robot string, from time.Time) Certificate {
	return Certificate{Robot: robot, Serial: "4f" + robot, NotBefore: from, NotAfter: from.Add(90 * day1)}
}

// TestTraces plays each script of testdata: a line is a time and what comes of
// asking from then on, the indented lines below it are what is decided until the
// next.
func TestTraces(t *testing.T) {
	golden.Traces(t, func(t *testing.T) func(string) string {
		c, s, now := ninety("r7", morning), State{}, morning
		said := Alert{}
		return func(line string) string {
			span, word, words := golden.Timed(t, line)
			var out strings.Builder
			for end := now.Add(span); now.Before(end); {
				d := Decide(s, c, now)
				if d.Renew && word == "unheard" { // as failed, without a line for each
					s = Failed(s, c, strings.Join(words, " "), now)
					d = Decide(s, c, now)
				}
				if d.Renew {
					fmt.Fprintf(&out, "  day %.2f renew (%s): ", now.Sub(morning).Hours()/24, d.Why)
					if word == "answered" {
						c = ninety("r7", now)
						c.Serial = fmt.Sprint("4f", now.Unix())
						fmt.Fprintf(&out, "good until day %.2f\n", c.NotAfter.Sub(morning).Hours()/24)
					} else {
						s = Failed(s, c, strings.Join(words, " "), now)
						fmt.Fprintf(&out, "failed, again after %v\n", s.Again.Sub(now).Round(time.Second))
					}
					d = Decide(s, c, now)
				}
				if d.Alert != said {
					said = d.Alert
					fmt.Fprintf(&out, "  day %.2f alert %s %q (%s)\n", now.Sub(morning).Hours()/24, said.Level, said.Detail, said.Hint)
				}
				now = d.Look
				if now.After(end) {
					now = end
				}
			}
			return out.String()
		}
	})
}

// A fleet that is enrolled on one day renews on three, and none too late.
func TestAFleetDoesNotRenewOnOneDay(t *testing.T) {
	days := map[int]int{}
	for i := range 300 {
		c := ninety(fmt.Sprintf("r%d", i), morning)
		at := Due(c).Sub(morning)
		if at < 60*day1 || at > 63*day1 {
			t.Fatalf("r%d renews after %v", i, at)
		}
		days[int(at/day1)]++
	}
	for d := 60; d < 63; d++ {
		if days[d] < 60 {
			t.Errorf("%d of 300 robots renew on day %d: %v", days[d], d, days)
		}
	}
}

// A loop as a robot runs it, in fake time: it sleeps until it is told to look,
// asks when it is told to, and fleetd is away for some days or for ever.
func TestARobotRenewsAsSoonAsTheDeskIsBack(t *testing.T) {
	for away, want := range map[time.Duration]string{0: "", 10 * day1: "", 25 * day1: "", 200 * day1: string(schema.AlertCritical)} {
		synctest.Test(t, func(t *testing.T) {
			c, s := ninety("r7", time.Now()), State{}
			began, back := time.Now(), Due(ninety("r7", time.Now())).Add(away)
			asked, renewed, worst := 0, time.Time{}, Alert{}
			for time.Since(began) < 100*day1 && renewed.IsZero() {
				d := Decide(s, c, time.Now())
				worst = d.Alert
				if d.Renew {
					asked++
					if time.Now().Before(back) {
						s = Failed(s, c, "nobody answers", time.Now())
					} else {
						renewed = time.Now()
					}
					continue
				}
				time.Sleep(time.Until(d.Look))
			}
			switch {
			case want == "" && (renewed.IsZero() || renewed.Sub(back) > LongPause || !renewed.Before(c.NotAfter)):
				t.Errorf("away for %v: renewed %v after it came back, asked %d times", away, renewed.Sub(back), asked)
			case want != "" && (!renewed.IsZero() || string(worst.Level) != want):
				t.Errorf("away for %v: renewed %v, told %+v", away, renewed, worst)
			case asked > 300:
				t.Errorf("away for %v: asked %d times", away, asked)
			}
		})
	}
}

// Whatever happens, the next look lies ahead, and nobody is asked with a
// certificate that has ended or too early.
func TestADecisionAlwaysLooksAhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, s := ninety(rapid.StringMatching(`r[0-9]{1,3}`).Draw(t, "robot"), morning), State{}
		now := morning
		for range rapid.IntRange(1, 40).Draw(t, "looks") {
			d := Decide(s, c, now)
			if !d.Look.After(now) || d.Look.Sub(now) > longest {
				t.Fatalf("at %v the next look is at %v", now, d.Look)
			}
			if d.Renew && (now.Before(Due(c)) || !now.Before(c.NotAfter)) {
				t.Fatalf("it asks at %v", now)
			}
			if d.Renew {
				s = Failed(s, c, "no", now)
				if pause := s.Again.Sub(now); pause < FirstPause/2 || pause > LongPause {
					t.Fatalf("it asks again after %v", pause)
				}
			}
			now = now.Add(time.Duration(rapid.Int64Range(1, int64(4*day1)).Draw(t, "passes")))
		}
	})
}
