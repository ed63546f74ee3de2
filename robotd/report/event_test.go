package report

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"troupe/robotd/clock"
	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/schema"
)

// history is a robot's events, and what was offered to them.
type history struct {
	Step
	offered, saved map[string]int64
	named          map[string]int64 // dropped, by the events events_dropped
	total          int64            // saved in all, but for events_dropped and those of safety
}

func newHistory() *history {
	cfg := config.Defaults("r1")
	s := New(&cfg, "b", clock.Now{})
	return &history{Step: Step{State: &s, Out: &effect.List{}}, offered: map[string]int64{}, saved: map[string]int64{},
		named: map[string]int64{}}
}

// add offers an event and reports whether it was saved.
func (h *history) add(t failer, kind string) bool {
	h.offered[kind]++
	before := h.saved[kind]
	h.Out = &effect.List{}
	h.Event(kind, "test", "", "", nil)
	for i := range h.Out.Len() {
		save, is := h.Out.At(i).(effect.SaveEvent)
		if !is {
			continue
		}
		ev, problems := schema.Decode[schema.Event](save.Payload)
		if len(problems) > 0 || len(save.Payload) > schema.TopicOf(schema.TopicEvent).MaxBytes {
			t.Fatalf("%d bytes, %v: %s", len(save.Payload), problems, save.Payload)
		}
		if ev.Type == "events_dropped" {
			var d dropped
			if err := json.Unmarshal(ev.Data, &d); err != nil || ev.Truncated {
				t.Fatalf("%v: %s", err, save.Payload)
			}
			for kind, n := range d.Types {
				h.named[kind] += n
				d.Count -= n
			}
			if d.Count != 0 {
				t.Fatalf("count is not the sum of its types: %s", save.Payload)
			}
			continue
		}
		h.saved[ev.Type]++
		if ev.Level != schema.EventSafety {
			h.total++
		}
	}
	return h.saved[kind] > before
}

type failer interface{ Fatalf(string, ...any) }

// bucket allows max at once and rate a second.
type bucket struct {
	left, max, rate float64
	at              time.Duration
}

func (b *bucket) take(now time.Duration) bool {
	b.left, b.at = min(b.max, b.left+b.rate*(now-b.at).Seconds()), now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// What is saved of the events of level warn and error depends on these alone, nothing of safety is
// dropped, and each event is either saved or counted by its type.
func TestInfoDisplacesNoWarning(t *testing.T) {
	kinds := []string{
		"act_ended", "act_started", "sim_input", "sim_input", "sim_input", "auto_changed", "interrupt_started", "intent", "alert_cleared",
		"alert_raised", "diagnosis_changed", "act_failed", "safety_changed",
	}
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory()
		rate := rapid.SampledFrom([]float64{1, 7, 20}).Draw(t, "rate")
		h.cfg.EventRate = rate
		warnings := bucket{left: config.EventBurst, max: config.EventBurst, rate: rate}
		for range rapid.IntRange(1, 40).Draw(t, "bursts") {
			h.Now.Mono += time.Duration(rapid.SampledFrom([]int{0, 1, 30, 250, 1000, 5000}).Draw(t, "ms")) * time.Millisecond
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			for range rapid.SampledFrom([]int{1, 1, 2, 10, 60}).Draw(t, "times") {
				saved := h.add(t, kind)
				switch level := schema.EventOf(kind).Level; {
				case level == schema.EventSafety && !saved:
					t.Fatalf("%s was dropped", kind)
				case level == schema.EventWarn || level == schema.EventError:
					if want := warnings.take(h.Now.Mono); saved != want {
						t.Fatalf("at %v a %s was saved: %v, want %v", h.Now.Mono, kind, saved, want)
					}
				}
			}
		}
		if most := 2*config.EventBurst + rate*h.Now.Mono.Seconds(); float64(h.total) > most {
			t.Fatalf("%d events in %v, want at most %v", h.total, h.Now.Mono, most)
		}
		h.Now.Mono += 41 * time.Second // of a rate of 1
		h.add(t, "alert_raised")
		missing := map[string]int64{}
		for kind, n := range h.offered {
			if n -= h.saved[kind]; n > 0 {
				missing[kind] = n
			}
		}
		if !maps.Equal(missing, h.named) {
			t.Fatalf("dropped %v, but the events name %v", missing, h.named)
		}
	})
}

// The simulated body gets 30 inputs a second, such as the presses of a button; then its battery gets
// low, and the robot interrupts its story to charge.
func TestSimInputsDisplaceNoTransition(t *testing.T) {
	h := newHistory()
	for range 10 {
		for range 30 {
			h.Now.Mono += time.Second / 30
			h.add(t, "sim_input")
		}
		for _, kind := range []string{"alert_raised", "interrupt_started", "auto_changed", "act_skipped", "interrupt_finished", "auto_changed",
			"alert_cleared"} {
			if !h.add(t, kind) {
				t.Errorf("%s was dropped", kind)
			}
		}
	}
	if n := h.saved["sim_input"]; n < 50 || n > 60 {
		t.Errorf("of 300 inputs in 10 s %d were saved, want 5 a second and 10 at once", n)
	}
}

// Each type there is was dropped, a great many times. The event names those that it has
// room for, the most frequent first, and the next event the others.
func TestDroppedEventsOfManyTypesAreNamedInTurn(t *testing.T) {
	h, want := newHistory(), map[string]int64{}
	h.events.missing = map[string]int64{}
	for i, row := range schema.Events {
		want[row.Type] = 1<<47 - int64(i)
		h.events.missing[row.Type] = want[row.Type]
	}
	for range (len(schema.Events) + maxDroppedTypes - 1) / maxDroppedTypes {
		h.Now.Mono += droppedEvery
		before := len(h.named)
		h.add(t, "alert_raised")
		if n := len(h.named) - before; n > maxDroppedTypes || n == 0 {
			t.Errorf("an event names %d types", n)
		}
		if before == 0 && h.named[schema.Events[0].Type] == 0 {
			t.Errorf("the most frequent one is not in the first event: %v", h.named)
		}
	}
	if !maps.Equal(h.named, want) {
		t.Errorf("named %v", h.named)
	}
}

// Routine events have a share of those of level info only.
func TestRoutineEventsAreOfLevelInfo(t *testing.T) {
	var wrong []string
	for _, row := range schema.Events {
		if row.Routine && row.Level != schema.EventInfo {
			wrong = append(wrong, fmt.Sprint(row.Type, " ", row.Level))
		}
	}
	if len(wrong) > 0 {
		t.Error(strings.Join(wrong, ", "))
	}
}
