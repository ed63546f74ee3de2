package rolloutrunner

import (
	"slices"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/content"
	"troupe/fleetd/library"
	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/store/storetest"
)

// benchRobots is a large fleet.
const benchRobots = 10_000

func onBoth(b *testing.B, bench func(b *testing.B, address string)) {
	b.Run("sqlite", func(b *testing.B) { bench(b, storetest.SQLite(b)) })
	b.Run("postgres", func(b *testing.B) { bench(b, pgtest.Start(b)) })
}

func percentile(all []time.Duration, percent int) float64 {
	slices.Sort(all)
	return float64(all[min(len(all)-1, len(all)*percent/100)].Microseconds()) / 1000
}

// BenchmarkPlan plans a rollout of a story to the whole fleet.
func BenchmarkPlan(b *testing.B) {
	onBoth(b, func(b *testing.B, address string) {
		w := newWorld(b, address, benchRobots)
		b.ResetTimer()
		for b.Loop() {
			p, total, found, err := w.changes.Plan(b.Context(), change.RolloutRequest{Content: content.Content{Story: &content.Story{ID: "day"}},
				Robots: selector.All()})
			if err != nil || len(found) > 0 || total != benchRobots || len(p.Waves) != 4 {
				b.Fatal(total, found, err)
			}
		}
	})
}

// BenchmarkStep steps a rollout to the whole fleet from its start to its end. Each step is one look of the runner: it reads
// the versions, takes in what robots report, and saves that with the next offers, of which there are 960 a minute.
func BenchmarkStep(b *testing.B) {
	onBoth(b, func(b *testing.B, address string) {
		w := newWorld(b, address, benchRobots)
		soak, watch := int64(2), true
		o, _, found, err := w.changes.Create(b.Context(), auth.Principal{}, change.RolloutRequest{
			Content: content.Content{Story: &content.Story{ID: "day"}}, Robots: selector.All(), Start: true,
			Spec: rollout.Spec{Waves: []rollout.WaveSpec{{Name: "canary", Count: 5, SoakS: &soak}, {Name: "rest", Percent: 100, SoakS: &soak}},
				OffersPerMin: 960, MaxOffersPerMin: 960, WatchHealth: &watch},
		}, audit.Attribution{Who: "anna"})
		if err != nil || len(found) > 0 {
			b.Fatal(found, err)
		}
		var took []time.Duration
		step := func() {
			w.receive()
			began := time.Now()
			w.runner.stepAll(b.Context(), w.db)
			took = append(took, time.Since(began))
		}
		step() // reads the rollout
		took = nil
		b.ResetTimer()
		for b.Loop() {
			step()
		}
		if len(w.failed) > 0 {
			b.Fatal(w.failed)
		}
		offered := 0
		for _, wave := range w.rollout(o.ID).Waves {
			offered += wave.Total - wave.Counts[rollout.Planned]
		}
		b.ReportMetric(percentile(took, 50), "p50-ms")
		b.ReportMetric(percentile(took, 99), "p99-ms")
		b.ReportMetric(float64(offered), "offered")
	})
}

// BenchmarkAssignment assigns a story to the whole fleet at once, which is a rollout of one wave.
func BenchmarkAssignment(b *testing.B) {
	onBoth(b, func(b *testing.B, address string) {
		w := newWorld(b, address, benchRobots)
		assign := &change.Desired{Deps: w.changes.Deps}
		i := 0
		b.ResetTimer()
		for b.Loop() {
			i++
			_, _, found, err := assign.Assign(b.Context(), auth.Principal{}, selector.All(),
				library.Assignment{Story: []string{"day", "night"}[i%2]}, false, audit.Attribution{})
			if err != nil || len(found) > 0 {
				b.Fatal(found, err)
			}
		}
	})
}
