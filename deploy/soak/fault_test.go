package soak

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// A fate is what becomes of one message on its way.
type fate struct {
	takes time.Duration // on its way at least
	lost  bool          // acknowledged to its sender, and never seen again
	twice bool
	late  time.Duration // and so behind later ones
}

// faults deals out fates. Its answer depends on the seed, the direction, the
// topic and how many went that way before, and on nothing else.
type faults struct {
	seed  uint64
	n     map[string]uint64
	ended bool // all arrive, once
}

// stable makes the same number of the same text in every run.
func stable(text string) (h uint64) {
	h = 14695981039346656037
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

func (f *faults) of(way, topic string) fate {
	key := way + " " + topic
	f.n[key]++
	r := rand.New(rand.NewPCG(f.seed^stable(key), f.n[key]))
	// Nanoseconds count: no two packets of a world arrive in the same instant.
	fate := fate{takes: time.Duration(100_000 + r.IntN(2_000_000))}
	switch p := r.Float64(); {
	case f.ended:
	case p < 0.06:
		fate.lost = true
	case p < 0.12:
		fate.twice, fate.late = true, time.Duration(r.IntN(400))*time.Millisecond
	case p < 0.25:
		fate.late = time.Duration(r.IntN(2500)) * time.Millisecond
	}
	return fate
}

// unharmed is what becomes of a packet that publishes nothing. How many of its
// kind were before does not count: a broker gives out its numbers in no order.
func unharmed(way string, kind byte) fate {
	return fate{takes: 100*time.Microsecond + time.Duration(stable(fmt.Sprint(way, kind))%2_000_000)}
}
