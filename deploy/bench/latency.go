package main

import (
	"slices"
	"time"
)

// Latency sums up durations, in microseconds.
type Latency struct {
	Samples int     `json:"samples"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	Max     float64 `json:"max_us"`
}

// latencyOf sums up durations; nil if there are none.
func latencyOf(durations []time.Duration) *Latency {
	if len(durations) == 0 {
		return nil
	}
	sorted := slices.Sorted(slices.Values(durations))
	at := func(share float64) float64 { return microseconds(percentile(sorted, share)) }
	return &Latency{Samples: len(sorted), P50: at(0.5), P99: at(0.99), Max: at(1)}
}

// percentile returns the smallest of the sorted durations that at least this share of them does not exceed (the
// nearest-rank method).
func percentile(sorted []time.Duration, share float64) time.Duration {
	rank := int(share * float64(len(sorted)))
	if float64(rank) < share*float64(len(sorted)) {
		rank++
	}
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// median is the 50th percentile; 0 if there are no durations.
func median(durations []time.Duration) time.Duration {
	if len(durations) == 0 {
		return 0
	}
	return percentile(slices.Sorted(slices.Values(durations)), 0.5)
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
