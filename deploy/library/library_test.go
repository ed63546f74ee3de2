package library

import (
	"bytes"
	"testing"

	"troupe/schema"
	"troupe/schema/score"
)

func TestEveryFileIsNamedAfterWhatItHolds(t *testing.T) {
	acts, err := Acts()
	if err != nil {
		t.Fatal(err)
	}
	stories, err := Stories()
	if err != nil {
		t.Fatal(err)
	}
	if len(acts) < 10 || len(stories) < 3 {
		t.Errorf("%d acts, %d stories", len(acts), len(stories))
	}
	for _, d := range acts {
		if d.Path != "acts/"+d.ID+".yaml" {
			t.Errorf("%s holds the act %q", d.Path, d.ID)
		}
	}
	for _, d := range stories {
		if d.Path != "stories/"+d.ID+".yaml" {
			t.Errorf("%s holds the story %q", d.Path, d.ID)
		}
	}
}

// body is a robot with everything that the content asks for, and no more.
var body = schema.Caps{
	Languages: []string{"en", "de", "fr"},
	Points:    []string{"entrance", "desk", "stage", "fountain", "dock"},
	Units: []schema.Unit{
		{ID: "speaker", Kind: schema.UnitSpeaker, Sounds: []string{"chime", "fanfare", "applause", "drumroll", "birds", "bell"}},
		{ID: "face", Kind: schema.UnitFace, Faces: []string{"neutral", "smile", "laugh", "surprised", "sad", "wink", "sleepy", "thinking"}},
		{ID: "led", Kind: schema.UnitLED},
		{ID: "head", Kind: schema.UnitHead, YawRad: &schema.Range{Min: -1.2, Max: 1.2}, PitchRad: &schema.Range{Min: -0.6, Max: 0.6}, RollRad: &schema.Range{Min: -0.3, Max: 0.3}},
		{ID: "drive", Kind: schema.UnitDrive, MaxSpeedMPS: 0.6},
	},
}

func TestAWholeBodyPerformsWhatShips(t *testing.T) {
	acts, err := Acts()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range acts {
		a, _ := score.ParseAct(d.Text)
		for _, p := range score.Fit(a, body) {
			t.Errorf("%s: %s", d.Path, p)
		}
		if least, most := a.Lasts(); least > 60_000 || most > 180_000 || a.DurationMS() < 4000 {
			t.Errorf("%s takes %d to %d ms, about %d: nobody stays so long, or notices it", d.Path, least, most, a.DurationMS())
		}
	}
}

func TestWhatShipsIsWithoutAProblem(t *testing.T) {
	shelf := map[string]score.Act{}
	acts, err := Acts()
	if err != nil {
		t.Fatal(err)
	}
	used := map[score.ActionType]bool{}
	for _, d := range acts {
		a, _ := score.ParseAct(d.Text)
		shelf[a.ID] = a
		for _, p := range score.ValidateAct(a) {
			t.Errorf("%s: %s %s", d.Path, p.Severity, p)
		}
		note(used, a.Actions)
	}
	for _, row := range score.Table {
		if !used[row.Type] {
			t.Errorf("no act that ships uses %s", row.Type)
		}
	}
	stories, err := Stories()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range stories {
		s, _ := score.ParseStory(d.Text)
		ps := score.ValidateStory(s, func(id string) (score.Act, bool) { a, ok := shelf[id]; return a, ok })
		for _, p := range ps {
			t.Errorf("%s: %s", d.Path, p)
		}
		data, sum, err := score.EncodeBlob(s, shelf, 1)
		if err != nil || len(data) > schema.TopicOf(schema.TopicBlob).MaxBytes {
			t.Fatalf("%s: %d bytes, %v", d.Path, len(data), err)
		}
		b, ps := score.ParseBlob(data)
		if ps = append(ps, score.ValidateBlob(b)...); len(schema.Errors(ps)) > 0 {
			t.Errorf("%s: %q", d.Path, ps)
		}
		if again, sum2, _ := score.EncodeBlob(b.Story, b.Acts, b.Rev); !bytes.Equal(again, data) || sum != sum2 {
			t.Errorf("%s: reading and writing gives other bytes", d.Path)
		}
	}
}

func note(used map[score.ActionType]bool, list []score.Action) {
	for _, x := range list {
		used[x.Type] = true
		note(used, x.Actions)
	}
}
