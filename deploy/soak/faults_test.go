package soak

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// A fate is what becomes of one message on its way.
type delivery struct {
	latency    time.Duration // on its way at least
	lost       bool          // acknowledged to its sender, and never seen again
	duplicated bool
	delay      time.Duration // and so behind later ones
}

// faults deals out fates. Its answer depends on the seed, the direction, the
// topic and how many went that way before, and on nothing else.
type faults struct {
	seed   uint64
	counts map[string]uint64
	ended  bool // all arrive, once
}

// hash makes the same number of the same text in every run.
func hash(text string) (h uint64) {
	h = 14695981039346656037
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

func (f *faults) next(way, topic string) delivery {
	key := way + " " + topic
	f.counts[key]++
	r := rand.New(rand.NewPCG(f.seed^hash(key), f.counts[key]))
	// Nanoseconds count: no two packets of a world arrive in the same instant.
	fate := delivery{latency: time.Duration(100_000 + r.IntN(2_000_000))}
	switch p := r.Float64(); {
	case f.ended:
	case p < 0.06:
		fate.lost = true
	case p < 0.12:
		fate.duplicated, fate.delay = true, time.Duration(r.IntN(400))*time.Millisecond
	case p < 0.25:
		fate.delay = time.Duration(r.IntN(2500)) * time.Millisecond
	}
	return fate
}

// controlDelivery is what becomes of a packet that publishes nothing. How many of its
// kind were before does not count: a broker gives out its numbers in no order.
func controlDelivery(way string, kind byte) delivery {
	return delivery{latency: 100*time.Microsecond + time.Duration(hash(fmt.Sprint(way, kind))%2_000_000)}
}
