package latch

import (
	"slices"

	"github.com/go-json-experiment/json"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
)

// Memory is what the disk has of the stops.
type Memory struct {
	Latches        []byte        // of effect.SaveLatches; empty before the first
	LatchesLost    bool          // the newest write may be missing
	LatchesUnsaved bool          // Latches are not on the disk: it refused a stop that was latched before the start
	Lost           bool          // the robot ran before, but its disk is empty
	Refused        schema.Reason // the disk refuses to write
}

// Restore latches again what was latched, and returns the HALT or E_STOP that waits for a reset, or false
// if there was none. A robot that cannot know this is latched until a person releases it.
func (t Step) Restore(m Memory) (safety.PendingReset, bool) {
	var pendingReset, latches string
	if len(m.Latches) > 0 {
		var v struct {
			Safety  jsonText `json:"safety"`
			Latches jsonText `json:"latches"`
		}
		if err := json.Unmarshal(m.Latches, &v); err != nil || v.Latches == "" {
			v.Latches = "?" // no JSON, so restoreLatches latches DiskLatch
		}
		pendingReset, latches = string(v.Safety), string(v.Latches)
	}
	t.restorePendingReset(pendingReset)
	t.restoreLatches(t.Now, latches)
	if m.LatchesLost {
		t.latchBecauseOf(DiskLatch, "the robot's disk lost the latched stops, or the newest of them")
	}
	if m.Refused != "" {
		t.Out.Do(effect.DiskRefused{Refused: m.Refused})
		t.latchBecauseOf(RefusingLatch, "the robot started while its disk refused to write: "+string(m.Refused))
	}
	t.persist.dirty = t.persist.dirty || m.LatchesUnsaved
	t.persist.lost = m.Lost
	t.restoreLost(m.Lost)
	return t.pendingReset, pendingReset != ""
}

// jsonText is a part of a document, not decoded.
type jsonText string

func (j *jsonText) UnmarshalJSON(b []byte) error { *j = jsonText(b); return nil }

// restorePendingReset restores the HALT or E_STOP that waits for a reset.
func (s *State) restorePendingReset(saved string) {
	if saved == "" {
		return
	}
	s.pendingReset = safety.PendingReset{}
	if err := json.Unmarshal([]byte(saved), &s.pendingReset); err != nil { // it was in HALT or E_STOP, but in which and why is unknown
		s.pendingReset = safety.PendingReset{State: schema.SafetyEStop, Cause: safety.Cause{Reason: schema.ReasonInternal, Source: "disk"},
			Physical: true}
	}
}

// restoreLatches restores the latched stops. If they cannot be read, the robot is latched
// without knowing by whom.
func (s *State) restoreLatches(now clock.Now, saved string) {
	if saved == "" {
		return
	}
	if err := json.Unmarshal([]byte(saved), &s.latches); err != nil || s.latches.Latches == nil {
		s.latches = Latched{Latches: []Latch{{Phase: Unrecorded, StopLatch: schema.StopLatch{
			ID: DiskLatch, Level: schema.StopStop, By: "disk", Why: "the latched stops could not be read", Since: now.Wall}}}}
	}
	for i := range s.latches.Latches {
		l := &s.latches.Latches[i]
		l.By, l.Why = schema.SanitizeText(l.By), schema.SanitizeText(l.Why) // an earlier release did not sanitize them
	}
	s.setFacts()
}

// restoreLost latches a robot whose memory is lost: it may have been stopped, and only a
// person can know.
func (t Step) restoreLost(lost bool) {
	if lost {
		t.latchBecauseOf(LostLatch, "the robot ran before, but its disk has no memory of it: the latched stops are lost")
	}
	if slices.ContainsFunc(t.latches.Latches, func(l Latch) bool { return l.ID == LostLatch }) {
		t.Out.Raise(memoryLost, schema.AlertCritical, "disk",
			"the robot's memory was lost: its story, its journal of commands and the stops that were latched",
			"find out who stopped it and why, then release "+LostLatch+"; fleetd sends it its story again")
	}
}

// latchBecauseOf latches the robot because of its own disk. Each start on a failing disk is
// a new stop, which a release from before this start does not release.
func (t Step) latchBecauseOf(id, why string) {
	t.latch(Asked{StopLatch: schema.StopLatch{ID: id, Level: schema.StopStop, By: "disk", Why: why, Since: t.Now.Wall}, Anew: true}, 0)
}
