package event

import (
	"slices"
	"testing"

	"troupe/schema"
)

func TestStopDocumentsSayWhoReleased(t *testing.T) {
	want := []schema.StopRelease{{ID: "k1", By: "ben"}}
	for kind, payload := range map[schema.TopicKind]string{
		schema.TopicDesiredStop: `{"rev":7,"fleet_id":"f","stops":[],"ts":"2026-05-17T08:30:00.000Z","released":[{"id":"k1","by":"ben"}]}`,
		schema.TopicFleetStop:   `{"rev":7,"fleet_id":"f","active":false,"ts":"2026-05-17T08:30:00.000Z","released":[{"id":"k1","by":"ben"}]}`,
	} {
		if ev := ReadStops(kind, []byte(payload)); ev.Problem != "" || !slices.Equal(ev.Released, want) {
			t.Errorf("%s is read as %+v", kind, ev)
		}
	}
}
