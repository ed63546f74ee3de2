// Package renew decides when a robot renews its certificate.
//
// A robot renews when two thirds of the certificate's life are over, plus an offset that
// differs between robots, so that robots that were enrolled on the same day do not all
// renew on the same day. It repeats failed attempts with growing pauses. After several
// failures, or when the certificate expires soon, there is an alert. An expired
// certificate cannot be used to renew itself; a person has to enrol the robot again.
//
// The time is an argument: the robot's best knowledge of the fleet's time. State is
// comparable.
package renew

import (
	"fmt"
	"hash/fnv"
	"time"

	"troupe/schema"
)

// The bounds of the pause after a failed attempt.
const (
	FirstPause = time.Minute
	LongPause  = 6 * time.Hour
)

const (
	// spread is the share of a certificate's life over which the renewals of robots
	// are spread: three days of ninety.
	spread = 1.0 / 30
	// failuresToAlert is the number of consecutive failures that cause an alert; fewer
	// may be due to a restart of fleetd.
	failuresToAlert = 3
	// urgent is how long before expiry a failed renewal is an error instead of a
	// warning.
	urgent = 7 * 24 * time.Hour
	// longestWait is the longest time between two decisions, because the clock may be
	// set meanwhile.
	longestWait = time.Hour
)

// Certificate describes the present certificate.
type Certificate struct {
	Robot, Serial       string
	NotBefore, NotAfter time.Time
}

// State is the result of previous attempts. The zero value means no attempts.
type State struct {
	Serial    string    // of the certificate that the attempts were about
	Failures  int       // consecutive
	RetryAt   time.Time // the next attempt
	LastError string    // cause of the last failure
}

// Alert is an alert for the operators. An empty level means no alert.
type Alert struct {
	Level        schema.AlertLevel
	Detail, Hint string
}

// Decision is what the robot should do now.
type Decision struct {
	Renew     bool
	NextCheck time.Time // the latest time of the next decision
	Alert     Alert
	Why       string
}

// Due returns the time of the first attempt.
func Due(c Certificate) time.Time {
	life := c.NotAfter.Sub(c.NotBefore)
	return c.NotBefore.Add(life*2/3 + time.Duration(share(c.Robot, c.Serial)*spread*float64(life)))
}

// Decide decides what the robot should do now.
func Decide(s State, c Certificate, now time.Time) Decision {
	if s.Serial != c.Serial {
		s = State{Serial: c.Serial}
	}
	due := Due(c)
	d := Decision{Alert: alert(s, c, now)}
	switch {
	case now.Before(due):
		d.NextCheck, d.Why = due, "it is valid until "+day(c.NotAfter)
	case !now.Before(c.NotAfter):
		d.NextCheck, d.Why = now.Add(longestWait), "it has expired; the robot cannot authenticate itself any more"
	case now.Before(s.RetryAt):
		d.NextCheck, d.Why = s.RetryAt, "the last attempt failed"
	default:
		d.Renew, d.NextCheck, d.Why = true, now.Add(FirstPause), "two thirds of its life are over"
	}
	if most := now.Add(longestWait); d.NextCheck.After(most) {
		d.NextCheck = most
	}
	return d
}

// RecordFailure records a failed attempt to renew c.
func RecordFailure(s State, c Certificate, why string, now time.Time) State {
	if s.Serial != c.Serial {
		s = State{Serial: c.Serial}
	}
	pause := LongPause
	if s.Failures < 16 {
		pause = min(pause, FirstPause<<s.Failures)
	}
	s.Failures++
	// Half of the pause depends on the robot, so that robots that failed together do not
	// retry together.
	pause = pause/2 + time.Duration(share(c.Robot, c.Serial, fmt.Sprint(s.Failures))*float64(pause/2))
	s.RetryAt, s.LastError = now.Add(pause), why
	return s
}

func alert(s State, c Certificate, now time.Time) Alert {
	again := "enrol the robot again with a new token before then"
	switch left := c.NotAfter.Sub(now); {
	case left <= 0:
		return Alert{schema.AlertCritical, "the robot's certificate expired on " + day(c.NotAfter), "make a token with fleetd robot enrol " +
			c.Robot}
	case left < urgent && s.Failures > 0:
		return Alert{schema.AlertError, "the robot's certificate expires on " + day(c.NotAfter) + " and is not renewed: " + s.LastError, again}
	case s.Failures >= failuresToAlert:
		return Alert{schema.AlertWarn, "the robot's certificate cannot be renewed: " + s.LastError,
			"see whether fleetd can be reached from the robot; the certificate expires on " + day(c.NotAfter)}
	}
	return Alert{}
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// share returns a number from 0 to 1 that depends only on its arguments.
func share(of ...string) float64 {
	h := fnv.New64a()
	for _, s := range of {
		_, _ = h.Write([]byte(s + "\x00")) // never fails
	}
	x := h.Sum64()
	x ^= x >> 33 // mix the bits, because the hashes of short names differ little
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}
