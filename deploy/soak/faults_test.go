package soak

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// A delivery says what happens to one packet on its way.
type delivery struct {
	latency    time.Duration // without overtaking other messages of its topic
	lost       bool          // acknowledged to its sender, but not delivered
	duplicated bool
	delay      time.Duration // beyond latency; later messages overtake it
}

// faults decides the delivery of messages. The decision depends on the seed, the
// direction, the topic and the number of earlier messages of that direction and
// topic only.
type faults struct {
	seed   uint64
	counts map[string]uint64
	ended  bool // every message arrives once
}

// hash is FNV-1a: the same in every run.
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
	// In nanoseconds, so that no two packets of a world arrive at the same instant.
	d := delivery{latency: time.Duration(100_000 + r.IntN(2_000_000))}
	switch p := r.Float64(); {
	case f.ended:
	case p < 0.06:
		d.lost = true
	case p < 0.12:
		d.duplicated, d.delay = true, time.Duration(r.IntN(400))*time.Millisecond
	case p < 0.25:
		d.delay = time.Duration(r.IntN(2500)) * time.Millisecond
	}
	return d
}

// controlDelivery decides the delivery of a packet other than PUBLISH. It does not
// depend on the number of earlier ones, because a broker does not assign packet
// ids in a fixed order.
func controlDelivery(way string, kind byte) delivery {
	return delivery{latency: 100*time.Microsecond + time.Duration(hash(fmt.Sprint(way, kind))%2_000_000)}
}
