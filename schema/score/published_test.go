package score

import (
	"slices"
	"strings"
	"testing"

	"troupe/schema"
)

// sameProblems compares problems with lines of "pointer code".
func sameProblems(t *testing.T, what string, got []schema.Problem, want ...string) {
	t.Helper()
	var found []string
	for _, p := range got {
		found = append(found, p.Pointer+" "+p.Code)
	}
	if !slices.Equal(found, want) {
		t.Errorf("%s: found %q, want %q", what, found, want)
	}
}

var (
	digestA = strings.Repeat("a", 64)
	gong    = Asset{Name: "gong", Kind: AssetSound, SHA256: digestA, Size: 9}
	ring    = Act{ID: "ring", Actions: []Action{{TimeoutMS: ms(900), Do: Sound{Sound: "gong"}}}}
)

func TestAssetsOfStoryAreValidated(t *testing.T) {
	validate := func(files ...Asset) []schema.Problem {
		story := Story{ID: "s", Name: Text{"en": "S"}, Repeat: Repeat{Loop: true}, Acts: []Step{{Act: "ring"}}}
		data, _, err := EncodePublishedStory(story, map[string]Act{"ring": ring}, 1, files...)
		if err != nil {
			t.Fatal(err)
		}
		b, ps := ParsePublishedStory(data)
		return append(ps, ValidatePublishedStory(b)...)
	}
	with := func(change func(*Asset)) Asset { a := gong; change(&a); return a }
	sameProblems(t, "one that an act names", validate(gong))
	sameProblems(t, "one that no act names", validate(with(func(a *Asset) { a.Kind = AssetFace })), "/assets/0 unreached")
	sameProblems(t, "a map", validate(with(func(a *Asset) { a.Kind = AssetMap })), "/assets/0/kind bad_value", "/assets/0 unreached")
	sameProblems(t, "no digest", validate(with(func(a *Asset) { a.SHA256 = "a" })), "/assets/0/sha256 bad_value")
	sameProblems(t, "empty", validate(with(func(a *Asset) { a.Size = 0 })), "/assets/0/size out_of_range")
	sameProblems(t, "larger than a blob", validate(with(func(a *Asset) { a.Size = 256<<10 + 1 })))
	sameProblems(t, "as large as a file may be", validate(with(func(a *Asset) { a.Size = 16 << 20 })))
	sameProblems(t, "larger than that", validate(with(func(a *Asset) { a.Size = 16<<20 + 1 })), "/assets/0/size out_of_range")
	sameProblems(t, "twice", validate(gong, gong), "/assets/1/name duplicate_id")
	var many []Asset
	for i := range 17 {
		many = append(many, with(func(a *Asset) { a.Name, a.Size = "gong"+strings.Repeat("g", i), 256<<10 }))
	}
	if ps := schema.Errors(validate(many...)); len(ps) != 1 || ps[0].Code != CodeTooBig {
		t.Errorf("17 files of 256 KiB: %q", ps)
	}
	for i := range many {
		many[i].Size = 4 << 20
	}
	if ps := schema.Errors(validate(many...)); len(ps) != 1 || ps[0].Code != CodeTooBig {
		t.Errorf("17 files of 4 MiB: %q", ps)
	}
	sameProblems(t, "16 files of 4 MiB", schema.Errors(validate(many[:16]...)))
}

func TestFilesOfStoryExtendCatalogue(t *testing.T) {
	caps := schema.Caps{Units: []schema.Unit{{ID: "speaker", Kind: schema.UnitSpeaker, Sounds: []string{"bell"}}}}
	b := PublishedStory{Schema: 1, Rev: 1, Story: Story{ID: "s", Acts: []Step{{Act: "ring"}}}, Acts: map[string]Act{"ring": ring}}
	_, ps := FitStory(b, caps, nil)
	sameProblems(t, "without its file", ps, "/acts/ring/actions/0/sound not_in_catalogue")
	b.Assets = []Asset{gong}
	_, ps = FitStory(b, caps, nil)
	sameProblems(t, "with its file", ps)
	if len(caps.Units[0].Sounds) != 1 {
		t.Errorf("the body's own catalogue was changed: %q", caps.Units[0].Sounds)
	}
	caps.Units[0].Sounds = nil
	b.Acts = map[string]Act{"ring": {ID: "ring", Actions: []Action{{TimeoutMS: ms(900), Do: Sound{Sound: "other"}}}}}
	_, ps = FitStory(b, caps, nil)
	sameProblems(t, "a unit that takes any name", ps)
}

