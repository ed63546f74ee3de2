package sim_test

import (
	"testing"

	"troupe/robotd/driver/drivertest"
	"troupe/robotd/driver/sim"
)

func TestSimulatedBodyConforms(t *testing.T) {
	drivertest.Conform(t, func() drivertest.Body { return sim.New(sim.Config{At: "entrance"}) })
}

func TestSimulatedBodyWithSeveralUnitsOfAKindConforms(t *testing.T) {
	drivertest.Conform(t, func() drivertest.Body { return sim.New(sim.Config{At: "entrance", Pairs: true}) })
}
