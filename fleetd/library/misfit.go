package library

import (
	"fmt"
	"slices"
	"strings"

	"troupe/schema"
	"troupe/schema/score"
)

// CapsOf returns the capabilities that a robot has published; nil = none yet. Without it no
// robot is judged.
type CapsOf func(robot string) *schema.Caps

// Misfit is what robots lack for a story or an activity. It is a warning: each robot itself
// decides what it can perform.
type Misfit struct {
	ID       string           `json:"id" doc:"the story or activity"`
	Robots   []string         `json:"robots"`
	Problems []schema.Problem `json:"problems"`
}

// misfits lists what robots lack. Robots with equal bodies are judged once.
func (s *snapshot) misfits(robots []string, capsOf CapsOf, contents ...score.PublishedStory) (all []Misfit) {
	type body struct {
		caps   schema.Caps
		robots []string
	}
	if capsOf == nil {
		return nil
	}
	var bodies []*body
	byBody := map[string]*body{}
	for _, robot := range robots {
		c := capsOf(robot)
		if c == nil {
			continue
		}
		// what FitStory reads
		caps := schema.Caps{Units: c.Units, Points: c.Points, Languages: c.Languages, Actions: c.Actions, Truncated: c.Truncated}
		key := string(encode(caps))
		if byBody[key] == nil {
			byBody[key] = &body{caps: caps}
			bodies = append(bodies, byBody[key])
		}
		byBody[key].robots = append(byBody[key].robots, robot)
	}
	for _, content := range contents {
		for _, b := range bodies {
			_, problems := score.FitStory(content, b.caps, nil)
			problems = append(schema.Errors(problems), score.FitLanguage(content, b.caps)...)
			problems = append(problems, s.unplayable(content.Assets, b.caps)...)
			if len(problems) == 0 {
				continue
			}
			id := content.Story.ID
			i := slices.IndexFunc(all, func(m Misfit) bool { return m.ID == id && slices.Equal(m.Problems, problems) })
			if i < 0 {
				i, all = len(all), append(all, Misfit{ID: id, Problems: problems})
			}
			all[i].Robots = append(all[i].Robots, b.robots...)
		}
	}
	return all
}

// CodeFormat is the code of a problem with a file whose format a body does not play or show.
const CodeFormat = "format_not_played"

// unplayable lists the files in formats that no unit of a body plays or shows. A unit that lists no
// formats is not judged, nor is a file whose format is not known.
func (s *snapshot) unplayable(files []score.Asset, caps schema.Caps) (found []schema.Problem) {
	for _, f := range files {
		a, ok := s.assets[f.Name]
		if !ok || a.SHA256 != f.SHA256 || a.Details.Format == "" {
			continue
		}
		kind := map[score.AssetKind]schema.UnitKind{score.AssetSound: schema.UnitSpeaker, score.AssetFace: schema.UnitFace}[f.Kind]
		var takes []string
		for _, u := range caps.Units {
			if u.Kind != kind {
				continue
			}
			if len(u.Formats) == 0 || slices.Contains(u.Formats, a.Details.Format) {
				takes = nil
				break
			}
			takes = append(takes, u.Formats...)
		}
		if len(takes) > 0 {
			found = append(found, schema.NewProblem("/assets/"+f.Name, CodeFormat, fmt.Sprintf("the %s %s is %s, and the %s takes %s", f.Kind,
				f.Name, a.Details.Format, kind, strings.Join(takes, ", ")),
				"convert the file, upload it under the same name, and publish and assign this again"))
		}
	}
	return found
}
