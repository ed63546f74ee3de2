package soak

import (
	"math/rand/v2"
	"time"
)

// A fate is what becomes of one message on its way.
type fate struct {
	lost  bool // acknowledged to its sender, and never seen again
	twice bool
	late  time.Duration // and so behind later ones
}

// faults deals out fates. Its answer depends on the seed, the direction, the
// topic and how many went that way before, and on nothing else.
type faults struct {
	seed uint64
	n    map[string]uint64
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
	switch p := r.Float64(); {
	case p < 0.06:
		return fate{lost: true}
	case p < 0.12:
		return fate{twice: true, late: time.Duration(r.IntN(400)) * time.Millisecond}
	case p < 0.25:
		return fate{late: time.Duration(r.IntN(2500)) * time.Millisecond}
	}
	return fate{}
}
