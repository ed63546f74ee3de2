package rollout

import (
	"testing"
	"time"

	"troupe/schema"
)

// large is a rollout to 10,000 robots of which the last wave runs: every robot was offered the content, and is watched.
func large(b *testing.B, phase schema.DeployPhase, active bool) *world {
	w := newWorld(10_000)
	spec := Spec{Waves: []WaveSpec{{Percent: 100}}, OffersPerMin: 100_000, MaxOffersPerMin: 100_000}
	w.begin(w.ask(spec), New{Start: true})
	for range 200 {
		w.now = w.now.Add(time.Second)
		w.beat()
		w.step()
	}
	for _, bot := range w.bots {
		bot.report = Report{Rev: bot.rev, Phase: phase, Active: active}
	}
	w.step()
	if w.saved.Waves[0].Counts[Planned] > 0 {
		b.Fatalf("%v", w.saved.Waves[0].Counts)
	}
	return w
}

// BenchmarkStepOf10000 is a step without news of a rollout that watches 10,000 robots.
func BenchmarkStepOf10000(b *testing.B) {
	w := large(b, schema.DeployActive, true)
	facts := w.facts()
	b.ReportAllocs()
	for b.Loop() {
		Step(w.run, w.now, facts)
	}
}

// BenchmarkNewsOf10000 is a step in which all of 10,000 robots report the content active.
func BenchmarkNewsOf10000(b *testing.B) {
	w := large(b, schema.DeployFetching, false)
	for _, bot := range w.bots {
		bot.report.Phase, bot.report.Active = schema.DeployActive, true
	}
	facts := w.facts()
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		run := NewRun(w.saved, w.run.Robots())
		b.StartTimer()
		Step(run, w.now, facts)
	}
}

// BenchmarkStepOfDone10000 is a step of a rollout that waits for one of 10,000 robots.
func BenchmarkStepOfDone10000(b *testing.B) {
	w := large(b, schema.DeployActive, true)
	w.bots[0].online, w.bots[0].signedOff = false, true
	for range 700 {
		w.now = w.now.Add(time.Second)
		w.beat()
		w.step()
	}
	if n := w.saved.Waves[0].Counts[Confirmed]; n != 9_999 {
		b.Fatal(n)
	}
	facts := w.facts()
	b.ReportAllocs()
	for b.Loop() {
		Step(w.run, w.now, facts)
	}
}

// BenchmarkRestart10000 makes a rollout of 10,000 robots from its rows.
func BenchmarkRestart10000(b *testing.B) {
	w := large(b, schema.DeployActive, true)
	b.ReportAllocs()
	for b.Loop() {
		NewRun(w.saved, w.run.Robots())
	}
}

// BenchmarkPlanOf10000 plans a rollout to 10,000 robots.
func BenchmarkPlanOf10000(b *testing.B) {
	w := newWorld(10_000)
	a := w.ask(Spec{})
	b.ReportAllocs()
	for b.Loop() {
		if _, found := NewPlan(a); found != nil {
			b.Fatal(found)
		}
	}
}
