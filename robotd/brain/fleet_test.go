package brain

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"slices"
	"strconv"
	"strings"
	"testing"

	"troupe/schema"
	"troupe/schema/score"
)

// The fleet's stories, by name and by digest.
var (
	stories   = map[string]schema.ContentPin{}
	published = map[string][]byte{}
)

func ptr[T any](v T) *T { return &v }

// gong and portrait are uploaded files, which no body lists.
var (
	gong     = upload("gong", score.AssetSound)
	portrait = upload("portrait", score.AssetFace)
)

func upload(name string, kind score.AssetKind) score.Asset {
	file := []byte("the file " + name)
	digest := sha256.Sum256(file)
	a := score.Asset{Name: name, Kind: kind, SHA256: hex.EncodeToString(digest[:]), Size: int64(len(file))}
	published[a.SHA256] = file
	return a
}

// strike uses uploaded files.
var strike = score.Act{ID: "strike", Actions: []score.Action{
	{TimeoutMS: ptr[int64](8000), Do: score.Sound{Sound: "gong"}}, {Do: score.Face{Face: "portrait"}},
}}

func publishStory(name string, story score.Story, acts ...score.Act) {
	publishStoryWith(nil, name, story, acts...)
}

// publishStoryWith publishes a story with files. Its name may end with its revision, as in tour@2.
func publishStoryWith(files []score.Asset, name string, story score.Story, acts ...score.Act) {
	id, revision, named := strings.Cut(name, "@")
	rev := int64(1)
	if named {
		rev, _ = strconv.ParseInt(revision, 10, 64)
	}
	lib := map[string]score.Act{}
	for _, a := range acts {
		lib[a.ID] = a
		if a.ID != story.Shutdown && !slices.ContainsFunc(story.Acts, func(s score.Step) bool { return s.Act == a.ID }) {
			story.Acts = append(story.Acts, score.Step{Act: a.ID})
		}
	}
	story.ID, story.Name = id, score.Text{"en": id}
	data, sum, err := score.EncodePublishedStory(story, lib, rev, files...)
	if err != nil {
		panic(err)
	}
	stories[name] = schema.ContentPin{ID: id, Rev: rev, SHA256: sum, Size: int64(len(data))}
	published[sum] = data
}

func TestMain(m *testing.M) {
	greet := score.Act{ID: "greet", Actions: []score.Action{
		{Do: score.Face{Face: "smile"}},
		{TimeoutMS: ptr[int64](5000), Do: score.Say{Text: score.Text{"en": "Welcome", "de": "Willkommen"}}},
	}}
	nod := score.Act{ID: "nod", Actions: []score.Action{
		{TimeoutMS: ptr[int64](3000), Do: score.Head{Axes: score.Axes{YawRad: ptr(0.2), PitchRad: ptr(0.1)}}},
	}}
	walk := score.Act{ID: "walk", Actions: []score.Action{
		{TimeoutMS: ptr[int64](5000), Do: score.Say{Text: score.Text{"en": "Follow me"}}},
		{TimeoutMS: ptr[int64](30000), Do: score.Goto{Point: "entrance"}},
	}}
	loop := score.Repeat{Loop: true}
	publishStory("yard", score.Story{Repeat: loop},
		score.Act{ID: "walk-out", Actions: []score.Action{{TimeoutMS: ptr[int64](60000), Do: score.Goto{Point: "yard"}}}})
	publishStory("talk", score.Story{Repeat: loop}, greet)
	publishStory("tour", score.Story{Repeat: loop}, greet, walk)
	publishStory("once", score.Story{Repeat: score.Repeat{Times: 1}}, greet, nod)
	publishStory("holes", score.Story{Repeat: loop, Acts: []score.Step{{Act: "greet"}, {Act: "unknown"}}}, greet)
	publishStory("clash", score.Story{Repeat: loop}, score.Act{ID: "clash", Actions: []score.Action{
		{EndMS: ptr[int64](2000), Do: score.Head{Axes: score.Axes{YawRad: ptr(0.1)}}},
		{StartMS: 1000, EndMS: ptr[int64](3000), Do: score.Head{Axes: score.Axes{YawRad: ptr(0.3)}}},
	}})
	publishStory("empty", score.Story{Repeat: loop, Acts: []score.Step{{Act: "unknown"}}})
	hour := score.Action{EndMS: ptr[int64](3_600_000), Do: score.Wait{}}
	publishStory("rest", score.Story{Repeat: loop}, score.Act{ID: "rest", Actions: []score.Action{hour}})
	publishStory("stroll", score.Story{Repeat: loop},
		score.Act{ID: "stroll", Actions: []score.Action{{TimeoutMS: ptr[int64](30000), Do: score.Goto{Point: "entrance"}}, hour}})
	publishStory("bow", score.Story{Repeat: loop, Shutdown: "bow"}, walk, score.Act{ID: "bow", Actions: []score.Action{
		{TimeoutMS: ptr[int64](4000), Do: score.Say{Text: score.Text{"en": "Good bye", "de": "Auf Wiedersehen"}}},
		{TimeoutMS: ptr[int64](2000), Do: score.Head{Axes: score.Axes{PitchRad: ptr(0.3)}}},
	}})
	publishStoryWith([]score.Asset{gong, portrait}, "gongs", score.Story{Repeat: loop}, greet, strike)
	says := func(id, text string) score.Act {
		return score.Act{ID: id, Actions: []score.Action{{TimeoutMS: ptr[int64](5000), Do: score.Say{Text: score.Text{"en": text}}}}}
	}
	one, two, three := says("one", "One"), says("two", "Two"), says("three", "Three")
	publishStory("show", score.Story{Repeat: loop}, one, two, three)
	publishStory("show@2", score.Story{Repeat: loop}, says("zero", "Zero"), one, two, three)
	publishStory("show@3", score.Story{Repeat: loop}, says("zero", "Zero"), one, three)
	publishStory("show@4", score.Story{Repeat: loop}, says("zero", "Zero"), one, says("three", "Drei"))
	publishSets()
	flag.Parse()
	// Some seconds a property; make worlds takes more. Rapid gives a short run a fifth.
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		_ = flag.Set("rapid.checks", "500")
	}
	m.Run()
}
