package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/sse"

	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/fleetd/selector"
	"troupe/fleetd/view"
	"troupe/schema"
)

// Snapshot lists every robot, at the start of the stream; a large fleet in several events. Robots in the
// stream have no newest event, no digests, and of a desired story that they have only its name and revision.
type Snapshot struct {
	TS     schema.Time  `json:"ts"`
	Robots []view.Robot `json:"robots"`
	More   bool         `json:"more,omitempty" doc:"the list goes on in the next event"`
}

// Changes lists the robots that changed since the last event of the stream.
type Changes struct {
	TS     schema.Time  `json:"ts"`
	Robots []view.Robot `json:"robots"`
}

const (
	// statusInterval is the period of Status in the stream, which is also its keep-alive.
	statusInterval = 2 * time.Second
	// gatherChanges is how long the stream gathers changes before it sends them.
	gatherChanges = 250 * time.Millisecond
	// snapshotRows is how many robots an event of the snapshot has at most: a reader parses the first while
	// fleetd still encodes the next.
	snapshotRows = 1000
)

// streamQuery is the input of the stream, and where it goes.
type streamQuery struct {
	NameQuery
	Encoding string `header:"Accept-Encoding"`
	to       http.ResponseWriter
}

// Resolve implements huma.Resolver.
func (q *streamQuery) Resolve(ctx huma.Context) []error {
	_, q.to = humago.Unwrap(ctx)
	return q.NameQuery.Resolve(ctx)
}

func (s *server) stream(t *operation.Table) {
	row := operation.Row{
		ID: "stream", Method: http.MethodGet, Path: "/stream", Tag: "robots", Right: auth.View,
		Summary: "Stream changes of robots",
		Description: "First the status of fleetd and every robot (events robots, until one without more), then the robots that " +
			"changed, collected for a moment, and the status of fleetd every two seconds.",
		Example: "robot watch",
	}
	t.All = append(t.All, operation.Operation{
		Row: row, In: reflect.TypeFor[streamQuery](), Out: reflect.TypeFor[huma.StreamResponse](),
		Mount: func(h huma.API, described huma.Operation) {
			sse.Register(h, described, map[string]any{"fleetd": Status{}, "robots": Snapshot{}, "changes": Changes{}}, s.follow)
		},
	})
}

// follow sends what changes until the client is gone.
func (s *server) follow(ctx context.Context, in *streamQuery, _ sse.Sender) {
	sel, err := in.selector()
	if err != nil {
		return // cannot happen: Resolve checked the parameters
	}
	feed := s.View.Subscribe(view.Listed, gatherChanges)
	defer feed.Close()
	out := newEvents(in.to, in.Encoding, s.Now)
	shown := audience{in.principal, sel, map[string]bool{}}
	if out.status(s.statusFor(in.principal)) != nil || out.snapshot(shown.update(s.View.Robots())) != nil {
		return
	}
	for sentAt := s.Now(); ; {
		changed, err := feed.Next(ctx, statusInterval)
		if err != nil || !auth.StillSignedIn(ctx) {
			return
		}
		rows := make([]*view.Row, len(changed))
		for i, d := range changed {
			rows[i] = d.Row
		}
		if rows = shown.update(rows); len(rows) > 0 {
			if out.robots("changes", rows, false) != nil {
				return
			}
		}
		if now := s.Now(); now.Sub(sentAt) >= statusInterval {
			if out.status(s.statusFor(in.principal)) != nil {
				return
			}
			sentAt = now
		}
	}
}

// audience is which robots one client of the stream has.
type audience struct {
	principal auth.Principal
	sel       selector.Selector
	has       map[string]bool
}

// update returns the rows that change what the client shows. A robot that it has and that does
// not belong there any more, because its labels changed, is gone for it.
func (a audience) update(rows []*view.Row) []*view.Row {
	out := rows[:0]
	for _, r := range rows {
		switch {
		case !r.Gone && a.principal.Sees(r.Labels) && a.sel.Match(r.Selectable()):
			a.has[r.ID] = true
			out = append(out, r)
		case a.has[r.ID]:
			delete(a.has, r.ID)
			out = append(out, view.GoneRow(r.ID))
		}
	}
	return out
}

// events writes server-sent events to one client. It takes rows as they were encoded for all
// clients; huma's sender would encode them for each.
type events struct {
	to      io.Writer
	flush   func() error
	control *http.ResponseController
	now     func() time.Time
	event   bytes.Buffer
}

// newEvents compresses if the client accepts gzip: robots resemble each other, so that they
// become about a tenth.
func newEvents(to http.ResponseWriter, accepts string, now func() time.Time) *events {
	e := &events{to: to, control: http.NewResponseController(to), now: now}
	e.flush = e.control.Flush
	if strings.Contains(accepts, "gzip") {
		to.Header().Set("Content-Encoding", "gzip")
		to.Header().Set("Vary", "Accept-Encoding")
		zip, _ := gzip.NewWriterLevel(to, gzip.BestSpeed) // an error would mean a wrong level
		e.to = zip
		e.flush = func() error { return errors.Join(zip.Flush(), e.control.Flush()) }
	}
	return e
}

// status writes an event "fleetd".
func (e *events) status(s Status) error {
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	e.begin("fleetd")
	e.event.Write(body)
	return e.send()
}

// snapshot writes every robot, in events of snapshotRows; one without robots if there are none.
func (e *events) snapshot(rows []*view.Row) error {
	for len(rows) > snapshotRows {
		if err := e.robots("robots", rows[:snapshotRows], true); err != nil {
			return err
		}
		rows = rows[snapshotRows:]
	}
	return e.robots("robots", rows, false)
}

// robots writes Changes, or a part of a Snapshot after which more follow or none.
func (e *events) robots(event string, rows []*view.Row, more bool) error {
	ts, err := json.Marshal(schema.TimeOf(e.now()))
	if err != nil {
		return err
	}
	e.begin(event)
	e.event.WriteString(`{"ts":`)
	e.event.Write(ts)
	e.event.WriteString(`,"robots":[`)
	for i, row := range rows {
		body, err := row.CompactJSON()
		if err != nil {
			return err
		}
		if i > 0 {
			e.event.WriteByte(',')
		}
		e.event.Write(body)
	}
	e.event.WriteByte(']')
	if more {
		e.event.WriteString(`,"more":true`)
	}
	e.event.WriteByte('}')
	return e.send()
}

func (e *events) begin(event string) {
	e.event.Reset()
	e.event.WriteString("event: " + event + "\ndata: ")
}

// send sends the event. A client that does not read is disconnected after a while.
func (e *events) send() error {
	e.event.WriteString("\n\n")
	if err := e.control.SetWriteDeadline(e.now().Add(sse.WriteTimeout)); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if _, err := e.to.Write(e.event.Bytes()); err != nil {
		return err
	}
	return e.flush()
}
