package library

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"troupe/schema"
	"troupe/schema/golden"
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

// The shipped sound is generated here, so that nobody else has rights to it: water at
// 8 kHz, made of noise from a shift register and falling drops.
func TestShippedSoundIsGenerated(t *testing.T) {
	const rate, samples = 8000, 12000
	var b bytes.Buffer
	write := func(values ...any) {
		for _, v := range values {
			if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	write([]byte("RIFF"), uint32(36+samples), []byte("WAVEfmt "), uint32(16), uint16(1), uint16(1), uint32(rate), uint32(rate), uint16(1), uint16(8), []byte("data"), uint32(samples))
	register, noise := uint32(1), 0
	for n := range samples {
		register ^= register << 13
		register ^= register >> 17
		register ^= register << 5
		noise += (int(register%64) - 32 - noise) / 3 // a low-pass filter against hissing
		drop, since := 0, n%2600                     // a triangle that rises and fades
		if period := 18 - since/60; since < 600 && period > 6 {
			drop = (since%period*2 - period) * (600 - since) / 600 * 3
		}
		write(uint8(min(max(128+noise+drop, 0), 255)))
	}
	golden.Compare(t, "sounds/fountain.wav", b.String())
	all, err := Sounds()
	if err != nil || len(all) != 1 || all[0].ID != "fountain" || !bytes.Equal(all[0].Text, b.Bytes()) {
		t.Errorf("%d sounds ship, %v", len(all), err)
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
		{ID: "head", Kind: schema.UnitHead, YawRad: &schema.Range{Min: -1.2, Max: 1.2}, PitchRad: &schema.Range{Min: -0.6, Max: 0.6}, RollRad: &schema.Range{Min: -0.3, Max: 0.3}, Motions: []string{"shake"}},
		{ID: "drive", Kind: schema.UnitDrive, PitchRad: &schema.Range{Min: -0.15, Max: 0.15}, MaxSpeedMPS: 0.6, MaxTurnRadPS: 1.5},
		{ID: "screen", Kind: schema.UnitScreen},
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
		story := score.Blob{Story: score.Story{Acts: []score.Step{{Act: a.ID}}}, Acts: byID, Assets: shippedSounds(t)}
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
		data, sum, err := score.EncodeBlob(s, actsByID, 1)
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

func markUsed(used map[score.ActionType]bool, list []score.Action) {
	for _, x := range list {
		used[x.Type] = true
		markUsed(used, x.Actions)
	}
}
