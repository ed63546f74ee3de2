package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/sse"

	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// robotQuery are the query parameters that select robots; without any, all are selected.
type robotQuery struct {
	ID    []string `query:"id,explode" doc:"robots by name"`
	Label []string `query:"label,explode" doc:"key=value; if given several times, a robot must match all"`
}

func (c robotQuery) selector() (selector.Selector, error) {
	if len(c.ID)+len(c.Label) == 0 {
		return selector.All(), nil
	}
	words := slices.Clone(c.ID)
	for _, l := range c.Label {
		words = append(words, "-l", l)
	}
	s, problems := selector.Parse(words...)
	if len(problems) > 0 {
		return s, refusal(findings("query", problems))
	}
	return s, nil
}

// One is the path parameter of a robot, act, story, command or batch.
type One struct {
	ID string `path:"id" maxLength:"64"`
}

type answer[T any] struct{ Body T }

type robotList struct {
	TS       schema.Time `json:"ts"`
	Robots   []Robot     `json:"robots"`
	Disputed string      `json:"disputed,omitempty" doc:"set if another client seems to use this instance's name; this list may then be incomplete"`
}

type labels struct {
	Labels map[string]string `json:"labels"`
	Signed
}

func (s *server) robots(h huma.API) {
	huma.Register(h, op("list-robots", http.MethodGet, "/robots", "robots", "List robots"), func(_ context.Context, in *robotQuery) (*answer[robotList], error) {
		sel, err := in.selector()
		if err != nil {
			return nil, err
		}
		return &answer[robotList]{robotList{schema.TimeOf(s.fleet.Now()), s.selected(s.fleet.Robots(), sel), s.fleet.Status().Disputed}}, nil
	})
	huma.Register(h, op("get-robot", http.MethodGet, "/robots/{id}", "robots", "Get one robot and its documents"), func(_ context.Context, in *One) (*answer[Detail], error) {
		d, ok := s.fleet.Robot(in.ID)
		if !ok {
			return nil, robotNotFound(in.ID)
		}
		return &answer[Detail]{d}, nil
	})
	huma.Register(h, op("set-labels", http.MethodPut, "/robots/{id}/labels", "robots", "Replace a robot's labels"), func(ctx context.Context, in *struct {
		One
		Body labels
	}) (*answer[Robot], error) {
		if found := selector.LabelProblems(in.Body.Labels); len(found) > 0 {
			return nil, refusal(inBody("", found))
		}
		if err := s.label(ctx, in.ID, in.Body); err != nil {
			return nil, err
		}
		d, ok := s.fleet.Robot(in.ID)
		if !ok {
			return nil, robotNotFound(in.ID)
		}
		return &answer[Robot]{d.Robot}, nil
	})
	huma.Register(h, op("adopt-robot", http.MethodPost, "/robots/{id}/adopt", "robots", "Add a robot to this fleet",
		"The robot is added to the database, and sys/adopt makes it obey the desired documents of this fleet from now on.", "Waits as long as Prefer: wait=N says.",
	), func(ctx context.Context, in *struct {
		One
		Prefer string `header:"Prefer"`
		Body   Signed
	}) (*batchAnswer, error) {
		return s.adopt(ctx, in.ID, in.Prefer, in.Body)
	})
}

func robotNotFound(id string) *Problem {
	return KindNotFound.Problem("no robot "+id+" was ever seen", "list the robots, or adopt it")
}

func (s *server) selected(robots []Robot, sel selector.Selector) []Robot {
	return slices.DeleteFunc(robots, func(r Robot) bool { return !sel.Match(r.ID, r.Labels) })
}

func (s *server) label(ctx context.Context, robot string, in labels) error {
	db, err := s.fleet.Store()
	if err != nil {
		return s.fail(err, "robot "+robot)
	}
	err = db.Tx(ctx, func(tx *store.Tx) error {
		if _, err := tx.Robot(ctx, robot); err != nil {
			return err
		}
		if err := tx.SetLabels(ctx, robot, in.Labels); err != nil {
			return err
		}
		if err := publishLabels(ctx, tx, robot, desired.By{Who: in.By, At: s.fleet.Now()}); err != nil {
			return err
		}
		text := make([]string, 0, len(in.Labels))
		for k, v := range in.Labels {
			text = append(text, k+"="+v)
		}
		slices.Sort(text)
		return tx.Note(ctx, s.fleet.Now(), library.Note{Who: in.By, What: "label", Target: "robot " + robot, Detail: strings.Join(text, " ")})
	})
	if err != nil {
		return s.fail(err, "robot "+robot)
	}
	s.fleet.Changed(ctx)
	return nil
}

func (s *server) adopt(ctx context.Context, id, prefer string, by Signed) (*batchAnswer, error) {
	if err := s.unbarName(ctx, id, by); err != nil {
		return nil, err
	}
	if err := s.fleet.Adopt(ctx, id); err != nil {
		return nil, s.fail(err, "robot "+id)
	}
	args, err := schema.Encode(map[string]string{"fleet_id": s.fleet.Status().FleetID})
	if err != nil {
		return nil, fmt.Errorf("adopt %s: %w", id, err)
	}
	return s.issue(ctx, Order{Verb: "sys/adopt", Args: args, Selector: selector.IDs(id), By: by.By, Why: by.Why}, prefer, "")
}

// statusInterval is the period of Status in the stream, which is also its keep-alive.
const statusInterval = 2 * time.Second

func (s *server) stream(h huma.API) {
	sse.Register(h, op("stream", http.MethodGet, "/stream", "robots", "Stream changes of robots",
		"First the status of fleetd and every robot, then the robots that changed, collected for a moment, and the status of fleetd every two seconds."),
		map[string]any{"fleetd": Status{}, "robots": Snapshot{}, "changes": Changes{}},
		func(ctx context.Context, in *robotQuery, send sse.Sender) {
			sel, err := in.selector()
			if err != nil {
				return // cannot happen: Resolve checked the parameters
			}
			w := s.fleet.Watch()
			defer w.Close()
			if send.Data(s.fleet.Status()) != nil || send.Data(Snapshot{schema.TimeOf(s.fleet.Now()), s.selected(s.fleet.Robots(), sel)}) != nil {
				return
			}
			for told := s.fleet.Now(); ; {
				changed, err := w.Next(ctx, statusInterval)
				if err != nil {
					return
				}
				if changed = s.selected(changed, sel); len(changed) > 0 {
					if send.Data(Changes{schema.TimeOf(s.fleet.Now()), changed}) != nil {
						return
					}
				}
				if now := s.fleet.Now(); now.Sub(told) >= statusInterval {
					if send.Data(s.fleet.Status()) != nil {
						return
					}
					told = now
				}
			}
		})
}

// Resolve refuses an invalid selector before the answer begins.
func (c *robotQuery) Resolve(huma.Context) []error {
	_, err := c.selector()
	var p *Problem
	if !errors.As(err, &p) {
		return nil
	}
	var out []error
	for _, f := range p.Errors {
		out = append(out, &huma.ErrorDetail{Location: "query", Message: f.Detail + "; " + f.Hint})
	}
	return out
}

// op describes one operation.
func op(id, method, path, tag, summary string, description ...string) huma.Operation {
	return huma.Operation{
		OperationID: id, Method: method, Path: Prefix + path, Tags: []string{tag}, Summary: summary, Description: strings.Join(description, " "),
		MaxBodyBytes: MaxBody,
	}
}
