package sign

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestReplayAndEquivocationAreDetected(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Marks{}
		highest := map[string]Mark{}
		for range rapid.IntRange(1, 40).Draw(t, "desired") {
			w := Subject{
				FleetID:  rapid.SampledFrom([]string{"a", "b"}).Draw(t, "fleet_id"),
				Kind:     rapid.SampledFrom([]Kind{Story, Places}).Draw(t, "kind"),
				Counter:  rapid.Int64Range(1, 5).Draw(t, "counter"),
				Document: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "document"),
			}
			top, seen := highest[markKey(w)]
			clash, _ := m.Check(w)
			want := Fresh
			switch {
			case seen && w.Counter < top.Counter:
				want = Replayed
			case seen && w.Counter == top.Counter && w.Document != top.Document:
				want = Equivocation
			}
			if clash != want {
				t.Fatalf("%+v after %+v: %q, want %q", w, top, clash, want)
			}
			if clash == Fresh {
				m.Note(w)
				highest[markKey(w)] = Mark{w.Counter, w.Document}
			}
		}
	})
}

func TestCounterRisesAfterDatabaseRestore(t *testing.T) {
	now := time.UnixMilli(1_790_000_000_000)
	s := Signer{Key: keyOf(1), Counter: 5}
	first := s.Next(now)
	second := s.Next(now)
	restored := Signer{Key: keyOf(1), Counter: 5}
	if third := restored.Next(now.Add(time.Second)); first >= second || second >= third {
		t.Errorf("counters %d, %d, and %d after the database was restored", first, second, third)
	}
	ahead := Signer{Key: keyOf(1), Counter: first + 1000}
	if n := ahead.Next(now); n != first+1001 {
		t.Errorf("with a clock behind the counter, the next counter is %d", n)
	}
	if n := (&Signer{}).Next(now); n != 0 {
		t.Errorf("without a key the counter is %d", n)
	}
}
