package audit

import (
	"context"
	"sync/atomic"
)

// Mark remembers whether an entry was written for a request.
type Mark struct{ written atomic.Bool }

type markKey struct{}

// WithMark returns a context whose Mark is set when an entry is written under it.
func WithMark(ctx context.Context) (context.Context, *Mark) {
	m := &Mark{}
	return context.WithValue(ctx, markKey{}, m), m
}

// Written sets the Mark of a context: an entry was written, or none is due because nothing
// was changed.
func Written(ctx context.Context) {
	if m, ok := ctx.Value(markKey{}).(*Mark); ok {
		m.written.Store(true)
	}
}

// IsSet reports whether an entry was written.
func (m *Mark) IsSet() bool { return m.written.Load() }
