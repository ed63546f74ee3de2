package library

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"testing"

	"troupe/schema"
	"troupe/schema/intents"
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
	if len(acts) < 20 || len(stories) < 6 {
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

// completeBody is a robot with everything that the shipped acts ask for except the
// shipped sounds, and no more.
var completeBody = schema.Caps{
	Languages: []string{"en", "de", "fr"},
	Points:    []string{"entrance", "desk", "stage", "fountain", "dock"},
	Units: []schema.Unit{
		{ID: "speaker", Kind: schema.UnitSpeaker, Sounds: []string{"chime", "fanfare", "applause", "drumroll", "birds", "bell"}},
		{ID: "face", Kind: schema.UnitFace, Faces: []string{"neutral", "smile", "laugh", "surprised", "sad", "wink", "sleepy", "thinking"}},
		{ID: "led", Kind: schema.UnitLED},
		{ID: "head", Kind: schema.UnitHead, YawRad: &schema.Range{Min: -1.2, Max: 1.2}, PitchRad: &schema.Range{Min: -0.6, Max: 0.6},
			RollRad: &schema.Range{Min: -0.3, Max: 0.3}, Motions: []string{"look-around", "nod", "shake"}},
		{ID: "drive", Kind: schema.UnitDrive, PitchRad: &schema.Range{Min: -0.15, Max: 0.15}, RollRad: &schema.Range{Min: -0.15, Max: 0.15},
			HeightM: &schema.Range{Min: 0.9, Max: 1.1}, MaxSpeedMPS: 0.6, MaxTurnRadPS: 1.5},
		{ID: "screen", Kind: schema.UnitScreen, Views: []string{"clock", "home", "map"}, Images: []string{"logo"}},
	},
}

func TestCompleteBodyPerformsTheShippedStories(t *testing.T) {
	acts, err := Acts()
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]score.Act{}
	for _, d := range acts {
		a, _ := score.ParseAct(d.Text)
		byID[a.ID] = a
	}
	for _, d := range acts {
		a, _ := score.ParseAct(d.Text)
		story := score.PublishedStory{Story: score.Story{Acts: []score.Step{{Act: a.ID}}}, Acts: byID, Assets: shippedSounds(t)}
		_, problems := score.FitStory(story, completeBody, nil)
		for _, p := range problems {
			t.Errorf("%s: %s", d.Path, p)
		}
		if least, most := a.Lasts(); least > 60_000 || most > 180_000 || a.DurationMS() < 4000 {
			t.Errorf("%s takes %d to %d ms, about %d: too long for visitors, or too short to notice", d.Path, least, most, a.DurationMS())
		}
	}
}

// shippedSounds returns the sounds as a published story names them.
func shippedSounds(t *testing.T) (all []score.Asset) {
	sounds, err := Sounds()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range sounds {
		sum := sha256.Sum256(d.Text)
		all = append(all, score.Asset{Name: d.ID, Kind: score.AssetSound, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(d.Text))})
	}
	return all
}

func TestShippedLibraryHasNoProblems(t *testing.T) {
	actsByID := map[string]score.Act{}
	acts, err := Acts()
	if err != nil {
		t.Fatal(err)
	}
	used := map[score.ActionType]bool{}
	for _, d := range acts {
		a, _ := score.ParseAct(d.Text)
		actsByID[a.ID] = a
		for _, p := range score.ValidateAct(a) {
			t.Errorf("%s: %s %s", d.Path, p.Severity, p)
		}
		markUsed(used, a.Actions)
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
		ps := score.ValidateStory(s, func(id string) (score.Act, bool) { a, ok := actsByID[id]; return a, ok })
		for _, p := range ps {
			t.Errorf("%s: %s", d.Path, p)
		}
		data, sum, err := score.EncodePublishedStory(s, actsByID, 1)
		if err != nil || len(data) > schema.TopicOf(schema.TopicBlob).MaxBytes {
			t.Fatalf("%s: %d bytes, %v", d.Path, len(data), err)
		}
		b, ps := score.ParsePublishedStory(data)
		if ps = append(ps, score.ValidatePublishedStory(b)...); len(schema.Errors(ps)) > 0 {
			t.Errorf("%s: %q", d.Path, ps)
		}
		if again, sum2, _ := score.EncodePublishedStory(b.Story, b.Acts, b.Rev); !bytes.Equal(again, data) || sum != sum2 {
			t.Errorf("%s: reading and writing gives other bytes", d.Path)
		}
	}
}

