package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// maxGrowth is how many times as long something may take per robot (or command, row) in the larger of two sizes:
// for ten times as many, 12 times as long. What visits all robots for each robot takes 100 times as long.
const maxGrowth = 1.2

// quickGrowth is the same for a quick run, whose steps are short, and which may run on half a core: the garbage collector and caches
// alone made a step take 15 times as long there.
const quickGrowth = 1.6

// shortestJudged is the duration that a shorter one counts as: below it, wake-ups of the machine are most of it, and a
// cache that fits the smaller size only would look like a quadratic loop.
const shortestJudged = 20 * time.Millisecond

// A Step is how long something took for so many robots.
type Step struct {
	What string `json:"what"` // such as "stop, last answer"
	Size int    `json:"size"`
	// Took is the median of the rounds, in microseconds.
	Took float64 `json:"took_us"`
	// Growth is maxGrowth if it is left out.
	Growth float64 `json:"growth,omitempty"`
}

// A Growth compares the smallest and the largest size of one thing.
type Growth struct {
	What         string
	Small, Large Step
	Times        float64 // as long
	Limit        float64
}

// growths compares the sizes of each thing, in the order in which they were measured.
func growths(steps []Step) (out []Growth) {
	for i, s := range steps {
		if slices.ContainsFunc(steps[:i], func(earlier Step) bool { return earlier.What == s.What }) {
			continue
		}
		var same []Step
		for _, o := range steps {
			if o.What == s.What {
				same = append(same, o)
			}
		}
		bySize := func(a, b Step) int { return cmp.Compare(a.Size, b.Size) }
		small, large := slices.MinFunc(same, bySize), slices.MaxFunc(same, bySize)
		if small.Size <= 0 || large.Size == small.Size {
			continue
		}
		judged := func(s Step) float64 { return max(s.Took, microseconds(shortestJudged)) }
		out = append(out, Growth{
			What: s.What, Small: small, Large: large, Times: judged(large) / judged(small),
			Limit: cmp.Or(large.Growth, maxGrowth) * float64(large.Size) / float64(small.Size),
		})
	}
	return out
}

func (g Growth) exceeded() bool { return g.Times > g.Limit }

func (g Growth) String() string {
	return fmt.Sprintf("%s: %s for %d, %s for %d: %.1f times as long, at most %.0f", g.What, showMicroseconds(g.Small.Took), g.Small.Size,
		showMicroseconds(g.Large.Took), g.Large.Size, g.Times, g.Limit)
}
