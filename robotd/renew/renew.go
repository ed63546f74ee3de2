// Package renew decides when a robot asks for its next certificate.
//
// It asks when two thirds of the present one's life are over, a little earlier or
// later than other robots, so that a fleet that was enrolled on one day does not
// renew on one day. An asking that fails is repeated, ever more rarely; after some,
// or when the end comes near, somebody is told. A certificate that has ended cannot
// be renewed with itself: then only a person can help.
//
// The time is the fleet's as well as the robot knows it, and is an argument; State
// is comparable.
package renew

import (
	"fmt"
	"hash/fnv"
	"time"

	"troupe/schema"
)

// Bounds of when a robot asks again after it was not answered well.
const (
	FirstPause = time.Minute
	LongPause  = 6 * time.Hour
)

const (
	// spread is the share of a certificate's life over which robots' askings are
	// spread: three days of ninety.
	spread = 1.0 / 30
	// failuresToTell is how many askings in a row may fail unsaid: a fleetd instance that is
	// started anew is nobody's business.
	failuresToTell = 3
	// urgent is how long before its end a certificate that was not renewed is an
	// error and no longer a warning.
	urgent = 7 * 24 * time.Hour
	// longest is how long nothing is looked at: a clock may be set meanwhile.
	longest = time.Hour
)

// Certificate is the present one, as far as it matters here.
type Certificate struct {
	Robot, Serial       string
	NotBefore, NotAfter time.Time
}

// State is what an asking leaves behind; the zero value has asked nothing.
type State struct {
	Serial   string // of the certificate that it is about
	Failures int    // in a row
	Again    time.Time
	Why      string // the last failure
}

// Alert is what somebody should know; without a level there is nothing.
type Alert struct {
	Level        schema.AlertLevel
	Detail, Hint string
}

// Decision is what is to be done now.
type Decision struct {
	Renew bool
	Look  time.Time // when to decide again, at the latest
	Alert Alert
	Why   string
}

// Due is when the robot asks first.
func Due(c Certificate) time.Time {
	life := c.NotAfter.Sub(c.NotBefore)
	return c.NotBefore.Add(life*2/3 + time.Duration(share(c.Robot, c.Serial)*spread*float64(life)))
}

// Decide decides what is to be done now.
func Decide(s State, c Certificate, now time.Time) Decision {
	if s.Serial != c.Serial {
		s = State{Serial: c.Serial}
	}
	due := Due(c)
	d := Decision{Alert: alert(s, c, now)}
	switch {
	case now.Before(due):
		d.Look, d.Why = due, "it is good until "+day(c.NotAfter)
	case !now.Before(c.NotAfter):
		d.Look, d.Why = now.Add(longest), "it has ended; the robot cannot prove itself any more"
	case now.Before(s.Again):
		d.Look, d.Why = s.Again, "asked in vain"
	default:
		d.Renew, d.Look, d.Why = true, now.Add(FirstPause), "two thirds of its life are over"
	}
	if most := now.Add(longest); d.Look.After(most) {
		d.Look = most
	}
	return d
}

// Failed notes that an asking about c came to nothing.
func Failed(s State, c Certificate, why string, now time.Time) State {
	if s.Serial != c.Serial {
		s = State{Serial: c.Serial}
	}
	pause := LongPause
	if s.Failures < 16 {
		pause = min(pause, FirstPause<<s.Failures)
	}
	s.Failures++
	// Half of it is the robot's own: those that failed together do not ask together.
	pause = pause/2 + time.Duration(share(c.Robot, c.Serial, fmt.Sprint(s.Failures))*float64(pause/2))
	s.Again, s.Why = now.Add(pause), why
	return s
}

func alert(s State, c Certificate, now time.Time) Alert {
	again := "enrol the robot again with a new token before then"
	switch left := c.NotAfter.Sub(now); {
	case left <= 0:
		return Alert{schema.AlertCritical, "the robot's certificate ended on " + day(c.NotAfter), "make a token with fleetd robot enrol " + c.Robot}
	case left < urgent && s.Failures > 0:
		return Alert{schema.AlertError, "the robot's certificate ends on " + day(c.NotAfter) + " and is not renewed: " + s.Why, again}
	case s.Failures >= failuresToTell:
		return Alert{schema.AlertWarn, "the robot's certificate cannot be renewed: " + s.Why, "see whether fleetd can be reached from the robot; it ends on " + day(c.NotAfter)}
	}
	return Alert{}
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// share is a number from 0 to 1 that is a robot's own, and always the same.
func share(of ...string) float64 {
	h := fnv.New64a()
	for _, s := range of {
		_, _ = h.Write([]byte(s + "\x00")) // never fails
	}
	x := h.Sum64()
	x ^= x >> 33 // the low bytes of short names differ little
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}