func TestPlacesAreValidated(t *testing.T) {
	for name, row := range map[string]struct {
		text string
		want []string
	}{
		"points with and without a heading": {`{"schema":1,"points":{"dock":{"x_m":0,"y_m":0,"theta_rad":1.5},"door":{"x_m":-3.5,"y_m":2}}}`, nil},
		"a map":                             {`{"schema":1,"map":{"name":"hall","kind":"map","sha256":"` + digestA + `","size":5},"points":{}}`, nil},
		"a sound for a map":                 {`{"schema":1,"map":{"name":"hall","kind":"sound","sha256":"` + digestA + `","size":5},"points":{}}`, []string{"/map/kind bad_value"}},
		"no list of points":                 {`{"schema":1}`, []string{"/points missing"}},
		"a later version":                   {`{"schema":2,"points":{}}`, []string{"/schema unsupported_version"}},
		"a field of a later version":        {`{"schema":2,"points":{},"zones":{}}`, []string{"/schema unsupported_version"}},
		"a name that is no id":              {`{"schema":1,"points":{"The Door":{"x_m":0,"y_m":0}}}`, []string{"/points/The Door bad_id"}},
		"beyond every map":                  {`{"schema":1,"points":{"door":{"x_m":10001,"y_m":-10001,"theta_rad":4}}}`, []string{"/points/door/x_m out_of_range", "/points/door/y_m out_of_range", "/points/door/theta_rad out_of_range"}},
		"the description of a map of ROS":   {`{"image":"map.pgm","resolution":0.05,"origin":[-42.2,-51.8,"-nan"],"negate":0}`, []string{" wrong_field"}},
		"a field that nobody knows":         {`{"schema":1,"points":{"door":{"x_m":0,"y_m":0,"z_m":1}}}`, []string{"/points/door/z_m unknown_field"}},
	} {
		p, ps := ParsePlaces([]byte(row.text))
		if len(ps) == 0 {
			ps = ValidatePlaces(p)
		}
		sameProblems(t, name, ps, row.want...)
	}
}

func TestActivitiesAreValidated(t *testing.T) {
	good := func() Activity {
		return Activity{ID: "wave", Name: Text{"en": "Wave"}, Repeat: Repeat{Times: 1}, Acts: []Step{{Act: "ring"}}, Nature: NatureSolitary,
			Launch: Launch{When: "battery > 0.5", For: "3s", Cooldown: "1m"}, Permissions: map[string]bool{"while_charging": true, "nature": false}}
	}
	validate := func(list ...Activity) []schema.Problem {
		data, _, err := EncodeActivities(list, map[string]Act{"ring": ring, "spare": ring}, gong)
		if err != nil {
			t.Fatal(err)
		}
		b, ps := ParseActivities(data)
		return append(ps, ValidateActivities(b)...)
	}
	sameProblems(t, "good", validate(good()))
	for name, row := range map[string]struct {
		change func(*Activity)
		want   string
	}{
		"without an id":           {func(a *Activity) { a.ID = "" }, "/activities/0/activity missing"},
		"an act that is nowhere":  {func(a *Activity) { a.Acts = []Step{{Act: "ring"}, {Act: "gone"}} }, "/activities/0/acts/1/act unknown_act"},
		"a nature of its own":     {func(a *Activity) { a.Nature = "shy" }, "/activities/0/nature bad_value"},
		"no duration":             {func(a *Activity) { a.Launch.For = "3" }, "/activities/0/launch/for bad_value"},
		"a cooldown of a week":    {func(a *Activity) { a.Launch.Cooldown = "168h" }, "/activities/0/launch/cooldown bad_value"},
		"for without a condition": {func(a *Activity) { a.Launch.When = "" }, "/activities/0/launch/when missing"},
		"an unknown key":          {func(a *Activity) { a.Launch.When = "peple > 0" }, "/activities/0/launch/when unknown_key"},
		"a condition of a novel":  {func(a *Activity) { a.Launch.When = strings.Repeat("x", 1001) }, "/activities/0/launch/when too_long"},
		"a nameless permission":   {func(a *Activity) { a.Permissions = map[string]bool{"": true} }, "/activities/0/permissions/ bad_value"},
		"an unknown permission": {func(a *Activity) { a.Permissions = map[string]bool{"canRunOnPod": true} },
			"/activities/0/permissions/canRunOnPod bad_value"},
		"against the natures": {func(a *Activity) { a.Permissions = map[string]bool{"nature": true} },
			"/activities/0/permissions/nature bad_value"},
	} {
		a := good()
		row.change(&a)
		sameProblems(t, name, validate(a), row.want)
	}
	sameProblems(t, "twice", validate(good(), good()), "/activities/1/activity duplicate_id")
	b := Activities{Schema: 2}
	sameProblems(t, "a later version", ValidateActivities(b), "/schema unsupported_version")
	b = Activities{Schema: 1, Acts: map[string]Act{"bell": ring}}
	sameProblems(t, "a wrong key", ValidateActivities(b), "/acts/bell/act wrong_key")
}

func FuzzPublishedSets(f *testing.F) {
	f.Add([]byte(`{"schema":1,"points":{"dock":{"x_m":0,"y_m":0,"theta_rad":1.5}}}`))
	f.Add([]byte(`{"schema":1,"activities":[{"activity":"wave","name":{"en":"W"},"repeat":"once","acts":[{"act":"a"}],"nature":"solitary"}],"acts":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, ps := ParsePlaces(data); len(ps) == 0 {
			ValidatePlaces(p)
		}
		if b, ps := ParseActivities(data); len(ps) == 0 {
			ValidateActivities(b)
		}
	})
}
