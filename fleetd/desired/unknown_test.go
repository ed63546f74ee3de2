package desired

import (
	"strings"
	"testing"

	"troupe/schema"
)

// As after the restore of a copy from before the robot got something, or on a robot of an earlier fleet.
func TestWhatRobotsHaveAndTheDatabaseDoesNotIsExplained(t *testing.T) {
	for _, c := range []struct {
		topic        schema.TopicKind
		rev          int64
		report       string
		detail, hint string
	}{
		{schema.TopicDesiredConfig, 0, `{"fleet_id":"a","desired_rev":5,"phase":"active","applied":{"boot_mode":"ato","labels":{"site":"x"}}}`,
			"the settings boot_mode, labels", `fleetd desired config 'boot_mode="ato"' 'labels={"site":"x"}' r1 takes it over; fleetd desired config --unset boot_mode --unset labels r1 removes it`},
		{schema.TopicDesiredMode, 0, `{"fleet_id":"a","desired_rev":5,"phase":"active","mode":"ato"}`, "the mode ato", "fleetd desired mode ato r1 takes it over"},
		{schema.TopicDesiredPlaces, 0, `{"fleet_id":"a","desired_rev":5,"phase":"active","active":{"id":"hall","rev":1}}`, "the places hall", "fleetd desired places --none r1 removes it"},
		{schema.TopicDesiredActivities, 0, `{"fleet_id":"a","desired_rev":5,"phase":"active","active":{"id":"activities","rev":1}}`, "activities", "fleetd activity withdraw r1"},
		{schema.TopicDesiredStory, 0, `{"fleet_id":"a","desired_rev":0,"phase":"idle","active":{"id":"tour","rev":3}}`, "the story tour revision 3", "fleetd story assign tour r1 takes it over; fleetd story withdraw r1 removes it"},
		// What a robot reports is no command.
		{schema.TopicDesiredStory, 0, `{"fleet_id":"a","desired_rev":0,"phase":"idle","active":{"id":"x; reboot #","rev":3}}`, "the story", "fleetd story assign 'x; reboot #' r1 takes it over"},
		{topic: schema.TopicDesiredConfig, rev: 2, report: `{"fleet_id":"a","desired_rev":5,"phase":"active","applied":{"boot_mode":"ato"}}`}, // published again by fleetd
		{topic: schema.TopicDesiredConfig, report: `{"fleet_id":"a","desired_rev":5,"phase":"active","applied":{}}`},
		{topic: schema.TopicDesiredPlaces, report: `{"fleet_id":"b","desired_rev":5,"phase":"active","active":{"id":"hall","rev":1}}`}, // of another fleet, which it obeys
		{topic: schema.TopicDesiredStory, report: ``},
	} {
		detail, hint := Unknown("a", "r1", c.topic, c.rev, []byte(c.report))
		if (detail == "") != (c.detail == "") || !strings.Contains(detail, c.detail) || !strings.Contains(hint, c.hint) {
			t.Errorf("%s of %s:\n%s\n%s", c.topic, c.report, detail, hint)
		}
	}
}
