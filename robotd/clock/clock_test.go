package clock

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestWallTimeOfAnEventIsTheSameAtEveryStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		boot := time.Unix(1_800_000_000, rapid.Int64Range(0, 999_999_999).Draw(t, "boot"))
		event := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "event"))
		later := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "later"))
		first := Read(boot, boot.Add(event))
		if at := Read(boot, boot.Add(event+later)).At(event); at != first.Wall || first.At(event) != first.Wall {
			t.Fatalf("an event at %v is at %v in its step and at %v %v later", first.Wall, first.At(event), at, later)
		}
	})
}
