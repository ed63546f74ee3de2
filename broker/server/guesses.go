package server

import (
	"maps"
	"net/netip"
	"time"
)

const (
	// freeGuesses is how many wrong passwords of a claim cause no delay: people mistype.
	freeGuesses = 5
	// The delay of the answer to the next wrong one, which doubles with each, and its
	// maximum, which must be shorter than the time that clients wait (our link: 5 s).
	firstPause, longestPause = time.Second, 4 * time.Second
	// maxDelayed is how many answers are delayed at once, and maxDelayedPerAddress those to one address.
	// Each holds a connection, of which one address may have 512. Further ones are answered
	// at once; a guesser then still waits for a hash each time.
	maxDelayed, maxDelayedPerAddress = 512, 128
	// forgiveAfter is how long after the last wrong password all of a claim are forgotten.
	forgiveAfter = 5 * time.Minute
	// maxGuesses is how many claims and addresses are remembered. Beyond it an arbitrary
	// one is dropped for a new one: delays hardly hinder a guesser with so many addresses
	// anyway.
	maxGuesses = 8192
)

// guesses counts recent wrong passwords by claim, and by address under a claim without a
// name. It does not depend on whether the name exists, because the delay would reveal
// that.
type guesses struct {
	of       map[claim]guess
	prunedAt time.Time // when forgiven entries were last removed
}

type guess struct {
	wrong int
	last  time.Time
}

// isSuspect reports whether there was a wrong password from an address lately.
func (g *guesses) isSuspect(now time.Time, a netip.Addr) bool {
	was, known := g.of[claim{from: a}]
	return known && now.Sub(was.last) < forgiveAfter
}

// add counts a wrong password and returns the delay of the answer.
func (g *guesses) add(now time.Time, c claim) time.Duration {
	if g.of == nil {
		g.of = map[claim]guess{}
	}
	for _, c := range []claim{c, {from: c.from}} {
		was, known := g.of[c]
		switch {
		case !known:
			g.makeRoom(now)
		case now.Sub(was.last) >= forgiveAfter:
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

// delayedAnswers counts the delayed answers by address.
type delayedAnswers struct {
	of  map[netip.Addr]int
	all int
}

// enter counts one more, unless the maximum is reached.
func (l *delayedAnswers) enter(a netip.Addr) bool {
	if l.all >= maxDelayed || l.of[a] >= maxDelayedPerAddress {
		return false
	}
	if l.of == nil {
		l.of = map[netip.Addr]int{}
	}
	l.of[a]++
	l.all++
	return true
}

func (l *delayedAnswers) leave(a netip.Addr) {
	l.all--
	if l.of[a]--; l.of[a] == 0 {
		delete(l.of, a)
	}
}

// forget drops the wrong passwords of a claim that was right at last. Those of its address
// remain, since other claims may have caused them.
func (g *guesses) forget(c claim) { delete(g.of, c) }

// makeRoom makes room for one more.
func (g *guesses) makeRoom(now time.Time) {
	if len(g.of) < maxGuesses {
		return
	}
	if now.Sub(g.prunedAt) >= forgiveAfter {
		maps.DeleteFunc(g.of, func(_ claim, was guess) bool { return now.Sub(was.last) >= forgiveAfter })
		g.prunedAt = now
	}
	for c := range g.of {
		if len(g.of) < maxGuesses {
			return
		}
		delete(g.of, c)
	}
}