// languages are those of every text that ships.
var languages = []string{"en", "de", "fr"}

func TestActsKeepTheLengthThatTheyDeclare(t *testing.T) {
	acts, err := Acts()
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]score.Act{}
	for _, d := range acts {
		byID[d.ID], _ = score.ParseAct(d.Text)
	}
	for _, d := range acts {
		seconds, err := strconv.ParseInt(byID[d.ID].Labels["seconds"], 10, 64)
		for _, lang := range languages {
			timeline, ps := score.ActTimeline(byID[d.ID], score.In(byID), lang)
			if err != nil || len(ps) > 0 || timeline.LengthMS > seconds*1000 || timeline.LengthMS < seconds*800 {
				t.Errorf("%s: about %d ms, label seconds %q; %v", d.Path, timeline.LengthMS, byID[d.ID].Labels["seconds"], ps)
			}
		}
	}
}

func TestEveryTextIsInAllLanguages(t *testing.T) {
	acts, _ := Acts()
	stories, _ := Stories()
	complete := func(path, what string, text score.Text) {
		for _, lang := range languages {
			if text[lang] == "" {
				t.Errorf("%s: %s %v has no %s", path, what, text, lang)
			}
		}
	}
	var check func(path string, list []score.Action)
	check = func(path string, list []score.Action) {
		for _, x := range list {
			if x.Text() != nil {
				complete(path, string(x.Type()), x.Text())
			}
			for _, choice := range x.Choices() {
				complete(path, "the choice "+choice.ID, choice.Text)
			}
			check(path, x.Inner())
		}
	}
	for _, d := range acts {
		a, _ := score.ParseAct(d.Text)
		complete(d.Path, "its name", a.Name)
		check(d.Path, a.Actions)
	}
	for _, d := range stories {
		s, _ := score.ParseStory(d.Text)
		complete(d.Path, "its name", s.Name)
		if !slices.Equal(s.Languages, languages) {
			t.Errorf("%s: languages %v", d.Path, s.Languages)
		}
	}
	activities, _ := Activities()
	for _, d := range activities {
		a, _ := score.ParseActivity(d.Text)
		complete(d.Path, "its name", a.Name)
		if !slices.Equal(a.Languages, languages) {
			t.Errorf("%s: languages %v", d.Path, a.Languages)
		}
	}
}

func markUsed(used map[score.ActionType]bool, list []score.Action) {
	for _, x := range list {
		used[x.Type()] = true
		markUsed(used, x.Inner())
	}
}

func TestShippedActivitiesHaveNoProblems(t *testing.T) {
	acts, _ := Acts()
	byID := map[string]score.Act{}
	for _, d := range acts {
		byID[d.ID], _ = score.ParseAct(d.Text)
	}
	documents, err := Activities()
	if err != nil {
		t.Fatal(err)
	}
	natures := map[score.Nature]int{}
	ids := map[string]bool{}
	for _, d := range documents {
		a, _ := score.ParseActivity(d.Text)
		for _, p := range score.ValidateActivity(a, func(id string) (score.Act, bool) { x, ok := byID[id]; return x, ok }) {
			t.Errorf("%s: %s %s", d.Path, p.Severity, p)
		}
		if d.Path != "activities/"+a.ID+".yaml" || a.Launch.When == "" || a.Launch.Cooldown == "" || a.Labels["site"] == "" {
			t.Errorf("%s: %+v", d.Path, a)
		}
		for _, lang := range []string{"en", "de", "fr"} {
			if a.Name[lang] == "" {
				t.Errorf("%s has no name in %s", d.Path, lang)
			}
		}
		natures[a.Nature]++
		ids[a.ID] = true
	}
	if natures[score.NatureSolitary] != 3 || natures[score.NatureInteractive] != 3 {
		t.Errorf("the library has %v activities", natures)
	}
	rows, problems := intents.Parse(Intents(slices.Collect(maps.Keys(ids))))
	if len(problems) > 0 || len(rows) != 3 {
		t.Errorf("%+v, %v", rows, problems) // fewer if an intent asks for what does not ship
	}
	if rows, problems := intents.Parse(Intents([]string{"greet-visitor"})); len(problems) > 0 || len(rows) != 2 ||
		rows[0].Activity != "greet-visitor" {
		t.Errorf("robots without invite-to-tour: %+v, %v", rows, problems)
	}
}
