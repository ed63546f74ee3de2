package view

import (
	"testing"
	"time"

	"troupe/fleetd/rollout"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Events count for the minute in which they arrived and the four after it.
func TestHealthCountsEventsOfFiveMinutes(t *testing.T) {
	var r recentEvents
	noon := time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)
	for minute, events := range [][]string{{"act_ended", "act_ended", "booted"}, {"act_failed"}, {"interrupt_started"}, {"act_ended"}} {
		for _, e := range events {
			r.add(e, noon.Add(time.Duration(minute)*time.Minute))
		}
	}
	for _, test := range []struct{ minute, acts, errors, interrupts int }{{3, 3, 1, 1}, {4, 3, 1, 1}, {5, 1, 1, 1}, {6, 1, 0, 1},
		{8, 0, 0, 0}} {
		acts, errors, interrupts := r.sum(noon.Add(time.Duration(test.minute) * time.Minute))
		if acts != test.acts || errors != test.errors || interrupts != test.interrupts {
			t.Errorf("at minute %d: %d acts, %d errors, %d interrupts; want %+v", test.minute, acts, errors, interrupts, test)
		}
	}
}

func TestReportsForRollouts(t *testing.T) {
	for _, test := range []struct {
		what, body string
		doing      selector.Doing
		want       rollout.Report
	}{
		{"an active story", `{"session":"s","fleet_id":"f","desired_rev":3,"phase":"active","self_check":"passed"}`, selector.Performing, rollout.Report{Rev: 3, Phase: schema.DeployActive, Active: true}},
		{"a story whose acts fail", `{"session":"s","fleet_id":"f","desired_rev":3,"phase":"active"}`, selector.Failing, rollout.Report{Rev: 3, Phase: schema.DeployActive, Detail: "it has the story, and cannot perform it"}},
		{"a rejected story", `{"session":"s","fleet_id":"f","desired_rev":3,"phase":"rejected","reason":"no_space","retry":"later","detail":"full","rejected":{"id":"x","rev":1,"sha256":"y"}}`,
			selector.Performing, rollout.Report{Rev: 3, Phase: schema.DeployRejected, Reason: schema.ReasonNoSpace, Retry: schema.RetryLater,
				Detail: "full"}},
		{"another fleet's", `{"session":"s","fleet_id":"g","desired_rev":3,"phase":"active"}`, selector.Performing, rollout.Report{}},
	} {
		e := &entry{}
		e.summary.Doing = test.doing
		e.noteReportedRevs("f", schema.TopicReportedStory, []byte(test.body))
		if got := e.reportFor(schema.TopicDesiredStory, "f"); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.what, got, test.want)
		}
	}
	e := &entry{}
	e.noteReportedRevs("f", schema.TopicReportedConfig, []byte(`{"session":"s","fleet_id":"f","desired_rev":2,"phase":"active","rejected":[{"key":"volume","reason":"bad_value"}]}`))
	if got := e.reportFor(schema.TopicDesiredConfig, "f"); !got.Partial || got.Detail != "volume: bad_value" {
		t.Errorf("refused settings: %+v", got)
	}
}
