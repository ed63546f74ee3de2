package server

import (
	"maps"
	"net/netip"
	"time"
)

const (
	// free is how many wrong passwords of a claim cost no pause: people mistype.
	freeGuesses = 5
	// The pause before the answer to the next one, which doubles with each, and its
	// end, which clients wait for: ours for 5 s.
	firstPause, longestPause = time.Second, 4 * time.Second
	// lateMost is how many answers are held back, and lateOfOne those to one address.
	// Each holds a connection, of which one address may have 512. What is beyond is
	// answered at once, and costs a guesser a hash among those who wait for theirs.
	lateMost, lateOfOne = 512, 128
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

// at reports whether somebody was wrong at an address lately.
func (g *guesses) at(now time.Time, a netip.Addr) bool {
	was, known := g.of[claim{from: a}]
	return known && now.Sub(was.last) < forgiven
}

// add counts a wrong password and returns the pause before it is answered.
func (g *guesses) add(now time.Time, c claim) time.Duration {
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
	beyond := g.of[c].wrong - freeGuesses
	if beyond <= 0 {
		return 0
	}
	return min(longestPause, firstPause<<min(beyond-1, 8))
}

// late counts the answers that are held back, by address.
type late struct {
	of  map[netip.Addr]int
	all int
}

// enter reports whether there is room for one more.
func (l *late) enter(a netip.Addr) bool {
	if l.all >= lateMost || l.of[a] >= lateOfOne {
		return false
	}
	if l.of == nil {
		l.of = map[netip.Addr]int{}
	}
	l.of[a]++
	l.all++
	return true
}

func (l *late) leave(a netip.Addr) {
	l.all--
	if l.of[a]--; l.of[a] == 0 {
		delete(l.of, a)
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
