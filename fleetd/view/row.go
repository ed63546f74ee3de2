package view

import (
	"encoding/json"
	"sync"

	"troupe/fleetd/presence"
	"troupe/schema"
)

// Row is one version of a robot's summary. Lists and all open pages share it, and nobody
// changes it.
type Row struct {
	Robot
	encode func() ([]byte, error)
}

func newRow(r Robot) *Row {
	return &Row{r, sync.OnceValues(func() ([]byte, error) { return json.Marshal(r.compact()) })}
}

// CompactJSON is the row as JSON, without what only the page of the robot shows. The first
// caller encodes it, and all share the bytes.
func (r *Row) CompactJSON() ([]byte, error) { return r.encode() }

// compact leaves out what is long and seldom needed: digests, the newest event, revisions of a
// desired story that the robot has.
func (r Robot) compact() *Robot {
	r.LastEvent = nil
	if r.Presence.Status == string(presence.Online) && !r.Presence.Disputed {
		r.Presence.Why = ""
	}
	if !r.StateOutdated {
		r.StateAt = 0
	}
	short := func(s *schema.StoryRef) *schema.StoryRef {
		if s == nil {
			return nil
		}
		return &schema.StoryRef{ID: s.ID, Rev: s.Rev}
	}
	r.Story, r.Desired.Story = short(r.Story), short(r.Desired.Story)
	if d := &r.Desired; d.Converged {
		d.DesiredRev, d.ReportedRev, d.Active, d.Phase = 0, 0, nil, ""
	} else {
		d.Active = short(d.Active)
	}
	return &r
}

// row is the present version of the robot's summary.
func (e *entry) row() *Row {
	if e.shared == nil {
		e.shared = newRow(e.summary)
	}
	return e.shared
}
