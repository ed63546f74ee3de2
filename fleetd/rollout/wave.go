package rollout

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// advance judges the waves up to the running one, and begins the next ones.
func (s *step) advance() {
	o := &s.Rollout
	for i := range o.Waves[:o.Wave+1] {
		if s.judgeWave(i); o.State != Running {
			return
		}
	}
	for {
		if slices.ContainsFunc(o.Waves[:o.Wave], func(w Wave) bool { return !w.over() }) {
			return // failed robots of an earlier wave are tried again
		}
		w := &o.Waves[o.Wave]
		if w.over() {
			if o.Wave == len(o.Waves)-1 {
				return
			}
			o.Wave++
			s.row = true
			w = &o.Waves[o.Wave]
		}
		if w.State != WavePlanned {
			return
		}
		on := OnWaveTurn
		if w.Total == 0 {
			on = OnWaveEmpty
		}
		if !s.moveWave(w, on, "", s.now) {
			return
		}
		if s.judgeWave(o.Wave); o.State != Running {
			return
		}
	}
}

// over reports whether the next wave may begin.
func (w Wave) over() bool { return w.State == WavePassed || w.State == WaveSkipped }

// score is what the gate of a wave is compared with. Robots that ended without getting the content do not count, and
// neither do robots that are not reachable, nor failures that a person accepted.
type score struct {
	confirmed, active, failed int
	pending                   int // robots that are reachable and not decided
	away                      int // robots that are not reachable, and for which the rollout waits
}

func (s *step) score(i int) score {
	w := &s.Rollout.Waves[i]
	c := score{confirmed: w.Counts[Confirmed], active: w.Counts[Active], failed: max(0, w.failures()-w.Gate.AcceptedFailures)}
	c.pending = w.Counts[Planned] + s.pending[i]
	c.away = w.open() - c.pending
	return c
}

// decided are the robots that failures are a part of. A robot that has the content active counts, because robots that
// refuse it say so within seconds, and the others are confirmed after the soak only.
func (c score) decided() int { return c.confirmed + c.active + c.failed }

// reachable are the robots of which a part has to have the content.
func (c score) reachable() int { return c.confirmed + c.failed + c.pending }

func percentOf(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// judgeWave changes a wave that has begun: too many failures first, which count after it passed, too, because robots
// return late.
func (s *step) judgeWave(i int) {
	w := &s.Rollout.Waves[i]
	begun := w.State == WaveRunning || w.State == WaveSoaking
	if !begun && w.State != WavePassed || s.blind {
		return
	}
	c, gate := s.score(i), w.Gate
	if failing := percentOf(c.failed, c.decided()); c.failed > 0 && failing > gate.MaxFailurePercent {
		switch {
		case c.decided() >= gate.MinDecided:
			s.stop(w, OnWaveFailed, fmt.Sprintf("%d of its %d decided robots failed, and at most %s may: %s",
				c.failed, c.decided(), percentText(gate.MaxFailurePercent), s.reasons(i)))
			return
		case c.pending+c.away == 0:
			s.stop(w, OnWaveUnclear, fmt.Sprintf("%d of its %d decided robots failed, and only %d decided robots would say that it failed: %s",
				c.failed, c.decided(), gate.MinDecided, s.reasons(i)))
			return
		}
	}
	switch {
	case !begun:
	case s.Rollout.Spec.AllAtOnce:
		if w.open() == 0 {
			s.moveWave(w, OnWavePassed, "every robot is decided", s.now)
		}
	case c.reachable()+c.away == 0:
		s.judgeUntouched(i)
	default:
		s.judgeGate(w, c)
	}
}

// judgeUntouched ends a wave of which no robot got the content.
func (s *step) judgeUntouched(i int) {
	w := &s.Rollout.Waves[i]
	if last := i == len(s.Rollout.Waves)-1; last || w.Gate.Waived || w.Counts[Unchanged] > 0 || w.failures() > 0 {
		s.pass(w)
		return
	}
	s.stop(w, OnWaveUnclear,
		"none of its robots got the content: "+countsText(w.Counts)+"; so nothing is known about the robots of the next wave")
}

// judgeGate lets a wave soak when enough of its reachable robots have the content, and pass when they are confirmed and
// not worse off than the others.
func (s *step) judgeGate(w *Wave, c score) {
	gate := w.Gate
	enough := func(n int) bool {
		return percentOf(n, c.reachable()) >= gate.SuccessPercent && (n > 0 || gate.SuccessPercent == 0)
	}
	if w.State == WaveRunning && (enough(c.active+c.confirmed) || gate.Waived && c.pending == 0) {
		s.moveWave(w, OnWaveActive, "", s.now)
	}
	switch {
	case w.State == WaveSoaking && !s.over(w.SoakFrom, gate.soak()):
	case w.State == WaveSoaking && enough(c.confirmed), gate.Waived && c.pending == 0:
		if *s.Rollout.Spec.WatchHealth && !gate.Waived {
			if _, _, why := s.Health(s.facts); why != "" {
				s.stop(w, OnWaveFailed, "its robots are worse off than the others: "+why)
				return
			}
		}
		s.pass(w)
	case c.pending == 0 && c.failed > 0:
		s.stop(w, OnWaveFailed, fmt.Sprintf("%s of its reachable robots are confirmed, and the gate asks for %s: %s",
			percentText(percentOf(c.confirmed, c.reachable())), percentText(gate.SuccessPercent), s.reasons(w.Number)))
	}
}

func (s *step) pass(w *Wave) {
	if s.moveWave(w, OnWavePassed, "", s.now) {
		s.note(OnWavePassed, fmt.Sprintf("wave %q passed: %s", w.Name, countsText(w.Counts)), "")
	}
}

// stop ends a wave and pauses the rollout.
func (s *step) stop(w *Wave, on Event, why string) {
	if !s.moveWave(w, on, why, s.now) {
		return
	}
	verb := "failed"
	if on == OnWaveUnclear {
		verb = "cannot be decided"
	}
	if s.move(OnThreshold, fmt.Sprintf("wave %q %s: %s", w.Name, verb, why), s.now) {
		s.note(OnThreshold, s.Rollout.Why, "")
	}
}

func percentText(p float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", p), ".0") + " %" }

// reasons lists why robots of a wave failed, the most frequent reason first.
func (s *step) reasons(wave int) string {
	groups := map[string]int{}
	for i := s.first[wave]; i < s.first[wave+1]; i++ {
		if b := &s.robots[i]; b.State.HasFailed() {
			groups[cmp.Or(b.Group, string(b.State))]++
		}
	}
	names := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(groups[b], groups[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, groups[name])
	}
	return strings.Join(names, ", ")
}

// countsText lists numbers of robots by state, in the order of RobotStates.
func countsText(counts map[RobotState]int) string {
	var parts []string
	for _, state := range RobotStates {
		if n := counts[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(parts, ", ")
}
