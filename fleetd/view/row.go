package view

import (
	"encoding/json"
	"sync"
)

// Row is one version of a robot's summary. Lists and all open pages share it, and nobody
// changes it.
type Row struct {
	Robot
	encode func() ([]byte, error)
}

func newRow(r Robot) *Row {
	return &Row{r, sync.OnceValues(func() ([]byte, error) { return json.Marshal(&r) })}
}

// JSON is the row as JSON. The first caller encodes it, and all share the bytes.
func (r *Row) JSON() ([]byte, error) { return r.encode() }

// row is the present version of the robot's line.
func (e *entry) row() *Row {
	if e.shared == nil {
		e.shared = newRow(e.line)
	}
	return e.shared
}
