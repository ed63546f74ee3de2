package crowd

import (
	"context"
	"math/rand/v2"
	"time"
)

// Scenario is what happens to the robots.
type Scenario struct {
	Churn struct {
		PerMinute float64
		Away      time.Duration
	}
	LinkLoss struct {
		PerMinute float64
		Away      time.Duration
	}
	Stalled struct {
		PerMinute float64
		For       time.Duration
	}
	Slow struct {
		Share float64
		Delay time.Duration
	}
	Failing struct {
		Share float64
		Every time.Duration
	}
	Performing struct{ Share float64 }
}

// play plays the scenario until ctx ends.
func (c *Crowd) play(ctx context.Context) {
	_ = rand.IntN
	<-ctx.Done()
}

// ReadScenario reads a scenario file.
func ReadScenario(path string) (Scenario, error) { return Scenario{}, nil }
