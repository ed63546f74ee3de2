package main

import (
	"context"
	"slices"
)

// A bench measures one thing beside its floor: the least that the same would cost on this machine.
type bench struct {
	// Name is that of --only and of the results, such as "rtt".
	Name string
	// What says what is measured, as a line of the table.
	What string
	// Floor says what the ratios compare with.
	Floor string
	// Quick benches are part of make bench-quick, with Run's sizes made smaller by run.quick.
	Quick bool
	Run   func(context.Context, *run) error
}

// all returns every bench, in the order in which they run.
func all() []bench {
	return slices.Concat(roundTripBenches, commandBenches, documentBenches, burstBenches, storyBenches, fleetBenches, stalledBenches,
		restBenches, churnBenches)
}
