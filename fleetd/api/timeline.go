package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/auth"
	"troupe/fleetd/library"
	"troupe/schema"
	"troupe/schema/score"
)

// Timeline is what an act or a story does on each unit by time.
type Timeline struct {
	Kind string `json:"kind" enum:"act,story"`
	ID   string `json:"id"`
	Rev  int64  `json:"rev,omitempty" doc:"the published revision; 0 = the draft"`
	score.Timeline
}

// timeline registers the request for the timeline of an act or story.
func (s *server) timeline(h huma.API, kind library.Kind, plural string) {
	o := op("get-timeline-"+string(kind), http.MethodGet, "/"+plural+"/{id}/timeline", plural, "Get what each unit does by time, in bars to draw",
		"Of the draft, or of the published revision rev. The draft of a story or of an act that performs others is shown with their newest published revisions, or else their drafts.")
	register(h, o, auth.View, func(ctx context.Context, in *struct {
		One
		Rev  int64  `query:"rev" minimum:"0" doc:"a published revision; 0 = the draft"`
		Lang string `query:"lang" maxLength:"35" doc:"language of the texts, such as de"`
	}) (*answer[Timeline], error) {
		t, problems, err := s.timelineOf(ctx, kind, in.ID, in.Rev, in.Lang)
		if err != nil {
			return nil, s.fail(err, fmt.Sprintf("%s %s", kind, in.ID))
		}
		if problems = schema.Errors(problems); len(problems) > 0 {
			return nil, refusal(inDocument(problems))
		}
		return &answer[Timeline]{Timeline{Kind: string(kind), ID: in.ID, Rev: in.Rev, Timeline: t}}, nil
	})
}

// timelineOf returns a timeline, or the problems because of which there is none.
func (s *server) timelineOf(ctx context.Context, kind library.Kind, id string, rev int64, lang string) (t score.Timeline, found []schema.Problem, err error) {
	text, err := s.source(ctx, kind, id, rev)
	if err != nil {
		return t, nil, err
	}
	lookup := s.lookup(ctx)
	if kind == library.KindAct {
		a, found := score.ParseAct(text)
		if len(found) == 0 {
			found = schema.Errors(score.ValidateActWith(a, lookup))
		}
		if len(found) == 0 {
			t, found = score.ActTimeline(a, lookup, lang)
		}
		return t, found, nil
	}
	var story score.Story
	if rev > 0 {
		var b score.Blob
		b, found = library.BlobOf(kind, text)
		story, lookup = b.Story, score.In(b.Acts)
	} else if story, found = library.StoryOf(kind, text); len(found) == 0 {
		found = schema.Errors(score.ValidateStory(story, lookup))
	}
	if len(found) == 0 {
		t, found = score.StoryTimeline(story, lookup, lang)
	}
	return t, found, nil
}

// source returns the text of a draft, or the bytes of a revision.
func (s *server) source(ctx context.Context, kind library.Kind, id string, rev int64) ([]byte, error) {
	if rev > 0 {
		v, err := s.Entries.Revision(ctx, kind, id, rev)
		return v.Body, err
	}
	e, _, err := s.Entries.Entry(ctx, kind, id)
	return e.Draft, err
}

// lookup finds acts: the newest revision of each, or else its draft. It asks for each once.
func (s *server) lookup(ctx context.Context) score.Lookup {
	known := map[string]*score.Act{} // nil: it does not exist, or cannot be read
	return func(id string) (score.Act, bool) {
		a, asked := known[id]
		if !asked {
			a = s.act(ctx, id)
			known[id] = a
		}
		if a == nil {
			return score.Act{}, false
		}
		return *a, true
	}
}

func (s *server) act(ctx context.Context, id string) *score.Act {
	e, _, err := s.Entries.Entry(ctx, library.KindAct, id)
	if err != nil || e.Deleted() {
		return nil
	}
	text := e.Draft
	if e.Rev > 0 {
		if text, err = s.source(ctx, library.KindAct, id, e.Rev); err != nil {
			return nil
		}
	}
	a, found := score.ParseAct(text)
	if len(found) > 0 {
		return nil
	}
	return &a
}
