package server

import (
	"maps"
	"net/netip"
	"time"
)

const (
	// free is how many wrong passwords of a claim cost no pause: people mistype.
	freeGuesses = 5
	// The pause after the next one, which doubles with each, and its end.
	firstPause, longestPause = time.Second, 16 * time.Second
	// forgiven is how long after the last wrong one all are forgotten.
	forgiven = 5 * time.Minute
	// guessesKept is how many claims and addresses are remembered. Beyond it any is
	// forgotten for a new one: whoever has so many addresses pauses little anyway.
	guessesKept = 8192
)

// guesses are the wrong passwords of late, by claim, and by address under a claim
// without a name. What is remembered of a name does not depend on whether there is
// one of it: the answer would tell.
type guesses struct {
	of     map[claim]guess
	looked time.Time // for what is forgiven
}

type guess struct {
	wrong int
	last  time.Time
}

// pause is how long a claim is not looked at from now on.
func (g *guesses) pause(now time.Time, c claim) time.Duration {
	was, known := g.of[c]
	if !known || was.wrong < freeGuesses || now.Sub(was.last) >= forgiven {
		return 0
	}
	return max(0, min(longestPause, firstPause<<min(was.wrong-freeGuesses, 8))-now.Sub(was.last))
}

// at reports whether somebody was wrong at an address lately.
func (g *guesses) at(now time.Time, a netip.Addr) bool {
	was, known := g.of[claim{from: a}]
	return known && now.Sub(was.last) < forgiven
}

// add counts a wrong password.
func (g *guesses) add(now time.Time, c claim) {
	if g.of == nil {
		g.of = map[claim]guess{}
	}
	for _, c := range []claim{c, {from: c.from}} {
		was, known := g.of[c]
		switch {
		case !known:
			g.room(now)
		case now.Sub(was.last) >= forgiven:
			was.wrong = 0
		}
		g.of[c] = guess{was.wrong + 1, now}
	}
}

// forget forgets those of a claim that was proved. Its address keeps what others
// did there.
func (g *guesses) forget(c claim) { delete(g.of, c) }

// room makes it for one more.
func (g *guesses) room(now time.Time) {
	if len(g.of) < guessesKept {
		return
	}
	if now.Sub(g.looked) >= forgiven {
		maps.DeleteFunc(g.of, func(_ claim, was guess) bool { return now.Sub(was.last) >= forgiven })
		g.looked = now
	}
	for c := range g.of {
		if len(g.of) < guessesKept {
			return
		}
		delete(g.of, c)
	}
}
