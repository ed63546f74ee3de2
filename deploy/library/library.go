// Package library embeds the content that ships with Troupe: acts, stories and activities,
// one document a file, and the sounds that they name. The demo publishes them; they are
// also examples to copy from.
package library

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
	"troupe/schema/intents"
	"troupe/schema/score"
)

//go:generate go run ./makesounds

// Files holds acts/*.yaml, stories/*.yaml, activities/*.yaml and sounds/*.wav.
//
//go:embed acts/*.yaml stories/*.yaml activities/*.yaml sounds/*.wav
var Files embed.FS

// Document is one file of the library.
type Document struct {
	ID   string
	Path string
	Text []byte
}

// Acts returns the act files, sorted by name, and each behind the acts that it performs.
func Acts() ([]Document, error) {
	acts := map[string]score.Act{}
	list, err := documents("acts", func(text []byte) (string, []schema.Problem) {
		a, ps := score.ParseAct(text)
		acts[a.ID] = a
		return a.ID, ps
	})
	return score.PerformedFirst(list, func(d Document) score.Act { return acts[d.ID] }), err
}

// Stories returns the story files, sorted by name.
func Stories() ([]Document, error) {
	return documents("stories", func(text []byte) (string, []schema.Problem) {
		s, ps := score.ParseStory(text)
		return s.ID, ps
	})
}

// Activities returns the activity files, sorted by name.
func Activities() ([]Document, error) {
	return documents("activities", func(text []byte) (string, []schema.Problem) {
		a, ps := score.ParseActivity(text)
		return a.ID, ps
	})
}

// Sounds returns the sound files, sorted by name. Acts refer to a sound by its
// file name without the extension.
func Sounds() ([]Document, error) {
	return documents("sounds", nil)
}

func documents(folder string, id func([]byte) (string, []schema.Problem)) ([]Document, error) {
	entries, err := fs.ReadDir(Files, folder)
	if err != nil {
		return nil, fmt.Errorf("list the library's %s: %w", folder, err)
	}
	var out []Document
	for _, e := range entries {
		name := path.Join(folder, e.Name())
		text, err := Files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the library's %s: %w", name, err)
		}
		d := Document{ID: strings.TrimSuffix(e.Name(), path.Ext(name)), Path: name, Text: text}
		if id == nil {
			out = append(out, d)
			continue
		}
		var ps []schema.Problem
		if d.ID, ps = id(text); len(ps) > 0 {
			return nil, fmt.Errorf("read the library's %s: %s", name, ps[0])
		}
		out = append(out, d)
	}
	return out, nil
}

// AnySite is the label site of what suits robots anywhere.
const AnySite = "any"

// Intents returns what robots with these activities do about intents: the value of their
// setting intents. They attend to a person whose intent they do not know.
func Intents(activities []string) jsontext.Value {
	rows := slices.DeleteFunc([]intents.Row{
		{Intent: "greet", Activity: "greet-visitor"},
		{Intent: "ask-tour", Activity: "invite-to-tour"},
		{Interrupt: "attend"},
	}, func(r intents.Row) bool { return r.Activity != "" && !slices.Contains(activities, r.Activity) })
	text, err := json.Marshal(rows)
	if err != nil {
		panic(err) // impossible: rows are strings
	}
	return text
}
